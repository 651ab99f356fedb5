// SPDX-License-Identifier: MIT
// The loop-IR interpreter on programs written by hand: results, independence of tasks, and what it refuses.
#include <gtest/gtest.h>

#include <numeric>

#include "compiler/ir/verify.h"
#include "compiler/ops/loop_interpreter.h"
#include "tests/unit/small_loops.h"

namespace tenon {
namespace {

class Loops : public testing::Test {
 protected:
  Loops() { std::iota(std::begin(x_), std::end(x_), 0.0f); }

  absl::StatusOr<std::vector<HostTensor>> run(const LoopProgram& program, bool reverse = false) const {
    return interpret_loops(program, {HostView{x_, {}}, HostView{rows_, {}}}, {kTwo}, {reverse});
  }
  std::string error_of(const LoopProgram& program) const {
    const auto outputs = run(program);
    return outputs.ok() ? "no error" : std::string(outputs.status().message());
  }

  static constexpr std::uint64_t kTwo = 0x40000000;  // 2.0f
  float x_[32];
  std::int64_t rows_[4] = {2, -1, 0, 3};
};

TEST_F(Loops, RunsPhasesReductionsAndProducts) {
  const auto outputs = run(small_program());
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  float expected[4][8];
  for (int i = 0; i < 4; ++i) {
    float sum = 0;
    for (int j = 0; j < 8; ++j) {
      const std::int64_t row = rows_[i];
      expected[i][j] = row < 0 ? 0 : 2 * x_[row * 8 + (j + 3) % 8];
      sum += expected[i][j];
    }
    for (float& value : expected[i]) value -= sum;
  }
  const auto rows = (*outputs)[0].elements<float>(), product = (*outputs)[1].elements<float>();
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) EXPECT_EQ(rows[static_cast<std::size_t>(8 * i + j)], expected[i][j]);
    for (int j = 0; j < 4; ++j) {
      float dot = 0;
      for (int k = 0; k < 8; ++k) dot += expected[i][k] * x_[8 * j + k];
      EXPECT_EQ(product[static_cast<std::size_t>(4 * i + j)], dot);
    }
  }
}

TEST_F(Loops, TheOrderOfTasksDoesNotShow) {
  const auto forward = run(small_program()), backward = run(small_program(), true);
  ASSERT_TRUE(forward.ok() && backward.ok());
  EXPECT_EQ((*forward)[0].data, (*backward)[0].data);
  EXPECT_EQ((*forward)[1].data, (*backward)[1].data);
}

TEST_F(Loops, AccessOutsideABufferIsNamed) {
  LoopProgram program = small_program();
  Instr& load = program.kernels[0].phases[0].body[3];
  load.operands[0] = -1;  // without its mask it reads row -1
  EXPECT_EQ(error_of(program),
            "kernel tenon_row_0, task 1, phase 0, instruction 3: position -5 is outside 0 .. 31 of buffer 0");
}

TEST_F(Loops, ReadingWhatNobodyWroteIsNamed) {
  LoopProgram program = small_program();
  std::swap(program.kernels[0], program.kernels[1]);
  EXPECT_EQ(error_of(program), "kernel tenon_matmul_1: an operand leaves its buffer or was never written");
  program = small_program();
  std::swap(program.kernels[0].phases[0], program.kernels[0].phases[1]);
  EXPECT_EQ(error_of(program), "kernel tenon_row_0, task 0, phase 0, instruction 0: local 0 was never written");
}

/// out[i, j] for i < rows, j < lanes, from x[i, j] by a body made by `fill`.
LoopProgram one_kernel(Shape in, Shape out, std::vector<std::int64_t> outer, std::int64_t lanes) {
  LoopProgram p;
  p.num_inputs = p.num_outputs = 1;
  p.buffers.resize(2);
  p.buffers[0] = {DType::kFloat32, std::move(in), Buffer::kInput, 0, 0, 0};
  p.buffers[1] = {DType::kFloat32, std::move(out), Buffer::kOutput, 0, 0, 1};
  Kernel k;
  k.name = "kernel";
  k.outer = std::move(outer);
  k.lanes = k.lane_chunk = lanes;
  p.kernels.push_back(std::move(k));
  return p;
}

