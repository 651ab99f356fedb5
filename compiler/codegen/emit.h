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

namespace tenon::codegen {

/// Builds the module of a program from its serialised kernels (compiler/ir). The functions to be called from outside
/// have external linkage, all others internal; all are nounwind and without unwind tables. The bytes come from another
/// library of the same build, so a malformed input is InternalError, never a crash. Deterministic.
absl::StatusOr<std::unique_ptr<llvm::Module>> emit_module(llvm::LLVMContext& context,
                                                          std::span<const std::byte> kernels, const TargetSpec& target);

}  // namespace tenon::codegen
