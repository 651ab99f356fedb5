// SPDX-License-Identifier: MIT
// Ops whose result is bool: comparisons, predicates, logic. Comparisons with a NaN are false, but for not_equal.
#include <cmath>

#include "compiler/ops/eval_loops.h"

namespace tenon::eval {
namespace {

template <class T>
void eval_compare(const Elements& e) {
  using C = Computed<T>;
  switch (e.op) {
    case Op::k_equal:
      return map<T, bool>(e, [](C x, C y) { return x == y; });
    case Op::k_not_equal:
      return map<T, bool>(e, [](C x, C y) { return x != y; });
    case Op::k_less:
      return map<T, bool>(e, [](C x, C y) { return x < y; });
    case Op::k_less_equal:
      return map<T, bool>(e, [](C x, C y) { return x <= y; });
    case Op::k_greater:
      return map<T, bool>(e, [](C x, C y) { return x > y; });
    default:  // greater_equal
      return map<T, bool>(e, [](C x, C y) { return x >= y; });
  }
}

template <class T>
void eval_predicate(const Elements& e) {
  using C = Computed<T>;
  constexpr bool kIsFloat = std::is_floating_point_v<C>;
  const auto test = [&](auto of_float, bool otherwise) {
    map<T, bool>(e, [&](C x) {
      if constexpr (kIsFloat) return static_cast<bool>(of_float(x));
      return (void)x, otherwise;
    });
  };
  switch (e.op) {
    case Op::k_isnan:
      return test([](auto x) { return std::isnan(x); }, false);
    case Op::k_isinf:
      return test([](auto x) { return std::isinf(x); }, false);
    case Op::k_isfinite:
      return test([](auto x) { return std::isfinite(x); }, true);
    default:  // signbit
      if constexpr (kIsFloat) return map<T, bool>(e, [](C x) { return std::signbit(x) && !std::isnan(x); });
      return map<T, bool>(e, [](C x) { return x < C{0}; });
  }
}

bool eval_logical(const Elements& e) {
  switch (e.op) {
    case Op::k_logical_not:
      map<bool>(e, [](bool x) { return !x; });
      return true;
    case Op::k_logical_and:
      map<bool>(e, [](bool x, bool y) { return x && y; });
      return true;
    case Op::k_logical_or:
      map<bool>(e, [](bool x, bool y) { return x || y; });
      return true;
    case Op::k_logical_xor:
      map<bool>(e, [](bool x, bool y) { return x != y; });
      return true;
    default:
      return false;
  }
}

}  // namespace

void eval_test(const Elements& e) {
  if (eval_logical(e)) return;
  with_dtype(e.operand, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (row_of(e.op).result == "predicate") return eval_predicate<T>(e);
    eval_compare<T>(e);
  });
}

void eval_where(const Elements& e) {
  const auto* condition = static_cast<const char*>(e.operands[0]);
  const auto* x = static_cast<const char*>(e.operands[1]);
  const auto* y = static_cast<const char*>(e.operands[2]);
  const std::size_t size = size_of(e.operand);
  for (std::size_t i = 0; i < static_cast<std::size_t>(e.count); ++i) {
    std::memcpy(static_cast<char*>(e.out) + i * size, (condition[i] ? x : y) + i * size, size);
  }
}

}  // namespace tenon::eval
