// SPDX-License-Identifier: MIT
// Index algebra: integer expressions over loop variables, hash-consed and kept in one canonical form.
//
// An expression is  constant + sum coefficient * term,  a term being a loop variable, floor_div(e, c), mod(e, c) with
// c > 0, or an int64 value of the body (an indirect index). Every variable and value carries its range, so each
// expression knows an interval that holds it. Construction simplifies by the rules of index_expr.cc, each sound under
// the condition that stands beside it; equal pointers mean equal expressions. Floor semantics throughout.
// Numbers in expressions stay within kMaxIndexNumber: a pool in which one would not has overflowed(), and what it made
// may not be used. Intervals saturate: a bound at kIndexBound means "at least that far", and no rule builds on it.
// A pool belongs to one compilation and one thread; expressions live as long as their pool.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/types/span.h"

namespace tenon {

struct IndexNode;
using IndexExpr = const IndexNode*;

inline constexpr std::int64_t kMaxIndexNumber = std::int64_t{1} << 52;  ///< of constants, coefficients and divisors
inline constexpr std::int64_t kIndexBound = std::int64_t{1} << 62;      ///< where intervals saturate

struct IndexTerm {
  enum Kind : std::uint8_t { kVar, kValue, kFloorDiv, kMod };
  Kind kind = kVar;
  std::int32_t id = 0;       ///< kVar: loop variable; kValue: instruction of the body
  IndexExpr base = nullptr;  ///< kFloorDiv, kMod
  std::int64_t divisor = 1;  ///< kFloorDiv, kMod
  std::int64_t lo = 0;       ///< the term's interval, ends included
  std::int64_t hi = 0;
  friend bool operator==(const IndexTerm&, const IndexTerm&) = default;
};

struct IndexNode {
  std::int64_t constant = 0;
  std::vector<std::pair<std::int64_t, IndexTerm>> terms;  ///< non-zero coefficients; sorted, no term twice
  std::int64_t lo = 0;                                    ///< interval, ends included, saturated to +-kIndexBound
  std::int64_t hi = 0;
  std::int64_t gcd = 0;         ///< every value is a multiple of it; 0 for the constant 0
  std::uint64_t variables = 0;  ///< bit v: loop variable v occurs; bit 63: one from 63 on
  std::int32_t divisions = 0;   ///< floor_div and mod terms, nested ones included, as often as they are written
  std::uint32_t serial = 0;     ///< order of creation in the pool; the deterministic order of expressions
  bool indirect = false;        ///< a body value occurs

  bool is_constant() const { return terms.empty(); }
};

class IndexPool {
 public:
  IndexPool();
  IndexPool(const IndexPool&) = delete;
  IndexPool& operator=(const IndexPool&) = delete;

  IndexExpr constant(std::int64_t value);
  /// Loop variable `id` with values 0 .. extent-1. An extent of 1 or less gives the constant 0.
  IndexExpr var(std::int32_t id, std::int64_t extent);
  /// The int64 result of body instruction `id`, known to lie in [lo, hi].
  IndexExpr value(std::int32_t id, std::int64_t lo, std::int64_t hi);
  IndexExpr add(IndexExpr a, IndexExpr b);
  IndexExpr add(IndexExpr a, std::int64_t c);
  IndexExpr multiply(IndexExpr a, std::int64_t c);
  IndexExpr floor_div(IndexExpr a, std::int64_t c);  ///< 0 < c <= kMaxIndexNumber
  IndexExpr mod(IndexExpr a, std::int64_t c);        ///< 0 < c <= kMaxIndexNumber; result in [0, c)

  /// True once a constant or coefficient went beyond kMaxIndexNumber.
  bool overflowed() const { return overflowed_; }

  /// Replaces variables by vars[id] and values by values(id) (identity where it returns null), simplifying anew. Linear
  /// in the distinct expressions that e is made of.
  IndexExpr substitute(IndexExpr e, absl::Span<const IndexExpr> vars,
                       const std::function<IndexExpr(const IndexTerm&)>& values = nullptr);

  /// Row-major position of an index tuple in a shape, and the tuple of a position.
  IndexExpr linearize(absl::Span<const IndexExpr> index, absl::Span<const std::int64_t> shape);
  std::vector<IndexExpr> delinearize(IndexExpr position, absl::Span<const std::int64_t> shape);

 private:
  struct Hash {
    std::size_t operator()(const IndexNode* n) const;
  };
  struct Equal {
    bool operator()(const IndexNode* a, const IndexNode* b) const;
  };
  class Substitution;
  IndexExpr intern(IndexNode node);
  IndexExpr of_term(const IndexTerm& term, std::int64_t coefficient = 1);
  IndexExpr join_division(const IndexNode& sum);
  std::int64_t checked(__int128 number);

  std::vector<std::unique_ptr<IndexNode>> nodes_;
  std::unordered_map<const IndexNode*, IndexExpr, Hash, Equal> table_;
  bool overflowed_ = false;
};

/// Coefficient of variable `id` in e where e is affine in it: 0 when absent. `affine` is false when the variable also
/// occurs inside a floor_div or mod.
std::int64_t coefficient_of(IndexExpr e, std::int32_t id, bool* affine);
/// True when variable `id` occurs anywhere in e (from 63 on: any such variable).
bool depends_on(IndexExpr e, std::int32_t id);
/// Number of floor_div and mod terms in e, nested ones included.
inline int division_count(IndexExpr e) { return e->divisions; }
/// True when a body value occurs anywhere in e.
inline bool is_indirect(IndexExpr e) { return e->indirect; }
/// R11: loops `outer` and `inner` can run as one of outer*inner_extent + inner: e uses them in that sum alone.
bool can_merge(IndexExpr e, std::int32_t outer, std::int32_t inner, std::int64_t inner_extent);

/// The value of e with variables vars[id] and body values values(id). Sums wrap, so a value is right wherever it and
/// the operands of its divisions fit int64.
std::int64_t evaluate(IndexExpr e, absl::Span<const std::int64_t> vars,
                      const std::function<std::int64_t(std::int32_t)>& values = nullptr);

/// "4*i0 + floor(i1/3) + 2"; variables are i0, i1, ...; body values %3.
std::string to_string(IndexExpr e);

}  // namespace tenon
