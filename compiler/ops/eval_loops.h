// SPDX-License-Identifier: MIT
// What the families of scalar_eval.h share: visiting a dtype as a C++ type, and one loop that applies a function to
// elements as stored. Half types are widened to float for the function, and its result is rounded once.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/types/span.h"
#include "compiler/ir/op.h"
#include "compiler/ir/tensor_type.h"

namespace tenon::eval {

/// Arguments of eval_elements.
struct Elements {
  Op op;
  DType result;
  DType operand;
  absl::Span<const void* const> operands;
  void* out;
  std::int64_t count;
};

/// The families. Each takes any dtype of its class.
void eval_float(const Elements& e);    ///< float operands, float result; not cast and where
void eval_integer(const Elements& e);  ///< integer or bool operands, result of the same dtype; not cast and where
void eval_test(const Elements& e);     ///< compare, logical and predicate ops: result bool
void eval_where(const Elements& e);
void eval_cast(const Elements& e);

template <class T>
struct Tag {
  using type = T;
};

template <class F>
void with_float(DType dtype, F f) {
  if (dtype == DType::kFloat16) return f(Tag<float16>());
  if (dtype == DType::kBFloat16) return f(Tag<bfloat16>());
  if (dtype == DType::kFloat32) return f(Tag<float>());
  f(Tag<double>());
}

template <class F>
void with_integer(DType dtype, F f) {
  switch (dtype) {
    case DType::kInt8:
      return f(Tag<std::int8_t>());
    case DType::kInt16:
      return f(Tag<std::int16_t>());
    case DType::kInt32:
      return f(Tag<std::int32_t>());
    case DType::kInt64:
      return f(Tag<std::int64_t>());
    case DType::kUInt8:
      return f(Tag<std::uint8_t>());
    case DType::kUInt16:
      return f(Tag<std::uint16_t>());
    case DType::kUInt32:
      return f(Tag<std::uint32_t>());
    default:
      return f(Tag<std::uint64_t>());
  }
}

/// Calls f(Tag<T>()) with the type that elements of dtype are stored as.
template <class F>
void with_dtype(DType dtype, F f) {
  if (dtype == DType::kBool) return f(Tag<bool>());
  if (is_int(dtype)) return with_integer(dtype, f);
  with_float(dtype, f);
}

template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// What an element stored as T computes in.
template <class T>
using Computed = std::conditional_t<is_half_type<T>, float, T>;

template <class T>
Computed<T> load(const void* data, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return static_cast<Computed<T>>(value);
}

template <class T, class V>
void store(void* data, std::int64_t i, V value) {
  const auto stored = static_cast<T>(value);
  std::memcpy(static_cast<char*>(data) + i * static_cast<std::int64_t>(sizeof(T)), &stored, sizeof(T));
}

/// The larger of two elements: for floats -0 is below +0, and NaN wins. Equal floats differ in bits only as zeros do.
template <class T>
T larger(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (x == y) return std::bit_cast<T>(std::bit_cast<Word>(x) & std::bit_cast<Word>(y));
    if (x > y) return x;
    return x < y ? y : std::numeric_limits<T>::quiet_NaN();
  } else {
    return x > y ? x : y;
  }
}

/// The smaller of two elements, by the same rules.
template <class T>
T smaller(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (x == y) return std::bit_cast<T>(std::bit_cast<Word>(x) | std::bit_cast<Word>(y));
    if (x < y) return x;
    return x > y ? y : std::numeric_limits<T>::quiet_NaN();
  } else {
    return x < y ? x : y;
  }
}

/// out[i] = f(operands[0][i], ...): f of one, two or three elements stored as T; the result is stored as R.
template <class T, class R = T, class F>
void map(const Elements& e, F f) {
  using C = Computed<T>;
  for (std::int64_t i = 0; i < e.count; ++i) {
    if constexpr (std::is_invocable_v<F, C>) {
      store<R>(e.out, i, f(load<T>(e.operands[0], i)));
    } else if constexpr (std::is_invocable_v<F, C, C>) {
      store<R>(e.out, i, f(load<T>(e.operands[0], i), load<T>(e.operands[1], i)));
    } else {
      store<R>(e.out, i, f(load<T>(e.operands[0], i), load<T>(e.operands[1], i), load<T>(e.operands[2], i)));
    }
  }
}

}  // namespace tenon::eval
