// SPDX-License-Identifier: MIT
// Integer and bool operands, result of the same dtype. Two's complement throughout: arithmetic is done on unsigned
// words of 64 bits and cut to the dtype.
#include "compiler/ops/eval_loops.h"

namespace tenon::eval {
namespace {

template <class T>
std::uint64_t word(T x) {
  return static_cast<std::uint64_t>(x);
}

template <class T>
T floor_quotient(T x, T y) {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return static_cast<T>(0 - word(x));
    return static_cast<T>(x / y - ((x % y != 0) && ((x < 0) != (y < 0))));
  }
  return static_cast<T>(x / y);
}

template <class T>
T truncated_remainder(T x, T y) {
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return 0;
  }
  return static_cast<T>(x % y);
}

template <class T>
T floor_remainder(T x, T y) {
  const T r = truncated_remainder(x, y);
  return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
}

/// x**y modulo 2^bits; a negative exponent gives the integer part of the inverse: 0 unless x is 1 or -1.
template <class T>
T power(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return x == 1 ? T{1} : x == -1 ? static_cast<T>(y % 2 == 0 ? 1 : -1) : T{0};
  }
  std::uint64_t result = 1, base = word(x);
  for (auto exponent = word(y); exponent != 0; exponent >>= 1) {
    if (exponent & 1u) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}

/// A count that is negative or at least the width shifts everything out.
template <class T>
bool is_whole_shift(T count) {
  return word(count) >= 8 * sizeof(T);
}

template <class T>
T shifted_left(T x, T count) {
  return is_whole_shift(count) ? T{0} : static_cast<T>(word(x) << count);
}

template <class T>
T shifted_right(T x, T count) {
  if (is_whole_shift(count)) return static_cast<T>(x < 0 ? -1 : 0);
  return static_cast<T>(x >> count);
}

template <class T>
void eval_typed(const Elements& e) {
  switch (e.op) {
    case Op::k_negative:
      return map<T>(e, [](T x) { return static_cast<T>(0 - word(x)); });
    case Op::k_abs:
      return map<T>(e, [](T x) { return x < 0 ? static_cast<T>(0 - word(x)) : x; });
    case Op::k_sign:
      return map<T>(e, [](T x) { return (x > 0) - (x < 0); });
    case Op::k_bitwise_invert:
      return map<T>(e, [](T x) { return ~word(x); });
    case Op::k_add:
      return map<T>(e, [](T x, T y) { return word(x) + word(y); });
    case Op::k_subtract:
      return map<T>(e, [](T x, T y) { return word(x) - word(y); });
    case Op::k_multiply:
      return map<T>(e, [](T x, T y) { return word(x) * word(y); });
    case Op::k_floor_divide:
      return map<T>(e, [](T x, T y) { return floor_quotient(x, y); });
    case Op::k_remainder:
      return map<T>(e, [](T x, T y) { return floor_remainder(x, y); });
    case Op::k_fmod:
      return map<T>(e, [](T x, T y) { return truncated_remainder(x, y); });
    case Op::k_pow:
      return map<T>(e, [](T x, T y) { return power(x, y); });
    case Op::k_maximum:
      return map<T>(e, [](T x, T y) { return larger(x, y); });
    case Op::k_minimum:
      return map<T>(e, [](T x, T y) { return smaller(x, y); });
    case Op::k_bitwise_and:
      return map<T>(e, [](T x, T y) { return word(x) & word(y); });
    case Op::k_bitwise_or:
      return map<T>(e, [](T x, T y) { return word(x) | word(y); });
    case Op::k_bitwise_xor:
      return map<T>(e, [](T x, T y) { return word(x) ^ word(y); });
    case Op::k_bitwise_left_shift:
      return map<T>(e, [](T x, T y) { return shifted_left(x, y); });
    case Op::k_bitwise_right_shift:
      return map<T>(e, [](T x, T y) { return shifted_right(x, y); });
    default:  // floor, ceil, trunc, round
      return map<T>(e, [](T x) { return x; });
  }
}

void eval_bool(const Elements& e) {
  switch (e.op) {
    case Op::k_add:
    case Op::k_maximum:
    case Op::k_bitwise_or:
      return map<bool>(e, [](bool x, bool y) { return x || y; });
    case Op::k_multiply:
    case Op::k_minimum:
    case Op::k_bitwise_and:
      return map<bool>(e, [](bool x, bool y) { return x && y; });
    case Op::k_bitwise_xor:
      return map<bool>(e, [](bool x, bool y) { return x != y; });
    default:  // abs, floor, ceil, trunc, round
      return map<bool>(e, [](bool x) { return x; });
  }
}

}  // namespace

void eval_integer(const Elements& e) {
  if (e.operand == DType::kBool) return eval_bool(e);
  with_integer(e.operand, [&](auto tag) { eval_typed<typename decltype(tag)::type>(e); });
}

}  // namespace tenon::eval
