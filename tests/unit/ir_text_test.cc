// SPDX-License-Identifier: MIT
// The text form: what people write is read as meant, what is printed reads back as the same graph, and anything else is
// one clear line with its place.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "compiler/ir/graph_text.h"
#include "compiler/ir/verify.h"
#include "compiler/ops/decompose.h"
#include "tests/random_graph.h"

namespace tenon {
namespace {

constexpr std::string_view kProgram = R"(# a small program
input x: float32[4, 8] = fill(7, -1, 1)
input t: int64[2, 2] strides=[1, 2] = [[1, 2],
                                       [3, -4]]
input y: float16[3] aligned=false = "y.npy"
scalar eps: float32 = 1e-6
%0: float32 = constant(0x3f800000)  # 1
s: float32[4, 1] = sum(x, axis=[1], keepdims=true, dtype=float32)
q = divide(x, s)
output q, s
)";

ProgramText parse(std::string_view text) {
  auto program = parse_program(text);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return program.ok() ? *std::move(program) : ProgramText();
}

std::string error_of(std::string_view text) {
  const auto program = parse_program(text);
  return program.ok() ? "no error" : std::string(program.status().message());
}

void expect_same_graph(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a.nodes[i].op, b.nodes[i].op);
    EXPECT_EQ(a.nodes[i].type, b.nodes[i].type);
    EXPECT_EQ(a.nodes[i].operands, b.nodes[i].operands);
    EXPECT_EQ(a.nodes[i].attrs, b.nodes[i].attrs);
  }
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.scalars, b.scalars);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.layouts, b.layouts);
}

TEST(IrText, ReadsWhatPeopleWrite) {
  const ProgramText program = parse(kProgram);
  ASSERT_EQ(program.graph.size(), 7u);
  EXPECT_EQ(program.input_names, (std::vector<std::string>{"x", "t", "y"}));
  EXPECT_EQ(program.inputs[0].kind, Initialiser::kFill);
  EXPECT_EQ(program.inputs[0].seed, 7u);
  EXPECT_EQ(program.inputs[0].lo, -1.0);
  EXPECT_EQ(program.inputs[1].elements, (std::vector<std::uint64_t>{1, 2, 3, static_cast<std::uint64_t>(-4)}));
  EXPECT_EQ(program.graph.layouts[1].strides, (Shape{1, 2}));
  EXPECT_FALSE(program.graph.layouts[2].aligned64);
  EXPECT_EQ(program.inputs[2].file, "y.npy");
  EXPECT_EQ(program.scalars[0].elements, (std::vector<std::uint64_t>{0x358637bd}));  // 1e-6f
  EXPECT_EQ(program.graph.nodes[6].type, (TensorType{DType::kFloat32, {4, 8}}));
  EXPECT_EQ(program.graph.outputs, (std::vector<NodeId>{6, 5}));
  EXPECT_TRUE(verify(program.graph).ok());
}

TEST(IrText, DefaultsAreThoseOfTheTable) {
  const ProgramText program = parse(
      "input x: int8[2, 3, 4]\n"
      "a = sum(x)\n"
      "b = max(x, axis=[-1, 0])\n"
      "c = slice(x, starts=[0, 0, 0], lengths=[1, 1, 1])\n"
      "d = stack(x, x, axis=-1)\n"
      "e = tril(x)\n");
  const auto& nodes = program.graph.nodes;
  EXPECT_EQ(nodes[1].type, (TensorType{DType::kInt64, {}}));
  EXPECT_EQ(nodes[2].type, (TensorType{DType::kInt8, {3}}));
  EXPECT_EQ(nodes[3].ints("steps"), (Shape{1, 1, 1}));
  EXPECT_EQ(nodes[4].type, (TensorType{DType::kInt8, {2, 3, 4, 2}}));
  EXPECT_EQ(nodes[5].value("k"), 0);
}

TEST(IrText, ConstantsTakeBitsAndValues) {
  const ProgramText program = parse(
      "a: bfloat16 = constant(-1.5)\nb: float64 = constant(nan)\nc: bool = constant(true)\n"
      "d: uint64 = constant(18446744073709551615)\ne: float16 = constant(0x7c00)\n");
  const auto bits = [&](int i) { return static_cast<std::uint64_t>(program.graph.node(i).value("bits")); };
  EXPECT_EQ(bits(0), 0xbfc0u);
  EXPECT_EQ(bits(1), 0x7ff8000000000000u);
  EXPECT_EQ(bits(2), 1u);
  EXPECT_EQ(bits(3), ~std::uint64_t{0});
  EXPECT_EQ(bits(4), 0x7c00u);
}

