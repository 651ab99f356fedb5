// SPDX-License-Identifier: MIT
// Conversions of values. Integers wrap; to a float rounds once, to nearest even; a float to an integer truncates and
// saturates, NaN gives 0; to bool is x != 0 (true for NaN).
#include <cmath>
#include <limits>

#include "compiler/ir/rounding.h"
#include "compiler/ops/eval_loops.h"

namespace tenon::eval {
namespace {

template <class I, class F>
I saturated(F value) {
  if (std::isnan(value)) return 0;
  constexpr auto kLowest = static_cast<F>(std::numeric_limits<I>::min());
  constexpr F kBeyond = static_cast<F>(std::numeric_limits<I>::max() / 2 + 1) * F{2};
  if (value <= kLowest) return std::numeric_limits<I>::min();
  if (value >= kBeyond) return std::numeric_limits<I>::max();
  return static_cast<I>(value);
}

/// From what `From` computes in to an element stored as To.
template <class To, class C>
To converted(C value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != C{0};
  } else if constexpr (is_half_type<To> && (sizeof(C) > 4 || std::is_integral_v<C>)) {
    return To(round_to_odd(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<C>) {
    return saturated<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

void eval_cast(const Elements& e) {
  with_dtype(e.operand, [&](auto from) {
    using From = typename decltype(from)::type;
    with_dtype(e.result, [&](auto to) {
      using To = typename decltype(to)::type;
      map<From, To>(e, [](Computed<From> x) { return converted<To>(x); });
    });
  });
}

}  // namespace tenon::eval
