// SPDX-License-Identifier: MIT
// Kernel counts and bytes moved of known programs: what realize/inline and the fusion scheduler promise.
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/explain/report.h"
#include "compiler/ir/graph_text.h"
#include "compiler/pipeline.h"

namespace tenon {
namespace {

struct Compiled {
  LoopProgram program;
  DecisionLog log;

  std::size_t kernels() const { return program.kernels.size(); }
  std::int64_t bytes() const {
    std::int64_t n = 0;
    for (const KernelRecord& k : log.kernels) n += k.read_bytes + k.write_bytes;
    return n;
  }
};

Compiled compiled(const std::string& text) {
  absl::StatusOr<ProgramText> program = parse_program(text);
  if (!program.ok()) throw std::runtime_error(std::string(program.status().message()) + "\n" + text);
  Compiled out;
  CompileOptions options;
  options.log = &out.log;
  options.verify = true;
  absl::StatusOr<LoopProgram> loops = build_loops(program->graph, options);
  if (!loops.ok()) throw std::runtime_error(std::string(loops.status().message()));
  out.program = *std::move(loops);
  return out;
}

constexpr std::int64_t kRows = 256, kColumns = 1024, kBytes = kRows * kColumns * 4;

TEST(Fusion, SoftmaxIsOneKernelThatReadsAndWritesOnce) {
  const Compiled c = compiled(R"(
    input x: float32[256, 1024]
    %1: float32[256, 1024] = softmax(x, axis=1)
    output %1)");
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.bytes(), 2 * kBytes);
  EXPECT_EQ(c.program.arena_bytes, 0);
}

TEST(Fusion, SoftmaxWrittenOutIsOneKernel) {
  const Compiled c = compiled(R"(
    input x: float32[256, 1024]
    %1: float32[256, 1] = max(x, axis=[1], keepdims=true)
    %2: float32[256, 1024] = subtract(x, %1)
    %3: float32[256, 1024] = exp(%2)
    %4: float32[256, 1] = sum(%3, axis=[1], keepdims=true, dtype=float32)
    %5: float32[256, 1024] = divide(%3, %4)
    output %5)");
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.bytes(), 2 * kBytes);
}

TEST(Fusion, LayerNormIsOneKernel) {
  const Compiled c = compiled(R"(
    input x: float32[256, 1024]
    input w: float32[1024]
    input b: float32[1024]
    scalar e: float32
    %4: float32[256, 1024] = layer_norm(x, e, w, b, axis=1)
    output %4)");
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.bytes(), 2 * kBytes + 2 * kColumns * 4);
}

TEST(Fusion, RmsNormWithResidualIsOneKernelWithTwoOutputs) {
  const Compiled c = compiled(R"(
    input x: float32[256, 1024]
    input r: float32[256, 1024]
    input w: float32[1024]
    scalar e: float32
    %4: float32[256, 1024] = add(x, r)
    %5: float32[256, 1024] = multiply(%4, %4)
    %6: float32[256, 1] = mean(%5, axis=[1], keepdims=true)
    %7: float32[256, 1] = add(%6, e)
    %8: float32[256, 1] = rsqrt(%7)
    %9: float32[256, 1024] = multiply(%4, %8)
    %10: float32[256, 1024] = multiply(%9, w)
    output %10, %4)");
  EXPECT_EQ(c.kernels(), 1u);
}

TEST(Fusion, TwentyPointwiseOpsAreOneKernel) {
  std::string text = "input x: float32[1000]\ninput y: float32[1000]\n";
  std::string last = "x";
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&text, "%", i + 2, ": float32[1000] = ", i % 2 ? "add" : "multiply", "(", last, ", y)\n");
    last = absl::StrCat("%", i + 2);
  }
  const Compiled c = compiled(text + "output " + last);
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.bytes(), 3 * 4000);
}

TEST(Fusion, CrossEntropyRowsAreOneKernelAndTheSum) {
  const Compiled c = compiled(R"(
    input x: float32[512, 4000]
    input t: int64[512, 1]
    %2: float32[512, 1] = max(x, axis=[1], keepdims=true)
    %3: float32[512, 4000] = subtract(x, %2)
    %4: float32[512, 4000] = exp(%3)
    %5: float32[512, 1] = sum(%4, axis=[1], keepdims=true, dtype=float32)
    %6: float32[512, 1] = log(%5)
    %7: float32[512, 1] = add(%6, %2)
    %8: float32[512, 1] = take_along_axis(x, t, axis=1)
    %9: float32[512, 1] = subtract(%7, %8)
    %10: float32[] = sum(%9, axis=[0, 1], keepdims=false, dtype=float32)
    output %10)");
  EXPECT_LE(c.kernels(), 2u);
}

