// SPDX-License-Identifier: MIT
// Division with floor semantics, c > 0.
#pragma once

#include <cstdint>

namespace tenon {

inline std::int64_t floor_divide(std::int64_t a, std::int64_t c) { return a / c - (a % c < 0 ? 1 : 0); }
inline std::int64_t floor_mod(std::int64_t a, std::int64_t c) { return a % c + (a % c < 0 ? c : 0); }

}  // namespace tenon
