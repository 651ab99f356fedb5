// SPDX-License-Identifier: MIT
// The realize table: every rule, and both sides of every threshold.
#include "compiler/lower/realize.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ops/decompose.h"
#include "compiler/rewrite/rewrite.h"

namespace tenon {
namespace {

/// The decisions on a program, asked for by op: that of the last node of this op.
class Decided {
 public:
  explicit Decided(const std::string& text, RealizeMode mode = RealizeMode::kTenon) {
    const auto program = parse_program(text);
    if (!program.ok()) throw std::runtime_error(std::string(program.status().message()) + "\n" + text);
    graph_ = rewrite(decompose(program->graph).value()).value();
    decisions_ = decide_realize(graph_, mode, CostTable());
  }
  /// "multiply: inline, chain below caps", a line a value that is no leaf.
  std::string table() const {
    std::string out;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (row_of(node.op).kind == OpKind::leaf) continue;
      absl::StrAppend(&out, std::string(name_of(node.op)), ": ", decisions_[i].realized ? "realize" : "inline", ", ",
                      std::string(decisions_[i].rule), "\n");
    }
    return out;
  }
  const RealizeDecision& of(Op op) const {
    for (std::size_t i = graph_.size(); i-- > 0;) {
      if (graph_.nodes[i].op == op) return decisions_[i];
    }
    throw std::runtime_error("no such node");
  }

 private:
  Graph graph_;
  std::vector<RealizeDecision> decisions_;
};

/// A program line by line, on values of one type.
class Lines {
 public:
  explicit Lines(std::int64_t elements = 4096) : type_(absl::StrCat("float32[", elements, "]")) {}

  std::string input() {
    const std::string name = absl::StrCat("x", inputs_++);
    absl::StrAppend(&text_, "input ", name, ": ", type_, "\n");
    return name;
  }
  std::string line(const std::string& type, const std::string& call) {
    const std::string name = absl::StrCat("%", values_++);
    absl::StrAppend(&lines_, name, ": ", type, " = ", call, "\n");
    return name;
  }
  std::string apply(const std::string& op, const std::string& a, const std::string& b = "") {
    return line(type_, absl::StrCat(op, "(", a, b.empty() ? "" : ", ", b, ")"));
  }
  /// `count` ops of weight 1 that do not fold into each other.
  std::string chain(std::string value, const std::string& other, int count) {
    for (int i = 0; i < count; ++i) value = apply(i % 2 ? "add" : "multiply", value, other);
    return value;
  }
  /// The value as the output of as many readers, each of which reads it at another place.
  void read_moved(const std::string& value, int readers) {
    for (int r = 0; r < readers; ++r) {
      const std::string slice =
          line("float32[64]", absl::StrCat("slice(", value, ", starts=[", r, "], lengths=[64], steps=[1])"));
      outputs_.push_back(line("float32[64]", absl::StrCat("sqrt(", slice, ")")));
    }
  }
  void output(const std::string& value) { outputs_.push_back(value); }
  std::string text() const {
    std::string all = text_ + lines_ + "output ";
    for (std::size_t i = 0; i < outputs_.size(); ++i) absl::StrAppend(&all, i ? ", " : "", outputs_[i]);
    return all;
  }

