// SPDX-License-Identifier: MIT
// The straight line of passes: what happens to a graph, in order, one call and one sentence each.
#include "compiler/pipeline.h"

#include "compiler/explain/record_graph.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/loop_text.h"
#include "compiler/ir/serialize.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/record.h"
#include "compiler/ops/decompose.h"
#include "compiler/rewrite/rewrite.h"
#include "compiler/schedule/schedule.h"

namespace tenon {
namespace {

std::string to_text(const Graph& graph) { return print_graph(graph); }
std::string to_text(const LoopProgram& program) { return print_loops(program); }

/// What is done after every stage: check, dump, record.
class Stages {
 public:
  Stages(const CompileOptions& options, const Graph& traced) : options_(options), nodes_(traced.size()) {
    record("trace", traced);
  }

  absl::Status done(std::string_view name, const Graph& graph) {
    record(name, graph);
    return finish(name, graph);
  }

  void lowered(const Graph& graph, const LoweredGraph& lowered) {
    if (options_.log) record_lowering(graph, lowered, *options_.log);
    nodes_ = lowered.nodes.size();
    tell("lower");
  }

  absl::Status done(std::string_view name, const LoopProgram& program) {
    const int kernels = static_cast<int>(program.kernels.size());
    if (options_.log) options_.log->stages.push_back({std::string(name), static_cast<int>(nodes_), kernels, {}, -1});
    tell(name);
    return finish(name, program);
  }

 private:
  void record(std::string_view name, const Graph& graph) {
    if (options_.log) record_graph(graph, name, nodes_, *options_.log);
    nodes_ = graph.size();
    tell(name);
  }

  void tell(std::string_view name) const {
    if (options_.stage_done) options_.stage_done(name);
  }

  template <class Ir>
  absl::Status finish(std::string_view name, const Ir& ir) const {
    if (options_.dump) options_.dump(name, to_text(ir));
    return options_.verify ? verify(ir) : absl::OkStatus();
  }

  const CompileOptions& options_;
  std::size_t nodes_;
};

}  // namespace

absl::StatusOr<LoopProgram> build_loops(const Graph& traced, const CompileOptions& options) {
  Stages stages(options, traced);

  // Composite ops become primitives; from here on an op's meaning is its own row's and nothing else.
  absl::StatusOr<Graph> primitives = decompose(traced);
  if (!primitives.ok()) return primitives.status();
  if (options.log) record_decompositions(traced, *primitives, *options.log);
  if (absl::Status s = stages.done("decompose", *primitives); !s.ok()) return s;

  // Equal nodes become one and what does nothing goes, so that counts of users mean something.
  absl::StatusOr<Graph> graph = rewrite(*primitives, options.log);
  if (!graph.ok()) return graph.status();
  if (absl::Status s = stages.done("rewrite", *graph); !s.ok()) return s;

  // Values that get memory become loop nodes; all others are spliced into their readers.
  absl::StatusOr<LoweredGraph> lowered = lower(*graph, options.realize, options.fusion.costs);
  if (!lowered.ok()) return lowered.status();
  stages.lowered(*graph, *lowered);

  // Loop nodes are fused, best pair first, into kernels with loops, tasks and memory.
  absl::StatusOr<LoopProgram> program = schedule(*graph, *lowered, options.fusion, options.log);
  if (!program.ok()) return program.status();
  if (program->pool->overflowed()) return absl::OutOfRangeError("an index of the program needs more than 52 bits");
  if (absl::Status s = stages.done("loops", *program); !s.ok()) return s;
  return program;
}

absl::StatusOr<Artifact> compile(absl::Span<const std::byte> key_bytes, const CodeGenerator& generate,
                                 const CompileOptions& options) {
  // The canonical bytes are all that the compiler knows of the traced program.
  absl::StatusOr<Graph> graph = decode_graph(key_bytes);
  if (!graph.ok()) return graph.status();
  absl::StatusOr<LoopProgram> program = build_loops(*graph, options);
  if (!program.ok()) return program.status();

  // Kernels and host stub become machine code, linked into one image.
  absl::StatusOr<std::vector<std::byte>> image = generate(encode_loop_program(*program));
  if (!image.ok()) return image.status();

  Artifact artifact;
  artifact.image = *std::move(image);
  artifact.arena_bytes = program->arena_bytes;
  artifact.num_kernels = static_cast<std::int32_t>(program->kernels.size());
  artifact.num_inputs = program->num_inputs;
  artifact.num_outputs = program->num_outputs;
  return artifact;
}

}  // namespace tenon
