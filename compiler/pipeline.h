// SPDX-License-Identifier: MIT
// The compiler: from the canonical bytes of a graph to an artifact.
//
// Pure: no file, environment, device, clock or global state. What it needs from outside is handed to it as values.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/artifact.h"
#include "compiler/explain/decision_log.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/loop_ir.h"
#include "compiler/lower/realize.h"
#include "compiler/schedule/fusion_options.h"

namespace tenon {

/// Code generation as a value: serialised kernels (compiler/ir/serialize.h) in, a stored flat image out.
using CodeGenerator = std::function<absl::StatusOr<std::vector<std::byte>>(absl::Span<const std::byte> kernels)>;

struct CompileOptions {
  RealizeMode realize = RealizeMode::kTenon;
  FusionOptions fusion;
  bool verify = false;         ///< checks every invariant after each stage
  DecisionLog* log = nullptr;  ///< takes every decision, where somebody asks
  /// Takes the text of each stage ("graph", "decompose", "rewrite", "loops"), where somebody asks.
  std::function<void(std::string_view stage, std::string text)> dump;
  /// Called after each stage, when its record is in the log ("trace", "decompose", "rewrite", "lower", "loops"): the
  /// compiler reads no clock, its caller may.
  std::function<void(std::string_view stage)> stage_done;
};

/// The front half: decompose, rewrite, lower, fuse, build loops, plan memory.
absl::StatusOr<LoopProgram> build_loops(const Graph& graph, const CompileOptions& options);

/// The whole: decodes `key_bytes`, builds loops, generates code.
absl::StatusOr<Artifact> compile(absl::Span<const std::byte> key_bytes, const CodeGenerator& generate,
                                 const CompileOptions& options);

}  // namespace tenon
