// SPDX-License-Identifier: MIT
// See explanation.h.
#include "runtime/session/explanation.h"

#include "cache/digest.h"
#include "compiler/ir/serialize.h"
#include "compiler/pipeline.h"
#include "runtime/session/store.h"

namespace tenon::session {

absl::StatusOr<ProgramExplanation> explain_program(absl::Span<const std::byte> key_bytes) {
  absl::StatusOr<Graph> graph = decode_graph(key_bytes);
  if (!graph.ok()) return graph.status();
  ProgramExplanation explanation;
  CompileOptions options;
  options.log = &explanation.log;
  absl::StatusOr<LoopProgram> program = build_loops(*graph, options);
  if (!program.ok()) return program.status();
  explanation.identity.key = cache::digest(std::span(key_bytes.data(), key_bytes.size()), cache::Seed::kGraph).hex();
  explanation.identity.environment = environment_text();
  return explanation;
}

}  // namespace tenon::session
