// SPDX-License-Identifier: MIT
// erf and erfc for float32 and float64. Coefficients: coefficients.sollya.
#pragma once

#include "compiler/ops/math/exp.h"

namespace tenon::math {

/// The error function; -0 gives -0.
template <class B>
F32<B> erf(const F32<B>& x) {
  const auto a = abs(x);
  const auto small = fma(a,
                         polynomial(a * a, {0.12837917f, -0.37612629f, 0.11283619f, -0.026855174f, 0.0051908446f,
                                            -0.00080318359f, 7.9241305e-05f}),
                         a);
  // erfc(a) = e^p(a) for 1 <= a <= 3.95; beyond, erf(a) rounds to 1.
  const auto p = polynomial(at_most(a, 3.95f), {-0.00025644663f, -1.127426f, -0.63760006f, -0.10356688f, 0.022051994f,
                                                -0.00299954f, 0.00019150405f});
  const auto argument = internal::reduce_exp(p);
  const auto large = 1.0f - internal::exp_polynomial(argument.r) * power_of_two(argument.k.plus(127));
  return copysign(select(a < 1.0f, small, large), x);
}

}  // namespace tenon::math
