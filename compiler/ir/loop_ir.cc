// SPDX-License-Identifier: MIT
// Names and task counts of kernels.
#include "compiler/ir/loop_ir.h"

namespace tenon {

std::string_view name_of(KernelClass kernel_class) {
  constexpr std::string_view kNames[] = {"pointwise", "inner_reduction", "outer_reduction", "nested_reduction", "scan", "matmul"};
  return kNames[static_cast<std::size_t>(kernel_class)];
}

DType accumulator_dtype(DType dtype) {
  if (is_half(dtype)) return DType::kFloat32;
  if (is_float(dtype)) return dtype;
  return size_of(dtype) <= 4 ? DType::kInt32 : DType::kInt64;
}

std::int64_t Kernel::tasks() const {
  if (outer.empty() || row_block <= 1) return outer_count() * chunks();
  const std::int64_t blocks = (outer.back() + row_block - 1) / row_block;
  return numel(absl::MakeConstSpan(outer).first(outer.size() - 1)) * blocks * chunks();
}

}  // namespace tenon
