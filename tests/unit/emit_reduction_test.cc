// SPDX-License-Identifier: MIT
// Reductions and scans follow the canonical order bit for bit, whatever the vectors, chunks and splits.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "tenon/dtype.h"
#include "tests/unit/emit_harness.h"

namespace tenon {
namespace {

using testing::ProgramBuilder;
using testing::run;
using testing::targets;

template <class T>
std::vector<T> noise(std::int64_t n, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const double unit = static_cast<double>(seed >> 11) * 0x1p-53;
    value = static_cast<T>(std::is_integral_v<T> ? std::floor(unit * 200 - 100)
                                                 : std::ldexp(unit - 0.5, static_cast<int>(seed >> 5) % 7));
  }
  return values;
}

// ---- the order of compiler/ir/reduction_order.h, written out ----

template <class T, class Add>
T merge_blocks(const std::vector<T>& blocks, Add add) {
  // The tree of aligned powers of two: a level at a time, a last odd block moves up alone.
  std::vector<T> level = blocks;
  while (level.size() > 1) {
    std::vector<T> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? add(level[i], level[i + 1]) : level[i]);
    level = next;
  }
  return level[0];
}

template <class T, class Add>
T inner_order(const std::vector<T>& x, Add add) {
  if (x.empty()) return T(0);
  const std::size_t n = x.size(), partials = n <= 128 ? 8 : 256, chunk = n <= 128 ? n : 2048;
  std::vector<std::optional<T>> columns;
  std::vector<std::optional<T>> merged(partials);
  for (std::size_t p = 0; p < partials; ++p) {
    std::vector<T> blocks;
    for (std::size_t base = 0; base < n; base += chunk) {
      std::optional<T> sum;
      for (std::size_t i = base + p; i < std::min(n, base + chunk); i += partials) sum = sum ? add(*sum, x[i]) : x[i];
      if (sum) blocks.push_back(*sum);
    }
    if (!blocks.empty()) merged[p] = merge_blocks(blocks, add);
  }
  for (std::size_t half = partials / 2; half >= 1; half /= 2) {
    for (std::size_t p = 0; p < half; ++p) {
      if (merged[p + half]) merged[p] = add(*merged[p], *merged[p + half]);
    }
  }
  return *merged[0];
}

template <class T, class Add>
std::vector<T> block_sums(const std::vector<T>& x, Add add) {
  std::vector<T> blocks;
  for (std::size_t base = 0; base < x.size(); base += 64) {
    T sum = x[base];
    for (std::size_t i = base + 1; i < std::min(x.size(), base + 64); ++i) sum = add(sum, x[i]);
    blocks.push_back(sum);
  }
  return blocks;
}

template <class T, class Add>
T outer_order(const std::vector<T>& x, Add add) {
  return x.empty() ? T(0) : merge_blocks(block_sums(x, add), add);
}

template <class T, class Add>
std::vector<T> scan_order(const std::vector<T>& x, Add add) {
  const std::vector<T> blocks = block_sums(x, add);
  std::vector<T> result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t block = i / 64;
    T inside = x[block * 64];
    for (std::size_t k = block * 64 + 1; k <= i; ++k) inside = add(inside, x[k]);
    std::optional<T> carry;
    std::size_t base = 0;
    for (std::size_t size = std::size_t{1} << 40; size >= 1; size /= 2) {
      if ((block & size) == 0) continue;
      const T part = merge_blocks(std::vector<T>(blocks.begin() + static_cast<std::ptrdiff_t>(base),
                                                 blocks.begin() + static_cast<std::ptrdiff_t>(base + size)),
                                  add);
      carry = carry ? add(*carry, part) : part;
      base += size;
    }
    result.push_back(carry ? add(*carry, inside) : inside);
  }
  return result;
}

template <class T>
T plus(T a, T b) {
  return static_cast<T>(a + b);
}

