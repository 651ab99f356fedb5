// SPDX-License-Identifier: MIT
// Reduction of an angle to a quarter turn: x = k * pi/2 + r - r_rest, |r| <= pi/4 and a little.
//
// Below kReduceMax by subtracting k times pi/2 in three parts (Cody and Waite, with fma). Above, on the rare path, by
// multiplying with the bits of 2/pi that matter (Payne and Hanek); products are exact pairs, whole turns fall away.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "compiler/ops/math/float_parts.h"
#include "compiler/ops/math/pair.h"

namespace tenon::math {

/// x = k * pi/2 + r - r_rest. `magic` holds k modulo 4 in its low bits (as in Rounded). NaN for NaN and infinities.
template <class B, class T>
struct Angle {
  Expr<B, T> magic;
  Expr<B, T> r;
  Expr<B, T> r_rest;
};

namespace internal {

/// pi/2 = first + second + third. k * second has few enough bits to be exact for k as far as kReduceMax.
template <class T>
struct HalfPi;
template <>
struct HalfPi<float> {
  static constexpr float kFirst = 0x1.921fb6p+0f;
  static constexpr float kSecond = -0x1.778p-25f;
  static constexpr float kThird = 0x1.68c234p-39f;
  static constexpr float kReduceMax = 12800.0f;
};
template <>
struct HalfPi<double> {
  static constexpr double kFirst = 0x1.921fb54442d18p+0;
  static constexpr double kSecond = 0x1.1a626331p-54;
  static constexpr double kThird = 0x1.1701b839a252p-88;
  static constexpr double kReduceMax = 0x1p20;
};

/// x - 4 * round(x / 4), exact.
template <class B>
F64<B> modulo_4(const F64<B>& x) {
  return fma(round_even(x * 0.25), -4.0, x);
}

/// 2/pi in pieces of 26 bits, so that a float32 times one is exact in float64.
inline constexpr double kTwoOverPi26[8] = {0x1.45f3068p-1,  0x1.7272208p-27, 0x1.4a7f09p-54,  0x1.abe8fa8p-79,
                                           0x1.a6ee06p-107, 0x1.b62959p-132, 0x1.278872p-157, 0x1.07f944p-186};

/// Any finite x > 0 is reduced to within 2^-53 of r; infinity gives NaN.
template <class B>
std::array<F32<B>, 3> reduce_huge(const F32<B>& x) {
  // With x = M 2^E, pieces before the j-th contribute whole turns (multiples of 4) when j = floor((E - 2) / 26).
  const auto by_two = x >= 0x1p77f;
  const auto by_one = (x >= 0x1p103f) | ((x >= 0x1p51f) & !by_two);
  const auto at = [&](int i) { return constant(x, kTwoOverPi26[i]); };
  const auto even = [&](int i) { return select(by_two, at(i + 2), at(i)); };
  const std::array<F64<B>, 5> list = {even(0), even(1), even(2), even(3), even(4)};
  const auto piece = [&](std::size_t i) { return select(by_one, list[i + 1], list[i]); };
  const auto wide = to_f64(x);
  const auto p0 = piece(0), p1 = piece(1);
  // Turns fall away from the first two products; what remains has at most 53 bits, so that every sum up to the first
  // rounding to a quarter is exact.
  auto r = modulo_4(wide * p0);
  r = fma(wide, p1, fma(round_even(wide * 0.25 * p1), -4.0, r));
  const auto first = round_even(r);
  r = fma(wide, piece(2), r - first);
  const auto second = round_even(r);
  r = fma(wide, piece(3), r - second) * 0x1.921fb54442d18p+0;
  const auto rounded = to_f32(r);
  return {to_f32(first + second) + Format<float>::kMagic, rounded, to_f32(to_f64(rounded) - r)};
}

/// 2/pi in pieces of 50 bits; piece i weighs 2^(-50 i).
inline constexpr double kTwoOverPi50[25] = {0.0,
                                            716770142402832.0,
                                            372321092467999.0,
                                            366375477893285.0,
                                            449959087325694.0,
                                            357954108452629.0,
                                            593127582966820.0,
                                            972758579301306.0,
                                            573745657609757.0,
                                            1034033855634683.0,
                                            712635457924020.0,
                                            318009698421165.0,
                                            104995864809942.0,
                                            252944799224434.0,
                                            76934606197379.0,
                                            782844326573953.0,
                                            448669181481355.0,
                                            396003307795673.0,
                                            1104951148321652.0,
                                            1074840692299770.0,
                                            612931154397163.0,
                                            1011301269904615.0,
                                            977075685992127.0,
                                            800359771756354.0,
                                            94571694849147.0};

/// Pieces j to j + 4 for 0 <= j <= 20, found by shifting the list by 16, 8, 4, 2, 1.
template <class B>
std::array<F64<B>, 5> two_over_pi_from(const I64<B>& j) {
  const auto at = [&](std::size_t i) { return constant(j, kTwoOverPi50[i]); };
  std::array<F64<B>, 25> list = {at(0),  at(1),  at(2),  at(3),  at(4),  at(5),  at(6),  at(7),  at(8),
                                 at(9),  at(10), at(11), at(12), at(13), at(14), at(15), at(16), at(17),
                                 at(18), at(19), at(20), at(21), at(22), at(23), at(24)};
  for (std::size_t step = 16; step > 0; step /= 2) {
    const auto shift = (j & std::int64_t(step)) != 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(step + 4, 25 - step); ++i) {
      list[i] = select(shift, list[i + step], list[i]);
    }
  }
  return {list[0], list[1], list[2], list[3], list[4]};
}

/// Any x >= 2^20; infinity gives NaN.
template <class B>
std::array<F64<B>, 3> reduce_huge(const F64<B>& x) {
  // With x = M 2^E, pieces before the j-th contribute whole turns (multiples of 4) when j = floor((E + 48) / 50).
  const auto exponent = shift_right_logical(to_bits(x), 52) - 1027;
  const auto j = shift_right_logical(exponent * 1311, 16);
  const auto pieces = two_over_pi_from(j);
  const auto scaled = x * power_of_two(1023 - j * 50);
  const auto p0 = pieces[0], p1 = pieces[1] * 0x1p-50, p2 = pieces[2] * 0x1p-100;
  const auto p3 = pieces[3] * 0x1p-150, p4 = pieces[4] * 0x1p-200;
  const auto h0 = scaled * p0, h1 = scaled * p1, h2 = scaled * p2, h3 = scaled * p3;
  // From the largest to the smallest: where bits cancel a sum is exact, else what it loses is far below `high`.
  const auto turns = modulo_4(h0) + modulo_4(fma(scaled, p0, -h0));  // exact
  const auto first = round_even(turns);
  const auto s1 = two_sum(turns - first, modulo_4(h1));
  const auto s2 = two_sum(s1.high, s1.low + fma(scaled, p1, -h1));
  const auto s3 = two_sum(s2.high, h2);
  const auto second = round_even(s3.high);
  const auto s4 = two_sum(s3.high - second, s2.low);
  const auto s5 = two_sum(s4.high, s3.low);
  const auto s6 = two_sum(s5.high, h3);
  const auto s7 = two_sum(s6.high, fma(scaled, p2, -h2));
  const auto low = s4.low + s5.low + s6.low + s7.low + fma(scaled, p4, fma(scaled, p3, -h3));
  const auto part = ordered_sum(s7.high, low);
  const auto r = part.high * 0x1.921fb54442d18p+0;
  const auto rest =
      fma(part.high, 0x1.921fb54442d18p+0, -r) + fma(part.high, 0x1.1a62633145c07p-54, part.low * 0x1.921fb54442d18p+0);
  return {first + second + Format<double>::kMagic, r, -rest};
}

}  // namespace internal

/// Reduces any x >= 0.
template <class B, FloatElement T>
Angle<B, T> reduce_angle(const Expr<B, T>& x) {
  using C = internal::HalfPi<T>;
  const auto quadrant = fma(x, T(0x1.45f306dc9c883p-1), Format<T>::kMagic);
  const auto k = quadrant - Format<T>::kMagic;
  const auto first = fma(k, -C::kFirst, x);  // exact
  const auto r = fma(k, -C::kSecond, first);
  const auto r_rest = fma(k, C::kThird, fma(k, C::kSecond, r - first));
  const auto [magic, huge_r, huge_rest] =
      if_any(x > C::kReduceMax, std::array{quadrant, r, r_rest}, [&] { return internal::reduce_huge(x); });
  return {magic, huge_r, huge_rest};
}

}  // namespace tenon::math
