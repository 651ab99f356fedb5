// SPDX-License-Identifier: MIT
// The runtime's way to the compiler: opens libtenon_compiler.so on the first miss, or uses the one linked in.
//
// A process whose programs all come from the cache never gets here, and so never loads LLVM.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/compiler_abi.h"
#include "compiler/codegen/target.h"

namespace tenon::session {

/// Compiles serialised kernels for `target`: a stored flat image or a text, by `emit`. Opens the compiler first where
/// needed; if it cannot be opened, every call returns Unavailable, naming the files tried and why each failed.
/// Unavailable too once the process that opened it exits, or if no thread can be made for it. Any other error is the
/// compiler's own. Thread-safe; a compile holds no lock.
absl::StatusOr<std::vector<std::byte>> compile_kernels(std::span<const std::byte> kernels,
                                                       const codegen::TargetSpec& target,
                                                       TenonEmit emit = kTenonEmitImage);

/// Opens the compiler ahead of need; the result is that of the first try in this process, until it exits.
absl::Status open_compiler();

/// Whether this process has opened the compiler.
bool is_compiler_open();

}  // namespace tenon::session
