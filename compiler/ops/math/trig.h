// SPDX-License-Identifier: MIT
// sin, cos, tan for float32 and float64; right for arguments of any size. Infinities give NaN.
//
// A quarter turn of sine or cosine by a polynomial in r^2; the low part of r enters both. Coefficients:
// coefficients.sollya.
#pragma once

#include "compiler/ops/math/trig_reduce.h"

namespace tenon::math {
namespace internal {

/// (r - sin r) / r^3 of z = r^2 <= (pi/4)^2.
template <class B>
F32<B> sin_polynomial(const F32<B>& z) {
  return polynomial(z, {0x1.555556p-3f, -0x1.111198p-7f, 0x1.a08322p-13f, -0x1.877dd8p-19f});
}
template <class B>
F64<B> sin_polynomial(const F64<B>& z) {
  return polynomial(z, {0x1.5555555555555p-3, -0x1.111111111101ep-7, 0x1.a01a019fe88bap-13, -0x1.71de3a104913bp-19,
                        0x1.ae63f82706302p-26, -0x1.60e5f05e5ba3cp-33, 0x1.8d694e7ba3696p-41});
}

/// (cos r - 1) / r^2 of z = r^2 <= (pi/4)^2.
template <class B>
F32<B> cos_polynomial(const F32<B>& z) {
  return polynomial(z, {-0.5f, 0x1.55554ep-5f, -0x1.6c0e64p-10f, 0x1.9a7f06p-16f});
}
template <class B>
F64<B> cos_polynomial(const F64<B>& z) {
  return polynomial(z, {-0.5, 0x1.5555555555552p-5, -0x1.6c16c16c15f48p-10, 0x1.a01a019e07f22p-16,
                        -0x1.27e4f8fe032e6p-22, 0x1.1eea8f26422fbp-29, -0x1.90019ace2cd05p-37});
}

/// sin of x + quarters * pi/2, from the reduced x.
template <class B, class T>
Expr<B, T> sin_of_quarters(const Angle<B, T>& angle, int quarters) {
  const auto& [magic, r, r_rest] = angle;
  const auto k = to_bits(magic) + Bits<T>(quarters);
  const auto z = r * r;
  const auto sine = r - fma(r * z, sin_polynomial(z), r_rest);
  const auto z_cos = fma(r, r, (r + r) * -r_rest);
  const auto cosine = fma(z_cos, cos_polynomial(z_cos), T(1));
  const auto value = select((k & 1) == 0, sine, cosine);
  return from_bits(to_bits(value) ^ ((k & 2) << Bits<T>(8 * sizeof(T) - 2)));
}

/// (tan r - r) / r^3 of z = r^2 <= (pi/4)^2.
template <class B>
F32<B> tan_polynomial(const F32<B>& z) {
  return polynomial(z, {0x1.555556p-2f, 0x1.111068p-3f, 0x1.ba5abp-5f, 0x1.61d49ap-6f, 0x1.48eb62p-7f, 0x1.1aad5p-10f,
                        0x1.ff38ep-9f});
}
template <class B>
F64<B> tan_polynomial(const F64<B>& z) {
  return polynomial(z, {0x1.5555555555555p-2, 0x1.1111111111149p-3, 0x1.ba1ba1ba1eef3p-5, 0x1.664f48800170bp-6,
                        0x1.226e360f2957ap-7, 0x1.d6d3a208dbde2p-9, 0x1.7da738993a2e7p-10, 0x1.3522e930042fap-11,
                        0x1.f97cb6235af88p-13, 0x1.7b682e0476c98p-14, 0x1.cb5f23a67cea6p-15, -0x1.4fff5a7ecf18dp-17,
                        0x1.2ba48dc714252p-15, -0x1.2cfe4e5bd905fp-16, 0x1.1a0066f6ccb96p-17});
}

}  // namespace internal

/// The sine of x radians.
template <class B, FloatElement T>
Expr<B, T> sin(const Expr<B, T>& x) {
  return flip_sign(internal::sin_of_quarters(reduce_angle(abs(x)), 0), x);
}

/// The cosine of x radians.
template <class B, FloatElement T>
Expr<B, T> cos(const Expr<B, T>& x) {
  return internal::sin_of_quarters(reduce_angle(abs(x)), 1);
}

/// The tangent of x radians.
template <class B, FloatElement T>
Expr<B, T> tan(const Expr<B, T>& x) {
  const auto [magic, r, r_rest] = reduce_angle(abs(x));
  const auto z = r * r;
  // What r and z = r^2 lost, times about their derivatives: tan' = 1 + z + 2/3 z^2 + ..., and (r z p)' by z.
  const auto slope = fma(z, fma(z, T(0.8), T(1)), T(1));
  const auto z_slope = r * fma(z, T(0.36), T(0.33));
  const auto rest = fma(fma(r, r, -z), z_slope, -r_rest * slope);
  const auto tangent = ordered_sum(r, fma(r * z, internal::tan_polynomial(z), rest));
  // An odd number of quarter turns: -1 / tangent, with the error of the division put back.
  const auto q = T(-1) / tangent.high;
  const auto lost = fma(q, tangent.high, T(1)) + q * tangent.low;
  const auto value = select((to_bits(magic) & 1) == 0, tangent.high, fma(q, lost, q));
  return flip_sign(value, x);
}

}  // namespace tenon::math
