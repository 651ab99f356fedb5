// SPDX-License-Identifier: MIT
// Whole kernels of several phases, of the kinds that fusion makes, have the bits of the loop-IR interpreter.
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/graph.h"
#include "compiler/ir/verify.h"
#include "compiler/ops/loop_interpreter.h"
#include "tests/unit/emit_harness.h"

namespace tenon {
namespace {

using testing::ProgramBuilder;
using testing::run;
using testing::targets;

constexpr DType kF32 = DType::kFloat32;

std::vector<std::byte> noise(DType dtype, std::int64_t n, std::uint64_t seed) {
  std::vector<std::byte> data(static_cast<std::size_t>(n) * size_of(dtype));
  for (std::int64_t i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t bits = bits_of(dtype, static_cast<double>(seed >> 40) * 0x1p-20 - 8);
    std::memcpy(data.data() + static_cast<std::size_t>(i) * size_of(dtype), &bits, size_of(dtype));
  }
  return data;
}

void expect_as_interpreted(const LoopProgram& program, const std::vector<std::uint64_t>& scalars = {}) {
  ASSERT_TRUE(verify(program).ok()) << verify(program);
  std::vector<std::vector<std::byte>> data;
  std::vector<HostView> views;
  std::vector<const void*> inputs;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.space == Buffer::kInput) data.push_back(noise(buffer.dtype, numel(buffer.shape), data.size() + 1));
  }
  for (const auto& bytes : data) {
    views.push_back({bytes.data(), {}});
    inputs.push_back(bytes.data());
  }
  const auto expected = interpret_loops(program, views, scalars);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const auto& target : targets()) {
    std::vector<std::vector<std::byte>> results;
    std::vector<void*> outputs;
    for (const HostTensor& tensor : *expected) results.emplace_back(tensor.data.size());
    for (auto& result : results) outputs.push_back(result.data());
    ASSERT_TRUE(run(program, target, inputs, outputs, scalars));
    for (std::size_t o = 0; o < results.size(); ++o)
      EXPECT_EQ(std::memcmp(results[o].data(), (*expected)[o].data.data(), results[o].size()), 0)
          << "output " << o << " on " << target.cpu;
  }
}

InstrId load_f32(ProgramBuilder& b, BufferId buffer, IndexExpr at) {
  const InstrId value = b.load(buffer, at);
  return b.dtype_of(value) == kF32 ? value : b.apply(Op::k_cast, kF32, value);
}

void store_as(ProgramBuilder& b, BufferId buffer, IndexExpr at, InstrId value) {
  const DType dtype = b.program.buffers[static_cast<std::size_t>(buffer)].dtype;
  b.store(buffer, at, dtype == kF32 ? value : b.apply(Op::k_cast, dtype, value));
}

LoopProgram softmax(DType dtype, std::int64_t rows, std::int64_t n) {
  ProgramBuilder b({rows}, n);
  const BufferId x = b.input(dtype, rows * n), y = b.output(dtype, rows * n);
  const int most = b.local(kF32), total = b.local(kF32), kept = b.local(kF32, true);
  const IndexExpr at = b.sum({b.pool.multiply(b.outer(0), n), b.lane()});
  b.phase();
  b.reduce(ReduceKind::max, Reduction::kLanes, load_f32(b, x, at), most);
  b.phase();
  const InstrId power = b.apply(Op::k_exp, kF32, b.apply(Op::k_subtract, kF32, load_f32(b, x, at), b.load_local(most)));
  b.store_local(kept, power);
  b.reduce(ReduceKind::sum, Reduction::kLanes, power, total);
  b.phase();
  store_as(b, y, at, b.apply(Op::k_divide, kF32, b.load_local(kept), b.load_local(total)));
  return std::move(b.finish());
}

TEST(EmitPrograms, Softmax) {
  for (std::int64_t n : {1, 5, 16, 100, 129, 1000, 2048, 5000}) {
    expect_as_interpreted(softmax(kF32, 5, n));
    expect_as_interpreted(softmax(DType::kBFloat16, 3, n));
  }
}

LoopProgram layer_norm(DType dtype, std::int64_t rows, std::int64_t n) {
  ProgramBuilder b({rows}, n);
  const BufferId x = b.input(dtype, rows * n), w = b.input(kF32, n), y = b.output(dtype, rows * n);
  const int epsilon = b.scalar(kF32);
  const int total = b.local(kF32), squares = b.local(kF32), factor = b.local(kF32);
  const IndexExpr at = b.sum({b.pool.multiply(b.outer(0), n), b.lane()});
  const auto mean = [&] {
    return b.apply(Op::k_divide, kF32, b.load_local(total), b.constant(kF32, static_cast<double>(n)));
  };
  b.phase();
  b.reduce(ReduceKind::sum, Reduction::kLanes, load_f32(b, x, at), total);
  b.phase();
  const InstrId distance = b.apply(Op::k_subtract, kF32, load_f32(b, x, at), mean());
  b.reduce(ReduceKind::sum, Reduction::kLanes, b.apply(Op::k_multiply, kF32, distance, distance), squares);
  b.phase(1, false);
  const InstrId variance = b.apply(Op::k_divide, kF32, b.load_local(squares), b.constant(kF32, static_cast<double>(n)));
  b.store_local(factor, b.apply(Op::k_rsqrt, kF32, b.apply(Op::k_add, kF32, variance, b.scalar_value(epsilon))));
  b.phase();
  const InstrId centred = b.apply(Op::k_subtract, kF32, load_f32(b, x, at), mean());
  const InstrId scaled = b.apply(Op::k_multiply, kF32, centred, b.load_local(factor));
  store_as(b, y, at, b.apply(Op::k_multiply, kF32, scaled, b.load(w, b.lane())));
  return std::move(b.finish());
}

TEST(EmitPrograms, LayerNorm) {
  for (std::int64_t n : {3, 64, 128, 300, 1024, 4100}) {
    expect_as_interpreted(layer_norm(kF32, 4, n), {bits_of(kF32, 1e-5)});
    expect_as_interpreted(layer_norm(DType::kFloat16, 2, n), {bits_of(kF32, 1e-5)});
  }
}

// x / sum over rows, a column each: an outer reduction, then the same rows again.
LoopProgram normalise_columns(std::int64_t rows, std::int64_t columns, std::int64_t chunk) {
  ProgramBuilder b({}, columns);
  b.kernel.lane_chunk = chunk;
  const BufferId x = b.input(kF32, rows * columns), y = b.output(kF32, rows * columns), z = b.output(kF32, columns);
  const int total = b.local(kF32, true), most = b.local(kF32, true);
  b.phase(rows);
  const IndexExpr at = b.sum({b.pool.multiply(b.sequence(), columns), b.lane()});
  const InstrId value = b.load(x, at);
  b.reduce(ReduceKind::sum, Reduction::kSequence, value, total);
  b.reduce(ReduceKind::max, Reduction::kSequence, value, most);
  b.phase();
  b.store(z, b.lane(), b.load_local(most));
  b.phase(rows);
  b.store(y, at, b.apply(Op::k_divide, kF32, b.load(x, at), b.load_local(total)));
  return std::move(b.finish());
}

TEST(EmitPrograms, ColumnsNormalised) {
  expect_as_interpreted(normalise_columns(7, 5, 5));
  expect_as_interpreted(normalise_columns(200, 130, 128));
  expect_as_interpreted(normalise_columns(65, 40, 40));
}

}  // namespace
}  // namespace tenon
