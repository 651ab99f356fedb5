// SPDX-License-Identifier: MIT
// pow for float32 and float64, with the special cases of C99's annex F.
//
// |x|^y = 2^(y log2 |x|). The logarithm is a sum of two T, about 9 (float32) and 12 (float64) bits better than one,
// because |y log2 |x|| goes up to the exponent range. Coefficients: coefficients.sollya.
#pragma once

#include "compiler/ops/math/exp.h"
#include "compiler/ops/math/float_parts.h"
#include "compiler/ops/math/pair.h"

namespace tenon::math {
namespace internal {

/// ((atanh(s) / s - 1) / z - 1/3) / z of z = s^2 <= 0.0295.
template <class B>
F32<B> atanh_tail(const F32<B>& z) {
  return polynomial(z, {0x1.99999ap-3f, 0x1.249212p-3f, 0x1.c7021cp-4f, 0x1.82b46ap-4f});
}
template <class B>
F64<B> atanh_tail(const F64<B>& z) {
  return polynomial(z, {0x1.999999999999ap-3, 0x1.2492492492304p-3, 0x1.c71c71c74a4a4p-4, 0x1.745d173ef74c2p-4,
                        0x1.3b13a8e578d3cp-4, 0x1.1115831b8c7fdp-4, 0x1.e00ed3fb0022ap-5, 0x1.db156dec3600ep-5});
}

template <class T>
struct PowConstants;
template <>
struct PowConstants<float> {
  static constexpr float kThird = 0x1.555556p-2f, kThirdRest = -0x1.555556p-27f;
  static constexpr float kTwoOverLn2 = 0x1.715476p+1f, kTwoOverLn2Rest = 0x1.4ae0cp-25f;
  static constexpr float kLow = 0x1.6a09e6p-1f;
};
template <>
struct PowConstants<double> {
  static constexpr double kThird = 0x1.5555555555555p-2, kThirdRest = 0x1.5555555555555p-56;
  static constexpr double kTwoOverLn2 = 0x1.71547652b82fep+1, kTwoOverLn2Rest = 0x1.777d0ffda0d24p-55;
  static constexpr double kLow = 0x1.6a09e667f3bcdp-1;
};

/// log2(x) for finite x > 0.
template <class B, class T>
Pair<B, T> accurate_log2(const Expr<B, T>& x) {
  using C = PowConstants<T>;
  const auto [e, m, biased] = split(x, C::kLow);
  // s = (m - 1) / (m + 1), with the rest that the division and m + 1 lose.
  const auto f = m - T(1);
  const auto t = ordered_sum(constant(x, T(2)), f);
  const auto reciprocal = T(1) / t.high;
  const auto quotient = f * reciprocal;
  const Pair<B, T> s = {quotient, (fma(-quotient, t.high, f) - quotient * t.low) * reciprocal};
  // log2(m) = 2 / ln 2 * (s + s z (1/3 + z tail)).
  const auto z = product(s, s);
  const auto q = ordered_sum(constant(x, C::kThird), z.high * atanh_tail(z.high));
  const auto v = product(s, product(z, Pair<B, T>{q.high, q.low + C::kThirdRest}));
  const auto sum = ordered_sum(s.high, v.high);
  const Pair<B, T> atanh = {sum.high, sum.low + (s.low + v.low)};
  const Pair<B, T> base = {constant(x, C::kTwoOverLn2), constant(x, C::kTwoOverLn2Rest)};
  const auto scaled = product(atanh, base);
  const auto result = ordered_sum(e, scaled.high);
  return {result.high, result.low + scaled.low};
}

/// |x|^y where neither is 1 or 0 by definition; NaN passes through.
template <class B, class T>
Expr<B, T> pow_of_magnitude(const Expr<B, T>& magnitude, const Expr<B, T>& y) {
  constexpr T kHuge = std::is_same_v<T, float> ? T(0x1p40) : T(0x1p80);  // overflows, and times 0 is 0
  const auto log = accurate_log2(magnitude);
  const auto finite = select(magnitude < Format<T>::kInf, log.high, magnitude);
  const auto high = select(magnitude == T(0), -Format<T>::kInf, finite);
  const auto exponent = at_least(at_most(y, kHuge), -kHuge);
  const auto z = exact_product(exponent, high);
  const auto bounded = at_least(at_most(z.high, kExp2Max<T>), kExp2Min<T>);
  const auto rest = select(bounded == z.high, fma(exponent, log.low, z.low), T(0));
  const auto k = round_product(bounded, T(1));
  return scale(exp2_polynomial((bounded - k.value) + rest), k, z.high < kExp2Min<T>);
}

}  // namespace internal

/// x to the power y.
template <class B, FloatElement T>
Expr<B, T> pow(const Expr<B, T>& x, const Expr<B, T>& y) {
  using F = Format<T>;
  const auto magnitude = abs(x);
  const auto half = y * T(0.5);
  const auto is_integer = trunc(y) == y;
  const auto is_odd = is_integer & (trunc(half) != half);
  const auto sign = select(is_odd, to_bits(x) & std::bit_cast<Bits<T>>(T(-0.0)), Bits<T>(0));
  const auto value = from_bits(to_bits(internal::pow_of_magnitude(magnitude, y)) | sign);
  const auto undefined = (x < T(0)) & (x > -F::kInf) & !is_integer;
  return select((y == T(0)) | (x == T(1)), T(1), select(undefined & (y == y), F::kNan, value));
}

}  // namespace tenon::math
