// SPDX-License-Identifier: MIT
// Text and strides of tensor types.
#include "compiler/ir/tensor_type.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/ir/text.h"

namespace tenon {

bool is_possible_shape(absl::Span<const std::int64_t> shape) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 50;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(count, std::max<std::int64_t>(extent, 1), &count)) return false;
    if (count >= kMaxElements) return false;
  }
  return shape.size() <= kMaxRank;
}

bool are_possible_strides(absl::Span<const std::int64_t> shape, absl::Span<const std::int64_t> strides) {
  if (strides.empty()) return true;
  if (strides.size() != shape.size()) return false;
  constexpr std::int64_t kMaxSpan = std::int64_t{1} << 50;
  std::int64_t span = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t reach = 0;
    if (strides[i] < -kMaxSpan || strides[i] > kMaxSpan) return false;
    if (__builtin_mul_overflow(std::max<std::int64_t>(shape[i] - 1, 0), std::abs(strides[i]), &reach)) return false;
    span += reach;
    if (reach > kMaxSpan || span > kMaxSpan) return false;
  }
  return true;
}

bool is_element(DType dtype, std::uint64_t bits) {
  if (dtype == DType::kBool) return bits <= 1;
  return size_of(dtype) == sizeof bits || bits >> (8 * size_of(dtype)) == 0;
}

Shape row_major_strides(absl::Span<const std::int64_t> shape) {
  Shape strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

std::string to_string(absl::Span<const std::int64_t> shape) { return cat("[", join(shape), "]"); }

std::string to_string(const TensorType& type) { return cat(name_of(type.dtype), to_string(type.shape)); }

std::optional<DType> find_dtype(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace tenon
