// SPDX-License-Identifier: MIT
// What a formula may be built from: the Builder concept.
//
// Every elementary function of Tenon is written once, as a template over a Builder. EvalBuilder (eval_builder.h)
// computes at once on host scalars; the code generators make instructions. A builder offers only operations that are
// exact or correctly rounded, so that a formula gives the same bits wherever it runs.
//
// Formulas are straight-line code: no branch but `if_any`, no table in memory, no 64-bit integer in a float32 function.
// A value of element type T (float, double, int32_t, int64_t, bool) is a `B::Value<T>`. A builder whose values know
// their own type may use one type for all: `template <class> using Value = llvm::Value*;`.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tenon::math {

template <class B, class T>
using ValueOf = typename B::template Value<T>;

namespace internal {
template <class T>
struct BitsOf;
template <>
struct BitsOf<float> : std::type_identity<std::int32_t> {};
template <>
struct BitsOf<double> : std::type_identity<std::int64_t> {};
template <class B, class T>
using Two = std::array<ValueOf<B, T>, 2>;
template <class B, class T>
struct SlowTwo {
  Two<B, T> operator()() const;
};
template <class B, class T>
struct Other {
  ValueOf<B, T> operator()() const;
};
}  // namespace internal

/// The integer type as wide as the float type T.
template <class T>
using Bits = typename internal::BitsOf<T>::type;

/// Operations on T = float or double. All round to nearest even, keep subnormals, and give NaN where IEEE 754 does.
/// `fmod` is C's (exact; the sign of x). Comparisons are ordered: false if an operand is NaN; only `ne` is then true.
/// `scale(x, k, c, other)` is 0 where c holds, else x * 2^k for an integral k, rounded once; NaN if one is. other() is
/// the same by the other operations, for builders that have no instruction for it.
template <class B, class T>
concept FloatBuilder = requires(B& b, const ValueOf<B, T>& x, const ValueOf<B, Bits<T>>& i, const ValueOf<B, bool>& c) {
  { b.add(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.sub(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.mul(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.div(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.fma(x, x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.fmod(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.sqrt(x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.neg(x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.abs(x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.floor(x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.trunc(x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.round_even(x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.to_bits(x) } -> std::convertible_to<ValueOf<B, Bits<T>>>;
  { b.from_bits(i) } -> std::convertible_to<ValueOf<B, T>>;
  { b.scale(x, x, c, internal::Other<B, T>{}) } -> std::convertible_to<ValueOf<B, T>>;
};

/// Operations on T = int32_t or int64_t: two's complement, wrapping. A shift amount is a value of the same type, at
/// least 0 and less than the width; `lshr` shifts in zeros, `ashr` the sign.
template <class B, class T>
concept IntBuilder = requires(B& b, const ValueOf<B, T>& x) {
  { b.iadd(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.isub(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.imul(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.iand(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.ior(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.ixor(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.shl(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.lshr(x, x) } -> std::convertible_to<ValueOf<B, T>>;
  { b.ashr(x, x) } -> std::convertible_to<ValueOf<B, T>>;
};

/// Comparison (signed for integers) and choice, for every T but bool. `select` gives x where the condition holds, else
/// y; a NaN or an unspecified value in the operand that is not chosen does not matter.
template <class B, class T>
concept ChoiceBuilder = requires(B& b, const ValueOf<B, T>& x, const ValueOf<B, bool>& c) {
  { b.lt(x, x) } -> std::convertible_to<ValueOf<B, bool>>;
  { b.le(x, x) } -> std::convertible_to<ValueOf<B, bool>>;
  { b.gt(x, x) } -> std::convertible_to<ValueOf<B, bool>>;
  { b.ge(x, x) } -> std::convertible_to<ValueOf<B, bool>>;
  { b.eq(x, x) } -> std::convertible_to<ValueOf<B, bool>>;
  { b.ne(x, x) } -> std::convertible_to<ValueOf<B, bool>>;
  { b.select(c, x, x) } -> std::convertible_to<ValueOf<B, T>>;
};

/// The whole: the above, constants, logic, conversions, and the rare path.
///
/// Conversions: `to_i32` and `to_i64` truncate; a formula never uses their result where the operand is NaN or out of
/// range (it is unspecified there, and may be poison). Float to float and integer to float round to nearest even.
///
/// `if_any(c, fast, slow)`: for each lane slow()[i] where c holds, else fast[i]. A builder may evaluate slow() for all
/// lanes and select, or skip it by a branch when c holds in no lane. `slow` is called at most once; it takes no
/// arguments, uses the same builder, and returns as many values of the same type as `fast` has.
template <class B>
concept Builder =
    FloatBuilder<B, float> && FloatBuilder<B, double> && IntBuilder<B, std::int32_t> && IntBuilder<B, std::int64_t> &&
    ChoiceBuilder<B, float> && ChoiceBuilder<B, double> && ChoiceBuilder<B, std::int32_t> &&
    ChoiceBuilder<B, std::int64_t> &&
    requires(B& b, const ValueOf<B, float>& f, const ValueOf<B, double>& d, const ValueOf<B, std::int32_t>& i,
             const ValueOf<B, std::int64_t>& l, const ValueOf<B, bool>& c) {
      { b.f32(1.0f) } -> std::convertible_to<ValueOf<B, float>>;
      { b.f64(1.0) } -> std::convertible_to<ValueOf<B, double>>;
      { b.i32(std::int32_t{1}) } -> std::convertible_to<ValueOf<B, std::int32_t>>;
      { b.i64(std::int64_t{1}) } -> std::convertible_to<ValueOf<B, std::int64_t>>;
      { b.logical_and(c, c) } -> std::convertible_to<ValueOf<B, bool>>;
      { b.logical_or(c, c) } -> std::convertible_to<ValueOf<B, bool>>;
      { b.logical_not(c) } -> std::convertible_to<ValueOf<B, bool>>;
      { b.to_f32(i) } -> std::convertible_to<ValueOf<B, float>>;
      { b.to_f32(d) } -> std::convertible_to<ValueOf<B, float>>;
      { b.to_f64(i) } -> std::convertible_to<ValueOf<B, double>>;
      { b.to_f64(l) } -> std::convertible_to<ValueOf<B, double>>;
      { b.to_f64(f) } -> std::convertible_to<ValueOf<B, double>>;
      { b.to_i32(f) } -> std::convertible_to<ValueOf<B, std::int32_t>>;
      { b.to_i32(d) } -> std::convertible_to<ValueOf<B, std::int32_t>>;
      { b.to_i64(d) } -> std::convertible_to<ValueOf<B, std::int64_t>>;
      {
        b.if_any(c, internal::Two<B, float>{}, internal::SlowTwo<B, float>{})
      } -> std::same_as<internal::Two<B, float>>;
      {
        b.if_any(c, internal::Two<B, double>{}, internal::SlowTwo<B, double>{})
      } -> std::same_as<internal::Two<B, double>>;
    };

}  // namespace tenon::math
