// SPDX-License-Identifier: MIT
// The public functions give NumPy's shapes, dtypes and values, tensors are values, and indexing copies only where it
// must.
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/access.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

/// 0, 1, 2, ... as float32.
Tensor counted(const Dims& shape) {
  std::int64_t size = 1;
  for (const std::int64_t length : shape) size *= length;
  return reshape(arange(size).astype(DType::kFloat32), shape);
}

Floats floats(const Tensor& x) { return x.to_vector<float>(); }
Ints ints(const Tensor& x) { return x.to_vector<std::int64_t>(); }

TEST(Creation, ElementsKeepTheirTypeAndOrder) {
  EXPECT_EQ(asarray({1.5f, 2.5f}).dtype(), DType::kFloat32);
  EXPECT_EQ(asarray({1, 2}).dtype(), DType::kInt32);
  EXPECT_EQ(asarray(2.5).dtype(), DType::kFloat64);
  EXPECT_EQ(asarray(2.5).shape(), Dims{});
  EXPECT_EQ(asarray({{1, 2, 3}, {4, 5, 6}}).shape(), (Dims{2, 3}));
  EXPECT_EQ(asarray({{{1}, {2}}, {{3}, {4}}}).to_vector<int>(), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(asarray(std::vector<bool>{true, false}).to_vector<bool>(), (std::vector<bool>{true, false}));
  const float data[] = {1, 2, 3, 4};
  EXPECT_EQ(floats(asarray(data, {2, 2})[1]), (Floats{3, 4}));
  EXPECT_EQ(floats(asarray(std::span<const float>(data), {4})), (Floats{1, 2, 3, 4}));
}

TEST(Creation, Values) {
  EXPECT_EQ(floats(full({2, 2}, 1.5)), (Floats{1.5f, 1.5f, 1.5f, 1.5f}));
  EXPECT_EQ(full({2}, 3).dtype(), DType::kInt64);
  EXPECT_EQ(full({2}, true).dtype(), DType::kBool);
  EXPECT_EQ(zeros({2}).dtype(), DType::kFloat32);
  EXPECT_EQ(ones_like(asarray({1, 2})).to_vector<int>(), (std::vector<int>{1, 1}));
  EXPECT_EQ(floats(eye(2, 3, 1)), (Floats{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(ints(iota({2, 3}, 1)), (Ints{0, 1, 2, 0, 1, 2}));
}

TEST(Creation, Ranges) {
  EXPECT_EQ(ints(arange(5)), (Ints{0, 1, 2, 3, 4}));
  EXPECT_EQ(ints(arange(5, 0, -2)), (Ints{5, 3, 1}));
  EXPECT_EQ(ints(arange(3, 3)), Ints{});
  EXPECT_EQ(arange(0, 1, 0.25).dtype(), DType::kFloat32);
  EXPECT_EQ(floats(arange(0, 1, 0.25)), (Floats{0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(floats(arange(0, 1, 0.1))[3], static_cast<float>(3 * 0.1));
  EXPECT_EQ(arange(3, 10, 3, DType::kUInt8).to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{3, 6, 9}));
  EXPECT_EQ(floats(linspace(0, 1, 5)), (Floats{0, 0.25f, 0.5f, 0.75f, 1}));
  EXPECT_EQ(floats(linspace(0, 1, 4, false)), (Floats{0, 0.25f, 0.5f, 0.75f}));
}

TEST(Creation, RandomIsAFunctionOfTheSeed) {
  const Floats a = floats(random::uniform({1000}, seed(7), 2.0, 3.0)), b = floats(random::normal({1000}, seed(7)));
  EXPECT_EQ(a, floats(random::uniform({1000}, seed(7), 2.0, 3.0)));
  EXPECT_NE(a, floats(random::uniform({1000}, seed(8), 2.0, 3.0)));
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_TRUE(a[i] >= 2 && a[i] <= 3);
    mean += static_cast<double>(b[i]) / 1000;
    square += static_cast<double>(b[i]) * static_cast<double>(b[i]) / 1000;
  }
  // Five standard errors.
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(1000.0));
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0 / 1000));
}

/// Largest of many uniform values in [low, high), as float.
template <class T>
float largest_uniform(double low, double high) {
  float largest = -INFINITY;
  const Tensor x = random::uniform({1 << 16}, seed(3), low, high, dtype_of<T>);
  for (const T value : x.to_vector<T>()) largest = std::max(largest, static_cast<float>(value));
  return largest;
}

TEST(Creation, RandomStaysBelowHigh) {
  // In each of these a quarter of the draws or more round up to `high`; beside it stands the value before `high`.
  EXPECT_EQ(largest_uniform<float>(16777214, 16777216), 16777215.0f);
  EXPECT_EQ(largest_uniform<float16>(1000, 1001), 1000.5f);
  EXPECT_EQ(largest_uniform<bfloat16>(1, 1.015625), 1.0078125f);
  EXPECT_EQ(largest_uniform<float16>(-1, -0.9990234375), -0.99951171875f);
  EXPECT_EQ(random::uniform({}, seed(3), 2, 2).item<float>(), 2);
}

TEST(Operators, FollowNumPy) {
  const Tensor x = asarray({1.f, 2.f, 3.f}), y = asarray({4.f, 5.f, -6.f});
  EXPECT_EQ(floats(x + y), (Floats{5, 7, -3}));
  EXPECT_EQ(floats(1 - x), (Floats{0, -1, -2}));
  EXPECT_EQ(floats(-x * 0.5), (Floats{-0.5f, -1, -1.5f}));
  EXPECT_EQ(floats(asarray({7, -7}) / 2), (Floats{3.5f, -3.5f}));
  EXPECT_EQ((asarray({7, -7}) % 3).to_vector<int>(), (std::vector<int>{1, 2}));
  EXPECT_EQ((x < y).to_vector<bool>(), (std::vector<bool>{true, true, false}));
  EXPECT_EQ((x == 2).to_vector<bool>(), (std::vector<bool>{false, true, false}));
  EXPECT_EQ((!(x >= 2)).to_vector<bool>(), (std::vector<bool>{true, false, false}));
  EXPECT_EQ((~asarray({0, 5}) & 3).to_vector<int>(), (std::vector<int>{3, 2}));
}

TEST(Operators, ScalarsAreWeak) {
  EXPECT_EQ((ones({2}, DType::kBFloat16) * 0.1).dtype(), DType::kBFloat16);
  EXPECT_EQ((ones({2}, DType::kUInt8) + 1).dtype(), DType::kUInt8);
  EXPECT_EQ((ones({2}, DType::kInt64) * 0.5).dtype(), DType::kFloat32);
  EXPECT_EQ((ones({2}, DType::kFloat64) + asarray(1.0f)).dtype(), DType::kFloat64);
  EXPECT_EQ((ones({2}, DType::kFloat16) + asarray(1.0)).dtype(), DType::kFloat64);
}

TEST(Operators, AssignmentLeavesOtherHandlesAlone) {
  const Tensor x = asarray({1.f, 2.f});
  Tensor y = x;
  y += 1;
  y *= y;
  EXPECT_EQ(floats(x), (Floats{1, 2}));
  EXPECT_EQ(floats(y), (Floats{4, 9}));
}

TEST(Functions, ReductionsTakeAxesAndKeepDims) {
  const Tensor x = counted({2, 3});
  EXPECT_EQ(sum(x).item<float>(), 15);
  EXPECT_EQ(floats(sum(x, 0)), (Floats{3, 5, 7}));
  EXPECT_EQ(floats(mean(x, {-1}, keepdims)), (Floats{1, 4}));
  EXPECT_EQ(mean(x, {-1}, keepdims).shape(), (Dims{2, 1}));
  EXPECT_EQ(floats(sum(x, Axes(Dims{}))), floats(x));
  EXPECT_EQ(sum(x.astype(DType::kInt8)).dtype(), DType::kInt64);
  EXPECT_EQ(sum(x.astype(DType::kUInt8)).dtype(), DType::kUInt64);
  EXPECT_EQ(sum(x, {}, false, DType::kFloat64).item<double>(), 15);
  EXPECT_EQ(argmax(x, 1).to_vector<std::int64_t>(), (Ints{2, 2}));
  EXPECT_EQ(argmax(x).item<std::int64_t>(), 5);
  EXPECT_EQ(floats(var(x, 1)), (Floats{2.0f / 3, 2.0f / 3}));
  EXPECT_EQ(floats(tenon::std(x, 1, false, 1)), (Floats{1, 1}));
  EXPECT_EQ(all(x > 0).item<bool>(), false);
  EXPECT_EQ(any(x > 4, 1).to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ(floats(cumsum(x, 1)), (Floats{0, 1, 3, 3, 7, 12}));
}

TEST(Functions, BoundsMayBeAbsent) {
  const Tensor x = counted({4});
  EXPECT_EQ(floats(clip(x, 1, 2)), (Floats{1, 1, 2, 2}));
  EXPECT_EQ(floats(clip(x, none, 2)), (Floats{0, 1, 2, 2}));
  EXPECT_EQ(floats(clip(x, 1, none)), (Floats{1, 1, 2, 3}));
  EXPECT_EQ(floats(clip(x, none, none)), floats(x));
}

TEST(Functions, AxesMove) {
  const Tensor x = counted({2, 3, 4});
  EXPECT_EQ(permute_dims(x, {2, 0, -2}).shape(), (Dims{4, 2, 3}));
  EXPECT_EQ(transpose(x).shape(), (Dims{2, 4, 3}));
  EXPECT_EQ(swapaxes(x, 0, -1).shape(), (Dims{4, 3, 2}));
  EXPECT_EQ(moveaxis(x, 0, 2).shape(), (Dims{3, 4, 2}));
  EXPECT_EQ(expand_dims(x, {0, -1}).shape(), (Dims{1, 2, 3, 4, 1}));
  EXPECT_EQ(squeeze(expand_dims(x, 1), 1).shape(), (Dims{2, 3, 4}));
  EXPECT_EQ(floats(flip(counted({3}))), (Floats{2, 1, 0}));
  EXPECT_EQ(floats(flip(counted({2, 2}), 0)), (Floats{2, 3, 0, 1}));
  EXPECT_EQ(reshape(x, {-1, 6}).shape(), (Dims{4, 6}));
  EXPECT_EQ(flatten(x).shape(), (Dims{24}));
}

TEST(Functions, TensorsJoinAndGrow) {
  const Tensor x = counted({2, 2});
  EXPECT_EQ(floats(concat({x, x + 4})), (Floats{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(floats(concat({x, x + 4}, 1)), (Floats{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(floats(stack({x[0], x[1]}, 1)), (Floats{0, 2, 1, 3}));
  EXPECT_EQ(floats(pad(x, {{0, 1}, {1, 0}}, 9)), (Floats{9, 0, 1, 9, 2, 3, 9, 9, 9}));
  EXPECT_EQ(floats(pad(counted({3}), {{2, 1}}, PadMode::kReflect)), (Floats{2, 1, 0, 1, 2, 1}));
  EXPECT_EQ(floats(pad(counted({2}), {{2, 1}}, PadMode::kEdge)), (Floats{0, 0, 0, 1, 1}));
  EXPECT_EQ(floats(roll(counted({4}), 1, 0)), (Floats{3, 0, 1, 2}));
  EXPECT_EQ(floats(roll(counted({4}), -1, 0)), (Floats{1, 2, 3, 0}));
  EXPECT_EQ(floats(repeat(x, 2, 1)), (Floats{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(floats(tile(counted({2}), {2, 2})), (Floats{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(floats(take(x, asarray({1, 0, -1}))), (Floats{2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(floats(take_along_axis(x, asarray({{1}, {0}}))), (Floats{1, 2}));
  EXPECT_EQ(floats(one_hot(asarray({2, 0}), 3)), (Floats{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(floats(tril(ones({2, 3}))), (Floats{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(floats(triu(ones({2, 2}), 1)), (Floats{0, 1, 0, 0}));
}

TEST(Functions, LayersHaveTheirDefaults) {
  const Tensor x = asarray({{1.f, 3.f}, {2.f, 2.f}});
  EXPECT_EQ(floats(softmax(x))[2], 0.5f);
  EXPECT_NEAR(floats(layer_norm(x))[1], 1, 1e-4);
  EXPECT_NEAR(floats(layer_norm(x, asarray({2.f, 2.f}), asarray({1.f, 1.f})))[0], -1, 1e-4);
  EXPECT_NEAR(floats(rms_norm(x))[2], 1, 1e-5);
  EXPECT_EQ(layer_norm(x.astype(DType::kFloat16)).dtype(), DType::kFloat16);
  EXPECT_EQ(layer_norm(x.astype(DType::kFloat64)).dtype(), DType::kFloat64);
  EXPECT_EQ(floats(matmul(x, x)), (Floats{7, 9, 6, 10}));
  EXPECT_EQ(floats(pow(x, 2)), (Floats{1, 9, 4, 4}));
  EXPECT_EQ(floats(relu(x - 2)), (Floats{0, 1, 0, 0}));
}

TEST(Functions, NormalisationsPromoteXAndItsParameters) {
  const Tensor x = random::normal({4, 100}, seed(1)), w = random::normal({100}, seed(2)),
               b = random::normal({100}, seed(3));
  const auto expect = [](const Tensor& mixed, const Tensor& promoted, DType dtype) {
    EXPECT_EQ(mixed.dtype(), dtype);
    EXPECT_TRUE(all(mixed == promoted).item<bool>());
  };
  for (const DType half : {DType::kFloat16, DType::kBFloat16}) {
    const Tensor low = x.astype(half), rounded = low.astype(DType::kFloat32);
    const Tensor low_w = w.astype(half), rounded_w = low_w.astype(DType::kFloat32);
    expect(rms_norm(low, w), rms_norm(rounded, w), DType::kFloat32);
    expect(rms_norm(x, low_w), rms_norm(x, rounded_w), DType::kFloat32);
    expect(layer_norm(low, low_w, b), layer_norm(rounded, rounded_w, b), DType::kFloat32);
    expect(layer_norm(low, w.astype(DType::kFloat64)),
           layer_norm(low.astype(DType::kFloat64), w.astype(DType::kFloat64)), DType::kFloat64);
    EXPECT_EQ(layer_norm(low, low_w).dtype(), half);
  }
  EXPECT_EQ(rms_norm(x.astype(DType::kFloat16), w.astype(DType::kBFloat16)).dtype(), DType::kFloat32);
  expect(rms_norm(x, ones({100}, DType::kInt8)), rms_norm(x), DType::kFloat32);
  EXPECT_THROW(rms_norm(x.astype(DType::kInt32), w), Error);
}

TEST(Functions, PartsByStartAndStop) {
  const Tensor x = counted({3, 4});
  EXPECT_EQ(floats(slice(x, {1}, {3})), (Floats{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(floats(slice(x, {0, -1}, {3, -4}, {2, -2})), (Floats{3, 1, 11, 9}));
  EXPECT_EQ(floats(dynamic_slice(x, {2, 3}, {2, 2})), (Floats{6, 7, 10, 11}));
  EXPECT_EQ(split(x, 3).size(), 3u);
  EXPECT_EQ(floats(split(x, {1, 3}, 1)[1]), (Floats{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(floats(slice_update(counted({2, 2}), {1, all}, 9)), (Floats{0, 1, 9, 9}));
  EXPECT_EQ(floats(slice_update(counted({2, 2}), {all, 0}, asarray({7.f, 8.f}))), (Floats{7, 1, 8, 3}));
  EXPECT_EQ(floats(slice_update(counted({4}), slice(none, none, -2), asarray({7.f, 8.f}))), (Floats{0, 8, 2, 7}));
}

/// The same index on a computed tensor and on one that is not, against the expected values.
void expect_part(const IndexList& index, const Dims& shape, const Floats& values) {
  const Tensor lazy = counted({3, 4}), ready = counted({3, 4});
  ready.eval();
  for (const Tensor& part : {lazy[index], ready[index]}) {
    EXPECT_EQ(part.shape(), shape);
    EXPECT_EQ(floats(part), values);
  }
}

TEST(Indexing, FollowsNumPy) {
  expect_part(1, {4}, {4, 5, 6, 7});
  expect_part(-1, {4}, {8, 9, 10, 11});
  expect_part({0, -1}, {}, {3});
  expect_part({all, 1}, {3}, {1, 5, 9});
  expect_part(all, {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  expect_part(slice(1, none), {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11});
  expect_part(slice(-1, none), {1, 4}, {8, 9, 10, 11});
  expect_part(slice(5, 2), {0, 4}, {});
  expect_part({2, slice(1, 3)}, {2}, {9, 10});
  expect_part({slice(none, none, 2), slice(none, none, -3)}, {2, 2}, {3, 0, 11, 8});
  expect_part({slice(-100, 100), slice(100, none, -100)}, {3, 1}, {3, 7, 11});
  expect_part({all, slice(none, 2)}, {3, 2}, {0, 1, 4, 5, 8, 9});
}

TEST(Indexing, RunsOfAComputedTensorAreNotCopied) {
  const Tensor x = counted({3, 4});
  const float* data = x.data<float>();
  EXPECT_EQ(x[1].data<float>(), data + 4);
  EXPECT_EQ((x[{2, 3}].data<float>()), data + 11);
  EXPECT_EQ((x[{2, slice(1, 3)}].data<float>()), data + 9);
  EXPECT_EQ(x[slice(1, none)].data<float>(), data + 4);
  EXPECT_TRUE(x[1].is_evaluated());
  EXPECT_FALSE((x[{all, 1}].is_evaluated()));
}

TEST(Indexing, APartOutlivesItsWhole) {
  Tensor row;
  {
    const Tensor x = counted({3, 4}).eval();
    row = x[2];
  }
  EXPECT_EQ(floats(row + 1), (Floats{9, 10, 11, 12}));
}

TEST(Evaluation, SeveralTensorsAtOnce) {
  const Tensor x = counted({4}), y = x + 1, z = y * 2;
  EXPECT_FALSE(z.is_evaluated());
  eval(y, z);
  EXPECT_TRUE(y.is_evaluated() && z.is_evaluated());
  eval(std::vector<Tensor>{});
  EXPECT_EQ(floats(z), (Floats{2, 4, 6, 8}));
}

TEST(Evaluation, ALoopWithoutEvalStaysBounded) {
  const std::int64_t before = trace::live_nodes();
  Tensor x = zeros({4});
  std::int64_t most = 0;
  for (int i = 0; i < 10000; ++i) {
    x += 1;
    most = std::max(most, trace::live_nodes() - before);
  }
  EXPECT_LT(most, 10000);
  EXPECT_EQ(floats(x), (Floats{10000, 10000, 10000, 10000}));
}

TEST(Evaluation, HandlesMayBeUsedFromManyThreads) {
  const Tensor x = counted({64}), shared = x * 2 + 1;
  std::vector<std::thread> threads;
  std::vector<float> sums(4);
  for (std::size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] {
      Tensor own = shared;
      for (int i = 0; i < 20; ++i) own = own + shared;
      sums[t] = sum(own).item<float>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, Floats(4, 21 * (2 * 2016 + 64)));
}

TEST(Evaluation, AHostThatFlushesSubnormalsChangesNothing) {
  const Tensor x = ones({1}), y = asarray({0x1p-149f});
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | 0x8040);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>((x * 0x1p-149).item<float>());
  const bool truth = full({}, 0x1p-1074, DType::kBool).item<bool>();
  const std::string text = to_string(y);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(mode);
  EXPECT_EQ(bits, 1u);
  EXPECT_TRUE(truth);
  EXPECT_EQ(text, "[1.e-45]");
  EXPECT_EQ(after & 0x8040, 0x8040u);
}

TEST(Evaluation, CastToTheSameDtypeIsTheSameTensor) {
  const Tensor x = counted({4});
  EXPECT_EQ(internal::Access::node(x.astype(DType::kFloat32)), internal::Access::node(x));
}

}  // namespace
}  // namespace tenon
