// SPDX-License-Identifier: MIT
// The legality table: each row refuses a pair and accepts its near twin, and each is needed: without it a program has
// other bits, no order, or is larger or slower than promised.
#include "compiler/schedule/legality.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/ir/graph_text.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/decompose.h"
#include "compiler/ops/interpreter.h"
#include "compiler/ops/loop_interpreter.h"
#include "compiler/pipeline.h"
#include "compiler/rewrite/rewrite.h"
#include "tests/fuzz/same_bits.h"
#include "tests/unit/loop_graphs.h"

namespace tenon {
namespace {

constexpr std::uint32_t off(int row) { return 1u << row; }

Graph parsed(const std::string& text) {
  absl::StatusOr<ProgramText> program = parse_program(text);
  if (!program.ok()) throw std::runtime_error(std::string(program.status().message()) + "\n" + text);
  return program->graph;
}

/// The nodes of a lowered program, one group each, to be fused by hand. Nodes are named by position.
class Nodes {
 public:
  explicit Nodes(LoweredGraph lowered) : lowered_(std::move(lowered)) {
    for (std::size_t n = 0; n < lowered_.nodes.size(); ++n) groups_.push_back(group_of(lowered_, static_cast<int>(n)));
    dependencies_.emplace(lowered_, groups_);
  }
  explicit Nodes(const std::string& text) : Nodes(lowered_from(text)) {}

  FusionResult result(int a, int b, std::uint32_t rows_off = 0) const {
    return can_fuse({lowered_, *dependencies_, a, b, groups_[static_cast<std::size_t>(a)],
                     groups_[static_cast<std::size_t>(b)], rows_off});
  }
  /// The code of the row that refuses the pair; "" if they may fuse.
  std::string code(int a, int b, std::uint32_t rows_off = 0) const { return result(a, b, rows_off).refusal.code; }
  std::string detail(int a, int b) const { return result(a, b).refusal.detail(); }
  Nodes& merge(int a, int b) {
    groups_[static_cast<std::size_t>(a)] = result(a, b).group.value();
    dependencies_->merge(a, b);
    return *this;
  }

