// SPDX-License-Identifier: MIT
// Emission: from the kernels of a program to LLVM IR.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "compiler/codegen/target.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace tenon {
struct LoopProgram;
}

namespace tenon::codegen {

/// Builds the module of a program: its kernels and the host stub (runtime_table.h), which alone has external linkage;
/// all are nounwind and without unwind tables. The program must be valid (compiler/ir/verify.h). Unimplemented, naming
/// the kernel, for what there is no code for. Deterministic.
absl::StatusOr<std::unique_ptr<llvm::Module>> emit_module(llvm::LLVMContext& context, const LoopProgram& program,
                                                          const TargetSpec& target);

/// The same from the bytes of encode_loop_program. They come from another library of the same build, so malformed
/// bytes are an error status, never a crash.
absl::StatusOr<std::unique_ptr<llvm::Module>> emit_module(llvm::LLVMContext& context,
                                                          std::span<const std::byte> kernels, const TargetSpec& target);

}  // namespace tenon::codegen
