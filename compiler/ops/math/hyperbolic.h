// SPDX-License-Identifier: MIT
// sinh, cosh, tanh, asinh, acosh, atanh for float32 and float64.
//
// sinh and cosh by the addition theorem at k ln 2; the inverse functions are logarithms, in float64 also for float32.
// Coefficients: coefficients.sollya.
#pragma once

#include "compiler/ops/math/exp.h"
#include "compiler/ops/math/log.h"
#include "compiler/ops/math/pair.h"

namespace tenon::math {
namespace internal {

/// tanh x for |x| <= 0.95.
template <class B>
F32<B> small_tanh(const F32<B>& x) {
  const auto z = x * x;
  const auto p = polynomial(z, {-0x1.555554p-2f, 0x1.111054p-3f, -0x1.b9eae6p-5f, 0x1.63c27ep-6f, -0x1.115ap-7f,
                                0x1.59c76p-9f, -0x1.ec9002p-12f});
  return fma(x * z, p, x);
}

/// 1 - 1 / d for 2 <= d < 2^100; the quotient to 2^-24 of itself. No division, which costs as much as sixteen products.
template <class B>
F32<B> one_minus_reciprocal(const F32<B>& d) {
  // By the exponent and a linear mantissa to 5 %; a step of Newton's, moved so that it errs to both sides, to 1.3e-3;
  // then with what is left, e, the series 1 + e + e^2.
  const auto guess = from_bits(0x7ef33400 - to_bits(d));
  const auto near = guess * fma(-d, guess, 0x1.0029fp+1f);
  const auto e = fma(-d, near, 1.0f);
  return 1.0f - fma(near, fma(e, e, e), near);
}

/// 1 - 2 / (e^2a + 1) for 0.7 <= a <= 10.
template <class B>
F32<B> large_tanh(const F32<B>& a) {
  // 2 a = k ln 2 + 2 r; the second part of ln 2 would not reach the result. (e^2r - 1) / 2 by exp's polynomial.
  const auto k = round_product(a, 2 * kLog2E<float>);
  const auto r = fma(k.value, -kLn2<float> / 2, a);
  const auto m =
      r * polynomial(r, {1.0f, 0x1.fffffcp-1f, 0x1.55549p-1f, 0x1.5558ap-2f, 0x1.123ac8p-3f, 0x1.6a604ap-5f});
  const auto s = power_of_two(k.plus(127));
  return one_minus_reciprocal(fma(s, m, fma(s, 0.5f, 0.5f)));
}

/// (cosh(r) - 1) / z and (sinh(r) / r - 1) / z of z = r^2 <= (ln(2) / 2)^2.
template <class B>
F32<B> cosh_polynomial(const F32<B>& z) {
  return polynomial(z, {0.5f, 0x1.5555p-5f, 0x1.6d30a6p-10f});
}
template <class B>
F64<B> cosh_polynomial(const F64<B>& z) {
  return polynomial(z, {0.5, 0x1.5555555555556p-5, 0x1.6c16c16c15fe9p-10, 0x1.a01a01a824824p-16, 0x1.27e4d7ef5cda5p-22,
                        0x1.1f793854ee705p-29});
}
template <class B>
F32<B> sinh_polynomial(const F32<B>& z) {
  return polynomial(z, {0x1.555556p-3f, 0x1.110f8ap-7f, 0x1.a35ep-13f});
}
template <class B>
F64<B> sinh_polynomial(const F64<B>& z) {
  return polynomial(z, {0x1.5555555555556p-3, 0x1.11111111106fdp-7, 0x1.a01a01a90f567p-13, 0x1.71de0a063b63p-19,
                        0x1.af3f8cee2b81dp-26});
}

/// Half of 2^k f(r) + 2^-k f(-r) (sign = 1: cosh x) or minus it (sign = -1: sinh x), f = exp, with x = k ln 2 + r >= 0.
template <class B, class T>
Expr<B, T> half_of_exponentials(const Expr<B, T>& x, T sign) {
  constexpr Bits<T> kBias = Format<T>::kBias;
  constexpr T kMax = std::is_same_v<T, float> ? T(89.5) : T(710.5);  // infinite from here on
  const auto [k, r, r_rest] = reduce_exp(at_most(x, kMax));
  const auto biased = k.plus(kBias);
  const auto up = power_of_two(biased - 2);
  const auto down = select(biased < 2 * kBias - 2, power_of_two(2 * kBias - 2 - biased), T(0)) * sign;
  // A quarter of the sum: even * cosh(r) + odd * sinh(r), the large terms first.
  const auto even = ordered_sum(up, down);
  const auto odd = up - down;
  const auto z = r * r;
  const auto linear = exact_product(odd, r);
  const auto sum = two_sum(even.high, linear.high);
  const auto sinh_rest = fma(r * z, sinh_polynomial(z), r_rest);
  const auto rest = fma(odd, sinh_rest, linear.low + sum.low + even.low);
  const auto quarter = sum.high + fma(even.high, fma(z, cosh_polynomial(z), r * r_rest), rest);
  return quarter + quarter;
}

}  // namespace internal

/// The hyperbolic sine; -0 gives -0.
template <class B, FloatElement T>
Expr<B, T> sinh(const Expr<B, T>& x) {
  constexpr T kTiny = std::numeric_limits<T>::epsilon();  // below it sinh(x) rounds to x
  const auto a = abs(x);
  return select(a < kTiny, x, copysign(internal::half_of_exponentials(a, T(-1)), x));
}

/// The hyperbolic cosine.
template <class B, FloatElement T>
Expr<B, T> cosh(const Expr<B, T>& x) {
  return internal::half_of_exponentials(abs(x), T(1));
}

/// The hyperbolic tangent; -0 gives -0.
template <class B>
F32<B> tanh(const F32<B>& x) {
  const auto a = abs(x);
  const auto large = internal::large_tanh(at_most(a, 10.0f));
  return copysign(select(a < 0.95f, internal::small_tanh(a), large), x);
}
template <class B>
F64<B> tanh(const F64<B>& x) {
  constexpr double kTiny = 0x1p-30;  // below it tanh(x) rounds to x
  const auto a = abs(x);
  // h / (h + 1) for h = (e^2a - 1) / 2, with the errors of the sum and the division put back.
  const auto [high, low] = internal::half_of_expm1(at_most(a + a, 40.0));
  const auto half = ordered_sum(high, low);
  const auto d = two_sum(half.high, constant(x, 1.0));
  const auto reciprocal = 1.0 / d.high;
  const auto q = half.high * reciprocal;
  const auto lost = fma(-q, d.high, half.high) + (half.low - q * (d.low + half.low));
  return select(a < kTiny, x, copysign(fma(lost, reciprocal, q), x));
}

/// The inverse of sinh; -0 gives -0.
template <class B>
F64<B> asinh(const F64<B>& x) {
  const auto a = abs(x);
  // log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))); log(2 a) for a so large that a^2 may overflow.
  const auto is_large = a > 0x1p60;
  const auto square = a * a;
  const auto t = select(is_large, a, a + square / (1.0 + sqrt(square + 1.0)));
  return copysign(log1p(t) + select(is_large, internal::kLn2<double>, 0.0), x);
}

/// The inverse of cosh, at least 0; NaN for x < 1.
template <class B>
F64<B> acosh(const F64<B>& x) {
  const auto is_large = x > 0x1p60;
  // log1p(u + sqrt(u (u + 2))) for u = x - 1, with what the product, the root and the sums lose.
  const auto u = x - 1.0;
  const auto v = ordered_sum(constant(x, 2.0), u);
  const auto square = exact_product(u, v.high);
  const auto root = sqrt(square.high);
  const auto root_rest = fma(-root, root, square.high) + fma(u, v.low, square.low);
  const auto t = two_sum(u, root);
  const auto rest = t.low + root_rest / (root + root + Format<double>::kMinNormal);
  // log(2 x) where x is so large that the square may overflow.
  const auto high = select(is_large, x, t.high);
  const auto sum = high + 1.0;
  const auto value = internal::log1p_of_sum(high, sum, (high - (sum - 1.0)) + select(is_large, 0.0, rest));
  const auto shifted = value + select(is_large, internal::kLn2<double>, 0.0);
  return select(x < 1.0, Format<double>::kNan, shifted);
}

/// The inverse of tanh; infinite at 1 and -1, NaN beyond, -0 at -0.
template <class B>
F64<B> atanh(const F64<B>& x) {
  const auto a = abs(x);
  // Half of log1p(2 a / (1 - a)), with what the difference and the division lose.
  const auto d = ordered_sum(constant(x, 1.0), -a);
  const auto q = (a + a) / d.high;
  const auto rest = (fma(-q, d.high, a + a) - q * d.low) / d.high;
  const auto sum = q + 1.0;
  const auto value = internal::log1p_of_sum(q, sum, (q - (sum - 1.0)) + rest) * 0.5;
  return copysign(select(a < 1.0, value, select(a == 1.0, Format<double>::kInf, Format<double>::kNan)), x);
}

// float32: a logarithm in float64, whose loss near zero (where the result is x) or near 1 does not reach float32.
template <class B>
F32<B> asinh(const F32<B>& x) {
  const auto a = to_f64(abs(x));
  const auto value = to_f32(internal::brief_log(a + sqrt(fma(a, a, 1.0))));
  return select((abs(x) >= 0x1p-13f) & (abs(x) < Format<float>::kInf), copysign(value, x), x);
}
template <class B>
F32<B> acosh(const F32<B>& x) {
  const auto wide = to_f64(x);
  const auto value = to_f32(internal::brief_log(wide + sqrt(fma(wide, wide, -1.0))));
  return select(x < Format<float>::kInf, select(x < 1.0f, Format<float>::kNan, value), x);
}
template <class B>
F32<B> atanh(const F32<B>& x) {
  const auto a = to_f64(abs(x));
  const auto value = to_f32(internal::brief_log((1.0 + a) / (1.0 - a)) * 0.5);
  const auto inside = select(abs(x) < 0x1p-13f, x, copysign(value, x));
  const auto edge = copysign(constant(x, Format<float>::kInf), x);
  return select(abs(x) < 1.0f, inside, select(abs(x) == 1.0f, edge, Format<float>::kNan));
}

}  // namespace tenon::math
