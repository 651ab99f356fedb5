// SPDX-License-Identifier: MIT
// The values of `fill(seed, lo, hi)`: uniform float32 in [lo, hi) by an integer hash of the element's index, so that
// any implementation makes the same inputs bit for bit.
#pragma once

#include <cstdint>

namespace tenon {

/// Element `index` (row-major) of a fill: the 32-bit finalizer of MurmurHash3 (Appleby, public domain) over
/// index + 0x9E3779B9*seed, its top 24 bits as a fraction u, then u*float(hi - lo) + float(lo) in float32. Other dtypes
/// hold this value cast.
inline float fill_value(std::uint64_t index, std::uint64_t seed, double lo, double hi) {
  std::uint32_t x = static_cast<std::uint32_t>(index) + static_cast<std::uint32_t>(0x9E3779B9u * seed);
  x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
  x = (x ^ (x >> 13)) * 0xC2B2AE35u;
  x ^= x >> 16;
  return static_cast<float>(x >> 8) * 0x1p-24f * static_cast<float>(hi - lo) + static_cast<float>(lo);
}

}  // namespace tenon
