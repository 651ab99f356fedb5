// SPDX-License-Identifier: MIT
// See measure.h.
#include "runtime/session/measure.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "compiler/ir/serialize.h"
#include "compiler/pipeline.h"
#include "runtime/device/cpu/allocator.h"
#include "runtime/device/cpu/host_cpu.h"
#include "runtime/session/compiler_library.h"
#include "runtime/session/dump.h"
#include "runtime/session/program.h"

namespace tenon::session {
namespace {

using Clock = std::chrono::steady_clock;
using Programs = std::vector<std::shared_ptr<const Program>>;

constexpr std::chrono::milliseconds kEnough{500};
constexpr std::size_t kFewest = 3, kMost = 1001;

absl::StatusOr<std::shared_ptr<const Program>> compiled(const LoopProgram& program) {
  auto image = compile_kernels(encode_loop_program(program), device::runnable_targets().front());
  if (!image.ok()) return image.status();
  Artifact artifact;
  artifact.image = *std::move(image);
  artifact.arena_bytes = program.arena_bytes;
  artifact.num_kernels = static_cast<std::int32_t>(program.kernels.size());
  artifact.num_inputs = program.num_inputs;
  artifact.num_outputs = program.num_outputs;
  return Program::load(artifact);
}

/// Each kernel alone, over the buffers of all.
absl::StatusOr<Programs> single_kernels(LoopProgram program) {
  Programs out;
  std::vector<Kernel> kernels = std::move(program.kernels);
  for (Kernel& kernel : kernels) {
    program.kernels.clear();
    program.kernels.push_back(std::move(kernel));
    absl::StatusOr<std::shared_ptr<const Program>> one = compiled(program);
    if (!one.ok()) return one.status();
    out.push_back(*std::move(one));
  }
  return out;
}

/// Runs all in order once; adds the time of each to its list.
absl::Status pass(const Programs& programs, const RunArguments& arguments, void* arena,
                  std::vector<std::vector<std::int64_t>>& nanoseconds) {
  for (std::size_t k = 0; k < programs.size(); ++k) {
    const Clock::time_point start = Clock::now();
    if (absl::Status status = programs[k]->run_in(arguments, arena); !status.ok()) return status;
    nanoseconds[k].push_back(std::chrono::nanoseconds(Clock::now() - start).count());
  }
  return absl::OkStatus();
}

std::int64_t median(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

absl::StatusOr<device::StorageRef> block(std::int64_t bytes) {
  device::StorageRef memory = device::allocate(static_cast<std::size_t>(bytes));
  if (!memory) return absl::ResourceExhaustedError(absl::StrCat("no memory for ", bytes, " bytes"));
  return memory;
}

/// The times of each kernel over enough passes, in nanoseconds. The first pass, which finds everything cold, does not
/// count.
absl::StatusOr<std::vector<std::vector<std::int64_t>>> times_of(const Programs& programs, const RunArguments& arguments,
                                                                void* arena) {
  std::vector<std::vector<std::int64_t>> times(programs.size());
  if (absl::Status status = pass(programs, arguments, arena, times); !status.ok()) return status;
  for (auto& list : times) list.clear();
  const Clock::time_point start = Clock::now();
  for (std::size_t n = 0; n < kMost && (n < kFewest || Clock::now() - start < kEnough); ++n) {
    if (absl::Status status = pass(programs, arguments, arena, times); !status.ok()) return status;
  }
  return times;
}

}  // namespace

absl::StatusOr<std::vector<device::StorageRef>> measure_kernels(absl::Span<const std::byte> key_bytes,
                                                                std::span<const void* const> inputs,
                                                                std::span<const std::uint64_t> scalars,
                                                                std::vector<KernelRecord>& kernels) {
  if (device::runnable_targets().empty()) {
    return absl::FailedPreconditionError("this machine interprets programs: there are no kernels to measure");
  }
  absl::StatusOr<Graph> graph = decode_graph(key_bytes);
  if (!graph.ok()) return graph.status();
  CompileOptions options = compile_options();
  options.dump = nullptr;
  absl::StatusOr<LoopProgram> loops = build_loops(*graph, options);
  if (!loops.ok()) return loops.status();
  if (loops->kernels.size() != kernels.size()) return absl::InternalError("the records are of another program");

  const absl::StatusOr<device::StorageRef> arena = block(loops->arena_bytes);
  if (!arena.ok()) return arena.status();
  std::vector<device::StorageRef> results;
  std::vector<void*> outputs;
  for (NodeId id : graph->outputs) {
    const TensorType& type = graph->node(id).type;
    absl::StatusOr<device::StorageRef> result =
        block(numel(type.shape) * static_cast<std::int64_t>(size_of(type.dtype)));
    if (!result.ok()) return result.status();
    outputs.push_back((*result)->data);
    results.push_back(*std::move(result));
  }
  const absl::StatusOr<Programs> programs = single_kernels(*std::move(loops));
  if (!programs.ok()) return programs.status();
  auto times = times_of(*programs, {inputs, scalars, outputs}, (*arena)->data);
  if (!times.ok()) return times.status();
  for (std::size_t k = 0; k < kernels.size(); ++k) kernels[k].measured = median((*times)[k]) * 1000;
  return results;
}

}  // namespace tenon::session
