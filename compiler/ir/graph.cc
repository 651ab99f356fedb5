// SPDX-License-Identifier: MIT
// Bits of 0-d elements. Narrow floats round once: through a float32 that is rounded to odd, which keeps what the second
// rounding needs to know.
#include "compiler/ir/graph.h"

#include <bit>
#include <cmath>
#include <limits>

#include "compiler/ir/rounding.h"

namespace tenon {
namespace {

template <class T>
std::uint64_t saturated(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kBeyond = std::is_signed_v<T> ? -kLow : 2.0 * (std::numeric_limits<T>::max() / 2 + 1);
  T result;
  if (value <= kLow) {
    result = std::numeric_limits<T>::min();
  } else if (value >= kBeyond) {
    result = std::numeric_limits<T>::max();
  } else {
    result = static_cast<T>(value);
  }
  return static_cast<std::make_unsigned_t<T>>(result);
}

std::uint64_t float_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace

std::uint64_t bits_of(DType dtype, double value) {
  switch (dtype) {
    case DType::kBool:
      return value != 0;
    case DType::kInt8:
      return saturated<std::int8_t>(value);
    case DType::kInt16:
      return saturated<std::int16_t>(value);
    case DType::kInt32:
      return saturated<std::int32_t>(value);
    case DType::kInt64:
      return saturated<std::int64_t>(value);
    case DType::kUInt8:
      return saturated<std::uint8_t>(value);
    case DType::kUInt16:
      return saturated<std::uint16_t>(value);
    case DType::kUInt32:
      return saturated<std::uint32_t>(value);
    case DType::kUInt64:
      return saturated<std::uint64_t>(value);
    case DType::kFloat16:
      return float16(round_to_odd(value)).bits;
    case DType::kBFloat16:
      return bfloat16(round_to_odd(value)).bits;
    case DType::kFloat32:
      return float_bits(static_cast<float>(value));
    case DType::kFloat64:
      return std::bit_cast<std::uint64_t>(value);
  }
  return 0;
}

std::uint64_t bits_of(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::kBool:
      return value != 0;
    case DType::kFloat16:
      return float16(round_to_odd(value)).bits;
    case DType::kBFloat16:
      return bfloat16(round_to_odd(value)).bits;
    case DType::kFloat32:
      return float_bits(static_cast<float>(value));
    case DType::kFloat64:
      return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    default: {
      const std::size_t bits = 8 * size_of(dtype);
      const auto wide = static_cast<std::uint64_t>(value);
      return bits == 64 ? wide : wide & ((std::uint64_t{1} << bits) - 1);
    }
  }
}

}  // namespace tenon
