// SPDX-License-Identifier: MIT
// The oracle of the elementary functions, outside the code under test: the C library, for float32 in float64 and for
// float64 in long double; and the measure of an error in ULP.
//
// The C library's own error, at most a few ULP, is 2^-27 ULP of float32 and 2^-9 ULP (x87) of float64.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/ops/math/math.h"

namespace tenon::math {

/// The type of exact values for results of type T.
template <class T>
struct WideOf;
template <>
struct WideOf<float> : std::type_identity<double> {};
template <>
struct WideOf<double> : std::type_identity<long double> {};
template <class T>
using Wide = typename WideOf<T>::type;

/// Functions that `oracle` knows; the others are exact by definition.
constexpr bool has_oracle(MathFn fn) {
  return fn != MathFn::kFmod && fn != MathFn::kFloorDivide && fn != MathFn::kRemainder && fn != MathFn::kNextafter;
}

/// fn by the C library in W = double or long double.
template <class W>
W oracle(MathFn fn, W x, W y) {
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

/// The distance of `got` from the exact value in ULP of T at that value; infinity where one is NaN and the other is
/// not, or where signs differ (of zeros too). An infinite `got` counts as the power of two above the greatest number.
inline double ulp_error(float got, double exact) {
  constexpr double kBad = std::numeric_limits<double>::infinity();
  const double value = std::isinf(got) ? 0x1p128 : std::abs(static_cast<double>(got));
  const double wanted = std::min(std::abs(exact), 0x1p128);
  const std::int64_t exponent = std::max<std::int64_t>(std::bit_cast<std::int64_t>(wanted) >> 52, 1023 - 126);
  const double error = std::abs(value - wanted) * std::bit_cast<double>((2 * 1023 + 23 - exponent) << 52);
  const bool one_nan = std::isnan(exact) != std::isnan(got);
  const bool other_sign =
      (std::bit_cast<std::int64_t>(exact) ^ std::bit_cast<std::int64_t>(static_cast<double>(got))) < 0;
  const double checked = std::isnan(exact) ? 0 : other_sign ? kBad : error;
  return one_nan ? kBad : checked;
}
inline double ulp_error(double got, long double exact) {
  constexpr double kBad = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) == std::isnan(got) ? 0 : kBad;
  if (std::signbit(exact) != std::signbit(got)) return kBad;
  const long double top = std::ldexp(1.0L, 1024);
  const long double value = std::isinf(got) ? top : std::abs(static_cast<long double>(got));
  const long double wanted = std::min(std::abs(exact), top);
  const int exponent = wanted == 0 ? -1022 : std::max(std::ilogb(wanted), -1022);
  return static_cast<double>(std::ldexp(std::abs(value - wanted), 52 - exponent));
}

}  // namespace tenon::math
