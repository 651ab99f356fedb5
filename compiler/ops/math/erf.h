// SPDX-License-Identifier: MIT
// erf and erfc for float32 and float64.
//
// Near zero erf by a polynomial. Away from it erfc(a) = e^p(a) (float32, for erf only), or
// erfc(a) = e^(-a^2) h(t) / (1 + 2 a) with t = (a - 4) / (a + 4), where h varies between 1 and 1.3 over the whole
// half-line (the form of Shepherd and Laframboise, 1981). Coefficients: coefficients.sollya.
#pragma once

#include "compiler/ops/math/exp.h"
#include "compiler/ops/math/log.h"
#include "compiler/ops/math/pair.h"

namespace tenon::math {
namespace internal {

/// erf(x) / x - 1 of z = x^2 <= 1.
template <class B>
F32<B> erf_polynomial(const F32<B>& z) {
  return polynomial(z, {0x1.06eba8p-3f, -0x1.81274p-2f, 0x1.ce2d52p-4f, -0x1.b7fec4p-6f, 0x1.542fecp-8f,
                        -0x1.a5197ap-11f, 0x1.4c5cb4p-14f});
}
template <class B>
F64<B> erf_polynomial(const F64<B>& z) {
  return polynomial(
      z, {0x1.06eba8214db69p-3, -0x1.812746b0379fdp-2, 0x1.ce2f21a04362dp-4, -0x1.b82ce312abf08p-6, 0x1.565bcd12991cp-8,
          -0x1.c02db49b09506p-11, 0x1.f9a335388d2f5p-14, -0x1.f4d333884b5cap-17, 0x1.b9ee95850f6f5p-20,
          -0x1.5f9828c55da45p-23, 0x1.fc78cbccf6129p-27, -0x1.46794feb16f44p-30, 0x1.2978304266ff7p-34});
}

/// (1 + 2 a) e^(a^2) erfc(a) of t = (a - 4) / (a + 4), a >= 0.45, without its constant term.
inline constexpr double kErfcConstant = 0x1.3ba5916e9fd7fp+0;
inline constexpr double kErfcConstantRest = -0x1.918d923816003p-55;
template <class B>
F64<B> erfc_polynomial(const F64<B>& t) {
  return t *
         polynomial(t, {-0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd52fp-7,   0x1.16ecefcfa53d4p-4,   -0x1.9ddb23c3e7ae8p-4,
                        0x1.7fee004e11d67p-4,   -0x1.0fb06dfe6e1b7p-4,  0x1.3079edf68d30bp-5,   -0x1.0962387d23f7p-6,
                        0x1.49c6728671bdfp-8,   -0x1.8d4aa1dff31e7p-11, -0x1.a1df298dbc424p-13, 0x1.3be0dcf486088p-13,
                        -0x1.99581b79252f4p-16, -0x1.78a4bf04a391dp-17, 0x1.7f13f14a11bfcp-18,  0x1.41d537382046bp-22,
                        -0x1.b963dea116a46p-21, 0x1.1f494b6d98c9ep-24,  0x1.c4bafcbaa9cdp-24,   -0x1.a27a867757058p-27,
                        -0x1.655d9752dd24bp-27});
}

/// erfc(a) for a >= 0 to 2^-32, for a float32 result: zero in float32 from a = 10.1 on.
template <class B>
F64<B> brief_erfc(const F64<B>& any) {
  const auto a = at_most(any, 10.1);
  const auto t = (a - 3.0) / (a + 3.0);
  const auto h =
      polynomial(t, {0x1.40c522d7deddbp+0, -0x1.15c084d445d42p-3, -0x1.85a15bf783afcp-5, 0x1.09836c0533bdep-3,
                     -0x1.e88b7f4ddef05p-4, 0x1.17c97de634621p-4, -0x1.8576ba037e472p-6, 0x1.4c11227114f55p-9,
                     0x1.f07e581a8de08p-10, -0x1.9e3af6d138dc5p-11, -0x1.08e23166ed8f8p-13, 0x1.0aa7127f42429p-13,
                     0x1.16c7cac6a4137p-15});
  const auto [k, r, r_rest] = reduce_exp(-(a * a));
  return brief_exp_polynomial(r) * power_of_two(k.plus(1023)) * h / (a + a + 1.0);
}

/// erfc(a) for a >= 0.45; zero from a = 27.5 on.
template <class B>
F64<B> large_erfc(const F64<B>& any) {
  const auto a = at_most(any, 27.5);
  const auto square = exact_product(a, a);
  const auto [k, r, r_rest] = reduce_exp(-square.high);
  const auto t = (a - 4.0) / (a + 4.0);
  // e^r = 1 + m, h = 1.23 + u and 1 + 2 a, each with its rounding error; their quotient with one more division's.
  const auto m = fma(r * r, expm1_polynomial(r), r);
  const auto e = ordered_sum(constant(a, 1.0), m);
  const auto h = ordered_sum(constant(a, kErfcConstant), erfc_polynomial(t));
  const auto d = ordered_sum(a + a, constant(a, 1.0));
  const auto reciprocal = 1.0 / d.high;
  const auto q = h.high * reciprocal;
  const auto q_rest = (fma(-q, d.high, h.high) + (h.low + kErfcConstantRest) - q * d.low) * reciprocal;
  const auto main = exact_product(e.high, q);
  const auto e_rest = fma(e.high, r_rest - square.low, e.low);
  const auto scaled = main.high + fma(e.high, q_rest, fma(e_rest, q, main.low));
  return scale(scaled, k, a > 27.25);
}

/// erfc(a) for 1 <= a <= 3.95, to half an ULP of erf(a).
template <class B>
F32<B> large_erfc(const F32<B>& a) {
  // ln erfc(a) = c + a q(a), where a q is rounded only after k ln 2 is taken off.
  const auto q = polynomial(
      a, {-0x1.209054p+0f, -0x1.46a35ap-1f, -0x1.a6eff8p-4f, 0x1.66ea6ap-6f, -0x1.847f84p-9f, 0x1.8a347ep-13f});
  const auto k = round_product(a * q, kLog2E<float>);
  const auto r = fma(a, q, k.value * -BaseE<float>::kTwo) + fma(k.value, -BaseE<float>::kTwoRest, -0x1.47a616p-12f);
  return exp_polynomial(r) * power_of_two(k.plus(127));
}

}  // namespace internal

/// The error function; -0 gives -0.
template <class B>
F32<B> erf(const F32<B>& x) {
  const auto a = abs(x);
  const auto small = fma(a, internal::erf_polynomial(a * a), a);
  const auto large = 1.0f - internal::large_erfc(at_most(a, 3.95f));  // beyond, it rounds to 1
  return copysign(select(a < 1.0f, small, large), x);
}
template <class B>
F64<B> erf(const F64<B>& x) {
  const auto a = abs(x);
  const auto small = fma(a, internal::erf_polynomial(a * a), a);
  return copysign(select(a < 1.0, small, 1.0 - internal::large_erfc(a)), x);
}

/// 1 - erf(x), precise in relative terms for large x too.
template <class B>
F64<B> erfc(const F64<B>& x) {
  const auto a = abs(x);
  const auto small = fma(-x, internal::erf_polynomial(x * x), -x) + 1.0;
  const auto large = internal::large_erfc(a);
  return select(a < 0.46875, small, select(x < 0.0, 2.0 - large, large));
}
template <class B>
F32<B> erfc(const F32<B>& x) {
  const auto value = internal::brief_erfc(to_f64(abs(x)));
  return to_f32(select(x < 0.0f, 2.0 - value, value));
}

}  // namespace tenon::math