Instr access(Instr::Kind kind, std::int32_t buffer, IndexExpr index, InstrId operand = -1) {
  Instr in;
  in.kind = kind;
  in.buffer = buffer;
  in.index = index;
  in.operands[0] = operand;
  return in;
}

std::vector<float> run_one(const LoopProgram& p, const std::vector<float>& x) {
  EXPECT_TRUE(verify(p).ok()) << verify(p).message();
  for (const bool reverse : {true, false}) {
    const auto outputs = interpret_loops(p, {HostView{x.data(), {}}}, {}, {reverse});
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    if (!reverse && outputs.ok()) {
      const auto values = (*outputs)[0].elements<float>();
      return {values.begin(), values.end()};
    }
  }
  return {};
}

TEST(LoopShapes, RowBlocksAndLaneChunksCoverEverything) {
  LoopProgram p = one_kernel({5, 7}, {7, 5}, {7}, 5);  // a transpose
  IndexPool& pool = *p.pool;
  Kernel& k = p.kernels[0];
  k.lane_chunk = 2;
  k.row_block = 3;
  EXPECT_EQ(k.tasks(), 9);
  const IndexExpr i = pool.var(0, 7), j = pool.var(2, 5);
  Phase phase;
  phase.body = {access(Instr::kLoad, 0, pool.add(pool.multiply(j, 7), i)),
                access(Instr::kStore, 1, pool.add(pool.multiply(i, 5), j), 0)};
  k.phases = {phase};
  std::vector<float> x(35), expected(35);
  std::iota(x.begin(), x.end(), 0.0f);
  for (std::size_t n = 0; n < 35; ++n) expected[n] = x[n % 5 * 7 + n / 5];
  EXPECT_EQ(run_one(p, x), expected);
}

TEST(LoopShapes, SequencesReduceEachLane) {
  LoopProgram p = one_kernel({3, 4}, {4}, {}, 4);
  IndexPool& pool = *p.pool;
  Kernel& k = p.kernels[0];
  k.lane_chunk = 3;
  k.scratch_bytes = 64;
  k.locals = {{DType::kFloat32, true, 0}};
  const IndexExpr s = pool.var(0, 3), j = pool.var(1, 4);
  Phase fold, write;
  fold.sequence = 3;
  fold.reductions.resize(1);
  fold.reductions[0].over = Reduction::kSequence;
  fold.reductions[0].order = ReduceOrder::outer;
  Instr reduce = access(Instr::kReduce, 0, nullptr, 0);
  reduce.reduction = 0;
  fold.body = {access(Instr::kLoad, 0, pool.add(pool.multiply(s, 4), j)), reduce};
  write.body = {access(Instr::kLoadLocal, 0, nullptr), access(Instr::kStore, 1, j, 0)};
  k.phases = {fold, write};
  EXPECT_EQ(run_one(p, {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400}), (std::vector<float>{111, 222, 333, 444}));
}

TEST(LoopShapes, ScansGiveTheirResultAtOnce) {
  LoopProgram p = one_kernel({2, 3}, {2, 3}, {2}, 3);
  IndexPool& pool = *p.pool;
  const IndexExpr at = pool.add(pool.multiply(pool.var(0, 2), 3), pool.var(2, 3));
  Phase phase;
  phase.reductions.resize(1);
  Instr scan = access(Instr::kScan, -1, nullptr, 0);
  scan.reduction = 0;
  phase.body = {access(Instr::kLoad, 0, at), scan, access(Instr::kStore, 1, at, 1)};
  p.kernels[0].phases = {phase};
  EXPECT_EQ(run_one(p, {1, 2, 3, 10, 20, 30}), (std::vector<float>{1, 3, 6, 10, 30, 60}));
}

}  // namespace
}  // namespace tenon
