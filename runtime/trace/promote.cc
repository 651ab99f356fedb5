// SPDX-License-Identifier: MIT
// The lattice by kind and width, rather than as a table of pairs.
#include "runtime/trace/promote.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/ir/graph.h"
#include "runtime/device/cpu/parallel.h"

namespace tenon::trace {
namespace {

DType promote_floats(DType a, DType b) {
  if (is_half(a) && is_half(b)) return DType::kFloat32;
  return std::max(a, b);
}

std::optional<DType> promote_ints(DType a, DType b) {
  if (is_signed_int(a) == is_signed_int(b)) return std::max(a, b);
  if (is_signed_int(b)) std::swap(a, b);
  if (size_of(a) > size_of(b)) return a;
  switch (b) {
    case DType::kUInt8:
      return DType::kInt16;
    case DType::kUInt16:
      return DType::kInt32;
    case DType::kUInt32:
      return DType::kInt64;
    default:
      return std::nullopt;
  }
}

bool is_in_range(DType dtype, Scalar scalar) {
  const std::int64_t value = scalar.as_int();
  const int bits = static_cast<int>(8 * size_of(dtype));
  if (scalar.kind() == Scalar::Kind::kUInt && value < 0) return dtype == DType::kUInt64;
  if (is_unsigned_int(dtype)) return value >= 0 && (bits == 64 || value >> bits == 0);
  return bits == 64 || (value >> (bits - 1) == 0 || value >> (bits - 1) == -1);
}

std::uint64_t bits_of_float(DType dtype, double value) {
  return dtype == DType::kBool ? std::fpclassify(value) != FP_ZERO : bits_of(dtype, value);
}

std::uint64_t bits_of_int(DType dtype, Scalar scalar) {
  const std::int64_t value = scalar.as_int();
  const bool is_huge = scalar.kind() == Scalar::Kind::kUInt && value < 0;
  if (is_huge && is_float(dtype)) return bits_of(dtype, static_cast<double>(static_cast<std::uint64_t>(value)));
  return bits_of(dtype, value);
}

}  // namespace

std::optional<DType> promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) && is_float(b)) return promote_floats(a, b);
  if (is_float(a) || is_float(b)) return is_float(a) ? a : b;
  if (a == DType::kBool || b == DType::kBool) return a == DType::kBool ? b : a;
  return promote_ints(a, b);
}

DType promote(DType dtype, Scalar scalar) {
  if (scalar.kind() == Scalar::Kind::kBool || is_float(dtype)) return dtype;
  if (scalar.is_float()) return DType::kFloat32;
  return dtype == DType::kBool ? DType::kInt64 : dtype;
}

std::optional<std::uint64_t> element_bits(DType dtype, Scalar scalar) {
  const device::DefaultFloatMode mode;
  if (scalar.is_float()) return bits_of_float(dtype, scalar.as_float());
  if (dtype == DType::kBool) return scalar.as_int() != 0;
  if (is_int(dtype) && !is_in_range(dtype, scalar)) return std::nullopt;
  return bits_of_int(dtype, scalar);
}

}  // namespace tenon::trace