 private:
  static LoweredGraph lowered_from(const std::string& text) { return *lower(*rewrite(*decompose(parsed(text)))); }
  LoweredGraph lowered_;
  std::vector<Group> groups_;
  std::optional<Dependencies> dependencies_;
};

/// Inputs of both signs, no two elements alike; indices within 64.
std::vector<HostTensor> inputs_for(const Graph& graph) {
  std::vector<HostTensor> out;
  for (NodeId id : graph.inputs) {
    HostTensor& t = out.emplace_back();
    t.type = graph.node(id).type;
    for (std::int64_t i = 0; i < numel(t.type.shape); ++i) {
      const std::int64_t index = i * 37 % 64;
      const float value = static_cast<float>(i % 7 - 3) * 0.3f + static_cast<float>(i) * 0.01f;
      const auto* from =
          reinterpret_cast<const std::byte*>(t.type.dtype == DType::kInt64 ? static_cast<const void*>(&index) : &value);
      t.data.insert(t.data.end(), from, from + size_of(t.type.dtype));
    }
  }
  return out;
}

/// Whether the program built without the rows has the bits of the graph interpreter.
bool has_its_bits(const std::string& text, std::uint32_t rows_off) {
  const Graph graph = parsed(text);
  const std::vector<HostTensor> inputs = inputs_for(graph);
  std::vector<HostView> views;
  for (const HostTensor& t : inputs) views.push_back(t.view());
  const auto want = interpret(*decompose(graph), views, {});
  CompileOptions options;
  options.verify = true;
  options.fusion.rows_off = rows_off;
  const auto loops = build_loops(graph, options);
  if (!want.ok() || !loops.ok()) return false;
  const auto got = interpret_loops(*loops, views, {});
  if (!got.ok()) return false;
  for (std::size_t o = 0; o < want->size(); ++o) {
    if (!testing::same_bits((*want)[o].type, (*got)[o].data.data(), (*want)[o].data.data())) return false;
  }
  return true;
}

void expect_bits_need(int row, const std::string& text) {
  EXPECT_TRUE(has_its_bits(text, 0)) << "L" << row;
  EXPECT_FALSE(has_its_bits(text, off(row))) << "L" << row;
}

TEST(Legality, TheTableHasEveryRowAndAReasonForEachThatIsNotChecked) {
  std::set<int> numbers;
  std::set<std::string> codes;
  for (const LegalityRow& row : legality_table()) {
    numbers.insert(row.number);
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
    EXPECT_NE(std::string(row.rule), "");
  }
  EXPECT_EQ(numbers.size(), 20u);
  EXPECT_EQ(*numbers.begin(), 1);
  EXPECT_EQ(*numbers.rbegin(), 20);
}

TEST(Legality, L1AGroupIsNotFusedWithItself) {
  const Nodes n(R"(
    input x: float32[100]
    %1: float32[100] = exp(x)
    %2: float32[100] = add(%1, x)
    output %1, %2)");
  EXPECT_EQ(n.code(0, 0), "SAME_NODE");
  EXPECT_EQ(n.code(0, 1), "");
  EXPECT_EQ(n.result(0, 0, off(1)).group.value().members.size(), 2u) << "without the row it would be made twice";
}

TEST(Legality, L2AMatmulTakesReadersOfItsProductAndNoOtherMatmul) {
  const std::string product = R"(
    input x: float32[8, 8]
    input y: float32[8, 8]
    %2: float32[8, 8] = matmul(x, y)
)";
  const std::string two = product + "%3: float32[8, 8] = matmul(y, x)\noutput %2, %3";
  EXPECT_EQ(Nodes(product + "%3: float32[8, 8] = exp(%2)\noutput %2, %3").code(0, 1), "");
  EXPECT_EQ(Nodes(product + "%3: float32[8, 8] = exp(x)\noutput %2, %3").code(0, 1), "TEMPLATE_ROLE");
  EXPECT_EQ(Nodes(two).code(0, 1), "TEMPLATE_ROLE");
  expect_bits_need(2, two);
}

TEST(Legality, L3NothingLiesBetween) {
  const auto program = [](const std::string& shape, int rows) {
    return absl::StrCat(R"(
    input x: float32[16, 8]
    %1: float32[16, 8] = exp(x)
    %2: float32[)",
                        rows, ", 1] = sum(%1, axis=", shape, R"(, keepdims=true, dtype=float32)
    %3: float32[1, 1] = max(%2, axis=[0, 1], keepdims=true)
    %4: float32[16, 8] = add(%1, %3)
    output %4, %1)");
  };
  const std::string text = program("[1]", 16);
  EXPECT_EQ(Nodes(text).code(0, 3), "PATH_BETWEEN");
  EXPECT_EQ(Nodes(text).code(0, 1), "");
  expect_bits_need(3, text);
}

TEST(Legality, L4TheElementReadIsTheOneWritten) {
  const std::string text = R"(
    input x: float32[64]
    %1: float32[64] = exp(x)
    %2: float32[64] = flip(%1, axes=[0])
    %3: float32[64] = add(%2, x)
    output %1, %3)";
  const Nodes n(text);
  EXPECT_EQ(n.code(0, 1), "INDEX_MISMATCH");
  EXPECT_EQ(n.detail(0, 1), "unknown: written at i1, read at -1*i1 + 63");
  expect_bits_need(4, text);
  EXPECT_EQ(Nodes(R"(
    input x: float32[64]
    %1: float32[64] = exp(x)
    %2: float32[64] = add(%1, x)
    output %1, %2)")
                .code(0, 1),
            "");
}

TEST(Legality, L4SaysHowIndicesDiffer) {
  const auto detail = [](const std::string& view, const std::string& shape) {
    return Nodes(absl::StrCat("input x: float32[8, 8]\n%1: float32[8, 8] = exp(x)\n%2: float32", shape, " = ", view,
                              "\n%3: float32", shape, " = exp(%2)\noutput %1, %3"))
        .result(0, 1)
        .refusal.text();
  };
  EXPECT_EQ(detail("slice(%1, starts=[0, 0], lengths=[8, 4], steps=[1, 1])", "[8, 4]").substr(0, 15),
            "EXTENT_MISMATCH");
  EXPECT_NE(detail("transpose(%1)", "[8, 8]").find("the loops' order differs"), std::string::npos);
}

TEST(Legality, L5NoMatchedReadIsAtAComputedIndex) {
  const auto program = [](const std::string& read) {
    return absl::StrCat(R"(
    input x: float32[64]
    input i: int64[64]
    %2: float32[64] = exp(x)
    %3: float32[64] = )",
                        read, R"(
    %4: float32[64] = add(%3, x)
    output %2, %4)");
  };
  const std::string gather = program("take(%2, i, axis=0)");
  EXPECT_EQ(Nodes(gather).code(0, 1), "INDIRECT");
  EXPECT_EQ(Nodes(program("negative(%2)")).code(0, 1), "");
  EXPECT_TRUE(has_its_bits(gather, 0));
  EXPECT_FALSE(has_its_bits(gather, off(4) | off(5))) << "the same read is refused by L4 too";
}

