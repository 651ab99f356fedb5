// SPDX-License-Identifier: MIT
// The host stub: the native function of a program (ProgramFunction in runtime_table.h), which lays out the table of
// buffer addresses and calls or launches the kernels in order.
#pragma once

#include <span>

#include "compiler/codegen/cpu/kernel.h"
#include "compiler/ir/loop_ir.h"

namespace tenon::codegen {

/// Adds the function, with external linkage, to the module that holds the kernels. Kernels of few tasks are called at
/// once, on the calling thread; others go through the runtime's parallel_for.
void emit_host_stub(llvm::Module& module, const LoopProgram& program, std::span<const KernelLaunch> launches);

}  // namespace tenon::codegen
