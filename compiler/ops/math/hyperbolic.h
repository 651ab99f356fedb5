// SPDX-License-Identifier: MIT
// sinh, cosh, tanh, asinh, acosh, atanh for float32 and float64.
//
// Coefficients: coefficients.sollya.
#pragma once

#include "compiler/ops/math/exp.h"

namespace tenon::math {
namespace internal {

/// tanh x for |x| <= 0.95.
template <class B>
F32<B> small_tanh(const F32<B>& x) {
  const auto z = x * x;
  const auto p = polynomial(
      z, {-0.33333331f, 0.13333192f, -0.053945016f, 0.021713851f, -0.0083420277f, 0.0026380830f, -0.00046974424f});
  return fma(x * z, p, x);
}

/// 2 / (e^2a + 1) for 0 <= a <= 10; e^2a + 1 is rounded once.
template <class B>
F32<B> one_minus_tanh(const F32<B>& a) {
  const auto argument = reduce_exp(a + a);
  const auto& r = argument.r;
  const auto s = power_of_two(argument.k.plus(127));
  return 2.0f / fma(s, fma(r * r, expm1_polynomial(r), r), s + 1.0f);
}

}  // namespace internal

/// The hyperbolic tangent; -0 gives -0.
template <class B>
F32<B> tanh(const F32<B>& x) {
  const auto a = abs(x);
  const auto large = 1.0f - internal::one_minus_tanh(at_most(a, 10.0f));
  return copysign(select(a < 0.95f, internal::small_tanh(a), large), x);
}
template <class B>
F64<B> tanh(const F64<B>& x) {
  const auto t = expm1(at_most(abs(x), 20.0) * 2.0);
  return copysign(t / (t + 2.0), x);
}

}  // namespace tenon::math
