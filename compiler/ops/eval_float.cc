// SPDX-License-Identifier: MIT
// Float operands, float result. Elementary functions come from compiler/ops/math.
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/ops/eval_loops.h"
#include "compiler/ops/math/math.h"

namespace tenon::eval {
namespace {

/// The function of that name, for ops that are one.
std::optional<math::MathFn> math_fn_of(Op op) {
  switch (op) {
#define TENON_CASE(FN, NAME, ARITY) \
  case Op::k_##NAME:                \
    return math::MathFn::FN;
    TENON_MATH_FUNCTIONS(TENON_CASE)
#undef TENON_CASE
    default:
      return std::nullopt;
  }
}

template <class T>
T sign_of(T x) {
  if (std::isnan(x)) return x;
  return static_cast<T>((x > 0) - (x < 0));
}

/// One step on the half type's own number line; the sign bit apart, its bits count the values in order.
template <class T>
T next_half(T x, T y) {
  const auto from = static_cast<float>(x), to = static_cast<float>(y);
  if (std::isnan(from) || std::isnan(to)) return T(std::numeric_limits<float>::quiet_NaN());
  if (from == to) return y;
  T next;
  if (from == 0) {
    next.bits = static_cast<std::uint16_t>((y.bits & 0x8000u) | 1u);
  } else {
    const bool grows = (from < to) == (from > 0);
    next.bits = static_cast<std::uint16_t>(grows ? x.bits + 1 : x.bits - 1);
  }
  return next;
}

template <class T>
void eval_nextafter_half(const Elements& e) {
  for (std::int64_t i = 0; i < e.count; ++i) {
    T x, y;
    std::memcpy(&x, static_cast<const char*>(e.operands[0]) + 2 * i, 2);
    std::memcpy(&y, static_cast<const char*>(e.operands[1]) + 2 * i, 2);
    const T next = next_half(x, y);
    std::memcpy(static_cast<char*>(e.out) + 2 * i, &next, 2);
  }
}

template <class T>
void eval_math_function(const Elements& e, math::MathFn fn) {
  using C = Computed<T>;
  if constexpr (is_half_type<T>) {
    if (e.op == Op::k_nextafter) return eval_nextafter_half<T>(e);
  }
  if (math::arity_of(fn) == 1) return map<T>(e, [fn](C x) { return math::eval_math(fn, x); });
  map<T>(e, [fn](C x, C y) { return math::eval_math(fn, x, y); });
}

template <class T>
void eval_typed(const Elements& e) {
  using C = Computed<T>;
  switch (e.op) {
    case Op::k_negative:
      return map<T>(e, [](C x) { return -x; });
    case Op::k_abs:
      return map<T>(e, [](C x) { return std::fabs(x); });
    case Op::k_sign:
      return map<T>(e, [](C x) { return sign_of(x); });
    case Op::k_sqrt:
      return map<T>(e, [](C x) { return std::sqrt(x); });
    case Op::k_floor:
      return map<T>(e, [](C x) { return std::floor(x); });
    case Op::k_ceil:
      return map<T>(e, [](C x) { return std::ceil(x); });
    case Op::k_trunc:
      return map<T>(e, [](C x) { return std::trunc(x); });
    case Op::k_round:
      return map<T>(e, [](C x) { return std::nearbyint(x); });
    case Op::k_add:
      return map<T>(e, [](C x, C y) { return x + y; });
    case Op::k_subtract:
      return map<T>(e, [](C x, C y) { return x - y; });
    case Op::k_multiply:
      return map<T>(e, [](C x, C y) { return x * y; });
    case Op::k_divide:
      return map<T>(e, [](C x, C y) { return x / y; });
    case Op::k_fmod:
      return map<T>(e, [](C x, C y) { return std::fmod(x, y); });
    case Op::k_maximum:
      return map<T>(e, [](C x, C y) { return larger(x, y); });
    case Op::k_minimum:
      return map<T>(e, [](C x, C y) { return smaller(x, y); });
    case Op::k_fma:
      return map<T>(e, [](C x, C y, C z) { return std::fma(x, y, z); });
    default:
      if (const auto fn = math_fn_of(e.op)) eval_math_function<T>(e, *fn);
  }
}

}  // namespace

void eval_float(const Elements& e) {
  with_float(e.operand, [&](auto tag) { eval_typed<typename decltype(tag)::type>(e); });
}

}  // namespace tenon::eval
