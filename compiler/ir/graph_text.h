// SPDX-License-Identifier: MIT
// The text form of a graph (.tir): printing and parsing. One line a node, in node order:
//
//   input x: float32[4, 8] strides=[1, 4] aligned=false
//   scalar eps: float32
//   %2: float32 = constant(0x3f800000)                       # 1
//   %3: float32[4] = sum(x, axis=[1], keepdims=false, dtype=float32)
//   output %3, x
//
// A name is an identifier or % and a number; it must be defined above its use. `#` starts a comment. Printing and
// parsing again gives the same graph (origins are not printed). For people the parser also takes: a result without its
// type; negative axes; constant(1.5); defaults for keepdims (false), correction, k, stream and modes (0), steps (1),
// axes (all), and the dtype of sum, prod, cumsum and cumprod. In a program, inputs and scalars may say what they hold:
//
//   input x: float32[4, 8] = fill(7, -1, 1)                  # see compiler/ir/fill.h
//   input t: int64[2, 2] = [[1, 2], [3, 4]]                  # numbers, true, false, nan, inf; 0x...: bits
//   input y: float32[100] = "y.npy"
//   scalar eps: float32 = 1e-6
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace tenon {

/// What an input or a scalar of a program text holds.
struct Initialiser {
  enum Kind : std::uint8_t { kNone, kFill, kLiteral, kFile };
  Kind kind = kNone;
  std::uint64_t seed = 0;  ///< kFill
  double lo = 0, hi = 0;
  std::vector<std::uint64_t> elements;  ///< kLiteral: bits of all elements, row-major
  std::string file;                     ///< kFile: the path as written
  friend bool operator==(const Initialiser&, const Initialiser&) = default;
};

/// A parsed .tir file. The vectors run parallel to graph.inputs and graph.scalars.
struct ProgramText {
  Graph graph;
  std::vector<std::string> input_names, scalar_names;
  std::vector<Initialiser> inputs, scalars;  ///< scalars: kNone or a literal of one element
};

/// The text form; inputs are named x0, x1, ..., scalars s0, s1, ..., other nodes % and their id.
std::string print_graph(const Graph& graph);
/// The same with the program's names and initialisers.
std::string print_program(const ProgramText& program);
/// InvalidArgument "line 3, column 7: <what is wrong>" for anything that is not a program. Every node of the result has
/// passed `infer`. Never reads a file.
absl::StatusOr<ProgramText> parse_program(std::string_view text);

/// One element as text: "1.5", "-inf", "true"; floats as short as reads back exactly.
std::string element_text(DType dtype, std::uint64_t bits);

}  // namespace tenon
