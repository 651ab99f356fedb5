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
  return polynomial(r, {1.0f, 1.0f, 0x1.fffffcp-2f, 0x1.55549p-3f, 0x1.5558ap-5f, 0x1.123ac8p-7f, 0x1.6a604ap-10f});
}
template <class B>
F64<B> exp_polynomial(const F64<B>& r) {
  return polynomial(r, {1.0, 1.0, 0x1.000000000000ap-1, 0x1.55555555554fcp-3, 0x1.5555555550688p-5,
                        0x1.111111112725fp-7, 0x1.6c16c1848904bp-10, 0x1.a01a012dcb0c3p-13, 0x1.a0199921d1704p-16,
                        0x1.71df1d1450403p-19, 0x1.28ae3e030198dp-22, 0x1.ad8d590fc30fcp-26});
}

/// e^r to 2^-34, for a float32 result.
template <class B>
F64<B> brief_exp_polynomial(const F64<B>& r) {
  return polynomial(r, {1.0, 1.0, 0x1.0000003a7187p-1, 0x1.55555441be3fbp-3, 0x1.55548d1043319p-5, 0x1.111271fc59892p-7,
                        0x1.6d8db0c0f201p-10, 0x1.9f080fe32fd5bp-13});
}

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
template <class B>
F32<B> expm1_polynomial(const F32<B>& r) {
  return polynomial(r, {0.5f, 0x1.555556p-3f, 0x1.5555p-5f, 0x1.110fc2p-7f, 0x1.6d308ep-10f, 0x1.a2d954p-13f});
}
template <class B>
F64<B> expm1_polynomial(const F64<B>& r) {
  return polynomial(r, {0.5, 0x1.5555555555557p-3, 0x1.5555555555557p-5, 0x1.1111111110045p-7, 0x1.6c16c16c1569dp-10,
                        0x1.a01a01ac27466p-13, 0x1.a01a01ab9d95bp-16, 0x1.71de018a4f3f4p-19, 0x1.27e4cf9f09628p-22,
                        0x1.af4f19600ed4p-26, 0x1.1f8710ba04506p-29});
}

/// 2^r for |r| <= 1/2.
template <class B>
F32<B> exp2_polynomial(const F32<B>& r) {
  return polynomial(
      r, {1.0f, 0x1.62e43p-1f, 0x1.ebfbd8p-3f, 0x1.c6af76p-5f, 0x1.3b30ap-7f, 0x1.5f0b82p-10f, 0x1.3fa206p-13f});
}
template <class B>
F64<B> exp2_polynomial(const F64<B>& r) {
  return polynomial(r, {1.0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a6p-3, 0x1.c6b08d704a12cp-5, 0x1.3b2ab6fb9fda6p-7,
                        0x1.5d87fe789e96fp-10, 0x1.4309130f6cbdbp-13, 0x1.ffcbfc6685f06p-17, 0x1.62bfc6596be12p-20,
                        0x1.b52522bc15f8fp-24, 0x1.e61d43321746dp-28, 0x1.e973179a994acp-32});
}

// Arguments beyond these give infinity, or zero; up to the former k is within the range that `scale` takes.
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
  const auto argument = internal::reduce_exp(at_most(x, internal::kExpMax<T>));
  return scale(internal::exp_polynomial(argument.r), argument.k, x < internal::kExpMin<T>);
}

/// 2^x.
template <class B, FloatElement T>
Expr<B, T> exp2(const Expr<B, T>& x) {
  const auto bounded = at_most(x, internal::kExp2Max<T>);
  const auto k = round_product(bounded, T(1));
  return scale(internal::exp2_polynomial(bounded - k.value), k, x < internal::kExp2Min<T>);
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
