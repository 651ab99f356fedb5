// SPDX-License-Identifier: MIT
// Text and strides of tensor types.
#include "compiler/ir/tensor_type.h"

#include "compiler/ir/text.h"

namespace tenon {

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

}  // namespace tenon
