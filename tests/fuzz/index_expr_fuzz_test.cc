// SPDX-License-Identifier: MIT
// Random index expressions against plain arithmetic over the whole box: simplification never changes a value, and what
// an expression says of itself holds. FUZZ_FIRST and FUZZ_SEEDS choose other samples.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "compiler/ir/index_expr.h"

namespace tenon {
namespace {

constexpr std::array<std::int64_t, 3> kExtents = {4, 3, 6};
using Point = std::array<std::int64_t, kExtents.size()>;

/// Body value `id` of a point, with its range: some number that no rule knows.
struct Range {
  std::int64_t lo, hi;
};
constexpr std::array<Range, 2> kValues = {{{-3, 5}, {10, 13}}};
std::int64_t value_at(std::int32_t id, const Point& p) {
  const Range r = kValues[static_cast<std::size_t>(id)];
  return r.lo + (p[0] * 7 + p[1] * 5 + p[2] * 3 + id) % (r.hi - r.lo + 1);
}

std::int64_t floor_of(std::int64_t a, std::int64_t c) {
  std::int64_t q = a / c;
  while (q * c > a) --q;
  return q;
}

/// An expression as it is written, which knows no rule.
struct Plain {
  enum Kind { kConstant, kVar, kValue, kAdd, kMultiply, kFloorDiv, kMod } kind = kConstant;
  std::int64_t number = 0;
  std::shared_ptr<Plain> a, b;

  std::int64_t at(const Point& p) const {
    switch (kind) {
      case kConstant:
        return number;
      case kVar:
        return p[static_cast<std::size_t>(number)];
      case kValue:
        return value_at(static_cast<std::int32_t>(number), p);
      case kAdd:
        return a->at(p) + b->at(p);
      case kMultiply:
        return a->at(p) * number;
      case kFloorDiv:
        return floor_of(a->at(p), number);
      default:
        return a->at(p) - number * floor_of(a->at(p), number);
    }
  }

  IndexExpr in(IndexPool& pool) const {
    switch (kind) {
      case kConstant:
        return pool.constant(number);
      case kVar:
        return pool.var(static_cast<std::int32_t>(number), kExtents[static_cast<std::size_t>(number)]);
      case kValue: {
        const Range r = kValues[static_cast<std::size_t>(number)];
        return pool.value(static_cast<std::int32_t>(number), r.lo, r.hi);
      }
      case kAdd:
        return pool.add(a->in(pool), b->in(pool));
      case kMultiply:
        return pool.multiply(a->in(pool), number);
      case kFloorDiv:
        return pool.floor_div(a->in(pool), number);
      default:
        return pool.mod(a->in(pool), number);
    }
  }
};
using PlainPtr = std::shared_ptr<Plain>;

class RandomPlain {
 public:
  explicit RandomPlain(std::uint64_t seed) : rng_(seed) {}
  int below(int n) { return static_cast<int>(rng_() % static_cast<unsigned>(n)); }

  PlainPtr make(int depth) {
    const int pick = depth == 0 ? below(4) : 3 + below(8);
    if (pick == 0) return node(Plain::kConstant, below(40) - 20);
    if (pick == 1) return node(Plain::kValue, below(static_cast<int>(kValues.size())));
    if (pick == 2) return position();
    if (pick == 3) return node(Plain::kVar, below(static_cast<int>(kExtents.size())));
    const PlainPtr a = make(depth - 1);
    if (pick <= 5) return node(Plain::kAdd, 0, a, make(depth - 1));
    if (pick == 6) return node(Plain::kMultiply, below(25) - 12, a);
    if (pick == 7) return digits(a);
    return node(pick == 8 ? Plain::kFloorDiv : Plain::kMod, 1 + below(12), a);
  }

 private:
  static PlainPtr node(Plain::Kind kind, std::int64_t number, PlainPtr a = nullptr, PlainPtr b = nullptr) {
    return std::make_shared<Plain>(Plain{kind, number, std::move(a), std::move(b)});
  }

  /// What a contiguous access of loops 1 and 2 reads.
  static PlainPtr position() {
    return node(Plain::kAdd, 0, node(Plain::kMultiply, kExtents[2], node(Plain::kVar, 1)), node(Plain::kVar, 2));
  }

  /// a taken apart and put together as reshapes do, with or without its leading digit.
  PlainPtr digits(const PlainPtr& a) {
    const int c = 2 + below(5), d = 2 + below(5), k = 1 + below(3);
    const PlainPtr quotient = node(Plain::kFloorDiv, c, a);
    const PlainPtr high = below(2) ? quotient : node(Plain::kMod, d, quotient);
    return node(Plain::kAdd, 0, node(Plain::kMultiply, k * c, high),
                node(Plain::kMultiply, k, node(Plain::kMod, c, a)));
  }

