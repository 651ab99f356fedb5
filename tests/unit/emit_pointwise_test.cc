// SPDX-License-Identifier: MIT
// Pointwise kernels: every tail length, every way of addressing, nothing touched that should not be.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "compiler/ir/graph.h"
#include "tenon/dtype.h"
#include "tests/unit/emit_harness.h"

namespace tenon {
namespace {

using testing::ProgramBuilder;
using testing::run;
using testing::targets;

template <class T>
T element(std::int64_t i) {
  const double value = static_cast<double>((i * 37) % 101 - 50) / 4;
  if constexpr (std::is_same_v<T, bool>) return i % 3 == 0;
  if constexpr (std::is_same_v<T, bfloat16>) return bfloat16(static_cast<float>(value));
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) return static_cast<T>(value);
}

template <class T>
std::vector<std::uint8_t> bytes_of(std::int64_t n) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(n) * sizeof(T));
  for (std::int64_t i = 0; i < n; ++i) {
    const T value = element<T>(i);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <class T>
T multiply(T x, T y) {
  if constexpr (std::is_same_v<T, bool>) return x && y;
  if constexpr (std::is_same_v<T, bfloat16>) return bfloat16(static_cast<float>(x) * static_cast<float>(y));
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) return static_cast<T>(x * y);
}

template <class T>
void expect_square(std::int64_t n, const codegen::TargetSpec& target) {
  ProgramBuilder b({}, n);
  const BufferId x = b.input(dtype_of<T>, n), y = b.output(dtype_of<T>, n);
  b.phase();
  const InstrId v = b.load(x, b.lane());
  b.store(y, b.lane(), b.apply(Op::k_multiply, dtype_of<T>, v, v));
  const auto in = bytes_of<T>(n);
  std::vector<std::uint8_t> out((static_cast<std::size_t>(n) + 1) * sizeof(T), 0xAB);
  run(b.finish(), target, {in.data()}, {out.data()});
  for (std::int64_t i = 0; i < n; ++i) {
    const T expected = multiply(element<T>(i), element<T>(i));
    ASSERT_EQ(std::memcmp(&expected, out.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T)), 0)
        << name_of(dtype_of<T>) << " element " << i << " of " << n << " on " << target.cpu;
  }
  for (std::size_t i = static_cast<std::size_t>(n) * sizeof(T); i < out.size(); ++i) ASSERT_EQ(out[i], 0xAB) << n;
}

TEST(EmitPointwise, EveryTailIsDoneAndNothingBehindIt) {
  for (const auto& target : targets()) {
    for (std::int64_t n = 0; n <= 3 * 16 + 1; ++n) {
      expect_square<float>(n, target);
      expect_square<bfloat16>(n, target);
    }
    for (std::int64_t n : {1, 7, 31, 33, 63, 64, 65, 127, 129, 200, 257}) {
      expect_square<double>(n, target);
      expect_square<std::int8_t>(n, target);
      expect_square<std::int32_t>(n, target);
      expect_square<bool>(n, target);
    }
  }
}

TEST(EmitPointwise, ChunksCoverTheLanes) {
  const std::int64_t rows = 5, n = 1000;
  ProgramBuilder b({rows}, n);
  const BufferId x = b.input(DType::kFloat32, rows * n), y = b.output(DType::kFloat32, rows * n);
  b.kernel.lane_chunk = 96;
  b.phase();
  const IndexExpr at = b.sum({b.pool.multiply(b.outer(0), n), b.lane()});
  b.store(y, at, b.apply(Op::k_negative, DType::kFloat32, b.load(x, at)));
  std::vector<float> in(rows * n), out(rows * n);
  std::iota(in.begin(), in.end(), 1.0f);
  const LoopProgram& program = b.finish();
  for (const auto& target : targets()) {
    run(program, target, {in.data()}, {out.data()});
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], -in[i]) << i;
  }
}

TEST(EmitPointwise, ReadsBroadcastStridedReversedAndByDivision) {
  const std::int64_t n = 53;
  ProgramBuilder b({}, n);
  const BufferId x = b.input(DType::kFloat32, 3 * n), y = b.output(DType::kFloat32, 5 * n);
  b.phase();
  const IndexExpr lane = b.lane();
  const std::vector<IndexExpr> reads = {b.pool.constant(7), b.pool.multiply(lane, 3),
                                        b.pool.add(b.pool.multiply(lane, -1), n - 1), b.pool.floor_div(lane, 5),
                                        b.pool.mod(b.pool.add(b.pool.multiply(lane, -2), 10), 7)};
  for (std::size_t k = 0; k < reads.size(); ++k)
    b.store(y, b.pool.add(lane, static_cast<std::int64_t>(k) * n), b.load(x, reads[k]));
  std::vector<float> in(3 * n), out(5 * n);
  std::iota(in.begin(), in.end(), 0.0f);
  const LoopProgram& program = b.finish();
  for (const auto& target : targets()) {
    run(program, target, {in.data()}, {out.data()});
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(out[i], 7);
      EXPECT_EQ(out[n + i], 3 * i);
      EXPECT_EQ(out[2 * n + i], n - 1 - i);
      EXPECT_EQ(out[3 * n + i], i / 5);
      EXPECT_EQ(out[4 * n + i], ((10 - 2 * i) % 7 + 7) % 7);
    }
  }
}

