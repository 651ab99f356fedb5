// SPDX-License-Identifier: MIT
// Programs whose compilation is timed. Each is over {rows, 1024} float32, and another number of rows is another
// program with the same loops, so that each compilation is of something new.
#pragma once

#include <string_view>
#include <vector>

#include "tenon/tenon.h"

namespace tenon::bench {

inline constexpr std::int64_t kRows = 64;

struct CompileProgram {
  std::string_view name;
  /// Traces it over an input of so many rows; evaluates nothing.
  Tensor (*trace)(const Tensor& x);
};

const std::vector<CompileProgram>& compile_programs();

/// Null if there is none of that name.
const CompileProgram* find_compile_program(std::string_view name);

/// An input of so many rows.
Tensor compile_input(std::int64_t rows);

}  // namespace tenon::bench
