// SPDX-License-Identifier: MIT
// Index algebra: simplification never changes a value, and views that undo each other leave no division.
#include "compiler/ir/index_expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tenon {
namespace {

using Eval = std::function<std::int64_t(const std::vector<std::int64_t>&)>;

/// A random expression built twice: as an IndexExpr, and as a plain function that knows no rule.
struct Twin {
  IndexExpr expr;
  Eval eval;
};

class RandomExpressions {
 public:
  RandomExpressions(IndexPool& pool, std::vector<std::int64_t> extents, unsigned seed)
      : pool_(pool), extents_(std::move(extents)), rng_(seed) {}

  Twin make(int depth) {
    const int pick = depth == 0 ? below(2) : below(6);
    if (pick == 0) {
      const std::int64_t c = below(40) - 20;
      return {pool_.constant(c), [c](const auto&) { return c; }};
    }
    if (pick == 1) {
      const int v = below(static_cast<int>(extents_.size()));
      return {pool_.var(v, extents_[static_cast<std::size_t>(v)]),
              [v](const auto& vars) { return vars[static_cast<std::size_t>(v)]; }};
    }
    Twin a = make(depth - 1);
    if (pick == 2) {
      Twin b = make(depth - 1);
      return {pool_.add(a.expr, b.expr), [a = a.eval, b = b.eval](const auto& v) { return a(v) + b(v); }};
    }
    const std::int64_t c = 1 + below(12);
    if (pick == 3) return {pool_.multiply(a.expr, c), [a = a.eval, c](const auto& v) { return a(v) * c; }};
    const auto floor_of = [](std::int64_t x, std::int64_t d) {
      return static_cast<std::int64_t>(std::floor(static_cast<double>(x) / static_cast<double>(d)));
    };
    if (pick == 4) return {pool_.floor_div(a.expr, c), [=, a = a.eval](const auto& v) { return floor_of(a(v), c); }};
    return {pool_.mod(a.expr, c), [=, a = a.eval](const auto& v) { return a(v) - c * floor_of(a(v), c); }};
  }

 private:
  int below(int n) { return static_cast<int>(rng_() % static_cast<unsigned>(n)); }
  IndexPool& pool_;
  std::vector<std::int64_t> extents_;
  std::mt19937 rng_;
};

TEST(IndexExpr, SimplifiedExpressionsHaveTheirPlainValuesOverTheWholeBox) {
  const std::vector<std::int64_t> extents = {4, 3, 6};
  for (unsigned seed = 0; seed < 4000; ++seed) {
    IndexPool pool;
    Twin twin = RandomExpressions(pool, extents, seed).make(4);
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 3; ++j)
        for (std::int64_t k = 0; k < 6; ++k) {
          const std::vector<std::int64_t> vars = {i, j, k};
          const std::int64_t want = twin.eval(vars);
          ASSERT_EQ(evaluate(twin.expr, vars), want) << "seed " << seed << " " << to_string(twin.expr);
          ASSERT_LE(twin.expr->lo, want);
          ASSERT_GE(twin.expr->hi, want);
        }
  }
}

TEST(IndexExpr, ReshapeAndBackIsTheIdentity) {
  IndexPool pool;
  const std::vector<std::int64_t> from = {6, 4, 5}, to = {3, 8, 5};
  std::vector<IndexExpr> index;
  for (int i = 0; i < 3; ++i) index.push_back(pool.var(i, from[static_cast<std::size_t>(i)]));
  IndexExpr position = pool.linearize(index, from);
  EXPECT_EQ(pool.linearize(pool.delinearize(position, to), to), position);
  EXPECT_EQ(pool.delinearize(position, from), index);
}

TEST(IndexExpr, MergedLoopLeavesNoDivisionInAContiguousAccess) {
  IndexPool pool;
  IndexExpr access = pool.add(pool.multiply(pool.var(0, 7), 12), pool.var(1, 12));
  const std::vector<std::int64_t> shape = {7, 12};
  std::vector<IndexExpr> split = pool.delinearize(pool.var(2, 84), shape);
  EXPECT_EQ(pool.substitute(access, split), pool.var(2, 84));
}

TEST(IndexExpr, KnowsWhereAVariableIsAffine) {
  IndexPool pool;
  IndexExpr i = pool.var(0, 100), j = pool.var(1, 100);
  bool affine = false;
  EXPECT_EQ(coefficient_of(pool.add(pool.multiply(i, 3), pool.mod(j, 7)), 0, &affine), 3);
  EXPECT_TRUE(affine);
  coefficient_of(pool.add(pool.multiply(i, 3), pool.mod(j, 7)), 1, &affine);
  EXPECT_FALSE(affine);
}

}  // namespace
}  // namespace tenon
