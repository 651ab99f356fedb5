// SPDX-License-Identifier: MIT
// The Builder that computes: a value of type T is a T of the host, and every operation happens at once.
//
// Used by the interpreters, by constant folding, and by tests. Gives the bits that compiled kernels give, provided it
// is compiled without contraction (-ffp-contract=off) and run with the default rounding mode and no flush to zero.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compiler/ops/math/builder.h"

namespace tenon::math {

/// Satisfies Builder. Stateless; conversions of a NaN or of a value out of range give 0.
class EvalBuilder {
 public:
  template <class T>
  using Value = T;

  float f32(float x) const { return x; }
  double f64(double x) const { return x; }
  std::int32_t i32(std::int32_t x) const { return x; }
  std::int64_t i64(std::int64_t x) const { return x; }

  template <class T>
  T add(T x, T y) const {
    return x + y;
  }
  template <class T>
  T sub(T x, T y) const {
    return x - y;
  }
  template <class T>
  T mul(T x, T y) const {
    return x * y;
  }
  template <class T>
  T div(T x, T y) const {
    return x / y;
  }
  template <class T>
  T fma(T x, T y, T z) const {
    return std::fma(x, y, z);
  }
  template <class T>
  T fmod(T x, T y) const {
    return std::fmod(x, y);
  }
  template <class T>
  T sqrt(T x) const {
    return std::sqrt(x);
  }
  template <class T>
  T neg(T x) const {
    return -x;
  }
  template <class T>
  T abs(T x) const {
    return std::fabs(x);
  }
  template <class T>
  T floor(T x) const {
    return std::floor(x);
  }
  template <class T>
  T trunc(T x) const {
    return std::trunc(x);
  }
  template <class T>
  T round_even(T x) const {
    return std::nearbyint(x);
  }
  template <class T>
  Bits<T> to_bits(T x) const {
    return std::bit_cast<Bits<T>>(x);
  }
  float from_bits(std::int32_t x) const { return std::bit_cast<float>(x); }
  double from_bits(std::int64_t x) const { return std::bit_cast<double>(x); }
  template <class T, class Other>
  T scale(T, T, bool, Other other) const {
    return other();
  }

  template <class T>
  T iadd(T x, T y) const {
    return wrap<T>(unsign(x) + unsign(y));
  }
  template <class T>
  T isub(T x, T y) const {
    return wrap<T>(unsign(x) - unsign(y));
  }
  template <class T>
  T imul(T x, T y) const {
    return wrap<T>(unsign(x) * unsign(y));
  }
  template <class T>
  T iand(T x, T y) const {
    return x & y;
  }
  template <class T>
  T ior(T x, T y) const {
    return x | y;
  }
  template <class T>
  T ixor(T x, T y) const {
    return x ^ y;
  }
  template <class T>
  T shl(T x, T n) const {
    return wrap<T>(unsign(x) << n);
  }
  template <class T>
  T lshr(T x, T n) const {
    return wrap<T>(unsign(x) >> n);
  }
  template <class T>
  T ashr(T x, T n) const {
    return x >> n;
  }

  template <class T>
  bool lt(T x, T y) const {
    return x < y;
  }
  template <class T>
  bool le(T x, T y) const {
    return x <= y;
  }
  template <class T>
  bool gt(T x, T y) const {
    return x > y;
  }
  template <class T>
  bool ge(T x, T y) const {
    return x >= y;
  }
  template <class T>
  bool eq(T x, T y) const {
    return x == y;
  }
  template <class T>
  bool ne(T x, T y) const {
    return x != y;
  }
  template <class T>
  T select(bool c, T x, T y) const {
    return c ? x : y;
  }
  bool logical_and(bool x, bool y) const { return x && y; }
  bool logical_or(bool x, bool y) const { return x || y; }
  bool logical_not(bool x) const { return !x; }

  template <class T>
  float to_f32(T x) const {
    return static_cast<float>(x);
  }
  template <class T>
  double to_f64(T x) const {
    return static_cast<double>(x);
  }
  template <class T>
  std::int32_t to_i32(T x) const {
    return x > T(-0x1p31) && x < T(0x1p31) ? static_cast<std::int32_t>(x) : 0;
  }
  std::int64_t to_i64(double x) const { return x > -0x1p63 && x < 0x1p63 ? static_cast<std::int64_t>(x) : 0; }

  template <class T, std::size_t N, class Slow>
  std::array<T, N> if_any(bool c, const std::array<T, N>& fast, Slow slow) const {
    return c ? slow() : fast;
  }

 private:
  template <class T>
  static std::make_unsigned_t<T> unsign(T x) {
    return static_cast<std::make_unsigned_t<T>>(x);
  }
  template <class T>
  static T wrap(std::make_unsigned_t<T> x) {
    return static_cast<T>(x);
  }
};

static_assert(Builder<EvalBuilder>);

}  // namespace tenon::math
