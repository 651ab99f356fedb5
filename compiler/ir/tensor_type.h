// SPDX-License-Identifier: MIT
// Dtype and shape of a value: what an op's check computes from its operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "tenon/dtype.h"

namespace tenon {

using Shape = absl::InlinedVector<std::int64_t, 4>;

/// More axes than this are refused where graphs come in.
inline constexpr std::size_t kMaxRank = 64;

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

/// True when the shape has at most kMaxRank axes, no negative length, and fewer than 2^50 elements (lengths of 0
/// counted as 1), so that no arithmetic on positions overflows.
bool is_possible_shape(absl::Span<const std::int64_t> shape);
/// True when there is a stride for each axis, or none at all, and no position they span overflows.
bool are_possible_strides(absl::Span<const std::int64_t> shape, absl::Span<const std::int64_t> strides);
/// True when the bits above the dtype's width are clear and a bool is 0 or 1.
bool is_element(DType dtype, std::uint64_t bits);

/// Row-major strides in elements.
Shape row_major_strides(absl::Span<const std::int64_t> shape);

/// "[2, 3]"
std::string to_string(absl::Span<const std::int64_t> shape);
/// "float32[2, 3]"
std::string to_string(const TensorType& type);
/// The dtype of that name, or nothing.
std::optional<DType> find_dtype(std::string_view name);

}  // namespace tenon