TEST(IrText, PrintsTheDocumentedForm) {
  const ProgramText program = parse(
      "input a: float32[4, 8] strides=[1, 4]\nscalar b: int32 = 3\nc: float32 = constant(0x3f800000)\n"
      "d = sum(a, axis=[1])\ne = reduce(a, kind=max, axis=0, order=outer)\noutput d, a\n");
  EXPECT_EQ(print_program(program),
            "input a: float32[4, 8] strides=[1, 4]\n"
            "scalar b: int32 = 3\n"
            "%2: float32 = constant(0x3f800000)  # 1\n"
            "%3: float32[4] = sum(a, axis=[1], keepdims=false, dtype=float32)\n"
            "%4: float32[8] = reduce(a, kind=max, axis=0, order=outer)\n"
            "output %3, a\n");
}

TEST(IrText, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(error_of("input x: float33[2]"), "line 1, column 10: there is no dtype 'float33'");
  EXPECT_EQ(error_of("\n  a = foo(b)"), "line 2, column 7: there is no op 'foo'");
  EXPECT_EQ(error_of("a = exp(b)"), "line 1, column 9: 'b' is not defined above");
  EXPECT_EQ(error_of("input x: int8[2]\nx = abs(x)"), "line 2, column 1: 'x' is defined twice");
  EXPECT_EQ(error_of("input x: float32[2, 3]\ninput y: float32[4]\nz = add(x, y)"),
            "line 3, column 5: add: shapes float32[2, 3] and float32[4] do not broadcast");
  EXPECT_EQ(error_of("input x: int8[2]\ny: int8[3] = abs(x)"),
            "line 2, column 4: the type of this abs is int8[2], not int8[3]");
  EXPECT_EQ(error_of("input x: float32[2] = [1]"), "line 1, column 25: expected ',', found ]");
  EXPECT_EQ(error_of("input x: int8[1] = [128]"), "line 1, column 21: expected a value of int8, found 128");
  EXPECT_EQ(error_of("input x: int8[2]\ny = take(x, x)"), "line 2, column 5: take needs axis=...");
  EXPECT_EQ(error_of("input x: int8[2]\ny = abs(x, axis=1)"), "line 2, column 12: abs has no attribute 'axis'");
  EXPECT_EQ(error_of("input x: int8[2] ="), "line 1, column 19: expected '[' before the end of the line");
  EXPECT_EQ(error_of("input x: int8[2] = fill(1, 2)"), "line 1, column 29: expected ',', found )");
}

void expect_reads_back(const Graph& graph) {
  ASSERT_TRUE(verify(graph).ok()) << verify(graph).message();
  const std::string text = print_graph(graph);
  const ProgramText back = parse(text);
  expect_same_graph(graph, back.graph);
  EXPECT_EQ(print_graph(back.graph), text);
}

TEST(IrText, RandomGraphsReadBackTheSame) {
  std::set<Op> occurred;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Graph graph = testing::random_graph(seed, 40);
    expect_reads_back(graph);
    expect_reads_back(*decompose(graph));
    for (const Node& node : graph.nodes) occurred.insert(node.op);
  }
  for (int i = 0; i < kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    EXPECT_TRUE(occurred.contains(op) || row_of(op).form == OpForm::internal) << name_of(op) << " was never drawn";
  }
}

TEST(IrText, ProgramsReadBackTheSame) {
  const ProgramText once = parse(kProgram), twice = parse(print_program(once));
  expect_same_graph(once.graph, twice.graph);
  EXPECT_EQ(once.inputs, twice.inputs);
  EXPECT_EQ(once.scalars, twice.scalars);
  EXPECT_EQ(once.input_names, twice.input_names);
}

TEST(IrText, NamesThatLookLikeNodesAreReplaced) {
  const ProgramText program = parse("input %1: int8[2]\na = abs(%1)\noutput a\n");
  EXPECT_EQ(print_program(program), "input x0: int8[2]\n%1: int8[2] = abs(x0)\noutput %1\n");
}

TEST(IrText, AnyTextGivesAProgramOrAnError) {
  std::mt19937 random(1);
  const std::string good = std::string(kProgram) + print_graph(testing::random_graph(5, 30));
  const std::string_view pieces[] = {
      "[",         "]",   "(",  ")",     ",",      "=",    ":",       "\n",  "#",     "\"",
      "%",         "-",   "0x", "1e400", "input ", "axis", "float32", "nan", "fill(", "99999999999999999999",
      "constant(", "\xff"};
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = good.substr(0, random() % good.size());
    for (auto edits = random() % 4; edits > 0 && !text.empty(); --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 2) text[at] = static_cast<char>(random() % 256);
      if (random() % 2) text.insert(at, pieces[random() % std::size(pieces)]);
      if (random() % 2) text.erase(at, random() % 10);
    }
    const auto program = parse_program(text);
    if (program.ok()) {
      EXPECT_TRUE(verify(program->graph).ok()) << text;
    } else {
      EXPECT_EQ(program.status().message().substr(0, 5), "line ") << text;
    }
  }
}

}  // namespace
}  // namespace tenon