template <class T>
std::uint64_t raw(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

const std::int64_t kExtents[] = {0,   1,   2,   3,   7,    8,    9,    17,   64,   127,  128,   129,   255,
                                 256, 257, 300, 511, 1000, 1024, 2047, 2048, 2049, 4096, 10000, 100001};

// ---- over lanes ----

template <class T>
void expect_inner_sum(std::int64_t n, const codegen::TargetSpec& target) {
  const std::int64_t rows = n > 5000 ? 1 : 2;
  ProgramBuilder b({rows}, n);
  const BufferId x = b.input(dtype_of<T>, rows * n), y = b.output(dtype_of<T>, rows);
  const int total = b.local(dtype_of<T>);
  b.phase();
  b.reduce(ReduceKind::sum, Reduction::kLanes, b.load(x, b.sum({b.pool.multiply(b.outer(0), n), b.lane()})), total);
  b.phase(1, false);
  b.store(y, b.outer(0), b.load_local(total));
  const auto in = noise<T>(rows * n, 7);
  std::vector<T> out(static_cast<std::size_t>(rows));
  run(b.finish(), target, {in.data()}, {out.data()});
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::vector<T> row(in.begin() + r * n, in.begin() + (r + 1) * n);
    ASSERT_EQ(raw(out[static_cast<std::size_t>(r)]), raw(inner_order(row, plus<T>)))
        << name_of(dtype_of<T>) << " n = " << n << " on " << target.cpu;
  }
}

TEST(EmitReduction, SumsOfLanesFollowTheInnerOrder) {
  for (const auto& target : targets()) {
    for (std::int64_t n : kExtents) {
      expect_inner_sum<float>(n, target);
      expect_inner_sum<double>(n, target);
    }
    for (std::int64_t n : {1, 8, 31, 100, 1000}) expect_inner_sum<std::int64_t>(n, target);
  }
}

TEST(EmitReduction, SumOfNegativeZerosKeepsTheSign) {
  for (std::int64_t n : {1, 5, 200, 3000}) {
    ProgramBuilder b({}, n);
    const BufferId x = b.input(DType::kFloat32, n), y = b.output(DType::kFloat32, 1);
    const int total = b.local(DType::kFloat32);
    b.phase();
    b.reduce(ReduceKind::sum, Reduction::kLanes, b.load(x, b.lane()), total);
    b.phase(1, false);
    b.store(y, b.pool.constant(0), b.load_local(total));
    const std::vector<float> in(static_cast<std::size_t>(n), -0.0f);
    float out = 1;
    run(b.finish(), targets()[0], {in.data()}, {&out});
    EXPECT_TRUE(out == 0 && std::signbit(out)) << n;
  }
}

TEST(EmitReduction, ExtremesPropagateNanAndOrderZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& target : targets()) {
    for (std::int64_t n : {1, 2, 15, 16, 17, 130, 1000, 2500}) {
      for (int special : {0, 1, 2}) {
        ProgramBuilder b({}, n);
        const BufferId x = b.input(DType::kFloat32, n), y = b.output(DType::kFloat32, 2);
        const int most = b.local(DType::kFloat32), least = b.local(DType::kFloat32);
        b.phase();
        const InstrId v = b.load(x, b.lane());
        b.reduce(ReduceKind::max, Reduction::kLanes, v, most);
        b.reduce(ReduceKind::min, Reduction::kLanes, v, least);
        b.phase(1, false);
        b.store(y, b.pool.constant(0), b.load_local(most));
        b.store(y, b.pool.constant(1), b.load_local(least));
        auto in = noise<float>(n, 3);
        if (special == 1) in[static_cast<std::size_t>(n / 2)] = nan;
        if (special == 2) std::fill(in.begin(), in.end(), 0.0f), in[static_cast<std::size_t>(n / 2)] = -0.0f;
        float out[2];
        run(b.finish(), target, {in.data()}, {out});
        if (special == 0) {
          EXPECT_EQ(out[0], *std::max_element(in.begin(), in.end())) << n;
          EXPECT_EQ(out[1], *std::min_element(in.begin(), in.end())) << n;
        } else if (special == 1) {
          EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1])) << n;
        } else {
          EXPECT_EQ(raw(out[0]), raw(n == 1 ? -0.0f : 0.0f)) << n;
          EXPECT_EQ(raw(out[1]), raw(-0.0f)) << n;
        }
      }
    }
  }
}

std::int64_t first_maximum(const std::vector<float>& x) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (std::isnan(x[best])) break;
    if (std::isnan(x[i]) || x[i] > x[best]) best = i;
  }
  return static_cast<std::int64_t>(best);
}

