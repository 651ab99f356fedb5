// SPDX-License-Identifier: MIT
// Exponent arithmetic that the formulas share: rounding to an integer, powers of two, splitting off the exponent.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "compiler/ops/math/expr.h"

namespace tenon::math {

/// The layout of IEEE binary32 and binary64.
template <class T>
struct Format {
  static constexpr int kFraction = std::numeric_limits<T>::digits - 1;  // bits below the implied one
  static constexpr int kBias = std::numeric_limits<T>::max_exponent - 1;
  static constexpr Bits<T> kOne = std::bit_cast<Bits<T>>(T(1));
  static constexpr T kMagic = T(1.5) * T(Bits<T>{1} << kFraction);  // its lowest fraction bit weighs 1
  static constexpr T kMinNormal = std::numeric_limits<T>::min();
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
};

/// An integer twice: as a float, and in the low bits of `magic` = kMagic + kBias + value, where it is the biased
/// exponent of its power of two. A NaN stays one in both, and no conversion is asked to convert it.
template <class B, class T>
struct Rounded {
  static constexpr T kBase = Format<T>::kMagic + T(Format<T>::kBias);
  Expr<B, T> magic;
  Expr<B, T> value;

  /// The integer plus `offset`; garbage (not poison) for a NaN.
  Expr<B, Bits<T>> plus(Bits<T> offset) const { return to_bits(magic) - (std::bit_cast<Bits<T>>(kBase) - offset); }
};

/// x * c rounded to the nearest integer (one of the two for a tie), for |x * c| < 2^(kFraction - 1) - kBias.
template <class B, FloatElement T>
Rounded<B, T> round_product(const Expr<B, T>& x, Literal<T> c) {
  constexpr T kBase = Rounded<B, T>::kBase;
  const auto magic = fma(x, c, kBase);
  return {magic, magic - kBase};
}

/// 2^(biased - kBias) for 0 < biased < 2 * kBias + 1.
template <class B, IntElement I>
auto power_of_two(const Expr<B, I>& biased) {
  return from_bits(biased << I(sizeof(I) == 4 ? 23 : 52));
}

/// 0 where is_zero holds, else p * 2^k for p in [1/2, 2] and any k up to twice beyond the exponent range: rounds once
/// where the result is subnormal, gives infinity above the range, and passes a NaN in p on. What is zero is chosen, not
/// computed: processors take a hundred times longer for a product that is too small.
template <class B, FloatElement T>
Expr<B, T> scale(const Expr<B, T>& p, const Rounded<B, T>& k, const Bool<B>& is_zero) {
  const auto in_two_steps = [&] {
    constexpr int kHalf = (Format<T>::kBias + 1) / 2;
    const auto small = k.value < T(0);
    const auto rest = select(small, Bits<T>{Format<T>::kBias + kHalf}, Bits<T>{Format<T>::kBias - kHalf});
    constexpr T kUp = std::bit_cast<T>(Bits<T>{Format<T>::kBias + kHalf} << Format<T>::kFraction);
    const auto half = select(is_zero, T(0), p * power_of_two(k.plus(0) + rest));
    return half * select(small, 1 / kUp, kUp);
  };
  return {p.builder, p.builder->scale(p.value, k.value.value, is_zero.value, [&] { return in_two_steps().value; })};
}

/// x = 2^exponent * mantissa; `biased` is the exponent plus kBias as an integer.
template <class B, class T>
struct Parts {
  Expr<B, T> exponent;
  Expr<B, T> mantissa;
  Expr<B, Bits<T>> biased;
};

/// Splits a normal x > 0 so that the mantissa is in [low, 2 * low), for low in [1/2, 1]. For other x the parts are
/// unspecified.
template <class B, FloatElement T>
Parts<B, T> split_normal(const Expr<B, T>& x, Literal<T> low) {
  using F = Format<T>;
  constexpr T kUp = T(Bits<T>{1} << F::kFraction);
  const auto bits = to_bits(x);
  const auto biased = shift_right_logical(bits + (F::kOne - std::bit_cast<Bits<T>>(low)), F::kFraction);
  const auto mantissa = from_bits(bits - (biased << F::kFraction) + F::kOne);
  // Positive, the integer becomes a float by its bits and a subtraction: AVX2 cannot convert 64-bit integers.
  const auto exponent = from_bits(biased | std::bit_cast<Bits<T>>(kUp)) - (kUp + T(F::kBias));
  return {exponent, mantissa, biased};
}

/// The same for any finite x > 0.
template <class B, FloatElement T>
Parts<B, T> split(const Expr<B, T>& x, Literal<T> low) {
  constexpr int kFraction = Format<T>::kFraction;
  const auto tiny = x < Format<T>::kMinNormal;
  const auto parts = split_normal(select(tiny, x * T(Bits<T>{1} << kFraction), x), low);
  return {parts.exponent - select(tiny, T(kFraction), T(0)), parts.mantissa, parts.biased};
}

/// y corrected for the ends of a logarithm's domain: NaN for x < 0 or NaN, -inf at zero, +inf at +inf.
template <class B, FloatElement T>
Expr<B, T> with_log_domain(const Expr<B, T>& x, const Expr<B, T>& y) {
  const auto above = select(x < Format<T>::kInf, y, x);
  return select(x > T(0), above, select(x == T(0), -Format<T>::kInf, Format<T>::kNan));
}

}  // namespace tenon::math
