// SPDX-License-Identifier: MIT
// The elementary functions by name: what an op-table row, an interpreter or a code generator calls.
//
// Every function is defined for float32 (at most 1 ULP) and float64 (at most 2 ULP); README.md has the measured errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compiler/ops/math/divide.h"
#include "compiler/ops/math/erf.h"
#include "compiler/ops/math/exp.h"
#include "compiler/ops/math/hyperbolic.h"
#include "compiler/ops/math/inverse_trig.h"
#include "compiler/ops/math/log.h"
#include "compiler/ops/math/pow.h"
#include "compiler/ops/math/root.h"
#include "compiler/ops/math/trig.h"

namespace tenon::math {

// One line a function: enumerator, name, number of arguments.
#define TENON_MATH_FUNCTIONS(X)    \
  X(kRsqrt, rsqrt, 1)              \
  X(kCbrt, cbrt, 1)                \
  X(kExp, exp, 1)                  \
  X(kExp2, exp2, 1)                \
  X(kExpm1, expm1, 1)              \
  X(kLog, log, 1)                  \
  X(kLog2, log2, 1)                \
  X(kLog10, log10, 1)              \
  X(kLog1p, log1p, 1)              \
  X(kSin, sin, 1)                  \
  X(kCos, cos, 1)                  \
  X(kTan, tan, 1)                  \
  X(kAsin, asin, 1)                \
  X(kAcos, acos, 1)                \
  X(kAtan, atan, 1)                \
  X(kSinh, sinh, 1)                \
  X(kCosh, cosh, 1)                \
  X(kTanh, tanh, 1)                \
  X(kAsinh, asinh, 1)              \
  X(kAcosh, acosh, 1)              \
  X(kAtanh, atanh, 1)              \
  X(kErf, erf, 1)                  \
  X(kErfc, erfc, 1)                \
  X(kFmod, fmod, 2)                \
  X(kFloorDivide, floor_divide, 2) \
  X(kRemainder, remainder, 2)      \
  X(kPow, pow, 2)                  \
  X(kAtan2, atan2, 2)              \
  X(kNextafter, nextafter, 2)

enum class MathFn : std::uint8_t {
#define TENON_MATH_ENUM(FN, NAME, ARITY) FN,
  TENON_MATH_FUNCTIONS(TENON_MATH_ENUM)
#undef TENON_MATH_ENUM
};

inline constexpr std::size_t kNumMathFns = 0
#define TENON_MATH_COUNT(FN, NAME, ARITY) +1
    TENON_MATH_FUNCTIONS(TENON_MATH_COUNT)
#undef TENON_MATH_COUNT
    ;

/// "exp", "log1p", ...
constexpr std::string_view name_of(MathFn fn) {
  constexpr std::string_view kNames[] = {
#define TENON_MATH_NAME(FN, NAME, ARITY) #NAME,
      TENON_MATH_FUNCTIONS(TENON_MATH_NAME)
#undef TENON_MATH_NAME
  };
  return kNames[static_cast<int>(fn)];
}

/// 1 or 2.
constexpr int arity_of(MathFn fn) {
  constexpr int kArity[] = {
#define TENON_MATH_ARITY(FN, NAME, ARITY) ARITY,
      TENON_MATH_FUNCTIONS(TENON_MATH_ARITY)
#undef TENON_MATH_ARITY
  };
  return kArity[static_cast<int>(fn)];
}

/// Builds fn(x), or fn(x, y), for element type T = float or double: `apply_math<float>(builder, MathFn::kExp, x)`. y is
/// ignored by functions of one argument.
template <class T, Builder B>
ValueOf<B, T> apply_math(B& builder, MathFn fn, ValueOf<B, T> x, ValueOf<B, T> y = {}) {
  const Expr<B, T> a{&builder, x};
  const Expr<B, T> b{&builder, y};
#define TENON_MATH_CALL_1(NAME) return math::NAME(a).value
#define TENON_MATH_CALL_2(NAME) return math::NAME(a, b).value
#define TENON_MATH_CASE(FN, NAME, ARITY) \
  case MathFn::FN:                       \
    TENON_MATH_CALL_##ARITY(NAME);
  switch (fn) { TENON_MATH_FUNCTIONS(TENON_MATH_CASE) }
#undef TENON_MATH_CASE
#undef TENON_MATH_CALL_2
#undef TENON_MATH_CALL_1
  return x;
}

/// fn on the host, bit for bit what a kernel computes.
float eval_math(MathFn fn, float x, float y = 0);
double eval_math(MathFn fn, double x, double y = 0);

}  // namespace tenon::math
