// SPDX-License-Identifier: MIT
// The canonical orders: reductions have the bits of a second, independent writing of compiler/ir/reduction_order.h,
// which is recursive where the library counts bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "compiler/ops/reduce_eval.h"

namespace tenon {
namespace {

template <class T>
T combine(ReduceKind kind, T a, T b) {
  return kind == ReduceKind::sum ? a + b : a * b;
}

/// The subtree over blocks [begin, begin + width), width a power of two, of which those below blocks.size() exist.
template <class T>
T tree(ReduceKind kind, const std::vector<T>& blocks, std::size_t begin, std::size_t width) {
  if (width == 1) return blocks[begin];
  const std::size_t middle = begin + width / 2;
  if (middle >= blocks.size()) return tree(kind, blocks, begin, width / 2);
  return combine(kind, tree(kind, blocks, begin, width / 2), tree(kind, blocks, middle, width / 2));
}

template <class T>
T whole_tree(ReduceKind kind, const std::vector<T>& blocks) {
  return tree(kind, blocks, 0, std::bit_ceil(blocks.size()));
}

/// Elements begin, begin + step, ... below end, in order, starting from the identity.
template <class T>
T in_order(ReduceKind kind, const std::vector<T>& x, std::size_t begin, std::size_t end, std::size_t step) {
  T sum = kind == ReduceKind::sum ? static_cast<T>(-0.0) : T{1};
  for (std::size_t i = begin; i < std::min(end, x.size()); i += step) sum = combine(kind, sum, x[i]);
  return sum;
}

/// P partials over the whole line, halves first.
template <class T>
T halves(ReduceKind kind, std::vector<T> partials) {
  if (partials.size() == 1) return partials[0];
  const std::size_t half = partials.size() / 2;
  std::vector<T> merged;
  for (std::size_t p = 0; p < half; ++p) merged.push_back(combine(kind, partials[p], partials[p + half]));
  return halves(kind, merged);
}

template <class T>
std::vector<T> expected_partials(ReduceKind kind, const std::vector<T>& x, std::size_t count, std::size_t chunk) {
  std::vector<T> partials;
  for (std::size_t p = 0; p < count; ++p) {
    std::vector<T> blocks;
    for (std::size_t begin = 0; begin < x.size(); begin += chunk) {
      blocks.push_back(in_order(kind, x, begin + p, begin + chunk, count));
    }
    partials.push_back(whole_tree(kind, blocks));
  }
  return partials;
}

template <class T>
T expected_inner(ReduceKind kind, const std::vector<T>& x) {
  const bool is_short = x.size() <= 128;
  return halves(kind, expected_partials(kind, x, is_short ? 8 : 256, is_short ? x.size() : 2048));
}

template <class T>
T expected_outer(ReduceKind kind, const std::vector<T>& x, std::size_t block) {
  std::vector<T> blocks;
  for (std::size_t begin = 0; begin < x.size(); begin += block) {
    blocks.push_back(in_order(kind, x, begin, begin + block, 1));
  }
  return whole_tree(kind, blocks);
}

template <class T>
std::vector<T> random_line(std::size_t n, ReduceKind kind) {
  std::mt19937 random(static_cast<std::uint32_t>(n));
  std::vector<T> x(n);
  for (T& value : x) {
    const double u = static_cast<double>(random()) * 0x1p-32;
    value = static_cast<T>(kind == ReduceKind::sum ? (u - 0.5) * 1000 : 0.99 + 0.02 * u);
  }
  return x;
}

constexpr std::size_t kExtents[] = {1,   2,   7,    8,    9,    63,   64,   65,   127,   128,   129,   191,   255,
                                    256, 257, 2047, 2048, 2049, 4096, 4097, 6144, 10000, 14336, 20481, 100001};

template <class T>
void check_orders(DType dtype) {
  for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::prod}) {
    for (const std::size_t n : kExtents) {
      const std::vector<T> x = random_line<T>(n, kind);
      const auto extent = static_cast<std::int64_t>(n);
      T inner, outer, blocks;
      reduce_line(kind, ReduceOrder::inner, dtype, x.data(), extent, &inner);
      reduce_line(kind, ReduceOrder::outer, dtype, x.data(), extent, &outer);
      reduce_tree(kind, dtype, x.data(), extent, &blocks);
      EXPECT_EQ(inner, expected_inner(kind, x)) << n;
      EXPECT_EQ(outer, expected_outer(kind, x, 64)) << n;
      EXPECT_EQ(blocks, expected_outer(kind, x, 1)) << n;
    }
  }
}

TEST(ReductionOrder, Float32) { check_orders<float>(DType::kFloat32); }
TEST(ReductionOrder, Float64) { check_orders<double>(DType::kFloat64); }

TEST(ReductionOrder, PartialsOfAlignedRangesMergeToTheWhole) {
  for (const std::size_t n : {std::size_t{2049}, std::size_t{10000}, std::size_t{100001}}) {
    const auto x = random_line<float>(n, ReduceKind::sum);
    const std::size_t range = 4096;
    std::vector<std::vector<float>> lines(256);
    for (std::size_t begin = 0; begin < n; begin += range) {
      float partials[256];
      reduce_to_partials(ReduceKind::sum, DType::kFloat32, x.data() + begin,
                         static_cast<std::int64_t>(std::min(range, n - begin)), partials);
      for (std::size_t p = 0; p < 256; ++p) lines[p].push_back(partials[p]);
    }
    float merged[256], result = 0;
    for (std::size_t p = 0; p < 256; ++p) {
      reduce_tree(ReduceKind::sum, DType::kFloat32, lines[p].data(), static_cast<std::int64_t>(lines[p].size()),
                  merged + p);
    }
    reduce_line(ReduceKind::sum, ReduceOrder::inner, DType::kFloat32, merged, 256, &result);
    EXPECT_EQ(result, expected_inner(ReduceKind::sum, x)) << n;
  }
}

