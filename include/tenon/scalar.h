// SPDX-License-Identifier: MIT
// A number beside tensors. Scalars are weak: they take the dtype of the tensors they meet (decided where they meet), so
// float32 + 0.5 stays float32; an integer tensor with a floating scalar gives float32.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "tenon/dtype.h"

namespace tenon {

namespace internal {

/// The same number in any floating-point mode: a host that flushes subnormals would convert them to 0.
constexpr double widen(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_subnormal = (bits & 0x7f800000u) == 0;
  if (!is_subnormal) return static_cast<double>(value);
  const double magnitude = static_cast<double>(bits & 0x7fffffu) * 0x1p-149;
  return bits >> 31 ? -magnitude : magnitude;
}

}  // namespace internal

class Scalar {
 public:
  enum class Kind : std::uint8_t { kBool, kInt, kUInt, kFloat };

  /// Any bool, integer or floating number; kept exactly (long double as double).
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::kBool;
      int_ = value;
    } else if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::kFloat;
      if constexpr (std::is_same_v<T, float>) {
        float_ = internal::widen(value);
      } else {
        float_ = static_cast<double>(value);
      }
    } else {
      kind_ = std::is_signed_v<T> ? Kind::kInt : Kind::kUInt;
      int_ = static_cast<std::int64_t>(value);
    }
  }

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_float() const { return kind_ == Kind::kFloat; }
  /// kBool, kInt: the value; kUInt: its bits.
  constexpr std::int64_t as_int() const { return int_; }
  /// kFloat: the value.
  constexpr double as_float() const { return float_; }

  /// The dtype of a tensor made of the scalar alone: bool, int64 (uint64 for what exceeds it) or float32.
  constexpr DType default_dtype() const {
    if (kind_ == Kind::kFloat) return DType::kFloat32;
    if (kind_ == Kind::kBool) return DType::kBool;
    return kind_ == Kind::kUInt && int_ < 0 ? DType::kUInt64 : DType::kInt64;
  }

 private:
  Kind kind_ = Kind::kInt;
  union {
    std::int64_t int_ = 0;
    double float_;
  };
};

}  // namespace tenon
