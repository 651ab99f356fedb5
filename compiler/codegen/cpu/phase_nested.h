// SPDX-License-Identifier: MIT
// A phase with lanes and the one that is joined to it: a reduction inside a reduction.
#pragma once

#include "absl/status/status.h"
#include "compiler/codegen/cpu/phase.h"

namespace tenon::codegen {

/// Emits phases `first` and `first` + 1 of the kernel, the second of which is joined, for the task. Unimplemented,
/// naming the kernel, for what no schedule covers.
absl::Status emit_nested(KernelIr& ir, const Kernel& kernel, const LoopProgram& program, std::size_t first,
                         PhaseTask& task);

}  // namespace tenon::codegen