TEST(EmitReduction, ArgMaxTakesTheFirstNanElseTheFirstMaximum) {
  for (const auto& target : targets()) {
    for (std::int64_t n : {1, 2, 16, 17, 100, 129, 1000, 2100}) {
      for (int special : {0, 1, 2, 3}) {
        ProgramBuilder b({}, n);
        const BufferId x = b.input(DType::kFloat32, n), y = b.output(DType::kInt64, 1),
                       z = b.output(DType::kFloat32, 1);
        const int at = b.local(DType::kInt64), total = b.local(DType::kFloat32);
        b.phase();
        const InstrId v = b.load(x, b.lane());
        b.reduce(ReduceKind::argmax, Reduction::kLanes, v, at);
        if (special == 3) b.reduce(ReduceKind::sum, Reduction::kLanes, v, total);
        b.phase(1, false);
        b.store(y, b.pool.constant(0), b.load_local(at));
        if (special == 3) b.store(z, b.pool.constant(0), b.load_local(total));
        auto in = noise<float>(n, 11);
        for (float& value : in) value = std::round(value);  // many ties
        if (special == 1) in[static_cast<std::size_t>(n / 2)] = in[static_cast<std::size_t>(n - 1)] = std::nanf("");
        if (special == 2) std::fill(in.begin(), in.end(), -std::numeric_limits<float>::infinity());
        std::int64_t out = -5;
        float sum = 0;
        run(b.finish(), target, {in.data()}, {&out, &sum});
        EXPECT_EQ(out, first_maximum(in)) << n << " case " << special;
        if (special == 3) {
          EXPECT_EQ(raw(sum), raw(inner_order(in, plus<float>)));
        }
      }
    }
  }
}

// ---- over the sequence ----

template <class T>
void expect_outer_sum(std::int64_t n, std::int64_t lanes, std::int64_t chunk, const codegen::TargetSpec& target) {
  ProgramBuilder b({}, lanes);
  const BufferId x = b.input(dtype_of<T>, n * lanes), y = b.output(dtype_of<T>, lanes);
  b.kernel.lane_chunk = chunk;
  const int total = b.local(dtype_of<T>, true);
  b.phase(n);
  b.reduce(ReduceKind::sum, Reduction::kSequence, b.load(x, b.sum({b.pool.multiply(b.sequence(), lanes), b.lane()})),
           total);
  b.phase();
  b.store(y, b.lane(), b.load_local(total));
  const auto in = noise<T>(n * lanes, 5);
  std::vector<T> out(static_cast<std::size_t>(lanes));
  run(b.finish(), target, {in.data()}, {out.data()});
  for (std::int64_t v = 0; v < lanes; ++v) {
    std::vector<T> column;
    for (std::int64_t s = 0; s < n; ++s) column.push_back(in[static_cast<std::size_t>(s * lanes + v)]);
    ASSERT_EQ(raw(out[static_cast<std::size_t>(v)]), raw(outer_order(column, plus<T>)))
        << name_of(dtype_of<T>) << " n = " << n << " column " << v << " of " << lanes << " on " << target.cpu;
  }
}

TEST(EmitReduction, SumsOfRowsFollowTheOuterOrder) {
  for (const auto& target : targets()) {
    for (std::int64_t n : {1, 2, 63, 64, 65, 128, 129, 191, 1000, 4097}) {
      expect_outer_sum<float>(n, 37, 37, target);
      expect_outer_sum<double>(n, 3, 3, target);
    }
    expect_outer_sum<float>(300, 500, 128, target);
    expect_outer_sum<std::int64_t>(300, 50, 16, target);
    expect_outer_sum<float>(200, 1, 1, target);
  }
}

TEST(EmitReduction, ArgMinOfRows) {
  const std::int64_t n = 90, lanes = 21;
  ProgramBuilder b({}, lanes);
  const BufferId x = b.input(DType::kInt32, n * lanes), y = b.output(DType::kInt64, lanes);
  const int at = b.local(DType::kInt64, true);
  b.phase(n);
  b.reduce(ReduceKind::argmin, Reduction::kSequence, b.load(x, b.sum({b.pool.multiply(b.sequence(), lanes), b.lane()})),
           at);
  b.phase();
  b.store(y, b.lane(), b.load_local(at));
  const auto in = noise<std::int32_t>(n * lanes, 5);
  std::vector<std::int64_t> out(lanes);
  const LoopProgram& program = b.finish();
  for (const auto& target : targets()) {
    run(program, target, {in.data()}, {out.data()});
    for (std::int64_t v = 0; v < lanes; ++v) {
      std::int64_t best = 0;
      for (std::int64_t s = 1; s < n; ++s) {
        if (in[static_cast<std::size_t>(s * lanes + v)] < in[static_cast<std::size_t>(best * lanes + v)]) best = s;
      }
      EXPECT_EQ(out[static_cast<std::size_t>(v)], best);
    }
  }
}

