// SPDX-License-Identifier: MIT
// Formulas that read as algebra: an expression of element type T over any Builder, with the usual operators.
//
// `Expr<B, T>` is a builder and one of its values; each operator calls the builder operation of that name, so
// `x * y + 1.0f` is two roundings and `fma(x, y, 1.0f)` one. Literals take the element type of the other operand.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compiler/ops/math/builder.h"

namespace tenon::math {

/// A value of element type T of builder `*builder`, which must outlive the expression.
template <class B, class T>
struct Expr {
  using Builder = B;
  using Element = T;
  B* builder;
  ValueOf<B, T> value;
};

template <class B>
using F32 = Expr<B, float>;
template <class B>
using F64 = Expr<B, double>;
template <class B>
using I32 = Expr<B, std::int32_t>;
template <class B>
using I64 = Expr<B, std::int64_t>;
template <class B>
using Bool = Expr<B, bool>;

/// An operand that may be a literal and does not take part in template deduction.
template <class T>
using Literal = std::type_identity_t<T>;

template <class T>
concept FloatElement = std::is_floating_point_v<T>;
template <class T>
concept IntElement = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
concept NumberElement = FloatElement<T> || IntElement<T>;

/// The constant c, of the builder of `like`.
template <class T, class B, class U>
Expr<B, T> constant(const Expr<B, U>& like, T c) {
  if constexpr (std::is_same_v<T, float>) return {like.builder, like.builder->f32(c)};
  if constexpr (std::is_same_v<T, double>) return {like.builder, like.builder->f64(c)};
  if constexpr (std::is_same_v<T, std::int32_t>) return {like.builder, like.builder->i32(c)};
  if constexpr (std::is_same_v<T, std::int64_t>) return {like.builder, like.builder->i64(c)};
}

// One operator: on two expressions, and on an expression and a literal of its element type.
#define TENON_MATH_OPERATOR(NAME, KIND, RESULT, CALL)              \
  template <class B, KIND T>                                       \
  Expr<B, RESULT> NAME(const Expr<B, T>& x, const Expr<B, T>& y) { \
    return {x.builder, x.builder->CALL(x.value, y.value)};         \
  }                                                                \
  template <class B, KIND T>                                       \
  Expr<B, RESULT> NAME(const Expr<B, T>& x, Literal<T> y) {        \
    return NAME(x, constant<T>(x, y));                             \
  }                                                                \
  template <class B, KIND T>                                       \
  Expr<B, RESULT> NAME(Literal<T> x, const Expr<B, T>& y) {        \
    return NAME(constant<T>(y, x), y);                             \
  }
TENON_MATH_OPERATOR(operator+, FloatElement, T, add)
TENON_MATH_OPERATOR(operator-, FloatElement, T, sub)
TENON_MATH_OPERATOR(operator*, FloatElement, T, mul)
TENON_MATH_OPERATOR(operator/, FloatElement, T, div)
TENON_MATH_OPERATOR(library_fmod, FloatElement, T, fmod)
TENON_MATH_OPERATOR(operator+, IntElement, T, iadd)
TENON_MATH_OPERATOR(operator-, IntElement, T, isub)
TENON_MATH_OPERATOR(operator*, IntElement, T, imul)
TENON_MATH_OPERATOR(operator&, IntElement, T, iand)
TENON_MATH_OPERATOR(operator|, IntElement, T, ior)
TENON_MATH_OPERATOR(operator^, IntElement, T, ixor)
TENON_MATH_OPERATOR(operator<<, IntElement, T, shl)
TENON_MATH_OPERATOR(operator>>, IntElement, T, ashr)
TENON_MATH_OPERATOR(shift_right_logical, IntElement, T, lshr)
TENON_MATH_OPERATOR(operator<, NumberElement, bool, lt)
TENON_MATH_OPERATOR(operator<=, NumberElement, bool, le)
TENON_MATH_OPERATOR(operator>, NumberElement, bool, gt)
TENON_MATH_OPERATOR(operator>=, NumberElement, bool, ge)
TENON_MATH_OPERATOR(operator==, NumberElement, bool, eq)
TENON_MATH_OPERATOR(operator!=, NumberElement, bool, ne)
#undef TENON_MATH_OPERATOR

// One function of one expression.
#define TENON_MATH_FUNCTION(NAME, KIND, RESULT, CALL) \
  template <class B, KIND T>                          \
  Expr<B, RESULT> NAME(const Expr<B, T>& x) {         \
    return {x.builder, x.builder->CALL(x.value)};     \
  }
TENON_MATH_FUNCTION(operator-, FloatElement, T, neg)
TENON_MATH_FUNCTION(abs, FloatElement, T, abs)
TENON_MATH_FUNCTION(sqrt, FloatElement, T, sqrt)
TENON_MATH_FUNCTION(floor, FloatElement, T, floor)
TENON_MATH_FUNCTION(trunc, FloatElement, T, trunc)
TENON_MATH_FUNCTION(round_even, FloatElement, T, round_even)
TENON_MATH_FUNCTION(to_bits, FloatElement, Bits<T>, to_bits)
TENON_MATH_FUNCTION(to_f32, NumberElement, float, to_f32)
TENON_MATH_FUNCTION(to_f64, NumberElement, double, to_f64)
TENON_MATH_FUNCTION(to_i32, FloatElement, std::int32_t, to_i32)
TENON_MATH_FUNCTION(to_i64, FloatElement, std::int64_t, to_i64)
#undef TENON_MATH_FUNCTION

template <class B>
F32<B> from_bits(const I32<B>& x) {
  return {x.builder, x.builder->from_bits(x.value)};
}
template <class B>
F64<B> from_bits(const I64<B>& x) {
  return {x.builder, x.builder->from_bits(x.value)};
}

template <class B>
Bool<B> operator&(const Bool<B>& x, const Bool<B>& y) {
  return {x.builder, x.builder->logical_and(x.value, y.value)};
}
template <class B>
Bool<B> operator|(const Bool<B>& x, const Bool<B>& y) {
  return {x.builder, x.builder->logical_or(x.value, y.value)};
}
template <class B>
Bool<B> operator!(const Bool<B>& x) {
  return {x.builder, x.builder->logical_not(x.value)};
}
/// Both or neither.
template <class B>
Bool<B> operator==(const Bool<B>& x, const Bool<B>& y) {
  return (x & y) | !(x | y);
}

/// x * y + z with one rounding.
template <class B, FloatElement T>
Expr<B, T> fma(const Expr<B, T>& x, const Expr<B, T>& y, const Expr<B, T>& z) {
  return {x.builder, x.builder->fma(x.value, y.value, z.value)};
}
template <class B, FloatElement T>
Expr<B, T> fma(const Expr<B, T>& x, Literal<T> y, const Expr<B, T>& z) {
  return fma(x, constant<T>(x, y), z);
}
template <class B, FloatElement T>
Expr<B, T> fma(const Expr<B, T>& x, const Expr<B, T>& y, Literal<T> z) {
  return fma(x, y, constant<T>(x, z));
}
template <class B, FloatElement T>
Expr<B, T> fma(const Expr<B, T>& x, Literal<T> y, Literal<T> z) {
  return fma(x, constant<T>(x, y), constant<T>(x, z));
}

/// x where c holds, else y.
template <class B, class T>
Expr<B, T> select(const Bool<B>& c, const Expr<B, T>& x, const Expr<B, T>& y) {
  return {c.builder, c.builder->select(c.value, x.value, y.value)};
}
template <class B, class T>
Expr<B, T> select(const Bool<B>& c, const Expr<B, T>& x, Literal<T> y) {
  return select(c, x, constant<T>(c, y));
}
template <class B, class T>
Expr<B, T> select(const Bool<B>& c, Literal<T> x, const Expr<B, T>& y) {
  return select(c, constant<T>(c, x), y);
}
template <class B, NumberElement T>
Expr<B, T> select(const Bool<B>& c, T x, T y) {
  return select(c, constant<T>(c, x), constant<T>(c, y));
}

/// Builder's if_any on expressions: `slow` returns std::array<Expr<B, T>, N>.
template <class B, class T, std::size_t N, class Slow>
std::array<Expr<B, T>, N> if_any(const Bool<B>& c, const std::array<Expr<B, T>, N>& fast, Slow slow) {
  using Values = std::array<ValueOf<B, T>, N>;
  const auto unwrap = [](const std::array<Expr<B, T>, N>& exprs) {
    Values values;
    for (std::size_t i = 0; i < N; ++i) values[i] = exprs[i].value;
    return values;
  };
  const Values chosen = c.builder->if_any(c.value, unwrap(fast), [&] { return unwrap(slow()); });
  std::array<Expr<B, T>, N> result = fast;
  for (std::size_t i = 0; i < N; ++i) result[i].value = chosen[i];
  return result;
}

/// The lesser of x and the bound; NaN stays NaN.
template <class B, FloatElement T>
Expr<B, T> at_most(const Expr<B, T>& x, Literal<T> bound) {
  return select(x > bound, bound, x);
}
/// The greater of x and the bound; NaN stays NaN.
template <class B, FloatElement T>
Expr<B, T> at_least(const Expr<B, T>& x, Literal<T> bound) {
  return select(x < bound, bound, x);
}

/// c[0] + x * (c[1] + x * (c[2] + ...)) by Horner's rule, each step an fma.
template <class B, FloatElement T, std::size_t N>
Expr<B, T> polynomial(const Expr<B, T>& x, const Literal<T> (&c)[N]) {
  Expr<B, T> sum = constant<T>(x, c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = fma(sum, x, c[i]);
  return sum;
}

/// The magnitude of x with the sign of y.
template <class B, FloatElement T>
Expr<B, T> copysign(const Expr<B, T>& x, const Expr<B, T>& y) {
  constexpr Bits<T> kSign = std::bit_cast<Bits<T>>(T(-0.0));
  return from_bits((to_bits(x) & ~kSign) | (to_bits(y) & kSign));
}
/// x, negated where y has a minus sign.
template <class B, FloatElement T>
Expr<B, T> flip_sign(const Expr<B, T>& x, const Expr<B, T>& y) {
  return from_bits(to_bits(x) ^ (to_bits(y) & std::bit_cast<Bits<T>>(T(-0.0))));
}

}  // namespace tenon::math
