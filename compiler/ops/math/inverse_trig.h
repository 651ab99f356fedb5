// SPDX-License-Identifier: MIT
// asin, acos, atan, atan2 for float32 and float64.
//
// Each argument is brought to |t| <= 1/2, where t + t^3 p(t^2) serves; what the reduction loses is added again.
// Coefficients: coefficients.sollya.
#pragma once

#include "compiler/ops/math/float_parts.h"
#include "compiler/ops/math/pair.h"

namespace tenon::math {
namespace internal {

/// pi as a sum of two T.
template <class T>
inline constexpr T kPi = std::is_same_v<T, float> ? T(0x1.921fb6p+1) : T(0x1.921fb54442d18p+1);
template <class T>
inline constexpr T kPiRest = std::is_same_v<T, float> ? T(-0x1.777a5cp-24) : T(0x1.1a62633145c07p-53);

/// (atan(t) / t - 1) / z of z = t^2 <= 1/4.
template <class B>
F32<B> atan_polynomial(const F32<B>& z) {
  return polynomial(
      z, {-0x1.555556p-2f, 0x1.999992p-3f, -0x1.2481acp-3f, 0x1.c3e3ecp-4f, -0x1.559526p-4f, 0x1.66b0b4p-5f});
}
template <class B>
F64<B> atan_polynomial(const F64<B>& z) {
  return polynomial(
      z, {-0x1.5555555555555p-2, 0x1.999999999980ep-3, -0x1.24924924820bfp-3, 0x1.c71c71bd76fa7p-4,
          -0x1.745d15b0584b3p-4, 0x1.3b1388354385p-4, -0x1.110e56fa0e975p-4, 0x1.e1a282df2905p-5, -0x1.ad26eb6aad3bcp-5,
          0x1.7aad149b6a4d4p-5, -0x1.36b90b033ae9fp-5, 0x1.967fbda3916c9p-6, -0x1.29ee03621ad71p-7});
}
/// The same to 2^-34, for a float32 result.
template <class B>
F64<B> short_atan_polynomial(const F64<B>& z) {
  return polynomial(z, {-0x1.555555520122ap-2, 0x1.99998f19b1fbp-3, -0x1.248f93ad9cdf4p-3, 0x1.c6955c2b47a8cp-4,
                        -0x1.6e020223247e7p-4, 0x1.128cc7acad926p-4, -0x1.0d771ddfef265p-5});
}

/// (asin(t) / t - 1) / z of z = t^2 <= 1/4.
template <class B>
F32<B> asin_polynomial(const F32<B>& z) {
  return polynomial(z,
                    {0x1.555554p-3f, 0x1.3334cep-4f, 0x1.6d3e6ap-5f, 0x1.ffbf34p-6f, 0x1.0fe1b2p-6f, 0x1.1acb92p-5f});
}
template <class B>
F64<B> asin_polynomial(const F64<B>& z) {
  return polynomial(
      z, {0x1.5555555555556p-3, 0x1.3333333332d9ep-4, 0x1.6db6db6e48dffp-5, 0x1.f1c71c1187eddp-6, 0x1.6e8bb383c0ebbp-6,
          0x1.1c4d0fc1b6fbbp-6, 0x1.c9d336dfa2933p-7, 0x1.77ff42ac1dfb4p-7, 0x1.53365248bd332p-7, 0x1.5dc12cf8ad297p-8,
          0x1.224dcb11ab156p-6, -0x1.f6744b4ca8339p-7, 0x1.dc690516bc887p-6});
}

/// asin of a in [0, 1]: itself for a <= 1/2; for greater a of the half angle, asin(a) = pi/2 - 2 asin(sqrt((1-a)/2)).
/// The value is main + rest.
template <class B, class T>
struct ArcSine {
  Bool<B> is_half;
  Expr<B, T> main;
  Expr<B, T> rest;
};
template <class B, class T>
ArcSine<B, T> arc_sine(const Expr<B, T>& a) {
  const auto is_half = a > T(0.5);
  const auto z = select(is_half, fma(a, T(-0.5), T(0.5)), a * a);
  const auto root = sqrt(z);
  // What the root lost; the added constant only keeps 0 / 0 away.
  const auto lost = fma(-root, root, z) / (root + root + Format<T>::kMinNormal);
  const auto s = select(is_half, root, a);
  return {is_half, s, fma(s * z, asin_polynomial(z), select(is_half, lost, T(0)))};
}

/// base + t + rest, |base| >= |t| or base = 0, added with care.
template <class B, class T>
Expr<B, T> sum_of_three(const Expr<B, T>& base, const Expr<B, T>& t, const Expr<B, T>& rest) {
  const auto sum = ordered_sum(base, t);
  return sum.high + (sum.low + rest);
}

/// atan(y / x) for y, x >= 0, not both 0, as a multiple of pi/4 and atan(numerator / denominator).
template <class B, class T>
struct Octant {
  Bool<B> is_middle;
  Bool<B> is_steep;
  Expr<B, T> numerator;
  Expr<B, T> denominator;

