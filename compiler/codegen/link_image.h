// SPDX-License-Identifier: MIT
// From an optimised module to a flat image: code generation into memory, then linking by JITLink at a fictitious
// address. Nothing is mapped executable or run here, and no state is left behind.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tenon::codegen {

/// Compiles and links the module into a stored flat image (compiler/flat_image.h). The symbols are the functions that
/// the module defines with external linkage; everything else is private to the image. Equal modules and machines give
/// equal bytes.
/// InternalError, naming the symbol or section, for what a flat image cannot hold: a call out of the image other than
/// to an ImportId, the address of a function or constant stored as data, writable or thread-local variables.
/// Diagnostics of the back end go to the module's context, whose handler the caller must check afterwards.
absl::StatusOr<std::vector<std::byte>> link_image(llvm::Module& module, llvm::TargetMachine& machine);

/// The module's assembly text.
absl::StatusOr<std::string> print_assembly(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace tenon::codegen
