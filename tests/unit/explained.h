// SPDX-License-Identifier: MIT
// Programs with their decision logs, for tests of the explanation.
#pragma once

#include <stdexcept>
#include <string>

#include "compiler/explain/report.h"
#include "compiler/ir/graph_text.h"
#include "compiler/pipeline.h"

namespace tenon::testing {

/// The log of a compilation; throws where the graph does not compile.
inline DecisionLog explained(const Graph& graph) {
  DecisionLog log;
  CompileOptions options;
  options.log = &log;
  const absl::StatusOr<LoopProgram> loops = build_loops(graph, options);
  if (!loops.ok()) throw std::runtime_error(std::string(loops.status().message()));
  return log;
}

inline DecisionLog explained(const std::string& text) {
  const absl::StatusOr<ProgramText> program = parse_program(text);
  if (!program.ok()) throw std::runtime_error(std::string(program.status().message()) + "\n" + text);
  return explained(program->graph);
}

inline constexpr char kRmsNorm[] = R"(
    input x: float32[256, 1024]
    input w: float32[1024]
    scalar e: float32
    %3: float32[256, 1024] = multiply(x, x)
    %4: float32[256, 1] = mean(%3, axis=[1], keepdims=true)
    %5: float32[256, 1] = add(%4, e)
    %6: float32[256, 1] = rsqrt(%5)
    %7: float32[256, 1024] = multiply(x, %6)
    %8: float32[256, 1024] = multiply(%7, w)
    output %8)";

/// Two products with a softmax between, which stay three kernels at least; temporaries in the arena.
inline constexpr char kAttention[] = R"(
    input q: float32[4, 64, 32]
    input k: float32[4, 32, 64]
    input v: float32[4, 64, 32]
    %3: float32[4, 64, 64] = matmul(q, k)
    %4: float32[4, 64, 64] = softmax(%3, axis=2)
    %5: float32[4, 64, 32] = matmul(%4, v)
    output %5)";

}  // namespace tenon::testing
