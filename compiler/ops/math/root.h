// SPDX-License-Identifier: MIT
// rsqrt, cbrt, nextafter for float32 and float64.
#pragma once

#include "compiler/ops/math/float_parts.h"

namespace tenon::math {

/// 1 / sqrt(x); zero gives an infinity of its sign, a negative x NaN.
///
/// 1 / sqrt(x) rounded twice may be 1.5 ULP off: near 1 a quotient's ULP is half that of its divisor. sqrt(1 / x)
/// halves the quotient's error instead and stays below 0.86 ULP; scaling x keeps 1 / x a normal number.
template <class B>
F32<B> rsqrt(const F32<B>& x) {
  const auto small = x < 1.0f;
  const auto q = 1.0f / (x * select(small, 0x1p64f, 0x1p-64f));
  const auto y = sqrt(q) * select(small, 0x1p32f, 0x1p-32f);
  return select(x == 0.0f, q, select(x < 0.0f, Format<float>::kNan, y));
}
template <class B>
F64<B> rsqrt(const F64<B>& x) {
  return 1.0 / sqrt(x);
}

}  // namespace tenon::math