template <class T>
void expect_indirect(const codegen::TargetSpec& target) {
  const std::int64_t n = 37;
  ProgramBuilder b({}, n);
  const BufferId x = b.input(dtype_of<T>, 10), at = b.input(DType::kInt64, n), y = b.output(dtype_of<T>, n);
  b.phase();
  const InstrId i = b.load(at, b.lane());
  b.store(y, b.lane(), b.load(x, b.pool.add(b.pool.value(i, 0, 4), 5)));
  const auto in = bytes_of<T>(10);
  std::vector<std::int64_t> positions(n);
  for (std::int64_t k = 0; k < n; ++k) positions[static_cast<std::size_t>(k)] = k * k % 5;
  std::vector<std::uint8_t> out(n * sizeof(T));
  run(b.finish(), target, {in.data(), positions.data()}, {out.data()});
  for (std::int64_t k = 0; k < n; ++k) {
    const T expected = element<T>(5 + k * k % 5);
    ASSERT_EQ(std::memcmp(&expected, out.data() + static_cast<std::size_t>(k) * sizeof(T), sizeof(T)), 0) << k;
  }
}

TEST(EmitPointwise, ReadsAtLoadedIndices) {
  for (const auto& target : targets()) {
    expect_indirect<float>(target);
    expect_indirect<double>(target);
    expect_indirect<bfloat16>(target);
    expect_indirect<std::int8_t>(target);
    expect_indirect<bool>(target);
  }
}

// A pad: the border reads nothing, so a buffer without it is enough.
TEST(EmitPointwise, MaskedLoadsReadNothingWhereFalse) {
  const std::int64_t n = 40, before = 3, after = 5;
  ProgramBuilder b({}, n + before + after);
  const BufferId x = b.input(DType::kFloat32, n), y = b.output(DType::kFloat32, n + before + after);
  b.phase();
  const IndexExpr at = b.pool.add(b.lane(), -before);
  const InstrId inside = b.in_range(at, 0, n);
  const InstrId value = b.load(x, at, inside);
  const InstrId border = b.constant(DType::kFloat32, 9);
  b.store(y, b.lane(), b.apply(Op::k_where, DType::kFloat32, inside, value, border));
  std::vector<float> in(n), out(n + before + after);
  std::iota(in.begin(), in.end(), 100.0f);
  const LoopProgram& program = b.finish();
  for (const auto& target : targets()) {
    run(program, target, {in.data()}, {out.data()});
    for (std::int64_t i = 0; i < n + before + after; ++i) {
      const bool is_inside = i >= before && i < before + n;
      EXPECT_EQ(out[i], is_inside ? in[i - before] : 9.0f) << i;
    }
  }
}

TEST(EmitPointwise, ScalarsAndUniformValuesAreSpread) {
  const std::int64_t rows = 3, n = 21;
  ProgramBuilder b({rows}, n);
  const BufferId x = b.input(DType::kFloat32, rows), y = b.output(DType::kFloat32, rows * n);
  const int s = b.scalar(DType::kFloat32);
  b.phase();
  const InstrId scaled = b.apply(Op::k_multiply, DType::kFloat32, b.load(x, b.outer(0)), b.scalar_value(s));
  const InstrId position = b.apply(Op::k_cast, DType::kFloat32, b.index(b.lane()));
  b.store(y, b.sum({b.pool.multiply(b.outer(0), n), b.lane()}), b.apply(Op::k_add, DType::kFloat32, scaled, position));
  const std::vector<float> in = {1, 2, 4};
  std::vector<float> out(rows * n);
  const LoopProgram& program = b.finish();
  for (const auto& target : targets()) {
    run(program, target, {in.data()}, {out.data()}, {bits_of(DType::kFloat32, 2.5)});
    for (std::int64_t i = 0; i < rows * n; ++i)
      EXPECT_EQ(out[static_cast<std::size_t>(i)],
                in[static_cast<std::size_t>(i / n)] * 2.5f + static_cast<float>(i % n));
  }
}

template <class T>
void expect_transposed(std::int64_t rows, std::int64_t columns, const codegen::TargetSpec& target) {
  ProgramBuilder b({2, rows}, columns);
  const std::int64_t n = 2 * rows * columns;
  const BufferId x = b.input(dtype_of<T>, n), w = b.input(dtype_of<T>, rows), y = b.output(dtype_of<T>, n);
  b.kernel.row_block = 32;
  b.kernel.lane_chunk = std::min<std::int64_t>(columns, 64);
  b.phase();
  const IndexExpr block = b.pool.multiply(b.outer(0), rows * columns);
  const InstrId v = b.load(x, b.sum({block, b.outer(1), b.pool.multiply(b.lane(), rows)}));
  const InstrId product = b.apply(Op::k_multiply, dtype_of<T>, v, b.load(w, b.outer(1)));
  b.store(y, b.sum({block, b.pool.multiply(b.outer(1), columns), b.lane()}), product);
  const auto in = bytes_of<T>(n), factors = bytes_of<T>(rows);
  std::vector<std::uint8_t> out(static_cast<std::size_t>(n) * sizeof(T), 0xAB);
  run(b.finish(), target, {in.data(), factors.data()}, {out.data()});
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t plane = i / (rows * columns), r = i / columns % rows, c = i % columns;
    const T expected = multiply(element<T>(plane * rows * columns + c * rows + r), element<T>(r));
    ASSERT_EQ(std::memcmp(&expected, out.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T)), 0)
        << name_of(dtype_of<T>) << " " << rows << " x " << columns << " element " << i << " on " << target.cpu;
  }
}

TEST(EmitPointwise, RowsAreTiledWhereReadsAreTransposed) {
  for (const auto& target : targets()) {
    expect_transposed<float>(45, 70, target);
    expect_transposed<float>(64, 128, target);
    expect_transposed<float>(3, 16, target);
    expect_transposed<double>(40, 21, target);
    expect_transposed<bfloat16>(33, 65, target);
    expect_transposed<std::int8_t>(50, 100, target);
    expect_transposed<bool>(32, 64, target);
  }
}

}  // namespace
}  // namespace tenon
