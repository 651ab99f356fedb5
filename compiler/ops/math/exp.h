// SPDX-License-Identifier: MIT
// exp, exp2, expm1 for float32 and float64.
//
// x = k ln 2 + r with |r| <= ln(2) / 2, e^r by a polynomial, then a scaling by 2^k that rounds once where the result is
// subnormal. Coefficients: coefficients.sollya (the sections of the same names).
#pragma once

#include <type_traits>

#include "compiler/ops/math/float_parts.h"
#include "compiler/ops/math/pair.h"

namespace tenon::math {
namespace internal {

/// ln 2 as a sum of two T; k * kLn2 is exact in the fma that subtracts it from x (the difference has few bits).
template <class T>
inline constexpr T kLn2 = std::is_same_v<T, float> ? T(0x1.62e43p-1) : T(0x1.62e42fefa39efp-1);
template <class T>
inline constexpr T kLn2Rest = std::is_same_v<T, float> ? T(-0x1.05c61p-29) : T(0x1.abc9e3b39803fp-56);
template <class T>
inline constexpr T kLog2E = T(0x1.71547652b82fep+0);

/// x = k * ln 2 + r + r_rest.
template <class B, class T>
struct ExpArgument {
  Rounded<B, T> k;
  Expr<B, T> r;
  Expr<B, T> r_rest;
};

template <class B, class T>
ExpArgument<B, T> reduce_exp(const Expr<B, T>& x) {
  const auto k = round_product(x, kLog2E<T>);
  const auto first = fma(k.value, -kLn2<T>, x);
  const auto r = fma(k.value, -kLn2Rest<T>, first);
  return {k, r, fma(k.value, -kLn2Rest<T>, first - r)};
}

/// e^r for |r| <= ln(2) / 2.
template <class B>
F32<B> exp_polynomial(const F32<B>& r) {
  return polynomial(r, {1.0f, 1.0f, 0.49999994f, 0.1666652f, 0.041668236f, 0.008368824f, 0.001382356f});
}
template <class B>
F64<B> exp_polynomial(const F64<B>& r) {
  return polynomial(r, {1.0, 1.0, 0.5000000000000011, 0.1666666666666642, 0.04166666666652669, 0.00833333333349023,
                        0.001388888894447343, 0.0001984126951638573, 2.480149226549046e-05, 2.7557577003957904e-06,
                        2.763053716358589e-07, 2.5003225328774788e-08});
}

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
template <class B>
F32<B> expm1_polynomial(const F32<B>& r) {
  return polynomial(r, {0.5f, 0.16666667f, 0.041666508f, 0.008333177f, 0.001393088f, 0.00019972273f});
}
template <class B>
F64<B> expm1_polynomial(const F64<B>& r) {
  return polynomial(r, {0.5, 0.16666666666666671, 0.04166666666666678, 0.008333333333325874, 0.0013888888888876968,
                        0.00019841269875523203, 2.480158734249317e-05, 2.7557254657349083e-06, 2.755725691548798e-07,
                        2.510548691178888e-08, 2.092038622784063e-09});
}

template <class B>
F32<B> exp2_polynomial(const F32<B>& r) {
  return polynomial(r, {1.0f, 0.6931472f, 0.24022645f, 0.05550359f, 0.009618834f, 0.0013391302f, 0.00015241285f});
}
template <class B>
F64<B> exp2_polynomial(const F64<B>& r) {
  return polynomial(r, {1.0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a6p-3, 0x1.c6b08d704a12cp-5, 0x1.3b2ab6fb9fda6p-7,
                        0x1.5d87fe789e96fp-10, 0x1.4309130f6cbdbp-13, 0x1.ffcbfc6685ee5p-17, 0x1.62bfc6596be6ap-20,
                        0x1.b52522bc20bcdp-24, 0x1.e61d4332035bap-28, 0x1.e9731780488cp-32});
}

// Arguments beyond these give infinity, or zero, and keep k within the range that `scale` takes.
template <class T>
inline constexpr T kExpMax = std::is_same_v<T, float> ? T(89) : T(710);
template <class T>
inline constexpr T kExpMin = std::is_same_v<T, float> ? T(-104) : T(-746);
template <class T>
inline constexpr T kExp2Max = std::is_same_v<T, float> ? T(129) : T(1025);
template <class T>
inline constexpr T kExp2Min = std::is_same_v<T, float> ? T(-151) : T(-1076);

/// (e^x - 1) / 2 for -40 <= x <= kExpMax: e^x itself may overflow.
template <class B, class T>
Pair<B, T> half_of_expm1(const Expr<B, T>& x) {
  const auto [k, r, r_rest] = reduce_exp(x);
  // With s = 2^k / 2: s - 1/2 + s r + s r^2 p, the large terms first, with their rounding errors.
  const auto s = power_of_two(k.plus(Format<T>::kBias - 1));
  const auto whole = ordered_sum(s, constant(x, T(-0.5)));
  const auto linear = ordered_sum(whole.high, s * r);
  return {linear.high, fma(s, fma(r * r, expm1_polynomial(r), r_rest), whole.low + linear.low)};
}

}  // namespace internal

/// e^x.
template <class B, FloatElement T>
Expr<B, T> exp(const Expr<B, T>& x) {
  const auto argument = internal::reduce_exp(at_least(at_most(x, internal::kExpMax<T>), internal::kExpMin<T>));
  return scale(internal::exp_polynomial(argument.r), argument.k);
}

/// 2^x.
template <class B, FloatElement T>
Expr<B, T> exp2(const Expr<B, T>& x) {
  const auto bounded = at_least(at_most(x, internal::kExp2Max<T>), internal::kExp2Min<T>);
  const auto k = round_product(bounded, T(1));
  return scale(internal::exp2_polynomial(bounded - k.value), k);
}

/// e^x - 1, precise in relative terms near zero; -0 gives -0.
template <class B, FloatElement T>
Expr<B, T> expm1(const Expr<B, T>& x) {
  constexpr T kTiny = std::numeric_limits<T>::epsilon() / 4;  // below it e^x - 1 rounds to x or its neighbour
  const auto half = internal::half_of_expm1(at_least(at_most(x, internal::kExpMax<T>), T(-40)));
  const auto sum = half.high + half.low;
  return select(abs(x) < kTiny, x, sum + sum);
}

}  // namespace tenon::math