TEST(Legality, L6NoMatchedReadIsOfAWholeBuffer) {
  const auto program = [](const std::string& last) {
    return absl::StrCat(R"(
    input x: float32[8, 8]
    input y: float32[8, 8]
    %2: float32[8, 8] = exp(x)
)",
                        last, "\noutput %2, %3");
  };
  const std::string matmul = program("%3: float32[8, 8] = matmul(%2, y)");
  EXPECT_EQ(Nodes(matmul).code(0, 1, off(2)), "STAR_DEP") << "L2 refuses it first";
  EXPECT_EQ(Nodes(program("%3: float32[8, 8] = multiply(%2, y)")).code(0, 1), "");
  EXPECT_TRUE(has_its_bits(matmul, 0));
  EXPECT_FALSE(has_its_bits(matmul, off(2) | off(6)));
}

TEST(Legality, L10AClassHoldsTheMergedLoops) {
  const auto program = [](const std::string& op) {
    return absl::StrCat(R"(
    input x: float32[4, 64]
    %1: float32[4, 64] = )",
                        op, R"(
    %2: float32[4, 64] = exp(%1)
    output %1, %2)");
  };
  EXPECT_EQ(Nodes(program("cumsum(x, axis=1, dtype=float32)")).code(0, 1), "CLASS_REFUSED");
  EXPECT_EQ(Nodes(program("negative(x)")).code(0, 1), "");
}

TEST(Legality, L10LoopsOfOneKernelDoNotDivide) {
  const std::string crossed = R"(
    input x: float32[6, 8]
    input y: float32[8]
    input z: float32[6]
    %3: float32[6, 8] = add(x, y)
    %4: float32[8, 6] = transpose(x)
    %5: float32[8, 6] = add(%4, z)
    output %3, %5)";
  EXPECT_EQ(Nodes(crossed).result(0, 1).refusal.text(),
            "CLASS_REFUSED(the loops' order differs: the shared space would need divisions)");
  const auto divisions = [&](std::uint32_t rows_off) {
    CompileOptions options;
    options.fusion.rows_off = rows_off;
    const auto loops = build_loops(parsed(crossed), options);
    int n = 0;
    for (const Kernel& kernel : loops->kernels) {
      for (const Instr& i : kernel.phases.at(0).body) n += i.index ? division_count(i.index) : 0;
    }
    return n;
  };
  EXPECT_EQ(divisions(0), 0);
  EXPECT_GT(divisions(off(10)), 0);
}

TEST(Legality, L11AResultIsUsedWhereItIsFinished) {
  const auto program = [](int rows, const std::string& axes, const std::string& shape) {
    const std::string x = absl::StrCat("float32[", rows, ", 600]");
    return absl::StrCat("input x: ", x, "\n%1: float32", shape, " = sum(x, axis=", axes,
                        ", keepdims=true, dtype=float32)\n%2: ", x, " = subtract(x, %1)\noutput %2");
  };
  const std::string long_columns = program(4097, "[0]", "[1, 600]");
  EXPECT_EQ(Nodes(long_columns).code(0, 1), "REDUCE_RESULT");
  EXPECT_EQ(Nodes(program(4096, "[0]", "[1, 600]")).code(0, 1), "");
  EXPECT_EQ(Nodes(program(4097, "[1]", "[4097, 1]")).code(0, 1), "");
  // The gate: no task keeps columns that leave the cache.
  const auto scratch = [&](std::uint32_t rows_off) {
    CompileOptions options;
    options.fusion.rows_off = rows_off;
    const auto loops = build_loops(parsed(long_columns), options);
    std::int64_t most = 0;
    for (const Kernel& k : loops->kernels) most = std::max(most, k.scratch_bytes);
    return most;
  };
  EXPECT_LE(scratch(0), 1 << 20);
  EXPECT_GT(scratch(off(11)), 1 << 20);
}

TEST(Legality, L12TwoReductionsRunAlongOneAxisInOneOrder) {
  const auto program = [](const std::string& axes, const std::string& shape) {
    return absl::StrCat(R"(
    input x: float32[32, 32]
    %1: float32[32] = sum(x, axis=[1], keepdims=false, dtype=float32)
    %2: float32)",
                        shape, " = sum(x, axis=", axes, R"(, keepdims=false, dtype=float32)
    output %1, %2)");
  };
  const std::string crossed = program("[0]", "[32]");
  EXPECT_EQ(Nodes(crossed).code(0, 1), "REDUCE_SHAPE");
  EXPECT_EQ(Nodes(R"(
    input x: float32[32, 32]
    %1: float32[32] = sum(x, axis=[1], keepdims=false, dtype=float32)
    %2: float32[32] = max(x, axis=[1], keepdims=false)
    output %1, %2)")
                .code(0, 1),
            "");
  expect_bits_need(12, crossed);
}

