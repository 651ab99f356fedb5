// SPDX-License-Identifier: MIT
// Dumps: the text of each stage, where TENON_DUMP asks for it.
#pragma once

#include "absl/types/span.h"
#include "compiler/pipeline.h"

namespace tenon::session {

/// Options of a compilation by the process's settings: realize rules, fusion, verification, and dumps of graphs and loops.
CompileOptions compile_options();

/// The LLVM IR and assembly of a program, where TENON_DUMP names llvm or asm.
void dump_code(absl::Span<const std::byte> key_bytes);

}  // namespace tenon::session
