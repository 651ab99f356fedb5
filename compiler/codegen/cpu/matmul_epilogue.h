// SPDX-License-Identifier: MIT
// The epilogue of a matmul: the phase that takes finished accumulators, as a function of its own, so that the tiles
// keep their registers.
#pragma once

#include "absl/status/status.h"
#include "compiler/codegen/cpu/matmul_plan.h"
#include "compiler/ir/loop_ir.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace tenon::codegen {

/// Adds the function that EpilogueMaker asks for, `kernel.name`.epilogue, for the one phase of `kernel`. Sets `status`
/// to Unimplemented, naming the kernel, for what there is no code for.
llvm::Function* emit_epilogue(llvm::Module& module, const LoopProgram& program, const Kernel& kernel,
                              const MatmulPlan& plan, int vector_bytes, absl::Status* status);

}  // namespace tenon::codegen
