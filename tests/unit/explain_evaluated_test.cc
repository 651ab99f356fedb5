// SPDX-License-Identifier: MIT
// An evaluated tensor is explained by the program that has computed it, and holds nothing else of its past.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/session/session.h"
#include "runtime/trace/node.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

Tensor rms_norm_by_hand(const Tensor& x) { return x * rsqrt(mean(x * x, {-1}, keepdims) + 1e-6); }

void expect_same(const Explanation& a, const Explanation& b) {
  EXPECT_EQ(a.key(), b.key());
  EXPECT_EQ(a.dot(), b.dot());
  EXPECT_EQ(a.realize_table().size(), b.realize_table().size());
}

std::string refusal(const std::vector<Tensor>& tensors, Timing timing = Timing::kPredicted) {
  try {
    (void)explain(tensors, timing);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.message();
  }
  return "";
}

TEST(ExplainEvaluated, IsAsBefore) {
  const Tensor x = random::normal({8, 33}, seed(1)).eval(), y = rms_norm_by_hand(x);
  const Explanation before = explain(y);
  y.eval();
  expect_same(explain(y), before);
  EXPECT_EQ(explain(y).num_kernels(), 1);
}

TEST(ExplainEvaluated, OutlivesTheProgramInMemory) {
  const Tensor x = random::normal({8, 34}, seed(1)).eval(), y = rms_norm_by_hand(x);
  const Explanation before = explain(y);
  y.eval();
  session::store().clear_memory();
  expect_same(explain(y), before);
}

TEST(ExplainEvaluated, ShowsTheOneProgramOfSeveralOutputs) {
  const Tensor x = random::normal({8, 35}, seed(1)).eval(), low = min(x), high = max(x);
  const Explanation before = explain({low, high});
  eval(low, high);
  expect_same(explain({low, high}), before);
  expect_same(explain(high), before);
}

TEST(ExplainEvaluated, OfAPartIsThatOfTheWhole) {
  const Tensor x = random::normal({8, 36}, seed(1)).eval(), y = (x + 1).eval(), row = y[2];
  ASSERT_TRUE(row.is_evaluated());
  expect_same(explain(row), explain(y));
}

TEST(ExplainEvaluated, OfSeveralProgramsIsThatOfTheLast) {
  const Tensor x = random::normal({8, 37}, seed(1)).eval(), y = (x + 1).eval(), z = (x * x).eval();
  expect_same(explain({y, z}), explain(z));
  expect_same(explain({z, y}), explain(y));
}

TEST(ExplainEvaluated, SaysWhyThereIsNothingToExplain) {
  const Tensor given = asarray({1.f, 2.f}), y = (given + 1).eval();
  EXPECT_NE(refusal({given}).find("no program has computed them"), std::string::npos);
  EXPECT_NE(refusal({y, given}).find("no program has computed them"), std::string::npos);
  EXPECT_NE(refusal({y}, Timing::kMeasured).find("measure before"), std::string::npos);
  EXPECT_NE(refusal({}).find("at least one tensor"), std::string::npos);
}

TEST(ExplainEvaluated, KeepsNoOperand) {
  const Tensor start = ones({4}).eval();
  const std::int64_t before = trace::live_nodes();
  Tensor x = start;
  for (int i = 0; i < 100; ++i) x = (x * 2 + i).eval();
  EXPECT_EQ(trace::live_nodes(), before + 1);
  EXPECT_EQ(explain(x).num_kernels(), 1);
}

}  // namespace
}  // namespace tenon