 private:
  std::string type_, text_, lines_;
  int inputs_ = 0, values_ = 1;
  std::vector<std::string> outputs_;
};

TEST(Realize, AnRmsNormIsTwoValuesInMemory) {
  EXPECT_EQ(Decided(R"(
    input x: float32[2048, 1000]
    input w: float32[1000]
    scalar e: float32
    %1: float32[2048, 1000] = multiply(x, x)
    %2: float32[2048, 1] = mean(%1, axis=[1], keepdims=true)
    %3: float32[2048, 1] = add(%2, e)
    %4: float32[2048, 1] = rsqrt(%3)
    %5: float32[2048, 1000] = multiply(x, %4)
    %6: float32[2048, 1000] = multiply(%5, w)
    output %6)")
                .table(),
            "multiply: inline, exempt/one load\n"
            "reduce: realize, must/reduction\n"
            "reshape: inline, exempt/view\n"
            "divide: inline, exempt/one load\n"
            "add: inline, exempt/one load\n"
            "rsqrt: inline, chain below caps\n"
            "multiply: inline, chain below caps\n"
            "multiply: realize, must/output\n");
}

// ---- must ----

std::string reduction(std::int64_t extent) {
  return absl::StrCat("input x: float32[64, ", extent,
                      "]\n%1: float32[64] = sum(x, axis=[1], keepdims=false, dtype=float32)\n",
                      "%2: float32[64] = sqrt(%1)\noutput %2");
}

TEST(Realize, ReductionsOfEightElementsAreStoredAndShorterOnesUnrolled) {
  EXPECT_FALSE(Decided(reduction(7)).of(Op::k_reduce).realized);
  EXPECT_EQ(Decided(reduction(8)).of(Op::k_reduce).rule, "must/reduction");
  EXPECT_EQ(Decided(reduction(9)).of(Op::k_reduce).rule, "must/reduction");
}

TEST(Realize, OutputsScansAndWhatATemplateTouchesAreStored) {
  const Decided d(R"(
    input x: float32[16, 16]
    %1: float32[16, 16] = negative(x)
    %2: float32[16, 16] = transpose(%1)
    %3: float32[16, 16] = matmul(%2, x)
    %4: float32[16, 16] = tanh(%3)
    %5: float32[16, 16] = cumsum(%4, axis=0, dtype=float32)
    %6: float32[16, 16] = sqrt(%5)
    output %6)");
  EXPECT_EQ(d.of(Op::k_negative).rule, "must/template operand");
  EXPECT_FALSE(d.of(Op::k_permute_dims).realized);
  EXPECT_EQ(d.of(Op::k_matmul).rule, "must/template");
  EXPECT_EQ(d.of(Op::k_tanh).rule, "chain below caps");
  EXPECT_EQ(d.of(Op::k_scan).rule, "must/scan");
  EXPECT_EQ(d.of(Op::k_sqrt).rule, "must/output");
}

TEST(Realize, ATemplateOperandWithoutStridesIsCopied) {
  const Decided d(R"(
    input x: float32[6, 8]
    input y: float32[4, 12]
    %1: float32[8, 6] = transpose(x)
    %2: float32[12, 4] = reshape(%1, shape=[12, 4])
    %3: float32[12, 12] = matmul(%2, y)
    output %3)");
  EXPECT_EQ(d.of(Op::k_reshape).rule, "must/template operand");
}

// ---- caps ----

std::string long_body(int ops) {
  Lines p;
  const std::string x = p.input(), y = p.input();
  p.output(p.apply("sqrt", p.apply("negative", p.chain(x, y, ops - 1))));
  return p.text();
}

TEST(Realize, ABodyHasAtMost100Ops) {
  EXPECT_EQ(Decided(long_body(99)).of(Op::k_negative).rule, "chain below caps");
  EXPECT_EQ(Decided(long_body(100)).of(Op::k_negative).rule, "chain below caps");
  EXPECT_EQ(Decided(long_body(101)).of(Op::k_negative).rule, "cap/ops > 100");
}

std::string heavy_body(int weight) {
  Lines p;
  const std::string x = p.input(), y = p.input();
  std::string value = p.chain(x, y, weight % 16 + 15);
  for (int i = 0; i < weight / 16 - 1; ++i) value = p.apply("exp", value);
  p.output(p.apply("sqrt", p.apply("negative", value)));
  return p.text();
}

TEST(Realize, ABodyWeighsAtMost400) {
  EXPECT_EQ(Decided(heavy_body(399)).of(Op::k_negative).weight, 399);
  EXPECT_EQ(Decided(heavy_body(399)).of(Op::k_negative).rule, "chain below caps");
  EXPECT_EQ(Decided(heavy_body(400)).of(Op::k_negative).rule, "chain below caps");
  EXPECT_EQ(Decided(heavy_body(401)).of(Op::k_negative).rule, "cap/weight > 400");
}

std::string many_loads(int loads) {
  Lines p;
  std::string value = p.input();
  for (int i = 1; i < loads; ++i) value = p.apply("add", value, p.input());
  p.output(p.apply("sqrt", p.apply("negative", value)));
  return p.text();
}

TEST(Realize, ABodyLoadsAtMost16Values) {
  EXPECT_EQ(Decided(many_loads(15)).of(Op::k_add).rule, "chain below caps");
  EXPECT_EQ(Decided(many_loads(16)).of(Op::k_add).rule, "chain below caps");
  EXPECT_EQ(Decided(many_loads(17)).of(Op::k_add).rule, "cap/loads > 16");
}

std::string reused(int ops, int readers, const std::string& last = "negative") {
  Lines p;
  const std::string x = p.input();
  p.read_moved(p.apply(last, p.chain(x, x, ops - 1)), readers);
  return p.text();
}

TEST(Realize, AValueIsComputedAtMostEightTimes) {
  EXPECT_EQ(Decided(reused(3, 7)).of(Op::k_negative).rule, "cost/recompute is cheaper");
  EXPECT_EQ(Decided(reused(3, 8)).of(Op::k_negative).rule, "cost/recompute is cheaper");
  EXPECT_EQ(Decided(reused(3, 9)).of(Op::k_negative).rule, "cap/recompute > 8");
}

TEST(Realize, TwoOpsOnOneLoadAreNeverStored) {
  EXPECT_EQ(Decided(reused(1, 9)).of(Op::k_negative).rule, "exempt/one load");
  EXPECT_EQ(Decided(reused(2, 9)).of(Op::k_negative).rule, "exempt/one load");
  EXPECT_EQ(Decided(reused(3, 9)).of(Op::k_negative).rule, "cap/recompute > 8");
}

TEST(Realize, ATranscendentalIsComputedOnce) {
  EXPECT_EQ(Decided(reused(2, 1, "tanh")).of(Op::k_tanh).rule, "chain below caps");
  EXPECT_EQ(Decided(reused(2, 2, "tanh")).of(Op::k_tanh).rule, "cap/transcendental used twice");
}

TEST(Realize, OfAChainTheLastValueIsStored) {
  Lines p;
  const std::string x = p.input(), y = p.input();
  p.read_moved(p.apply("negative", p.apply("add", p.apply("tanh", x), y)), 2);
  const Decided d(p.text());
  EXPECT_EQ(d.of(Op::k_tanh).rule, "chain/its one reader decides");
  EXPECT_EQ(d.of(Op::k_add).rule, "chain/its one reader decides");
  EXPECT_EQ(d.of(Op::k_negative).rule, "cap/transcendental used twice");
}

TEST(Realize, AChainEndsWhereItsValuesGrow) {
  const Decided d(R"(
    input x: float16[4096]
    %1: float16[4096] = tanh(x)
    %2: float32[4096] = cast(%1, dtype=float32)
    %3: float32[64] = slice(%2, starts=[0], lengths=[64], steps=[1])
    %4: float32[64] = slice(%2, starts=[1], lengths=[64], steps=[1])
    output %3, %4)");
  EXPECT_EQ(d.of(Op::k_tanh).rule, "cap/transcendental used twice");
  EXPECT_EQ(d.of(Op::k_cast).rule, "exempt/one load");
}

TEST(Realize, WhatReadsNothingIsComputedInPlace) {
  const Decided d(R"(
    scalar a: float32
    scalar b: float32
    %1: float32[4096] = arange(a, b, length=4096)
    %2: float32[64] = slice(%1, starts=[0], lengths=[64], steps=[1])
    %3: float32[64] = slice(%1, starts=[1], lengths=[64], steps=[1])
    output %2, %3)");
  EXPECT_EQ(d.of(Op::k_add).rule, "exempt/no read");
}

// ---- effective users ----

TEST(Realize, ReadersThatCertainlyShareAKernelAreOne) {
  const auto users = [](const std::string& second) {
    return Decided(
               "input x: float32[4096]\ninput y: float32[4096]\n%1: float32[4096] = tanh(x)\n"
               "%2: float32[4096] = negative(%1)\n%3: float32[4096] = flip(y, axes=[0])\n" +
               second + "output %2, %5")
        .of(Op::k_tanh)
        .users;
  };
  EXPECT_EQ(users("%5: float32[4096] = multiply(%1, %2)\n"), 1);
  // The other output is read elsewhere, or not at all.
  EXPECT_EQ(users("%4: float32[4096] = flip(%2, axes=[0])\n%5: float32[4096] = multiply(%1, %4)\n"), 2);
  EXPECT_EQ(users("%5: float32[4096] = multiply(%1, y)\n"), 2);
}

TEST(Realize, AValueBetweenTwoReadersKeepsThemApart) {
  const Decided d(R"(
    input x: float32[64, 64]
    %1: float32[64, 64] = tanh(x)
    %2: float32[64, 64] = negative(%1)
    %3: float32[64] = sum(%2, axis=[0], keepdims=false, dtype=float32)
    %4: float32[64, 64] = add(%2, %3)
    %5: float32[64, 64] = multiply(%1, %4)
    output %2, %5)");
  EXPECT_EQ(d.of(Op::k_tanh).users, 2);
}

std::string gather(std::int64_t elements) {
  Lines p(64);
  const std::string x = p.input();
  const std::string table = p.apply("negative", p.chain(x, x, 2));
  const std::string type = absl::StrCat("float32[", elements, "]");
  p.output(p.line(type, absl::StrCat("take(", table, ", i, axis=0)")));
  return absl::StrCat("input i: int64[", elements, "]\n", p.text());
}

TEST(Realize, ATableCountsAsOftenAsItsElementsAreGathered) {
  EXPECT_EQ(Decided(gather(64)).of(Op::k_negative).users, 1);
  EXPECT_EQ(Decided(gather(65)).of(Op::k_negative).users, 2);
  EXPECT_EQ(Decided(gather(512)).of(Op::k_negative).rule, "cost/recompute is cheaper");
  EXPECT_EQ(Decided(gather(513)).of(Op::k_negative).rule, "cap/recompute > 8");
}

// ---- cost ----

/// A sum of `reads` inputs that is read at `users` places.
RealizeDecision sum_of(int reads, int users, std::int64_t elements) {
  Lines p(elements);
  std::string value = p.input();
  for (int i = 1; i < reads; ++i) value = p.apply("add", value, p.input());
  p.read_moved(value, users);
  return Decided(p.text()).of(Op::k_add);
}

TEST(Realize, WithEqualReadsAValueIsStoredFromThreeSavedReadsOn) {
  for (int reads = 2; reads <= 5; ++reads) {
    for (int users = 2; users <= 5; ++users) {
      const RealizeDecision d = sum_of(reads, users, 1 << 20);
      EXPECT_EQ(d.realized, (reads - 1) * (users - 1) >= 3) << reads << " reads, " << users << " users: " << d.rule;
    }
  }
}

constexpr CostTable kCosts;
std::int64_t memory_cost(std::int64_t bytes) { return bytes * kCosts.core_ps_per_kib / 1024; }

// 2 reads and an add, 4 users: storing costs 5 transfers and a kernel more, and saves 3 computations.
TEST(Realize, StoringIsPaidForByTheCostTable) {
  std::vector<bool> stored;
  for (std::int64_t n = 2000; n < 3000; ++n) {
    const std::int64_t once = memory_cost(2 * n * 4) + n * kCosts.op_ps;
    const RealizeDecision d = sum_of(2, 4, n);
    ASSERT_EQ(d.inline_cost, 4 * once);
    ASSERT_EQ(d.store_cost, once + 5 * memory_cost(n * 4) + kCosts.kernel_ps);
    ASSERT_EQ(d.realized, d.store_cost * 100 < d.inline_cost * 95) << n;
    stored.push_back(d.realized);
  }
  EXPECT_FALSE(stored.front());
  EXPECT_TRUE(stored.back());
  EXPECT_TRUE(std::is_sorted(stored.begin(), stored.end())) << "from one length on";
}

TEST(Realize, AValueThatJoinsItsProducerTakesNoKernelOfItsOwn) {
  Lines p(4096);
  const std::string x = p.input(), y = p.input();
  const std::string tanh = p.apply("tanh", x);
  p.output(tanh);
  p.read_moved(p.apply("negative", p.apply("multiply", p.apply("add", tanh, y), y)), 2);
  const RealizeDecision d = Decided(p.text()).of(Op::k_negative);
  EXPECT_EQ(d.store_cost, memory_cost(2 * 4096 * 4) + 3 * 4096 * kCosts.op_ps + 3 * memory_cost(4096 * 4));
}

// ---- realize=inductor ----

RealizeDecision by_inductor(const std::string& text, Op op = Op::k_negative) {
  return Decided(text, RealizeMode::kInductor).of(op);
}

std::string reads_reused(int reads) {
  Lines p;
  std::string value = p.input();
  for (int i = 1; i < reads; ++i) value = p.apply("add", value, p.input());
  p.read_moved(p.apply("negative", value), 2);
  return p.text();
}

TEST(RealizeInductor, AReusedBodyReadsAtMostFourValues) {
  EXPECT_FALSE(by_inductor(reads_reused(3)).realized);
  EXPECT_FALSE(by_inductor(reads_reused(4)).realized);
  EXPECT_EQ(by_inductor(reads_reused(5)).rule, "inductor/reads > 4 reused");
}

// The load counts as an op.
TEST(RealizeInductor, AReusedBodyHasAtMost30Ops) {
  EXPECT_FALSE(by_inductor(reused(28, 2)).realized);
  EXPECT_FALSE(by_inductor(reused(29, 2)).realized);
  EXPECT_EQ(by_inductor(reused(30, 2)).rule, "inductor/ops > 30 reused");
}

TEST(RealizeInductor, ABodyReadsAtMostEightValues) {
  EXPECT_FALSE(by_inductor(many_loads(7), Op::k_add).realized);
  EXPECT_FALSE(by_inductor(many_loads(8), Op::k_add).realized);
  EXPECT_EQ(by_inductor(many_loads(9), Op::k_add).rule, "inductor/reads > 8");
}

TEST(RealizeInductor, ALongBodyOfSeveralReadsIsStored) {
  EXPECT_FALSE(by_inductor(long_body(27)).realized);
  EXPECT_FALSE(by_inductor(long_body(28)).realized);
  EXPECT_EQ(by_inductor(long_body(29)).rule, "inductor/ops > 30");
  EXPECT_FALSE(by_inductor(reused(99, 1)).realized);  // of one read: up to the largest body
  EXPECT_EQ(by_inductor(reused(100, 1)).rule, "inductor/large > 100");
}

TEST(RealizeInductor, AnExponentialIsComputedOnce) {
  EXPECT_FALSE(by_inductor(reused(2, 1, "exp"), Op::k_exp).realized);
  EXPECT_EQ(by_inductor(reused(2, 2, "exp"), Op::k_exp).rule, "inductor/heavy op reused");
}

TEST(RealizeInductor, ABroadcastIsReuse) {
  const std::string text = R"(
    input x: float32[64]
    input y: float32[2, 64]
    %1: float32[64] = exp(x)
    %2: float32[2, 64] = multiply(%1, y)
    output %2)";
  EXPECT_EQ(by_inductor(text, Op::k_exp).users, 2);
  EXPECT_TRUE(by_inductor(text, Op::k_exp).realized);
}

TEST(RealizeInductor, RandomBitsAreStoredAndConstantsAreNot) {
  const std::string text = R"(
    scalar s: uint64
    %1: uint32[64] = random_bits(s, shape=[64], stream=0)
    %2: uint32[64] = iota(shape=[64], axis=0, dtype=uint32)
    %3: uint32[64] = add(%1, %2)
    output %3)";
  EXPECT_EQ(by_inductor(text, Op::k_random_bits).rule, "inductor/random");
  EXPECT_EQ(by_inductor(text, Op::k_iota).rule, "inductor/no read");
}

TEST(Realize, ModesHaveNames) {
  EXPECT_EQ(parse_realize_mode("tenon"), RealizeMode::kTenon);
  EXPECT_EQ(parse_realize_mode("inductor"), RealizeMode::kInductor);
  EXPECT_EQ(parse_realize_mode("eager"), std::nullopt);
}

}  // namespace
}  // namespace tenon