TEST(Fusion, ASmallGatherFromACastStoresNoTable) {
  const Compiled c = compiled(R"(
    input x: bfloat16[512, 4000]
    input t: int64[512, 1]
    %2: float32[512, 4000] = cast(x, dtype=float32)
    %3: float32[512, 1] = max(%2, axis=[1], keepdims=true)
    %4: float32[512, 1] = take_along_axis(%2, t, axis=1)
    %5: float32[512, 1] = subtract(%3, %4)
    output %5)");
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.program.arena_bytes, 0);
}

TEST(Fusion, KMeansAssignmentIsOneKernelThatStoresNoDistances) {
  const Compiled c = compiled(R"(
    input x: float32[4096, 1, 64]
    input c: float32[1, 256, 64]
    %2: float32[4096, 256, 64] = subtract(x, c)
    %3: float32[4096, 256, 64] = multiply(%2, %2)
    %4: float32[4096, 256] = sum(%3, axis=[2], keepdims=false, dtype=float32)
    %5: int64[4096] = argmin(%4, axis=[1], keepdims=false)
    output %5)");
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.bytes(), 4096 * 64 * 4 + 256 * 64 * 4 + 4096 * 8);
  EXPECT_EQ(c.program.arena_bytes, 0);
}

TEST(Fusion, SumsOfSumsKeepTheirOrderInTwoKernels) {
  const Compiled c = compiled(R"(
    input x: float32[64, 32, 40]
    %1: float32[64, 32] = max(x, axis=[2], keepdims=false)
    %2: float32[64] = sum(%1, axis=[1], keepdims=false, dtype=float32)
    output %2)");
  EXPECT_EQ(c.kernels(), 2u);
  for (const CandidateRecord& r : c.log.candidates) EXPECT_TRUE(r.reason.starts_with("REDUCE_SHAPE")) << r.reason;
}

std::string batch_normalize(int rows) {
  const std::string x = absl::StrCat("float32[", rows, ", 1024]");
  return absl::StrCat("input x: ", x, "\nscalar e: float32\n",
                      "%2: float32[1, 1024] = mean(x, axis=[0], keepdims=true)\n", "%3: ", x, " = subtract(x, %2)\n",
                      "%4: ", x, " = multiply(%3, %3)\n", "%5: float32[1, 1024] = mean(%4, axis=[0], keepdims=true)\n",
                      "%6: float32[1, 1024] = add(%5, e)\n", "%7: float32[1, 1024] = sqrt(%6)\n", "%8: ", x,
                      " = divide(%3, %7)\n", "output %8\n");
}

TEST(Fusion, BatchNormalizeIsOneKernelThatReadsOnceWhereColumnsStayInTheCache) {
  const Compiled c = compiled(batch_normalize(2048));
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.bytes(), 2 * 2048 * 1024 * 4);
  EXPECT_EQ(c.program.arena_bytes, 0);
  EXPECT_LE(c.program.kernels[0].scratch_bytes, (1 << 20) + 1024);
}

TEST(Fusion, BatchNormalizeOfLongColumnsIsTwoKernels) {
  const Compiled c = compiled(batch_normalize(8192));
  EXPECT_EQ(c.kernels(), 2u);
  EXPECT_EQ(c.bytes(), 3 * 8192 * 1024 * 4 + 4 * 1024 * 4);
}

TEST(Fusion, ColumnsTooLongForTheCacheAreReadByOneKernelAPass) {
  const Compiled c = compiled(batch_normalize(20000));
  EXPECT_EQ(c.kernels(), 3u);
  EXPECT_TRUE(std::ranges::any_of(c.log.candidates,
                                  [](const CandidateRecord& r) { return r.reason.starts_with("REDUCE_RESULT"); }));
}

TEST(Fusion, AValueOfALaterPassStaysInTheTask) {
  const Compiled c = compiled(R"(
    input x: float32[100, 300]
    %1: float32[100, 300] = softmax(x, axis=0)
    output %1)");
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.bytes(), 2 * 100 * 300 * 4);
  EXPECT_EQ(c.program.arena_bytes, 0);
}

TEST(Fusion, AdamStepIsOneKernel) {
  const Compiled c = compiled(R"(
    input p: float32[4096]
    input g: float32[4096]
    input m: float32[4096]
    input v: float32[4096]
    scalar a: float32
    scalar b: float32
    %6: float32[4096] = multiply(m, a)
    %7: float32[4096] = multiply(g, b)
    %8: float32[4096] = add(%6, %7)
    %9: float32[4096] = multiply(v, a)
    %10: float32[4096] = multiply(g, g)
    %11: float32[4096] = multiply(%10, b)
    %12: float32[4096] = add(%9, %11)
    %13: float32[4096] = sqrt(%12)
    %14: float32[4096] = add(%13, b)
    %15: float32[4096] = divide(%8, %14)
    %16: float32[4096] = subtract(p, %15)
    output %16, %8, %12)");
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.bytes(), 7 * 4096 * 4);
}

