// SPDX-License-Identifier: MIT
// why_not and score answer for every pair of names: of kernels, of realized and inlined nodes, of nodes that no kernel
// computes, and of names that are nothing.
#include <gtest/gtest.h>

#include "compiler/explain/pair_query.h"
#include "tests/unit/explained.h"

namespace tenon {
namespace {

using testing::explained;

TEST(WhyNot, OfTwoMembersOfAKernelTellsTheRoundThatFusedThem) {
  const DecisionLog log = explained(testing::kRmsNorm);
  const PairAnswer answer = why_not(log, "%4", "%11");
  EXPECT_TRUE(answer.fused);
  EXPECT_EQ(answer.code, "FUSED");
  ASSERT_TRUE(answer.candidate);
  EXPECT_EQ(answer.candidate->verdict, "fused");
  EXPECT_NE(answer.text.find(log.kernels[0].name), std::string::npos) << answer.text;
  EXPECT_EQ(why_not(log, "11", "4").code, "FUSED") << "order and the sign % do not matter";
}

TEST(WhyNot, OfAnInlinedNodeSpeaksOfWhatItIsComputedIn) {
  const PairAnswer answer = why_not(explained(testing::kRmsNorm), "%3", "%11");
  EXPECT_TRUE(answer.fused);
  EXPECT_NE(answer.text.find("%3 has no memory: it is inlined into %4"), std::string::npos) << answer.text;
}

TEST(WhyNot, OfARefusedPairGivesTheStableCode) {
  const DecisionLog log = explained(testing::kAttention);
  bool refused = false;
  for (const CandidateRecord& c : log.candidates) {
    const std::string a = c.a.substr(0, c.a.find('+')), b = c.b.substr(0, c.b.find('+'));
    const PairAnswer answer = why_not(log, a, b);
    EXPECT_EQ(answer.fused, answer.code == "FUSED") << answer.text;
    if (answer.fused) continue;
    refused = true;
    ASSERT_TRUE(answer.candidate) << answer.text;
    EXPECT_TRUE(answer.candidate->reason.starts_with(answer.code)) << answer.code;
    EXPECT_EQ(score_of(log, a, b), answer.candidate->score);
  }
  EXPECT_TRUE(refused) << "two products with a softmax between are not one kernel";
}

TEST(WhyNot, OfKernelsByPositionAndByName) {
  const DecisionLog log = explained(testing::kAttention);
  ASSERT_GE(log.kernels.size(), 2u);
  EXPECT_TRUE(why_not(log, "k0", "k0").fused);
  EXPECT_FALSE(why_not(log, "k0", "k1").fused);
  EXPECT_EQ(why_not(log, "k0", "k1").text, why_not(log, log.kernels[0].name, log.kernels[1].name).text);
}

TEST(WhyNot, OfNamesThatDoNotExistSaysHowToNameThem) {
  const DecisionLog log = explained(testing::kRmsNorm);
  for (const char* name : {"%99", "k1", "mm1", "", "%", "%-1", "99999999999999999999"}) {
    const PairAnswer answer = why_not(log, name, "%11");
    EXPECT_EQ(answer.code, "NO_SUCH_NODE") << name;
    EXPECT_NE(answer.text.find("kernels are k0, nodes %3 %4"), std::string::npos) << answer.text;
    EXPECT_FALSE(score_of(log, "%11", name)) << name;
  }
}

TEST(WhyNot, OfWhatNoKernelComputesSaysSo) {
  EXPECT_EQ(why_not(explained(testing::kRmsNorm), "%0", "%11").code, "NO_KERNEL") << "an input";
  const DecisionLog empty = explained("input x: float32[0]\n%1: float32[0] = exp(x)\noutput %1");
  EXPECT_EQ(why_not(empty, "%1", "%1").code, "NO_KERNEL") << "no elements";
}

TEST(WhyNot, OfKernelsThatShareNoBuffer) {
  const DecisionLog log = explained(R"(
    input x: float32[64]
    input y: float32[32]
    %2: float32[64] = exp(x)
    %3: float32[32] = exp(y)
    output %2, %3)");
  const PairAnswer answer = why_not(log, "%2", "%3");
  EXPECT_EQ(answer.code, "NO_SHARED_DATA");
  EXPECT_FALSE(answer.candidate);
  EXPECT_FALSE(score_of(log, "%2", "%3"));
}

}  // namespace
}  // namespace tenon