  std::mt19937_64 rng_;
};

template <class F>
void for_each_point(const F& f) {
  for (std::int64_t i = 0; i < kExtents[0]; ++i)
    for (std::int64_t j = 0; j < kExtents[1]; ++j)
      for (std::int64_t k = 0; k < kExtents[2]; ++k) f(Point{i, j, k});
}

std::int64_t value_of(IndexExpr e, const Point& p) {
  return evaluate(e, p, [&](std::int32_t id) { return value_at(id, p); });
}

/// What the expression says of itself: interval, gcd, variables.
void expect_facts(IndexExpr e, const Point& p, std::int64_t v) {
  ASSERT_TRUE(e->lo <= v && v <= e->hi) << v << " is outside of " << e->lo << " .. " << e->hi;
  ASSERT_EQ(e->gcd == 0 ? v : v % e->gcd, 0) << v << " is no multiple of " << e->gcd;
  for (std::size_t d = 0; d < p.size() && !is_indirect(e); ++d) {
    if (depends_on(e, static_cast<std::int32_t>(d))) continue;
    Point other = p;
    other[d] = 0;
    ASSERT_EQ(value_of(e, other), v);
  }
}

void expect_plain_values(const Plain& plain, IndexExpr e) {
  for_each_point([&](const Point& p) {
    const std::int64_t want = plain.at(p);
    ASSERT_EQ(value_of(e, p), want) << to_string(e);
    expect_facts(e, p, want);
  });
}

/// Expressions in the place of variables give what the variables' values give.
void expect_substitution(RandomPlain& random, IndexPool& pool, const Plain& plain, IndexExpr e) {
  std::array<PlainPtr, kExtents.size()> images;
  std::vector<IndexExpr> vars;
  for (std::size_t d = 0; d < images.size(); ++d) {
    images[d] = std::make_shared<Plain>(Plain{Plain::kMod, kExtents[d], random.make(2), nullptr});
    vars.push_back(images[d]->in(pool));
  }
  const IndexExpr moved = pool.substitute(e, vars, nullptr);
  for_each_point([&](const Point& p) {
    Point to;
    for (std::size_t d = 0; d < to.size(); ++d) to[d] = images[d]->at(p);
    if (is_indirect(e)) return;  // body values belong to the point
    ASSERT_EQ(value_of(moved, p), plain.at(to)) << to_string(e) << " became " << to_string(moved);
  });
}

/// Merged loops give the same values, with no division that was not there.
void expect_merge(IndexPool& pool, IndexExpr e) {
  if (!can_merge(e, 1, 2, kExtents[2])) return;
  const IndexExpr both = pool.var(1, kExtents[1] * kExtents[2]);
  const std::vector<IndexExpr> vars = {pool.var(0, kExtents[0]), pool.floor_div(both, kExtents[2]),
                                       pool.mod(both, kExtents[2])};
  const IndexExpr merged = pool.substitute(e, vars);
  ASSERT_LE(merged->divisions, e->divisions) << to_string(e) << " became " << to_string(merged);
  for_each_point([&](const Point& p) {
    const Point at = {p[0], p[1] * kExtents[2] + p[2], 0};
    ASSERT_EQ(evaluate(merged, at, [&](std::int32_t id) { return value_at(id, p); }), value_of(e, p));
  });
}

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(IndexExprFuzz, ExpressionsHaveTheirPlainValuesOverTheWholeBox) {
  const std::uint64_t first = number("FUZZ_FIRST", 0), last = first + number("FUZZ_SEEDS", 20'000);
  std::uint64_t divisions = 0, merged = 0;
  for (std::uint64_t seed = first; seed < last && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    IndexPool pool;
    RandomPlain random(seed);
    const PlainPtr plain = random.make(2 + random.below(3));
    const IndexExpr e = plain->in(pool);
    expect_plain_values(*plain, e);
    expect_substitution(random, pool, *plain, e);
    expect_merge(pool, e);
    divisions += static_cast<std::uint64_t>(e->divisions);
    merged += depends_on(e, 1) && can_merge(e, 1, 2, kExtents[2]) ? 1 : 0;
    ASSERT_FALSE(pool.overflowed());
  }
  EXPECT_GT(divisions, (last - first) / 10);  // the sample holds what it is to try
  EXPECT_GT(merged, 0u);
}

}  // namespace
}  // namespace tenon