  Expr<B, T> times_quarter_pi(T c) const {
    return select(is_steep, constant(numerator, 2 * c), select(is_middle, c, T(0)));
  }
};
template <class B, class T>
Octant<B, T> octant_of(const Expr<B, T>& y, const Expr<B, T>& x) {
  const auto is_steep = y > x + x;
  const auto is_middle = y + y > x;
  return {is_middle, is_steep, select(is_steep, -x, select(is_middle, y - x, y)),
          select(is_steep, y, select(is_middle, y + x, x))};
}

/// Two numbers >= 0 with the quotient, or the limit that C99 chooses where there is none: 0 / 0 = 0, inf / inf = 1.
template <class B>
struct Ratio {
  F64<B> y;
  F64<B> x;
};
template <class B>
Ratio<B> finite_ratio(const F64<B>& y, const F64<B>& x) {
  constexpr double kInf = Format<double>::kInf;
  const auto both_infinite = (y == kInf) & (x == kInf);
  const auto scale = select((y > 0x1p1000) | (x > 0x1p1000), 0x1p-60, 1.0);  // y + x must not overflow
  const auto divisor = select((y == 0.0) & (x == 0.0), 1.0, x);
  return {select(both_infinite, 1.0, y * scale), select(both_infinite, 1.0, divisor * scale)};
}

/// atan2(y, x): `brief` to a few units of 2^-34, else below 2 ULP.
template <bool brief, class B>
F64<B> angle_of(const F64<B>& y, const F64<B>& x) {
  const auto is_left = to_bits(x) < 0;
  const auto ratio = finite_ratio(abs(y), abs(x));
  const auto octant = octant_of(ratio.y, ratio.x);
  const auto t = octant.numerator / octant.denominator;
  const auto z = t * t;
  F64<B> p = z;
  if constexpr (brief) p = short_atan_polynomial(z);
  if constexpr (!brief) p = atan_polynomial(z);
  const auto base = octant.times_quarter_pi(kPi<double> / 4);
  const auto rest = octant.times_quarter_pi(kPiRest<double> / 4);
  const auto signed_t = select(is_left, -t, t);
  const auto value = sum_of_three(select(is_left, kPi<double> - base, base), signed_t,
                                  fma(signed_t * z, p, select(is_left, kPiRest<double> - rest, rest)));
  return copysign(value, y);
}

}  // namespace internal

/// The arc sine, in [-pi/2, pi/2]; NaN for |x| > 1.
template <class B, FloatElement T>
Expr<B, T> asin(const Expr<B, T>& x) {
  const auto [is_half, main, rest] = internal::arc_sine(abs(x));
  const auto upper = internal::sum_of_three(constant(x, internal::kPi<T> / 2), main * T(-2),
                                            fma(rest, T(-2), internal::kPiRest<T> / 2));
  return copysign(select(is_half, upper, main + rest), x);
}

/// The arc cosine, in [0, pi]; NaN for |x| > 1.
template <class B, FloatElement T>
Expr<B, T> acos(const Expr<B, T>& x) {
  const auto [is_half, main, rest] = internal::arc_sine(abs(x));
  const auto is_negative = x < T(0);
  // |x| <= 1/2: pi/2 - asin(x). x > 1/2: 0 + 2 asin(...). x < -1/2: pi - 2 asin(...).
  const auto turns = select(is_half, select(is_negative, T(1), T(0)), T(0.5));
  const auto factor = select(is_half, select(is_negative, T(-2), T(2)), select(is_negative, T(1), T(-1)));
  return internal::sum_of_three(turns * internal::kPi<T>, main * factor,
                                fma(rest, factor, turns * internal::kPiRest<T>));
}

/// The arc tangent, in [-pi/2, pi/2].
template <class B, FloatElement T>
Expr<B, T> atan(const Expr<B, T>& x) {
  const auto a = at_most(abs(x), T(0x1p60));  // pi/2 beyond
  const auto octant = internal::octant_of(a, constant(x, T(1)));
  const auto reciprocal = T(1) / octant.denominator;
  const auto t = select(octant.is_steep, -reciprocal, octant.numerator * reciprocal);
  // What the division lost, and the sum a + 1.
  const auto sum_lost = select(octant.is_middle & !octant.is_steep, a - (octant.denominator - T(1)), T(0));
  const auto lost = fma(-t, octant.denominator, octant.numerator) - t * sum_lost;
  const auto z = t * t;
  const auto rest = fma(lost, reciprocal, octant.times_quarter_pi(internal::kPiRest<T> / 4));
  const auto value = internal::sum_of_three(octant.times_quarter_pi(internal::kPi<T> / 4), t,
                                            fma(t * z, internal::atan_polynomial(z), rest));
  return copysign(value, x);
}

/// The angle of the point (x, y), in [-pi, pi], with the special cases of C99's annex F.
template <class B>
F32<B> atan2(const F32<B>& y, const F32<B>& x) {
  return to_f32(internal::angle_of<true>(to_f64(y), to_f64(x)));
}
template <class B>
F64<B> atan2(const F64<B>& y, const F64<B>& x) {
  return internal::angle_of<false>(y, x);
}

}  // namespace tenon::math
