// SPDX-License-Identifier: MIT
// The header of .npy files, as NumPy's format documentation describes it. Pure functions over text.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/tensor_type.h"

namespace tenon::api {

struct NpyHeader {
  TensorType type;
  bool is_fortran_order = false;
};

/// Parses the dictionary, e.g. "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }". Any input is safe;
/// InvalidArgument says in one line what is wrong.
absl::StatusOr<NpyHeader> parse_npy_header(std::string_view text);

/// The whole preamble of a file of format 1.0 in C order: magic, version, length and dictionary, a multiple of 64
/// bytes.
std::string npy_preamble(const TensorType& type);

}  // namespace tenon::api