TEST(Fusion, AnMlpIsTwoKernelsThatStoreNoProduct) {
  const Compiled c = compiled(R"(
    input x: bfloat16[64, 512]
    input w: bfloat16[512, 256]
    input b: bfloat16[256]
    input v: bfloat16[256, 128]
    %4: bfloat16[64, 256] = matmul(x, w)
    %5: float32[64, 256] = cast(%4, dtype=float32)
    %6: float32[256] = cast(b, dtype=float32)
    %7: float32[64, 256] = add(%5, %6)
    %8: float32[64, 256] = gelu(%7, approximate=0)
    %9: bfloat16[64, 256] = cast(%8, dtype=bfloat16)
    %10: bfloat16[64, 128] = matmul(%9, v)
    output %10)");
  EXPECT_EQ(c.kernels(), 2u);
  EXPECT_EQ(c.bytes(), 2 * (64 * 512 + 512 * 256 + 256 + 2 * 64 * 256 + 256 * 128 + 64 * 128));
}

TEST(Fusion, AResidualAndAScaleJoinTheMatmulThatMayBeAnOutputToo) {
  const Compiled c = compiled(R"(
    input x: float32[3, 40, 50]
    input y: float32[3, 50, 60]
    input r: float32[3, 40, 60]
    scalar s: float32
    %4: float32[3, 40, 60] = matmul(x, y)
    %5: float32[3, 40, 60] = multiply(%4, s)
    %6: float32[3, 40, 60] = add(%5, r)
    output %6, %4)");
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.bytes(), 4 * 3 * (40 * 50 + 50 * 60 + 3 * 40 * 60));
}

TEST(Fusion, ReductionsOfAProductAndOtherMatmulsStayOutsideTheTemplate) {
  const Compiled c = compiled(R"(
    input x: float32[40, 50]
    input y: float32[50, 60]
    %2: float32[40, 60] = matmul(x, y)
    %3: float32[40] = max(%2, axis=[1], keepdims=false)
    %4: float32[60, 40] = permute_dims(%2, axes=[1, 0])
    %5: float32[40, 40] = matmul(%2, %4)
    output %3, %5)");
  EXPECT_EQ(c.kernels(), 3u);
  for (const CandidateRecord& r : c.log.candidates) {
    EXPECT_TRUE(r.verdict != "fused" && r.reason.starts_with("TEMPLATE_ROLE")) << r.a << " " << r.b << r.reason;
  }
}

TEST(Fusion, AttentionWrittenOutIsThreeKernels) {
  const Compiled c = compiled(R"(
    input q: float32[8, 64, 32]
    input k: float32[8, 64, 32]
    input v: float32[8, 64, 32]
    scalar s: float32
    %4: float32[8, 32, 64] = permute_dims(k, axes=[0, 2, 1])
    %5: float32[8, 64, 64] = matmul(q, %4)
    %6: float32[8, 64, 64] = multiply(%5, s)
    %7: float32[8, 64, 64] = softmax(%6, axis=2)
    %8: float32[8, 64, 32] = matmul(%7, v)
    output %8)");
  EXPECT_EQ(c.kernels(), 3u);
}

TEST(Fusion, BytesOfAResidualStackAreLinearInItsDepth) {
  const auto stack = [](int depth) {
    std::string text = "input x: float32[64, 256]\ninput w: float32[256]\nscalar e: float32\n", last = "x";
    int id = 3;
    for (int layer = 0; layer < depth; ++layer) {
      const auto add = [&](const std::string& shape, const std::string& expression) {
        absl::StrAppend(&text, "%", id, ": float32", shape, " = ", expression, "\n");
        return absl::StrCat("%", id++);
      };
      const std::string square = add("[64, 256]", absl::StrCat("multiply(", last, ", ", last, ")"));
      const std::string mean = add("[64, 1]", absl::StrCat("mean(", square, ", axis=[1], keepdims=true)"));
      const std::string scale = add("[64, 1]", absl::StrCat("rsqrt(", mean, ")"));
      const std::string normal = add("[64, 256]", absl::StrCat("multiply(", last, ", ", scale, ")"));
      last = add("[64, 256]", absl::StrCat("add(", normal, ", ", last, ")"));
    }
    return compiled(text + "output " + last).bytes();
  };
  EXPECT_LE(stack(32), 5 * stack(16) / 2);
  EXPECT_LE(stack(32), 32 * 3 * 64 * 256 * 4);
}

