// SPDX-License-Identifier: MIT
// log, log2, log10, log1p for float32 and float64.
//
// x = 2^e (1 + f), log(1 + f) = f + a correction that is small beside f; the sum of e log(2), f and the correction is
// made with the rounding error of its first addition. Coefficients: coefficients.sollya.
#pragma once

#include <type_traits>

#include "compiler/ops/math/float_parts.h"
#include "compiler/ops/math/pair.h"

namespace tenon::math {
namespace internal {

// The bases: kScale + kScaleRest = 1 / ln(base); kTwo + kTwoRest = log(2), where e * kTwo is exact; the float32
// polynomial (log(1 + f) - f / ln(base)) / f^2 for 1 + f in [kLow, 2 kLow).
//
// kLow: near 2/3 the polynomial in f has the smallest |f|. log10(1.34) is just above 1/8; a little below it an ULP
// would be half as great as the errors grant.
template <class T>
struct BaseE {
  static constexpr float kLow = 0x1.555556p-1f;
  static constexpr T kScale = 1;
  static constexpr T kScaleRest = 0;
  static constexpr T kTwo = std::is_same_v<T, float> ? T(0x1.62e4p-1) : T(0x1.62e42fefa38p-1);
  static constexpr T kTwoRest = std::is_same_v<T, float> ? T(0x1.7f7d1cp-20) : T(0x1.ef35793c7673p-45);
  static constexpr float kPolynomial[] = {-0.5f,           0x1.555558p-2f, -0x1.ffff62p-3f, 0x1.99969ap-3f,
                                          -0x1.5589d8p-3f, 0x1.251082p-3f, -0x1.f5358cp-4f, 0x1.b5e712p-4f,
                                          -0x1.0368b2p-3f, 0x1.f62036p-4f};
};
template <class T>
struct Base2 {
  static constexpr float kLow = 0x1.555556p-1f;
  static constexpr T kScale = std::is_same_v<T, float> ? T(0x1.715476p+0) : T(0x1.71547652b82fep+0);
  static constexpr T kScaleRest = std::is_same_v<T, float> ? T(0x1.4ae0cp-26) : T(0x1.777d0ffda0d24p-56);
  static constexpr T kTwo = 1;
  static constexpr T kTwoRest = 0;
  static constexpr float kPolynomial[] = {-0x1.715476p-1f, 0x1.ec70a2p-2f, -0x1.715452p-2f, 0x1.277478p-2f,
                                          -0x1.eca8b4p-3f, 0x1.a6d538p-3f, -0x1.6a77eap-3f, 0x1.3b8c86p-3f,
                                          -0x1.728eaap-3f, 0x1.6b73a4p-3f};
};
template <class T>
struct Base10 {
  static constexpr float kLow = 0.67f;
  static constexpr T kScale = std::is_same_v<T, float> ? T(0x1.bcb7b2p-2) : T(0x1.bcb7b1526e50ep-2);
  static constexpr T kScaleRest = std::is_same_v<T, float> ? T(-0x1.5b235ep-27) : T(0x1.95355baaafad3p-57);
  static constexpr T kTwo = std::is_same_v<T, float> ? T(0x1.3442p-2) : T(0x1.34413509f8p-2);
  static constexpr T kTwoRest = std::is_same_v<T, float> ? T(-0x1.95ec1p-19) : T(-0x1.80433b83b532ap-44);
  static constexpr float kPolynomial[] = {-0x1.bcb7b2p-3f, 0x1.287a78p-3f, -0x1.bcb682p-4f, 0x1.63c444p-4f,
                                          -0x1.28bd76p-4f, 0x1.fce15p-5f,  -0x1.b14f46p-5f, 0x1.7f885p-5f,
                                          -0x1.cae192p-5f, 0x1.a5a63ep-5f};
};

/// The lower end of mantissas: float64's sqrt(1/2) makes f / (2 + f) symmetric.
template <template <class> class Base, class T>
inline constexpr T kLogLow = std::is_same_v<T, float> ? T(Base<float>::kLow) : T(0x1.6a09e667f3bcdp-1);

/// log(1 + f) - f / ln(base) + rest, for 1 + f in [kLogLow, 2 kLogLow).
template <template <class> class Base, class B>
F32<B> add_log_correction(const F32<B>& f, const F32<B>& rest) {
  return fma(f * f, polynomial(f, Base<float>::kPolynomial), rest);
}
template <template <class> class Base, class B>
F64<B> add_log_correction(const F64<B>& f, const F64<B>& rest) {
  // log((1 + s) / (1 - s)) = 2 s + s z P(z) with z = s^2, and 2 s = f - s f.
  const auto s = f / (f + 2.0);
  const auto z = s * s;
  const auto p = polynomial(
      z, {0x1.5555555555555p-1, 0x1.999999999999ap-2, 0x1.2492492492304p-2, 0x1.c71c71c74a4a4p-3, 0x1.745d173ef74c2p-3,
          0x1.3b13a8e578d3cp-3, 0x1.1115831b8c7fdp-3, 0x1.e00ed3fb0022ap-4, 0x1.db156dec3600ep-4});
  return fma(s * fma(z, p, -f), Base<double>::kScale, rest);
}

/// log(2^e (1 + f)) + f_rest for f_rest far smaller than f.
template <template <class> class Base, class B, class T>
Expr<B, T> log_sum(const Expr<B, T>& e, const Expr<B, T>& f, const Expr<B, T>& f_rest) {
  using L = Base<T>;
  auto main = f;
  auto rest = f_rest;
  if constexpr (L::kScale != 1) {
    main = f * L::kScale;
    rest = fma(f_rest, L::kScale, fma(f, L::kScaleRest, fma(f, L::kScale, -main)));
  }
  if constexpr (L::kTwoRest != 0) rest = fma(e, L::kTwoRest, rest);
  const auto sum = ordered_sum(e * L::kTwo, main);
  return sum.high + add_log_correction<Base>(f, rest + sum.low);
}

template <template <class> class Base, class B, class T>
Expr<B, T> log_in_base(const Expr<B, T>& x) {
  const auto parts = split(x, kLogLow<Base, T>);
  return with_log_domain(x, log_sum<Base>(parts.exponent, parts.mantissa - T(1), constant(x, T(0))));
}

/// log(sum + lost) for sum = 1 + x rounded and lost what it lacks.
template <class B, class T>
Expr<B, T> log1p_of_sum(const Expr<B, T>& x, const Expr<B, T>& sum, const Expr<B, T>& lost) {
  constexpr T kTiny = std::numeric_limits<T>::epsilon() / 4;  // below it log(1 + x) rounds to x or its neighbour
  const auto parts = split_normal(sum, kLogLow<BaseE, T>);
  // Halved, so that 2^(1 - e) is in range.
  const auto scaled = lost * T(0.5) * power_of_two(2 * Format<T>::kBias + 1 - parts.biased);
  const auto f = ordered_sum(parts.mantissa - T(1), scaled);
  // The slope of log(1 + f) is about 1 - f + f^2.
  const auto f_rest = fma(f.low, fma(f.high, f.high, -f.high), f.low);
  const auto value = log_sum<BaseE>(parts.exponent, f.high, f_rest);
  return select(abs(x) < kTiny, x, with_log_domain(sum, value));
}

/// log(x) of a normal x > 0 to 2^-35, for a float32 result.
template <class B>
F64<B> brief_log(const F64<B>& x) {
  const auto parts = split_normal(x, kLogLow<BaseE, double>);
  const auto s = (parts.mantissa - 1.0) / (parts.mantissa + 1.0);
  const auto z = s * s;
  const auto p =
      polynomial(z, {0x1.5555554b5aa26p-1, 0x1.9999ed5a7e50ep-2, 0x1.245b70633953bp-2, 0x1.ddf9a60f839d1p-3});
  return fma(parts.exponent, 0x1.62e42fefa39efp-1, fma(s * z, p, s + s));
}

}  // namespace internal

/// The natural logarithm. Zero gives -inf, a negative x NaN.
template <class B, FloatElement T>
Expr<B, T> log(const Expr<B, T>& x) {
  return internal::log_in_base<internal::BaseE>(x);
}

/// The logarithm to base 2; exact for powers of two.
template <class B, FloatElement T>
Expr<B, T> log2(const Expr<B, T>& x) {
  return internal::log_in_base<internal::Base2>(x);
}

/// The logarithm to base 10.
template <class B, FloatElement T>
Expr<B, T> log10(const Expr<B, T>& x) {
  return internal::log_in_base<internal::Base10>(x);
}

/// log(1 + x), precise in relative terms near zero; -0 gives -0, -1 gives -inf.
template <class B, FloatElement T>
Expr<B, T> log1p(const Expr<B, T>& x) {
  const auto sum = x + T(1);
  return internal::log1p_of_sum(x, sum, x - (sum - T(1)));
}

}  // namespace tenon::math