TEST(EmitReduction, SequenceLimitEndsTheLoop) {
  const std::int64_t tasks = 4, n = 100, lanes = 9;
  ProgramBuilder b({tasks}, lanes);
  const BufferId x = b.input(DType::kFloat32, tasks * n * lanes), y = b.output(DType::kFloat32, tasks * lanes);
  const int total = b.local(DType::kFloat32, true);
  b.phase(n).sequence_limit = b.pool.multiply(b.outer(0), 33);
  const IndexExpr at = b.sum({b.pool.multiply(b.outer(0), n * lanes), b.pool.multiply(b.sequence(), lanes), b.lane()});
  b.reduce(ReduceKind::sum, Reduction::kSequence, b.load(x, at), total);
  b.phase();
  b.store(y, b.sum({b.pool.multiply(b.outer(0), lanes), b.lane()}), b.load_local(total));
  const auto in = noise<float>(tasks * n * lanes, 5);
  std::vector<float> out(tasks * lanes);
  const LoopProgram& program = b.finish();
  for (const auto& target : targets()) {
    run(program, target, {in.data()}, {out.data()});
    for (std::int64_t t = 0; t < tasks; ++t) {
      for (std::int64_t v = 0; v < lanes; ++v) {
        std::vector<float> column;
        for (std::int64_t s = 0; s < std::min(n, 33 * t); ++s)
          column.push_back(in[static_cast<std::size_t>((t * n + s) * lanes + v)]);
        EXPECT_EQ(raw(out[static_cast<std::size_t>(t * lanes + v)]), raw(outer_order(column, plus<float>)))
            << t << " " << v;
      }
    }
  }
}

// ---- split in parts ----

TEST(EmitReduction, StoredPartialsMergeToTheSameBits) {
  for (const auto& target : targets()) {
    for (std::int64_t n : {5000, 100001}) {
      const std::int64_t chunk = 4096, parts = (n + chunk - 1) / chunk, rows = 2;
      ProgramBuilder b({rows}, n);
      const BufferId x = b.input(DType::kFloat32, rows * n), y = b.output(DType::kFloat32, rows);
      const BufferId partials = b.temporary(DType::kFloat32, rows * parts * 256);
      b.kernel.lane_chunk = chunk;
      b.phase();
      b.reduce(ReduceKind::sum, Reduction::kLanes, b.load(x, b.sum({b.pool.multiply(b.outer(0), n), b.lane()})), -1);
      b.last_reduction().result = Reduction::kPartials;
      b.last_reduction().partials = partials;
      b.finish_kernel("tenon_parts");
      b.next_kernel({rows}, 256);
      const int merged = b.local(DType::kFloat32, true), total = b.local(DType::kFloat32);
      b.phase(parts);
      const IndexExpr at =
          b.sum({b.pool.multiply(b.outer(0), parts * 256), b.pool.multiply(b.sequence(), 256), b.lane()});
      b.reduce(ReduceKind::sum, Reduction::kSequence, b.load(partials, at), merged);
      b.last_reduction().tree_only = true;
      b.phase();
      b.reduce(ReduceKind::sum, Reduction::kLanes, b.load_local(merged), total);
      b.phase(1, false);
      b.store(y, b.outer(0), b.load_local(total));
      const auto in = noise<float>(rows * n, 9);
      std::vector<float> out(rows);
      run(b.finish(), target, {in.data()}, {out.data()});
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::vector<float> row(in.begin() + r * n, in.begin() + (r + 1) * n);
        EXPECT_EQ(raw(out[static_cast<std::size_t>(r)]), raw(inner_order(row, plus<float>))) << n;
      }
    }
  }
}

TEST(EmitReduction, StoredPartialsOfBoolsAndSmallIntegers) {
  const std::int64_t n = 9001, chunk = 4096, parts = 3;
  for (const auto& target : targets()) {
    for (std::int64_t at : {-1, 0, 4095, 4096, 9000}) {
      ProgramBuilder b({}, n);
      const BufferId x = b.input(DType::kBool, n), flags = b.temporary(DType::kBool, parts * 256);
      const BufferId y = b.output(DType::kBool, 1);
      b.kernel.lane_chunk = chunk;
      b.phase();
      b.reduce(ReduceKind::max, Reduction::kLanes, b.load(x, b.lane()), -1);
      b.last_reduction().result = Reduction::kPartials;
      b.last_reduction().partials = flags;
      b.finish_kernel("tenon_parts");
      b.next_kernel({}, parts * 256);
      const int any = b.local(DType::kBool);
      b.phase();
      b.reduce(ReduceKind::max, Reduction::kLanes, b.load(flags, b.lane()), any);
      b.phase(1, false);
      b.store(y, b.pool.constant(0), b.load_local(any));
      std::vector<std::uint8_t> in(n, 0);
      if (at >= 0) in[static_cast<std::size_t>(at)] = 1;
      std::uint8_t out = 7;
      run(b.finish(), target, {in.data()}, {&out});
      EXPECT_EQ(out, at >= 0 ? 1 : 0) << at;
    }
  }
}

