// SPDX-License-Identifier: MIT
// See program.h.
#include "runtime/session/program.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/runtime_table.h"
#include "compiler/ir/serialize.h"
#include "compiler/ops/decompose.h"
#include "compiler/ops/interpreter.h"
#include "runtime/device/cpu/allocator.h"
#include "runtime/device/cpu/parallel.h"

namespace tenon::session {
namespace {

const RuntimeTable& runtime_table() {
  static const RuntimeTable table = [] {
    RuntimeTable t{};
    t.abi = kRuntimeTableAbi;
    t.parallel_for = device::parallel_for;
    t.scratch = device::scratch_block;
    return t;
  }();
  return table;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Program>> Program::load(const Artifact& artifact,
                                                             trace::CanonicalBytes canonical_bytes) {
  absl::StatusOr<device::LoadedImage> image = device::LoadedImage::load(artifact.image);
  if (!image.ok()) return image.status();
  std::shared_ptr<Program> program(new Program);
  program->image_ = *std::move(image);
  program->stub_ = program->image_->find(kProgramSymbol);
  if (!program->stub_) return absl::InternalError("the image has no host stub");
  program->arena_bytes_ = artifact.arena_bytes;
  program->num_kernels_ = artifact.num_kernels;
  program->canonical_bytes_ = std::move(canonical_bytes);
  return program;
}

absl::StatusOr<std::shared_ptr<const Program>> Program::interpreted(trace::CanonicalBytes canonical_bytes) {
  const absl::StatusOr<Graph> graph = decode_graph(*canonical_bytes);
  if (!graph.ok()) return graph.status();
  absl::StatusOr<Graph> primitives = decompose(*graph);
  if (!primitives.ok()) return primitives.status();
  std::shared_ptr<Program> program(new Program);
  program->graph_ = *std::move(primitives);
  program->canonical_bytes_ = std::move(canonical_bytes);
  return program;
}

std::size_t Program::held_bytes() const {
  const std::size_t code = image_ ? image_->mapped_bytes() : graph_.size() * sizeof(Node);
  return code + (canonical_bytes_ ? canonical_bytes_->size() : 0);
}

absl::Status Program::run(const RunArguments& arguments) const {
  return image_ ? run_compiled(arguments) : run_interpreted(arguments);
}

absl::Status Program::run_compiled(const RunArguments& arguments) const {
  device::StorageRef arena;
  if (arena_bytes_ > 0) {
    arena = device::allocate(static_cast<std::size_t>(arena_bytes_));
    if (!arena)
      return absl::ResourceExhaustedError(absl::StrCat("no memory for ", arena_bytes_, " bytes of temporaries"));
  }
  return run_in(arguments, arena ? arena->data : nullptr);
}

absl::Status Program::run_in(const RunArguments& arguments, void* arena) const {
  const device::DefaultFloatMode mode;
  auto* stub = reinterpret_cast<ProgramFunction*>(stub_);
  const std::int32_t failed = stub(&runtime_table(), const_cast<void* const*>(arguments.inputs.data()),
                                   arguments.outputs.data(), arguments.scalars.data(), arena);
  return failed == 0 ? absl::OkStatus() : absl::ResourceExhaustedError("no memory for a kernel's scratch block");
}

absl::Status Program::run_interpreted(const RunArguments& arguments) const {
  std::vector<HostView> inputs;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) {
    inputs.push_back({arguments.inputs[i], graph_.layouts[i].strides});
  }
  const device::DefaultFloatMode mode;
  absl::StatusOr<std::vector<HostTensor>> results = interpret(graph_, inputs, arguments.scalars);
  if (!results.ok()) return results.status();
  for (std::size_t i = 0; i < results->size(); ++i) {
    std::ranges::copy((*results)[i].data, static_cast<std::byte*>(arguments.outputs[i]));
  }
  return absl::OkStatus();
}

}  // namespace tenon::session