TEST(Fusion, FortyStepsOfMandelbrotAreOneKernel) {
  std::string text = "input cr: float32[4096]\ninput ci: float32[4096]\nscalar two: float32\nscalar four: float32\n";
  absl::StrAppend(&text, "%4: float32[4096] = subtract(cr, cr)\n");
  std::string zr = "cr", zi = "ci", n = "%4";
  int id = 5;
  const auto add = [&](const std::string& type, const std::string& expression) {
    absl::StrAppend(&text, "%", id, ": ", type, "[4096] = ", expression, "\n");
    return absl::StrCat("%", id++);
  };
  const auto f32 = [&](const std::string& expression) { return add("float32", expression); };
  for (int step = 0; step < 40; ++step) {
    const std::string zr2 = f32(absl::StrCat("multiply(", zr, ", ", zr, ")"));
    const std::string zi2 = f32(absl::StrCat("multiply(", zi, ", ", zi, ")"));
    const std::string size = f32(absl::StrCat("add(", zr2, ", ", zi2, ")"));
    const std::string live = add("bool", absl::StrCat("less(", size, ", four)"));
    n = f32(absl::StrCat("add(", n, ", ", f32(absl::StrCat("cast(", live, ", dtype=float32)")), ")"));
    const std::string twice =
        f32(absl::StrCat("multiply(", f32(absl::StrCat("multiply(two, ", zr, ")")), ", ", zi, ")"));
    zi = f32(absl::StrCat("where(", live, ", ", f32(absl::StrCat("add(", twice, ", ci)")), ", ", zi, ")"));
    const std::string square = f32(absl::StrCat("subtract(", zr2, ", ", zi2, ")"));
    zr = f32(absl::StrCat("where(", live, ", ", f32(absl::StrCat("add(", square, ", cr)")), ", ", zr, ")"));
  }
  const Compiled c = compiled(text + "output " + n);
  EXPECT_EQ(c.kernels(), 1u);
  EXPECT_EQ(c.bytes(), 3 * 4096 * 4);
}

TEST(Fusion, APathThroughAGroupOfDistantNodesIsSeen) {
  // tanh joins the last op; what lies between in the numbering may then not join across them.
  const Compiled c = compiled(R"(
    input x: float32[16, 13, 7]
    %1: float32[16, 13, 7] = tanh(x)
    %2: float32[16, 13, 7] = sin(x)
    %3: bool[16, 13, 7] = equal(x, %2)
    %4: float32[16, 13, 7] = cast(%3, dtype=float32)
    %5: float32[16, 13, 7] = maximum(%1, %4)
    %6: bool[1, 13, 1] = any(%3, axis=[0, 2], keepdims=true)
    %7: bool[16, 13, 7] = cast(%1, dtype=bool)
    %8: bool[16, 13, 7] = bitwise_or(%6, %7)
    output %8, %5, %2)");
  EXPECT_GE(c.kernels(), 3u);
}

TEST(Fusion, AStackOfItselfIndexedIsLinear) {
  std::string text = "input x: float32[3]\nscalar i: int64\n", last = "x";
  for (int n = 2; n < 82; n += 2) {
    absl::StrAppend(&text, "%", n, ": float32[2, 3] = stack(", last, ", ", last, ", axis=0)\n");
    absl::StrAppend(&text, "%", n + 1, ": float32[1, 3] = dynamic_slice(%", n, ", i, i, lengths=[1, 3])\n");
    absl::StrAppend(&text, "%", n + 100, ": float32[3] = reshape(%", n + 1, ", shape=[3])\n");
    last = absl::StrCat("%", n + 100);
  }
  std::size_t instructions = 0;
  for (const Kernel& kernel : compiled(text + "output " + last).program.kernels) {
    for (const Phase& phase : kernel.phases) instructions += phase.body.size();
  }
  EXPECT_LT(instructions, 10000u);
}

TEST(Fusion, EveryRejectedPairHasAReasonAndEveryValueARule) {
  const Compiled c = compiled(R"(
    input x: float32[256, 1024]
    %1: float32[256, 1024] = softmax(x, axis=1)
    %2: float32[1024] = sum(%1, axis=[0], keepdims=false, dtype=float32)
    output %2)");
  for (const CandidateRecord& r : c.log.candidates) {
    EXPECT_TRUE(r.verdict == "fused" || !r.reason.empty()) << r.a << " " << r.b;
  }
  for (const RealizeRecord& r : c.log.realize) EXPECT_FALSE(r.rule.empty()) << r.text;
}

TEST(Fusion, TheExplanationOfEqualProgramsIsEqual) {
  const std::string text = R"(
    input x: float32[256, 1024]
    %1: float32[256, 1024] = softmax(x, axis=1)
    output %1)";
  const ProgramIdentity identity{"key", {{"build", "1", "hash"}}};
  EXPECT_EQ(report_json(compiled(text).log, identity), report_json(compiled(text).log, identity));
}

}  // namespace
}  // namespace tenon