// ---- several phases ----

// x / sum(|x|) * max(x) a row, with the row kept in scratch.
TEST(EmitReduction, PhasesPassValuesThroughLocals) {
  const std::int64_t rows = 3;
  for (const auto& target : targets()) {
    for (std::int64_t n : {5, 100, 1000, 3000}) {
      ProgramBuilder b({rows}, n);
      const BufferId x = b.input(DType::kFloat32, rows * n), y = b.output(DType::kFloat32, rows * n);
      const int total = b.local(DType::kFloat32), most = b.local(DType::kFloat32),
                kept = b.local(DType::kFloat32, true);
      b.phase();
      const IndexExpr at = b.sum({b.pool.multiply(b.outer(0), n), b.lane()});
      const InstrId v = b.load(x, at);
      const InstrId magnitude = b.apply(Op::k_abs, DType::kFloat32, v);
      b.reduce(ReduceKind::sum, Reduction::kLanes, magnitude, total);
      b.reduce(ReduceKind::max, Reduction::kLanes, v, most);
      b.store_local(kept, v);
      b.phase();
      const InstrId quotient = b.apply(Op::k_divide, DType::kFloat32, b.load_local(kept), b.load_local(total));
      b.store(y, at, b.apply(Op::k_multiply, DType::kFloat32, quotient, b.load_local(most)));
      const auto in = noise<float>(rows * n, 13);
      std::vector<float> out(in.size());
      run(b.finish(), target, {in.data()}, {out.data()});
      for (std::int64_t r = 0; r < rows; ++r) {
        std::vector<float> magnitudes(in.begin() + r * n, in.begin() + (r + 1) * n);
        const float largest = *std::max_element(magnitudes.begin(), magnitudes.end());
        for (float& m : magnitudes) m = std::fabs(m);
        const float sum = inner_order(magnitudes, plus<float>);
        for (std::int64_t i = r * n; i < (r + 1) * n; ++i)
          ASSERT_EQ(out[static_cast<std::size_t>(i)], in[static_cast<std::size_t>(i)] / sum * largest) << n;
      }
    }
  }
}

// ---- scans ----

TEST(EmitReduction, ScansFollowTheScanOrder) {
  for (const auto& target : targets()) {
    for (std::int64_t n : {1, 2, 63, 64, 65, 128, 200, 1000}) {
      const std::int64_t other = 5;
      const auto in = noise<float>(n * other, 17);
      std::vector<float> out(in.size());
      ProgramBuilder lanes({other}, n);
      {
        const BufferId x = lanes.input(DType::kFloat32, n * other), y = lanes.output(DType::kFloat32, n * other);
        lanes.phase();
        const IndexExpr at = lanes.sum({lanes.pool.multiply(lanes.outer(0), n), lanes.lane()});
        lanes.store(y, at, lanes.scan(ReduceKind::sum, Reduction::kLanes, lanes.load(x, at)));
      }
      run(lanes.finish(), target, {in.data()}, {out.data()});
      for (std::int64_t r = 0; r < other; ++r) {
        const auto expected = scan_order(std::vector<float>(in.begin() + r * n, in.begin() + (r + 1) * n), plus<float>);
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_EQ(raw(out[static_cast<std::size_t>(r * n + i)]), raw(expected[static_cast<std::size_t>(i)]))
              << n << " " << i;
      }
      ProgramBuilder rows({}, other);
      {
        const BufferId x = rows.input(DType::kFloat32, n * other), y = rows.output(DType::kFloat32, n * other);
        rows.phase(n);
        const IndexExpr at = rows.sum({rows.pool.multiply(rows.sequence(), other), rows.lane()});
        rows.store(y, at, rows.scan(ReduceKind::sum, Reduction::kSequence, rows.load(x, at)));
      }
      run(rows.finish(), target, {in.data()}, {out.data()});
      for (std::int64_t v = 0; v < other; ++v) {
        std::vector<float> column;
        for (std::int64_t s = 0; s < n; ++s) column.push_back(in[static_cast<std::size_t>(s * other + v)]);
        const auto expected = scan_order(column, plus<float>);
        for (std::int64_t s = 0; s < n; ++s)
          ASSERT_EQ(raw(out[static_cast<std::size_t>(s * other + v)]), raw(expected[static_cast<std::size_t>(s)]))
              << n << " " << s;
      }
    }
  }
}

}  // namespace
}  // namespace tenon
