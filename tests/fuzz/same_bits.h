// SPDX-License-Identifier: MIT
// Comparison of results bit for bit, a NaN being equal to a NaN.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compiler/ops/interpreter.h"

namespace tenon::testing {

inline bool is_nan_bits(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::kFloat16:
      return (bits & 0x7fff) > 0x7c00;
    case DType::kBFloat16:
      return (bits & 0x7fff) > 0x7f80;
    case DType::kFloat32:
      return (bits & 0x7fffffff) > 0x7f800000;
    case DType::kFloat64:
      return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    default:
      return false;
  }
}

inline std::uint64_t element_bits(DType dtype, const void* data, std::int64_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(data) + static_cast<std::size_t>(i) * size_of(dtype),
              size_of(dtype));
  return bits;
}

/// Success, or the first element that differs.
inline ::testing::AssertionResult same_bits(const TensorType& type, const void* got, const void* want) {
  for (std::int64_t i = 0; i < numel(type.shape); ++i) {
    const std::uint64_t a = element_bits(type.dtype, got, i), b = element_bits(type.dtype, want, i);
    if (a == b || (is_nan_bits(type.dtype, a) && is_nan_bits(type.dtype, b))) continue;
    return ::testing::AssertionFailure() << to_string(type) << " differs at element " << i << ": 0x" << std::hex << a
                                         << ", wanted 0x" << b;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace tenon::testing
