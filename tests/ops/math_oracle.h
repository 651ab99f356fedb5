// SPDX-License-Identifier: MIT
// The oracle of the elementary functions, outside the code under test: float32 against the C library in float64,
// float64 against libquadmath in binary128; and the measure of an error in ULP.
#pragma once

#include <quadmath.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/ops/math/math.h"

namespace tenon::math {

using Quad = __float128;

/// Functions that `oracle` knows; the others are exact by other means.
constexpr bool has_oracle(MathFn fn) {
  return fn != MathFn::kFloorDivide && fn != MathFn::kRemainder && fn != MathFn::kNextafter;
}

/// fn in float64 by the C library, whose own error (a few ULP of float64 at most) is about 2^-27 ULP of float32.
inline double oracle(MathFn fn, double x, double y) {
  switch (fn) {
    case MathFn::kRsqrt:
      return 1 / std::sqrt(x);
    case MathFn::kCbrt:
      return std::cbrt(x);
    case MathFn::kExp:
      return std::exp(x);
    case MathFn::kExp2:
      return std::exp2(x);
    case MathFn::kExpm1:
      return std::expm1(x);
    case MathFn::kLog:
      return std::log(x);
    case MathFn::kLog2:
      return std::log2(x);
    case MathFn::kLog10:
      return std::log10(x);
    case MathFn::kLog1p:
      return std::log1p(x);
    case MathFn::kSin:
      return std::sin(x);
    case MathFn::kCos:
      return std::cos(x);
    case MathFn::kTan:
      return std::tan(x);
    case MathFn::kAsin:
      return std::asin(x);
    case MathFn::kAcos:
      return std::acos(x);
    case MathFn::kAtan:
      return std::atan(x);
    case MathFn::kSinh:
      return std::sinh(x);
    case MathFn::kCosh:
      return std::cosh(x);
    case MathFn::kTanh:
      return std::tanh(x);
    case MathFn::kAsinh:
      return std::asinh(x);
    case MathFn::kAcosh:
      return std::acosh(x);
    case MathFn::kAtanh:
      return std::atanh(x);
    case MathFn::kErf:
      return std::erf(x);
    case MathFn::kErfc:
      return std::erfc(x);
    case MathFn::kPow:
      return std::pow(x, y);
    case MathFn::kAtan2:
      return std::atan2(x, y);
    default:
      return 0;
  }
}

/// fn in binary128 by libquadmath.
inline Quad oracle(MathFn fn, Quad x, Quad y) {
  switch (fn) {
    case MathFn::kRsqrt:
      return 1 / sqrtq(x);
    case MathFn::kCbrt:
      return cbrtq(x);
    case MathFn::kExp:
      return expq(x);
    case MathFn::kExp2:
      return exp2q(x);
    case MathFn::kExpm1:
      return expm1q(x);
    case MathFn::kLog:
      return logq(x);
    case MathFn::kLog2:
      return log2q(x);
    case MathFn::kLog10:
      return log10q(x);
    case MathFn::kLog1p:
      return log1pq(x);
    case MathFn::kSin:
      return sinq(x);
    case MathFn::kCos:
      return cosq(x);
    case MathFn::kTan:
      return tanq(x);
    case MathFn::kAsin:
      return asinq(x);
    case MathFn::kAcos:
      return acosq(x);
    case MathFn::kAtan:
      return atanq(x);
    case MathFn::kSinh:
      return sinhq(x);
    case MathFn::kCosh:
      return coshq(x);
    case MathFn::kTanh:
      return tanhq(x);
    case MathFn::kAsinh:
      return asinhq(x);
    case MathFn::kAcosh:
      return acoshq(x);
    case MathFn::kAtanh:
      return atanhq(x);
    case MathFn::kErf:
      return erfq(x);
    case MathFn::kErfc:
      return erfcq(x);
    case MathFn::kPow:
      return powq(x, y);
    case MathFn::kAtan2:
      return atan2q(x, y);
    default:
      return 0;
  }
}

/// The distance of `got` from the exact value in ULP of T at that value; infinity where one is NaN and the other is
/// not, or where signs differ (of zeros too). An infinite `got` counts as the power of two above the greatest number.
inline double ulp_error(float got, double exact) {
  constexpr double kBad = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) == std::isnan(got) ? 0 : kBad;
  if (std::signbit(exact) != std::signbit(got)) return kBad;
  const double value = std::isinf(got) ? 0x1p128 : std::abs(static_cast<double>(got));
  const double wanted = std::min(std::abs(exact), 0x1p128);
  const std::uint64_t exponent = std::max<std::uint64_t>(std::bit_cast<std::uint64_t>(wanted) >> 52, 1023 - 126);
  return std::abs(value - wanted) * std::bit_cast<double>((2 * 1023 + 23 - exponent) << 52);
}
inline double ulp_error(double got, Quad exact) {
  constexpr double kBad = std::numeric_limits<double>::infinity();
  if (isnanq(exact) || std::isnan(got)) return static_cast<bool>(isnanq(exact)) == std::isnan(got) ? 0 : kBad;
  if (static_cast<bool>(signbitq(exact)) != std::signbit(got)) return kBad;
  const Quad top = scalbnq(1, 1024);
  const Quad value = std::isinf(got) ? top : fabsq(got);
  const Quad wanted = fminq(fabsq(exact), top);
  const int exponent = wanted == 0 ? -1022 : std::max(ilogbq(wanted), -1022);
  return static_cast<double>(scalbnq(fabsq(value - wanted), 52 - exponent));
}

}  // namespace tenon::math
