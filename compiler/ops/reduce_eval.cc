// SPDX-License-Identifier: MIT
// The canonical orders, written plainly. A Fold is an accumulator type T with `identity()` and `combine(a, b)`.
#include "compiler/ops/reduce_eval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "compiler/ir/reduction_order.h"
#include "compiler/ops/eval_loops.h"

namespace tenon {
namespace {

using eval::Computed;

template <class C>
C added(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  return a + b;
}
template <class C>
C multiplied(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  return a * b;
}

template <class T>
struct Sum {
  using Stored = T;
  using Value = Computed<T>;
  static Value identity() { return std::is_floating_point_v<Value> ? static_cast<Value>(-0.0) : Value{}; }
  static Value of_nothing() { return Value{}; }
  static Value combine(Value a, Value b) { return added(a, b); }
};

template <class T>
struct Product {
  using Stored = T;
  using Value = Computed<T>;
  static Value identity() { return Value{1}; }
  static Value of_nothing() { return Value{1}; }
  static Value combine(Value a, Value b) { return multiplied(a, b); }
};

/// The lowest and the highest value of a type, infinities for floats.
template <class C, bool is_highest>
C extreme() {
  using Limits = std::numeric_limits<C>;
  if constexpr (Limits::has_infinity) return is_highest ? Limits::infinity() : -Limits::infinity();
  return is_highest ? Limits::max() : Limits::lowest();
}

template <class T>
struct Largest {
  using Stored = T;
  using Value = Computed<T>;
  static Value identity() { return extreme<Value, false>(); }
  static Value of_nothing() { return identity(); }
  static Value combine(Value a, Value b) { return eval::larger(a, b); }
};

template <class T>
struct Smallest {
  using Stored = T;
  using Value = Computed<T>;
  static Value identity() { return extreme<Value, true>(); }
  static Value of_nothing() { return identity(); }
  static Value combine(Value a, Value b) { return eval::smaller(a, b); }
};

/// The dyadic tree as a binary counter: level l of the stack holds the value of 2^l blocks when bit l of count_ is set.
template <class Fold>
class Tree {
 public:
  using Value = typename Fold::Value;
  void push(Value value) {
    std::size_t level = 0;
    for (; (count_ >> level & 1u) != 0; ++level) value = Fold::combine(stack_[level], value);
    stack_[level] = value;
    ++count_;
  }
  Value result() const {
    if (count_ == 0) return Fold::of_nothing();
    std::size_t level = 0;
    while ((count_ >> level & 1u) == 0) ++level;
    Value value = stack_[level];
    while (++level < stack_.size()) {
      if ((count_ >> level & 1u) != 0) value = Fold::combine(stack_[level], value);
    }
    return value;
  }
  /// The stack merged left to right, highest level first: what a scan carries.
  Value carry() const {
    Value value{};
    bool is_first = true;
    for (std::size_t level = stack_.size(); level-- > 0;) {
      if ((count_ >> level & 1u) == 0) continue;
      value = is_first ? stack_[level] : Fold::combine(value, stack_[level]);
      is_first = false;
    }
    return value;
  }

 private:
  std::array<Value, 56> stack_{};
  std::uint64_t count_ = 0;
};

/// The partials of n elements from `begin` on: partial p of P takes every P-th element from p on.
template <class Fold>
void add_up(const void* line, std::int64_t begin, std::int64_t n, std::vector<typename Fold::Value>* sums) {
  std::fill(sums->begin(), sums->end(), Fold::identity());
  const auto mask = static_cast<std::int64_t>(sums->size()) - 1;
  for (std::int64_t i = 0; i < n; ++i) {
    auto& sum = (*sums)[static_cast<std::size_t>(i & mask)];
    sum = Fold::combine(sum, eval::load<typename Fold::Stored>(line, begin + i));
  }
}

/// The partials of all chunks, merged.
template <class Fold>
std::vector<typename Fold::Value> merged_partials(const void* line, std::int64_t n, std::int64_t partials) {
  std::vector<typename Fold::Value> sums(static_cast<std::size_t>(partials));
  if (n <= kInnerChunk) {
    add_up<Fold>(line, 0, n, &sums);
    return sums;
  }
  std::vector<Tree<Fold>> trees(sums.size());
  for (std::int64_t begin = 0; begin < n; begin += kInnerChunk) {
    add_up<Fold>(line, begin, std::min(kInnerChunk, n - begin), &sums);
    for (std::size_t p = 0; p < trees.size(); ++p) trees[p].push(sums[p]);
  }
  for (std::size_t p = 0; p < trees.size(); ++p) sums[p] = trees[p].result();
  return sums;
}

template <class Fold>
typename Fold::Value reduce_inner(const void* line, std::int64_t n) {
  if (n == 0) return Fold::of_nothing();
  auto sums = merged_partials<Fold>(line, n, inner_partials(n));
  for (std::size_t half = sums.size() / 2; half > 0; half /= 2) {
    for (std::size_t p = 0; p < half; ++p) sums[p] = Fold::combine(sums[p], sums[p + half]);
  }
  return sums[0];
}

template <class Fold>
typename Fold::Value reduce_blocks(const void* line, std::int64_t n, std::int64_t block) {
  Tree<Fold> tree;
  for (std::int64_t begin = 0; begin < n; begin += block) {
    auto sum = Fold::identity();
    for (std::int64_t i = begin; i < std::min(begin + block, n); ++i) {
      sum = Fold::combine(sum, eval::load<typename Fold::Stored>(line, i));
    }
    tree.push(sum);
  }
  return tree.result();
}

/// Calls f with the Fold of a kind over elements stored as T.
template <class T, class F>
void with_fold(ReduceKind kind, F f) {
  if constexpr (!std::is_same_v<T, bool>) {
    if (kind == ReduceKind::sum) return f(Sum<T>());
    if (kind == ReduceKind::prod) return f(Product<T>());
    if (kind == ReduceKind::max) return f(Largest<T>());
    if (kind == ReduceKind::min) return f(Smallest<T>());
  }
}

/// A bool folds as the byte 0 or 1 that it is stored as.
template <class F>
void with_fold(ReduceKind kind, DType dtype, F f) {
  if (dtype == DType::kBool) dtype = DType::kUInt8;
  eval::with_dtype(dtype, [&](auto tag) { with_fold<typename decltype(tag)::type>(kind, f); });
}

template <class T>
std::int64_t arg_extremum(bool is_max, const void* line, std::int64_t n) {
  const auto is_nan = [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) return std::isnan(x);
    return false;
  };
  std::int64_t best = 0;
  auto extremum = eval::load<T>(line, 0);
  for (std::int64_t i = 1; i < n && !is_nan(extremum); ++i) {
    const auto x = eval::load<T>(line, i);
    if (is_nan(x) || (is_max ? x > extremum : x < extremum)) {
      extremum = x;
      best = i;
    }
  }
  return best;
}

}  // namespace

