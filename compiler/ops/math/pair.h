// SPDX-License-Identifier: MIT
// Sums and products with their rounding error: numbers of about twice the precision of T.
//
// The classical error-free transformations (Dekker 1971, Knuth), with fma for products.
#pragma once

#include "compiler/ops/math/expr.h"

namespace tenon::math {

/// high + low, |low| at most about an ULP of high.
template <class B, class T>
struct Pair {
  Expr<B, T> high;
  Expr<B, T> low;
};

/// x + y exactly.
template <class B, class T>
Pair<B, T> two_sum(const Expr<B, T>& x, const Expr<B, T>& y) {
  const auto high = x + y;
  const auto part = high - x;
  return {high, (x - (high - part)) + (y - part)};
}

/// x + y exactly, for |x| >= |y| or x = 0.
template <class B, class T>
Pair<B, T> ordered_sum(const Expr<B, T>& x, const Expr<B, T>& y) {
  const auto high = x + y;
  return {high, y - (high - x)};
}

/// x * y, exact but for underflow.
template <class B, class T>
Pair<B, T> exact_product(const Expr<B, T>& x, const Expr<B, T>& y) {
  const auto high = x * y;
  return {high, fma(x, y, -high)};
}

/// x * y to about twice the precision of T.
template <class B, class T>
Pair<B, T> product(const Pair<B, T>& x, const Pair<B, T>& y) {
  const auto [high, low] = exact_product(x.high, y.high);
  return {high, fma(x.high, y.low, fma(x.low, y.high, low))};
}

}  // namespace tenon::math