TEST(ReductionOrder, ScansCarryTheMergedBlocks) {
  for (const std::size_t n : kExtents) {
    const auto x = random_line<float>(n, ReduceKind::sum);
    std::vector<float> got(n), totals;
    scan_line(ReduceKind::sum, DType::kFloat32, x.data(), static_cast<std::int64_t>(n), got.data());
    for (std::size_t begin = 0; begin < n; begin += 64) {
      // The stack over the blocks so far: aligned powers of two, widest first, merged left to right.
      float carry = 0;
      for (std::size_t at = 0; at < totals.size();) {
        const std::size_t width = std::bit_floor(totals.size() - at);
        const float value = tree(ReduceKind::sum, totals, at, width);
        carry = at == 0 ? value : carry + value;
        at += width;
      }
      float inside = x[begin];
      for (std::size_t i = begin; i < std::min(begin + 64, n); ++i) {
        if (i > begin) inside += x[i];
        ASSERT_EQ(got[i], begin == 0 ? inside : carry + inside) << n << " " << i;
      }
      totals.push_back(inside);
    }
  }
}

TEST(ReductionOrder, SignsOfZeroAndNothing) {
  const auto sum = [](std::vector<float> x, ReduceOrder order) {
    float result = 1;
    reduce_line(ReduceKind::sum, order, DType::kFloat32, x.data(), static_cast<std::int64_t>(x.size()), &result);
    return std::bit_cast<std::uint32_t>(result);
  };
  for (const ReduceOrder order : {ReduceOrder::inner, ReduceOrder::outer}) {
    EXPECT_EQ(sum({}, order), 0u);
    EXPECT_EQ(sum({-0.0f, -0.0f, -0.0f}, order), 0x80000000u);
    EXPECT_EQ(sum(std::vector<float>(300, -0.0f), order), 0x80000000u);
    EXPECT_EQ(sum({-0.0f, 0.0f}, order), 0u);
  }
  double product = 0;
  reduce_line(ReduceKind::prod, ReduceOrder::inner, DType::kFloat64, nullptr, 0, &product);
  EXPECT_EQ(product, 1.0);
}

TEST(Reduction, IntegersWrapInTheirDtype) {
  const std::vector<std::int8_t> x(1000, 100);
  std::int8_t total = 0;
  reduce_line(ReduceKind::sum, ReduceOrder::inner, DType::kInt8, x.data(), 1000, &total);
  EXPECT_EQ(total, static_cast<std::int8_t>(100000 % 256));
}

template <class T>
T extremum(ReduceKind kind, DType dtype, const std::vector<T>& x) {
  T result{};
  reduce_line(kind, ReduceOrder::outer, dtype, x.data(), static_cast<std::int64_t>(x.size()), &result);
  return result;
}

std::int64_t position(ReduceKind kind, const std::vector<float>& x) {
  std::int64_t result = -1;
  reduce_line(kind, ReduceOrder::inner, DType::kFloat32, x.data(), static_cast<std::int64_t>(x.size()), &result);
  return result;
}

TEST(Reduction, ExtremaPropagateNan) {
  const float nan = std::nanf("");
  EXPECT_EQ(extremum<float>(ReduceKind::max, DType::kFloat32, {1, 3, 2}), 3);
  EXPECT_TRUE(std::isnan(extremum<float>(ReduceKind::max, DType::kFloat32, {1, nan, 2})));
  EXPECT_TRUE(std::isnan(extremum<float>(ReduceKind::min, DType::kFloat32, {nan, 1})));
  EXPECT_FALSE(std::signbit(extremum<float>(ReduceKind::max, DType::kFloat32, {-0.0f, 0.0f, -0.0f})));
  EXPECT_TRUE(std::signbit(extremum<float>(ReduceKind::min, DType::kFloat32, {0.0f, -0.0f, 0.0f})));
  EXPECT_EQ(extremum<std::int8_t>(ReduceKind::min, DType::kInt8, {5, -128, 7}), -128);
  EXPECT_EQ(extremum<std::uint64_t>(ReduceKind::max, DType::kUInt64, {5, ~std::uint64_t{0}}), ~std::uint64_t{0});
  EXPECT_EQ(extremum<float16>(ReduceKind::max, DType::kFloat16, {float16(1.5f), float16(-2)}), float16(1.5f));
  EXPECT_EQ(extremum<float>(ReduceKind::max, DType::kFloat32, {-INFINITY}), -INFINITY);
}

TEST(Reduction, ArgReductionsTakeTheFirst) {
  const float nan = std::nanf("");
  EXPECT_EQ(position(ReduceKind::argmax, {1, 3, 3, 2}), 1);
  EXPECT_EQ(position(ReduceKind::argmin, {1, 0, 3, 0}), 1);
  EXPECT_EQ(position(ReduceKind::argmax, {1, nan, 9, nan}), 1);
  EXPECT_EQ(position(ReduceKind::argmin, {nan, 0}), 0);
  EXPECT_EQ(position(ReduceKind::argmax, {-0.0f, 0.0f}), 0);
  EXPECT_EQ(position(ReduceKind::argmin, {0.0f, -0.0f}), 0);
}

}  // namespace
}  // namespace tenon
