// SPDX-License-Identifier: MIT
// Inlining is linear in time and size, and views are index maps: none of them is a copy by itself.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/ir/graph_text.h"
#include "compiler/pipeline.h"
#include "tests/fuzz/agreement.h"

namespace tenon {
namespace {

Graph graph_of(const std::string& text) {
  absl::StatusOr<ProgramText> program = parse_program(text);
  if (!program.ok()) throw std::runtime_error(std::string(program.status().message()) + "\n" + text);
  return program->graph;
}

LoopProgram loops_of(const Graph& graph) {
  absl::StatusOr<LoopProgram> loops = build_loops(graph, {});
  if (!loops.ok()) throw std::runtime_error(std::string(loops.status().message()));
  return *std::move(loops);
}

std::size_t instructions(const LoopProgram& program) {
  std::size_t n = 0;
  for (const Kernel& kernel : program.kernels) {
    for (const Phase& phase : kernel.phases) n += phase.body.size();
  }
  return n;
}

/// One kernel that stores its outputs and nothing else.
void expect_no_copy(const Graph& graph) {
  const LoopProgram program = loops_of(graph);
  EXPECT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(program.arena_bytes, 0);
  EXPECT_EQ(program.buffers.size(), graph.inputs.size() + graph.outputs.size());
}

struct ViewCase {
  const char* name;
  const char* type;  ///< of the result
  const char* call;  ///< of %1: float32[4, 6]; indices i: int64[5], r: int64[4, 3], scalars s: int64, v: float32
};

const ViewCase kViews[] = {
    {"reshape", "[3, 8]", "reshape(%1, shape=[3, 8])"},
    {"permute", "[6, 4]", "permute_dims(%1, axes=[1, 0])"},
    {"transpose", "[6, 4]", "transpose(%1)"},
    {"slice", "[2, 3]", "slice(%1, starts=[1, 0], lengths=[2, 3], steps=[1, 2])"},
    {"slice_backwards", "[4, 2]", "slice(%1, starts=[3, 5], lengths=[4, 2], steps=[-1, -4])"},
    {"flip", "[4, 6]", "flip(%1, axes=[1])"},
    {"expand_dims", "[4, 1, 6]", "expand_dims(%1, axes=[1])"},
    {"broadcast", "[3, 4, 6]", "broadcast_to(%1, shape=[3, 4, 6])"},
    {"tile", "[8, 18]", "tile(%1, repetitions=[2, 3])"},
    {"pad", "[7, 9]", "pad(%1, v, before=[1, 3], after=[2, 0])"},
    {"pad_reflect", "[7, 9]", "pad_mode(%1, before=[1, 3], after=[2, 0], mode=1)"},
    {"pad_edge", "[7, 9]", "pad_mode(%1, before=[1, 3], after=[2, 0], mode=2)"},
    {"concat", "[4, 12]", "concat(%1, x, axis=1)"},
    {"concat_itself", "[8, 6]", "concat(%1, %1, axis=0)"},
    {"stack", "[4, 2, 6]", "stack(%1, x, axis=1)"},
    {"take", "[4, 5]", "take(%1, i, axis=1)"},
    {"take_along_axis", "[4, 3]", "take_along_axis(%1, r, axis=1)"},
    {"slice_update", "[4, 6]", "slice_update(%1, v, starts=[0, 1], lengths=[2, 2], steps=[2, 3])"},
    {"dynamic_slice", "[2, 3]", "dynamic_slice(%1, s, s, lengths=[2, 3])"},
    {"tril", "[4, 6]", "tril(%1, k=1)"},
};

class EveryView : public ::testing::TestWithParam<ViewCase> {};

TEST_P(EveryView, IsAnIndexMapBetweenTwoOps) {
  const ViewCase& view = GetParam();
  const Graph graph = graph_of(absl::StrCat(R"(
    input x: float32[4, 6]
    input i: int64[5]
    input r: int64[4, 3]
    scalar s: int64
    scalar v: float32
    %1: float32[4, 6] = negative(x)
    %2: float32)",
                                            view.type, " = ", view.call, "\n    %3: float32", view.type,
                                            " = multiply(%2, v)\n    output %3"));
  expect_no_copy(graph);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    testing::expect_agreement(testing::with_random_inputs(graph, seed), seed == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Inlining, EveryView, ::testing::ValuesIn(kViews),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Inlining, AChainOfAllViewsIsOneKernel) {
  const Graph graph = graph_of(R"(
    input x: float32[4, 6]
    input i: int64[3]
    scalar v: float32
    %1: float32[4, 6] = abs(x)
    %2: float32[6, 4] = transpose(%1)
    %3: float32[8, 3] = reshape(%2, shape=[8, 3])
    %4: float32[8, 3] = flip(%3, axes=[0])
    %5: float32[10, 4] = pad(%4, v, before=[1, 0], after=[1, 1])
    %6: float32[5, 8] = reshape(%5, shape=[5, 8])
    %7: float32[5, 4] = slice(%6, starts=[0, 7], lengths=[5, 4], steps=[1, -2])
    %8: float32[2, 5, 4] = stack(%7, %7, axis=0)
    %9: float32[2, 5, 3] = take(%8, i, axis=2)
    %10: float32[2, 10, 3] = concat(%9, %9, axis=1)
    %11: float32[3, 2, 10, 3] = broadcast_to(%10, shape=[3, 2, 10, 3])
    %12: float32[20, 9] = reshape(%11, shape=[20, 9])
    %13: float32[20, 9] = sqrt(%12)
    output %13)");
  expect_no_copy(graph);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    testing::expect_agreement(testing::with_random_inputs(graph, seed), seed == 0);
  }
}

/// `depth` steps, each of which uses the one before twice.
std::string diamonds(int depth, const std::vector<std::string>& step) {
  std::string text = "input x: float32[96]\n%0: float32[96] = abs(x)\n%1: float32[96] = negative(x)\n";
  const int values = static_cast<int>(step.size());
  for (int n = 0; n < depth; ++n) {
    for (int k = 0; k < values; ++k) {
      const std::string a = absl::StrCat("%", 2 * n), b = absl::StrCat("%", 2 * n + 1);
      absl::StrAppend(&text, "%", 2 * n + 2 + k, ": float32[96] = ", step[static_cast<std::size_t>(k)], "(", a, ", ",
                      values == 1 ? a : b, ")\n");
    }
  }
  return absl::StrCat(text, "output %", 2 * depth);
}

TEST(Inlining, DiamondsOfDepth64AreLinear) {
  for (const auto& step : {std::vector<std::string>{"add"}, {"maximum", "subtract"}, {"multiply", "minimum"}}) {
    const std::size_t half = instructions(loops_of(graph_of(diamonds(32, step))));
    const Graph whole = graph_of(diamonds(64, step));
    EXPECT_LE(instructions(loops_of(whole)), 2 * half + 8) << step[0];
    testing::expect_agreement(testing::with_random_inputs(whole, 1), false);
  }
}

/// Each step adds the value to itself, moved: the two uses are at different places.
std::string moved_diamonds(int depth) {
  std::string text = "input x: float32[96]\n%0: float32[96] = abs(x)\n";
  for (int n = 0; n < depth; ++n) {
    absl::StrAppend(&text, "%", 3 * n + 1, ": float32[96] = flip(%", 3 * n, ", axes=[0])\n");
    absl::StrAppend(&text, "%", 3 * n + 2, ": float32[96] = reshape(%", 3 * n + 1, ", shape=[96])\n");
    absl::StrAppend(&text, "%", 3 * n + 3, ": float32[96] = add(%", 3 * n, ", %", 3 * n + 2, ")\n");
  }
  return absl::StrCat(text, "output %", 3 * depth);
}

TEST(Inlining, DiamondsWhoseUsesAreAtDifferentPlacesAreLinear) {
  const std::size_t half = instructions(loops_of(graph_of(moved_diamonds(32))));
  const Graph whole = graph_of(moved_diamonds(64));
  EXPECT_LE(instructions(loops_of(whole)), 5 * half / 2);
  testing::expect_agreement(testing::with_random_inputs(whole, 1), false);
}

/// Reshapes and flips of which none undoes another: every position is a new expression of the one before, used twice.
std::string view_chain(int depth) {
  const std::string shapes[] = {"[6, 35]", "[10, 21]", "[14, 15]", "[5, 42]"};
  std::string text = "input x: float32[6, 35]\n%0: float32[6, 35] = abs(x)\n";
  for (int n = 0; n < depth; ++n) {
    const std::string& shape = shapes[(n + 1) % 4];
    absl::StrAppend(&text, "%", 2 * n + 1, ": float32", shapes[n % 4], " = flip(%", 2 * n, ", axes=[", n % 2, "])\n");
    absl::StrAppend(&text, "%", 2 * n + 2, ": float32", shape, " = reshape(%", 2 * n + 1, ", shape=", shape, ")\n");
  }
  return absl::StrCat(text, "%", 2 * depth + 1, ": float32", shapes[depth % 4], " = negative(%", 2 * depth,
                      ")\noutput %", 2 * depth + 1);
}

TEST(Inlining, ALongChainOfViewsIsLinearAndOneKernel) {
  const std::size_t half = instructions(loops_of(graph_of(view_chain(32))));
  const Graph whole = graph_of(view_chain(64));
  EXPECT_LE(instructions(loops_of(whole)), 2 * half + 8);
  expect_no_copy(whole);
  testing::expect_agreement(testing::with_random_inputs(whole, 1), true);
}

}  // namespace
}  // namespace tenon
