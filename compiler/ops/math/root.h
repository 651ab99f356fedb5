// SPDX-License-Identifier: MIT
// rsqrt, cbrt, nextafter for float32 and float64.
#pragma once

#include "compiler/ops/math/float_parts.h"
#include "compiler/ops/math/pair.h"

namespace tenon::math {

/// 1 / sqrt(x); zero gives an infinity of its sign, a negative x NaN.
///
/// 1 / sqrt(x) rounded twice may be 1.5 ULP off: near 1 a quotient's ULP is half that of its divisor. sqrt(1 / x)
/// halves the quotient's error instead and stays below 0.86 ULP; scaling x keeps 1 / x a normal number.
template <class B>
F32<B> rsqrt(const F32<B>& x) {
  const auto small = x < 1.0f;
  const auto q = 1.0f / (x * select(small, 0x1p64f, 0x1p-64f));
  const auto y = sqrt(q) * select(small, 0x1p32f, 0x1p-32f);
  return select(x == 0.0f, q, select(x < 0.0f, Format<float>::kNan, y));
}
template <class B>
F64<B> rsqrt(const F64<B>& x) {
  return 1.0 / sqrt(x);
}

namespace internal {

/// A better cube root of m from y, by Halley's rule: the relative error is cubed. m - y^3 is formed without
/// cancellation error.
template <class B, class T>
Expr<B, T> improve_cbrt(const Expr<B, T>& m, const Expr<B, T>& y) {
  const auto square = exact_product(y, y);
  const auto cube = exact_product(square.high, y);
  const auto residual = (m - cube.high) - fma(square.low, y, cube.low);
  return y + y * residual / (cube.high + cube.high + m);
}

}  // namespace internal

/// The cube root, of negative x too; zeros and infinities give themselves.
template <class B, FloatElement T>
Expr<B, T> cbrt(const Expr<B, T>& x) {
  const auto a = abs(x);
  const auto parts = split(a, T(0.5));
  // x = m 2^(3 q), 1/2 <= m < 4; the exponent is divided as a float, which holds it exactly.
  const auto q = floor(fma(parts.exponent, T(1) / T(3), T(1) / T(6)));
  const auto left = fma(q, T(-3), parts.exponent);
  const auto m = parts.mantissa * select(left == T(0), T(1), select(left == T(1), T(2), T(4)));
  // Relative error 2^-10.4; coefficients.sollya.
  auto y = polynomial(m, {T(0x1.dd2ba6p-2), T(0x1.aba56cp-1), T(-0x1.b5641cp-2), T(0x1.3a833ap-3), T(-0x1.e051c2p-6),
                          T(0x1.25688ap-9)});
  y = internal::improve_cbrt(m, y);
  if constexpr (std::is_same_v<T, double>) y = internal::improve_cbrt(m, y);
  const Rounded<B, T> exponent = {q + Rounded<B, T>::kBase, q};
  const auto root = copysign(y * power_of_two(exponent.plus(Format<T>::kBias)), x);
  return select((a > T(0)) & (a < Format<T>::kInf), root, x);
}

/// The number next to x in the direction of y; y where they are equal.
template <class B, FloatElement T>
Expr<B, T> nextafter(const Expr<B, T>& x, const Expr<B, T>& y) {
  constexpr Bits<T> kSign = std::bit_cast<Bits<T>>(T(-0.0));
  const auto bits = to_bits(x);
  // Bits order like magnitudes: one more is away from zero.
  const auto away = select((x < y) == (x > T(0)), Bits<T>(1), Bits<T>(-1));
  const auto from_zero = (to_bits(y) & kSign) | Bits<T>(1);
  const auto next = from_bits(select(x == T(0), from_zero, bits + away));
  return select(x == y, y, select((x == x) & (y == y), next, x + y));
}

}  // namespace tenon::math
