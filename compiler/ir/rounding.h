// SPDX-License-Identifier: MIT
// Rounding to odd: the float32 on the way from a wider value to float16 or bfloat16.
//
// Rounding a wide value to float32 and then to a half type rounds twice and may be off by one. If the first step
// instead truncates towards zero and sets the last bit when anything was lost, the second rounds as if there had been
// no first (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008): float32 has more than p + 2
// bits.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>

namespace tenon {

/// `value` as a float32 rounded to odd; NaN and infinities stay what they are.
inline float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || std::isinf(value) || static_cast<double>(nearest) == value) return nearest;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool too_far = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>((bits - (too_far ? 1u : 0u)) | 1u);
}

template <std::integral T>
float round_to_odd(T value) {
  if constexpr (sizeof(T) < 8) {
    return round_to_odd(static_cast<double>(value));
  } else {
    const bool negative = value < 0;
    auto magnitude = static_cast<std::uint64_t>(value);
    if (negative) magnitude = 0 - magnitude;
    // From 2^53 on the low 12 bits only matter as "something was there"; without them the value fits a double exactly.
    if (magnitude >> 53) magnitude = (magnitude >> 12 << 12) | ((magnitude & 0xfffu) != 0 ? 0x800u : 0u);
    const auto exact = static_cast<double>(magnitude);
    return round_to_odd(negative ? -exact : exact);
  }
}

}  // namespace tenon
