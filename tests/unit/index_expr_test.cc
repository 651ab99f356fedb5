// SPDX-License-Identifier: MIT
// Index algebra: what each rule gives, what chains of views leave behind, and where numbers end.
#include "compiler/ir/index_expr.h"

#include <gtest/gtest.h>

#include "compiler/ir/graph_text.h"
#include "compiler/pipeline.h"

namespace tenon {
namespace {

class IndexRules : public ::testing::Test {
 protected:
  IndexExpr times(IndexExpr e, std::int64_t k) { return pool.multiply(e, k); }
  IndexExpr sum(IndexExpr a, IndexExpr b) { return pool.add(a, b); }
  IndexPool pool;
  IndexExpr i = pool.var(0, 100), j = pool.var(1, 7), v = pool.value(0, 10, 13);
};

TEST_F(IndexRules, R1DivisionByOneAndOfConstantsFolds) {
  EXPECT_EQ(pool.floor_div(i, 1), i);
  EXPECT_EQ(pool.mod(i, 1), pool.constant(0));
  EXPECT_EQ(pool.floor_div(pool.constant(-7), 3), pool.constant(-3));
  EXPECT_EQ(pool.mod(pool.constant(-7), 3), pool.constant(2));
}

TEST_F(IndexRules, R2AndR3TakeMultiplesOutOfADivision) {
  const IndexExpr e = sum(times(j, 15), i);
  EXPECT_EQ(pool.floor_div(e, 5), sum(times(j, 3), pool.floor_div(i, 5)));
  EXPECT_EQ(pool.mod(e, 5), pool.mod(i, 5));
  EXPECT_EQ(pool.floor_div(pool.add(i, 11), 5), pool.add(pool.floor_div(pool.add(i, 1), 5), 2));
}

TEST_F(IndexRules, R4AKnownQuotientLeavesNoDivision) {
  EXPECT_EQ(pool.floor_div(j, 7), pool.constant(0));
  EXPECT_EQ(pool.mod(j, 7), j);
  EXPECT_EQ(pool.floor_div(v, 5), pool.constant(2));
  EXPECT_EQ(pool.mod(v, 5), pool.add(v, -10));
  EXPECT_EQ(pool.mod(times(j, -1), 6)->divisions, 1);  // -6 .. 0 has two quotients
}

TEST_F(IndexRules, R5NestedDivisionsAreOne) {
  EXPECT_EQ(pool.floor_div(pool.floor_div(i, 3), 4), pool.floor_div(i, 12));
  EXPECT_EQ(pool.floor_div(pool.add(pool.floor_div(i, 3), 2), 4), pool.floor_div(pool.add(i, 6), 12));
}

TEST_F(IndexRules, R6QuotientAndRemainderMakeTheWhole) {
  const IndexExpr e = sum(i, times(v, 3));
  EXPECT_EQ(sum(times(pool.mod(e, 8), 5), times(pool.floor_div(e, 8), 40)), times(e, 5));
}

TEST_F(IndexRules, R7ACommonFactorLeavesTheDivision) {
  const IndexExpr bit = pool.var(2, 2);
  EXPECT_EQ(pool.floor_div(sum(times(i, 6), bit), 8), pool.floor_div(times(i, 3), 4));
  EXPECT_EQ(pool.mod(sum(times(i, 6), bit), 8), sum(times(pool.mod(times(i, 3), 4), 2), bit));
  // The factor 2 of the wide terms together; each of them alone would leave the other one.
  const IndexExpr wide = sum(sum(times(i, 6), times(j, 10)), bit);
  EXPECT_EQ(pool.floor_div(wide, 30), pool.floor_div(sum(times(i, 3), times(j, 5)), 15));
}

TEST_F(IndexRules, R8AndR9RemaindersOfMultiplesUnnest) {
  EXPECT_EQ(pool.mod(pool.mod(i, 12), 4), pool.mod(i, 4));
  EXPECT_EQ(pool.floor_div(pool.mod(i, 12), 4), pool.mod(pool.floor_div(i, 4), 3));
}

TEST_F(IndexRules, R10DigitsJoin) {
  EXPECT_EQ(sum(pool.mod(i, 4), times(pool.mod(pool.floor_div(i, 4), 3), 4)), pool.mod(i, 12));
}

TEST_F(IndexRules, R11LoopsMergeWhereEveryUseIsTheirSum) {
  const IndexExpr row = pool.var(2, 5), column = pool.var(3, 8);
  const IndexExpr position = sum(times(row, 8), column);
  EXPECT_TRUE(can_merge(position, 2, 3, 8));
  EXPECT_TRUE(can_merge(sum(times(pool.mod(position, 7), 3), times(position, 2)), 2, 3, 8));
  EXPECT_TRUE(can_merge(i, 2, 3, 8));  // of neither
  EXPECT_FALSE(can_merge(sum(times(row, 9), column), 2, 3, 8));
  EXPECT_FALSE(can_merge(row, 2, 3, 8));
  EXPECT_FALSE(can_merge(sum(position, pool.mod(column, 3)), 2, 3, 8));
}

TEST(IndexExpr, ReshapeAndBackIsTheIdentity) {
  IndexPool pool;
  const std::vector<std::int64_t> from = {6, 4, 5}, to = {3, 8, 5};
  std::vector<IndexExpr> index;
  for (int i = 0; i < 3; ++i) index.push_back(pool.var(i, from[static_cast<std::size_t>(i)]));
  const IndexExpr position = pool.linearize(index, from);
  EXPECT_EQ(pool.linearize(pool.delinearize(position, to), to), position);
  EXPECT_EQ(pool.delinearize(position, from), index);
}

TEST(IndexExpr, ReshapesOfATransposedArrayLeaveTheTranspositionAlone) {
  IndexPool pool;
  const IndexExpr p = pool.var(0, 24);
  const std::vector<std::int64_t> matrix = {2, 12}, split = {3, 4, 2}, transposed = {12, 2};
  const auto at = pool.delinearize(p, matrix);
  const IndexExpr moved = pool.linearize({at[1], at[0]}, transposed);
  EXPECT_EQ(pool.linearize(pool.delinearize(moved, split), split), moved);
}

TEST(IndexExpr, MergedLoopLeavesNoDivisionInAContiguousAccess) {
  IndexPool pool;
  const IndexExpr access = pool.add(pool.multiply(pool.var(0, 7), 12), pool.var(1, 12));
  const std::vector<std::int64_t> shape = {7, 12};
  EXPECT_EQ(pool.substitute(access, pool.delinearize(pool.var(2, 84), shape)), pool.var(2, 84));
}

TEST(IndexExpr, KnowsWhereAVariableIsAffine) {
  IndexPool pool;
  const IndexExpr i = pool.var(0, 100), j = pool.var(1, 100);
  const IndexExpr e = pool.add(pool.multiply(i, 3), pool.mod(j, 7));
  bool affine = false;
  EXPECT_EQ(coefficient_of(e, 0, &affine), 3);
  EXPECT_TRUE(affine);
  coefficient_of(e, 1, &affine);
  EXPECT_FALSE(affine);
  EXPECT_TRUE(depends_on(e, 1));
  EXPECT_FALSE(depends_on(e, 2));
  EXPECT_FALSE(depends_on(e, -1));
}

// Extents about 2^31, of which no array is made.
TEST(IndexExpr, IntervalsAreExactBeyond31Bits) {
  for (const std::int64_t extent : {(1LL << 31) - 1, 1LL << 31, (1LL << 31) + 1}) {
    IndexPool pool;
    const IndexExpr i = pool.var(0, 1 << 20), j = pool.var(1, extent);
    EXPECT_EQ(j->hi, extent - 1);
    EXPECT_EQ(pool.floor_div(j, extent), pool.constant(0));
    EXPECT_EQ(pool.mod(j, extent), j);
    EXPECT_EQ(pool.floor_div(j, extent - 1)->hi, 1);
    const IndexExpr position = pool.add(pool.multiply(i, extent), j);
    EXPECT_EQ(position->hi, (extent << 20) - 1);
    EXPECT_EQ(pool.floor_div(position, extent), i);
    EXPECT_EQ(pool.mod(position, extent), j);
    EXPECT_EQ(evaluate(position, {(1 << 20) - 1, extent - 1}), (extent << 20) - 1);
    EXPECT_FALSE(pool.overflowed());
  }
}

TEST(IndexExpr, ASaturatedIntervalProvesNothing) {
  IndexPool pool;
  const IndexExpr far = pool.multiply(pool.value(0, -kMaxIndexNumber, kMaxIndexNumber), 1 << 20);
  EXPECT_EQ(far->lo, -kIndexBound);
  EXPECT_EQ(far->hi, kIndexBound);
  EXPECT_EQ(pool.add(far, kMaxIndexNumber)->lo, -kIndexBound);
  EXPECT_EQ(pool.floor_div(pool.add(far, 1), 3)->hi, kIndexBound);
  EXPECT_EQ(pool.mod(pool.add(far, 1), kMaxIndexNumber)->divisions, 1);
  EXPECT_FALSE(pool.overflowed());
}

TEST(IndexExpr, NumbersBeyond52BitsAreSaid) {
  const auto overflows = [](const std::function<void(IndexPool&, IndexExpr)>& make) {
    IndexPool pool;
    make(pool, pool.multiply(pool.var(0, 10), kMaxIndexNumber));
    return pool.overflowed();
  };
  EXPECT_FALSE(overflows([](IndexPool& p, IndexExpr e) { p.multiply(e, -1); }));
  EXPECT_TRUE(overflows([](IndexPool& p, IndexExpr e) { p.multiply(e, 2); }));
  EXPECT_TRUE(overflows([](IndexPool& p, IndexExpr e) { p.add(e, e); }));
  EXPECT_TRUE(overflows([](IndexPool& p, IndexExpr) { p.constant(kMaxIndexNumber + 1); }));
  EXPECT_TRUE(overflows([](IndexPool& p, IndexExpr e) { p.add(p.add(e, kMaxIndexNumber), 1); }));
  // R5 would need a divisor of 2^53: the two divisions stay.
  EXPECT_FALSE(overflows([](IndexPool& p, IndexExpr) {
    const IndexExpr half = p.floor_div(p.value(0, 0, kIndexBound - 1), 1LL << 26);
    EXPECT_EQ(p.floor_div(half, 1LL << 27)->divisions, 2);
  }));
}

// 2^47 elements of which none is stored: every third part of a view whose positions would pass 2^87.
TEST(IndexExpr, AProgramWhoseIndicesDoNotFitIsRefused) {
  const auto program = parse_program(R"(
    input x: float32[8796093022208] = fill(1, 0, 1)
    scalar v: float32
    %2: float32[8] = slice(x, starts=[0], lengths=[8], steps=[1099511627776])
    %3: float32[562949953421312] = pad(%2, v, before=[281474976710656], after=[281474976710648])
    %4: float32[3] = slice(%3, starts=[0], lengths=[3], steps=[140737488355328])
    output %4)");
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(build_loops(program->graph, {}).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(IndexExpr, WritingDownHowOftenADivisionOccursEndsAtTheLargestNumber) {
  IndexPool pool;
  IndexExpr e = pool.var(0, 1'000'000);
  for (int n = 0; n < 80; ++n) e = pool.add(pool.multiply(pool.mod(e, 99'991 - n), 10), pool.floor_div(e, 7));
  EXPECT_EQ(e->divisions, 2'147'483'647);
  const std::vector<IndexExpr> other = {pool.var(1, 1'000'000)};
  EXPECT_EQ(pool.substitute(e, other)->divisions, e->divisions);  // and this ends: shared parts are made once
}

}  // namespace
}  // namespace tenon
