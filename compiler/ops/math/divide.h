// SPDX-License-Identifier: MIT
// fmod, and the division of floats that NumPy and Python have: floor_divide and remainder. The remainder is exact where
// fmod is and takes the divisor's sign; the quotient is an integer that fits to it.
#pragma once

#include <array>

#include "compiler/ops/math/float_parts.h"

namespace tenon::math {

/// x - y * trunc(x / y), exact, with the sign of x; NaN for y = 0 and for infinite x.
///
/// With |x / y| < 2^kFraction, the rounded quotient is at most one too large, and both x - q y and the correction by y
/// are exact. Beyond, and for what has no quotient, the builder's own fmod, which is slow.
template <class B, FloatElement T>
Expr<B, T> fmod(const Expr<B, T>& x, const Expr<B, T>& y) {
  constexpr T kLimit = T(Bits<T>{1} << Format<T>::kFraction);
  const auto a = abs(x);
  const auto b = abs(y);
  const auto quotient = abs(x / y);
  const auto rest = fma(-trunc(quotient), b, a);
  const auto fast = select(a < b, a, select(rest < T(0), rest + b, rest));
  const auto [magnitude] =
      if_any(!(quotient < kLimit), std::array{fast}, [&] { return std::array{library_fmod(a, b)}; });
  return copysign(magnitude, x);
}

/// x - y * floor(x / y) from the exact fmod; zero has the sign of y; NaN for y = 0.
template <class B, FloatElement T>
Expr<B, T> remainder(const Expr<B, T>& x, const Expr<B, T>& y) {
  const auto rest = fmod(x, y);
  const auto other_side = flip_sign(rest, y) < T(0);
  const auto moved = select(other_side, rest + y, rest);
  return select(rest == T(0), copysign(rest, y), moved);
}

/// floor(x / y) such that it agrees with remainder(x, y); x / y where y = 0.
template <class B, FloatElement T>
Expr<B, T> floor_divide(const Expr<B, T>& x, const Expr<B, T>& y) {
  const auto rest = fmod(x, y);
  const auto other_side = flip_sign(rest, y) < T(0);
  const auto exact = (x - rest) / y;
  const auto quotient = select(other_side, exact - T(1), exact);
  const auto down = floor(quotient);
  const auto whole = select(quotient - down > T(0.5), down + T(1), down);
  const auto division = x / y;
  return select(y == T(0), division, select(quotient == T(0), copysign(quotient, division), whole));
}

}  // namespace tenon::math
