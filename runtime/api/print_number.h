// SPDX-License-Identifier: MIT
// Numbers as NumPy prints them in an array: each column as wide as its widest number, points below each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tenon/dtype.h"

namespace tenon::api {

/// The shown elements of a tensor as texts of one width. `elements` point to elements of dtype.
std::vector<std::string> format_elements(DType dtype, const std::vector<const std::byte*>& elements);

/// One element by itself: "1.5", "True", "1e+20".
std::string format_element(DType dtype, const std::byte* element);

}  // namespace tenon::api
