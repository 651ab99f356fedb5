// SPDX-License-Identifier: MIT
// Promotion of dtypes: one lattice, and weak scalars. Pure functions.
//
// bool < integers < floats; an integer with a float gives the float's dtype; float16 with bfloat16 gives float32; a
// signed and an unsigned integer give the smallest signed one that holds both, and uint64 with a signed integer has
// none. A scalar takes the dtype of the tensors beside it, raised only where its kind is higher: an integer beside bool
// gives int64, a float beside integers or bool gives float32.
#pragma once

#include <cstdint>
#include <optional>

#include "tenon/dtype.h"
#include "tenon/scalar.h"

namespace tenon::trace {

/// The dtype that two tensors meet in; nothing for uint64 with a signed integer.
std::optional<DType> promote(DType a, DType b);

/// The dtype of a tensor of `dtype` beside a scalar.
DType promote(DType dtype, Scalar scalar);

/// The scalar as an element of dtype, as stored, in the low bytes: floats round to nearest even, a float to integers
/// saturates. Nothing when an integer is beyond an integer dtype's range.
std::optional<std::uint64_t> element_bits(DType dtype, Scalar scalar);

}  // namespace tenon::trace
