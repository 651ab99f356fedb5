// SPDX-License-Identifier: MIT
// The explanation as C++ users meet it: include/tenon/explain.h only.
#include <gtest/gtest.h>

#include <sstream>

#include "tenon/tenon.h"

namespace tenon {
namespace {

Tensor rms_norm(const Tensor& x, const Tensor& w) { return x * rsqrt(mean(x * x, {-1}, keepdims) + 1e-6) * w; }

Tensor input(const Dims& shape) { return full(shape, 0.5).eval(); }

TEST(ExplainApi, RmsNormByHandIsTwoBuffersBeforeFusionAndOneKernelAfter) {
  const Explanation e = explain(rms_norm(input({256, 1024}), input({1024})));
  std::vector<std::string> rules;
  for (const RealizeRecord& r : e.realize_table()) {
    if (r.realized) rules.push_back(r.rule);
  }
  EXPECT_EQ(rules, (std::vector<std::string>{"must/reduction", "must/output"}));
  ASSERT_EQ(e.num_kernels(), 1);
  EXPECT_EQ(e.kernels()[0].members.size(), 2u);
  EXPECT_EQ(e.memory().size(), 0u);
  EXPECT_EQ(e.peak_bytes(), 0);
}

TEST(ExplainApi, EveryTestedPairIsInOneRound) {
  const Explanation e = explain(rms_norm(input({256, 1024}), input({1024})));
  ASSERT_EQ(e.num_rounds(), 1);
  const std::vector<CandidateRecord> pairs = e.candidates(1);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].verdict, "fused");
  EXPECT_TRUE(e.candidates(0).empty());
  EXPECT_TRUE(e.candidates(2).empty());
  EXPECT_EQ(e.score(pairs[0].a, pairs[0].b), pairs[0].score);
  EXPECT_TRUE(e.why_not(pairs[0].a, pairs[0].b).fused);
  EXPECT_EQ(e.why_not("k0", "k1").code, "NO_SUCH_NODE");
}

TEST(ExplainApi, StagesHoldTheGraphAndTheirTimes) {
  const Explanation e = explain(rms_norm(input({256, 1024}), input({1024})));
  std::vector<std::string> names;
  for (const StageRecord& s : e.stages()) {
    names.push_back(s.name);
    EXPECT_GE(s.time, 0) << s.name;
    EXPECT_TRUE(s.nodes.empty() || static_cast<int>(s.nodes.size()) == s.nodes_out) << s.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"trace", "decompose", "rewrite", "lower", "loops"}));
  ASSERT_EQ(e.rewrites().size(), 2u);
  EXPECT_EQ(e.rewrites()[0].rule, "mean");
  EXPECT_EQ(e.rewrites()[1].rule, "x / 2^k = x * 2^-k");
}

TEST(ExplainApi, KeysDifferInTheIngredientsThatDiffer) {
  const Tensor x = input({64, 32}), w = input({32});
  const Explanation one = explain(rms_norm(x, w)), same = explain(rms_norm(x, w));
  EXPECT_EQ(one.key(), same.key());
  EXPECT_TRUE(one.key_difference(same).empty());
  const Explanation shape = explain(rms_norm(input({65, 32}), w)), op = explain(exp(x));
  EXPECT_NE(one.key(), shape.key());
  EXPECT_EQ(one.key_difference(shape).front(), "inputs");
  const std::vector<std::string> differs = one.key_difference(op);
  EXPECT_NE(std::find(differs.begin(), differs.end(), "ops"), differs.end());
  EXPECT_EQ(std::find(differs.begin(), differs.end(), "build"), differs.end());
}

TEST(ExplainApi, EveryFormSpeaksOfTheKernel) {
  const Explanation e = explain(rms_norm(input({64, 32}), input({32})));
  const std::string name = e.kernels()[0].name;
  std::ostringstream printed;
  printed << e;
  EXPECT_EQ(printed.str(), e.text());
  for (const std::string& form : {e.text(), e.json(), e.dot(), e.html()}) EXPECT_NE(form.find(name), std::string::npos);
}

}  // namespace
}  // namespace tenon