TEST(Legality, L13AReductionInPartsHasNoNeighbour) {
  const auto program = [](int n) {
    return absl::StrCat("input x: float32[", n, R"(]
    %1: float32[1] = sum(x, axis=[0], keepdims=true, dtype=float32)
    %2: float32[1] = exp(%1)
    output %2)");
  };
  EXPECT_EQ(Nodes(program(65536)).code(0, 1), "SPLIT_REDUCE");
  EXPECT_EQ(Nodes(program(65535)).code(0, 1), "");
  // The gate: a long reduction has tasks for many threads.
  const auto most_tasks = [&](std::uint32_t rows_off) {
    CompileOptions options;
    options.fusion.rows_off = rows_off;
    const auto loops = build_loops(parsed(program(1 << 20)), options);
    std::int64_t tasks = 0;
    for (const Kernel& k : loops->kernels) tasks = std::max(tasks, k.tasks());
    return tasks;
  };
  EXPECT_GE(most_tasks(0), 16);
  EXPECT_EQ(most_tasks(off(13)), 1);
}

/// A node that reads every third element of a vector that has no memory in any machine, beside one that reads all.
Nodes huge(std::int64_t elements, std::int64_t stride) {
  testing::LoopGraph g(elements);
  const BufferId first = g.sum({g.input()});
  g.sum({first}, true);
  LoweredGraph lowered = std::move(g.graph());
  LoopNode& last = lowered.nodes.back();
  BodyBuilder body(*lowered.pool);
  const IndexExpr i = lowered.pool->var(0, elements);
  last.value = body.apply(Op::k_add, DType::kFloat32, body.load(first, DType::kFloat32, i),
                          body.load(0, DType::kFloat32, lowered.pool->multiply(i, stride)));
  last.body = body.take();
  return Nodes(std::move(lowered));
}

TEST(Legality, L15IndicesFit64Bits) {
  const std::int64_t elements = std::int64_t{1} << 60;
  EXPECT_EQ(huge(elements, 3).code(0, 1), "");
  EXPECT_EQ(huge(elements, 5).code(0, 1), "INT_RANGE");
  EXPECT_EQ(huge(elements, 9).code(0, 1), "INT_RANGE");
  // Without the row there is a read whose index leaves 64 bits.
  const Group group = huge(elements, 9).result(0, 1, off(15)).group.value();
  EXPECT_GT(static_cast<__int128>(9) * (elements - 1), static_cast<__int128>(INT64_MAX));
  EXPECT_EQ(group.members.size(), 2u);
}

TEST(Legality, L16TheMergedBodyIsBounded) {
  const auto sums = [](int inputs) {
    testing::LoopGraph g(100);
    std::vector<BufferId> left, right;
    for (int i = 0; i < inputs; ++i) (i % 2 ? left : right).push_back(g.input());
    left.push_back(g.sum(right));
    g.sum(left, true);
    return Nodes(std::move(g.graph()));
  };
  EXPECT_EQ(sums(48).code(0, 1), "");
  EXPECT_EQ(sums(49).code(0, 1), "LIMIT");
  EXPECT_EQ(sums(49).detail(0, 1), "loads, 49, 48");
  EXPECT_EQ(sums(49).code(0, 1, off(16)), "");
}

TEST(Legality, L16CountsEqualLoadsOnce) {
  testing::LoopGraph g(100);
  std::vector<BufferId> all;
  for (int i = 0; i < 40; ++i) all.push_back(g.input());
  const BufferId first = g.sum(all);
  all.push_back(first);
  g.sum(all, true);
  EXPECT_EQ(Nodes(std::move(g.graph())).code(0, 1), "");
}

TEST(Legality, L16BoundsEveryKernelOfALongProgram) {
  std::string text = "input x: float32[64]\n", last = "x";
  for (int i = 1; i <= 200; ++i) {
    absl::StrAppend(&text, "%", i, ": float32[64] = tanh(", last, ")\n");
    last = absl::StrCat("%", i);
  }
  const auto largest = [&](std::uint32_t rows_off) {
    CompileOptions options;
    options.fusion.rows_off = rows_off;
    const auto loops = build_loops(parsed(text + "output " + last), options);
    std::size_t size = 0;
    for (const Kernel& kernel : loops->kernels) {
      for (const Phase& phase : kernel.phases) size = std::max(size, phase.body.size());
    }
    return size;
  };
  EXPECT_LE(largest(0), 1000u / 16 + 10);
  EXPECT_GT(largest(off(16)), 1000u / 16 + 10);
}

}  // namespace
}  // namespace tenon