void reduce_line(ReduceKind kind, ReduceOrder order, DType dtype, const void* line, std::int64_t n, void* out) {
  if (is_arg(kind)) {
    eval::with_dtype(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      eval::store<std::int64_t>(out, 0, arg_extremum<T>(kind == ReduceKind::argmax, line, n));
    });
    return;
  }
  with_fold(kind, dtype, [&](auto fold) {
    using Fold = decltype(fold);
    const bool is_inner = order == ReduceOrder::inner;
    const auto value = is_inner ? reduce_inner<Fold>(line, n) : reduce_blocks<Fold>(line, n, kOuterBlock);
    eval::store<typename Fold::Stored>(out, 0, value);
  });
}

void reduce_tree(ReduceKind kind, DType dtype, const void* line, std::int64_t n, void* out) {
  with_fold(kind, dtype, [&](auto fold) {
    using Fold = decltype(fold);
    eval::store<typename Fold::Stored>(out, 0, reduce_blocks<Fold>(line, n, 1));
  });
}

void reduce_to_partials(ReduceKind kind, DType dtype, const void* line, std::int64_t n, void* out) {
  with_fold(kind, dtype, [&](auto fold) {
    using Fold = decltype(fold);
    const auto sums = merged_partials<Fold>(line, n, kInnerPartials);
    for (std::size_t p = 0; p < sums.size(); ++p) {
      eval::store<typename Fold::Stored>(out, static_cast<std::int64_t>(p), sums[p]);
    }
  });
}

class RunningScan::State {
 public:
  virtual ~State() = default;
  virtual void next(const void* element, void* out) = 0;
};

namespace {

template <class Fold>
class ScanState final : public RunningScan::State {
 public:
  void next(const void* element, void* out) override {
    using Stored = typename Fold::Stored;
    const auto value = eval::load<Stored>(element, 0);
    const bool starts_block = count_ % kScanBlock == 0;
    if (starts_block && count_ > 0) {
      blocks_.push(inside_);
      carry_ = blocks_.carry();
    }
    inside_ = starts_block ? value : Fold::combine(inside_, value);
    eval::store<Stored>(out, 0, count_ < kScanBlock ? inside_ : Fold::combine(carry_, inside_));
    ++count_;
  }

 private:
  Tree<Fold> blocks_;
  typename Fold::Value carry_{}, inside_{};
  std::int64_t count_ = 0;
};

}  // namespace

RunningScan::RunningScan(ReduceKind kind, DType dtype) {
  with_fold(kind, dtype, [&](auto fold) { state_ = std::make_unique<ScanState<decltype(fold)>>(); });
}
RunningScan::~RunningScan() = default;
RunningScan::RunningScan(RunningScan&&) noexcept = default;
void RunningScan::next(const void* element, void* out) { state_->next(element, out); }

void scan_line(ReduceKind kind, DType dtype, const void* line, std::int64_t n, void* out) {
  RunningScan scan(kind, dtype);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  for (std::int64_t i = 0; i < n * size; i += size) {
    scan.next(static_cast<const char*>(line) + i, static_cast<char*>(out) + i);
  }
}

}  // namespace tenon
