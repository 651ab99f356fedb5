// SPDX-License-Identifier: MIT
// The loop-IR interpreter: runs what lowering and fusion made, without LLVM, in the canonical orders. It tells a fault
// of fusion from a fault of code generation, and checks every access against its buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/ir/loop_ir.h"
#include "compiler/ops/interpreter.h"

namespace tenon {

struct LoopInterpreterOptions {
  bool reverse_tasks = false;  ///< tasks are independent, so the order must not show
};

/// The program's outputs, in order. `program` has passed verify(). An index outside its buffer (for an input: outside
/// the box that its shape and strides span) or a read of memory that nothing wrote is an InternalError that names
/// kernel and instruction. One thread.
absl::StatusOr<std::vector<HostTensor>> interpret_loops(const LoopProgram& program, absl::Span<const HostView> inputs,
                                                        absl::Span<const std::uint64_t> scalars,
                                                        const LoopInterpreterOptions& options = {});

}  // namespace tenon
