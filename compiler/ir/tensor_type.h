// SPDX-License-Identifier: MIT
// Dtype and shape of a value: what an op's check computes from its operands.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "tenon/dtype.h"

namespace tenon {

using Shape = absl::InlinedVector<std::int64_t, 4>;

struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Number of elements; 1 for a 0-d shape.
inline std::int64_t numel(absl::Span<const std::int64_t> shape) {
  std::int64_t n = 1;
  for (std::int64_t extent : shape) n *= extent;
  return n;
}

/// Row-major strides in elements.
Shape row_major_strides(absl::Span<const std::int64_t> shape);

/// "[2, 3]"
std::string to_string(absl::Span<const std::int64_t> shape);
/// "float32[2, 3]"
std::string to_string(const TensorType& type);

}  // namespace tenon
