// SPDX-License-Identifier: MIT
// The generated matmul kernel against three plain loops: every bit, every layout, every way to share out the tasks, and
// no access outside the operands (they end or begin at unmapped pages).
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <type_traits>

#include "compiler/codegen/cpu/matmul_plan.h"
#include "tests/unit/matmul_harness.h"

namespace tenon::codegen {
namespace {

using std::int64_t;

constexpr std::size_t kPage = 4096;

/// Memory whose last (or first) byte touches a page that may not be accessed.
class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t bytes, bool guard_end) : mapped_((bytes + kPage - 1) / kPage * kPage + 2 * kPage) {
    void* map = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(map);
    mprotect(base_ + kPage, mapped_ - 2 * kPage, PROT_READ | PROT_WRITE);
    data_ = guard_end ? base_ + mapped_ - kPage - bytes : base_ + kPage;
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  ~GuardedBuffer() { munmap(base_, mapped_); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::size_t mapped_;
  std::byte* base_;
  std::byte* data_;
};

/// The lowest and one past the highest element of an operand, before its offset.
struct Extent {
  int64_t low = 0;
  int64_t high = 1;
  void add(int64_t count, int64_t stride) { (stride < 0 ? low : high) += (count - 1) * stride; }
};

Extent extent_of(const MatmulSpec& s, const MatmulOperand& x, int64_t rows, int64_t cols) {
  Extent e;
  if (rows <= 0 || cols <= 0) return {0, 0};
  e.add(rows, x.row_stride);
  e.add(cols, x.col_stride);
  for (std::size_t d = 0; d < s.batch.size(); ++d) {
    if (s.batch[d] == 0) return {0, 0};
    e.add(s.batch[d], x.batch_strides[d]);
  }
  return e;
}

int64_t position(const MatmulSpec& s, const MatmulOperand& x, int64_t batch, int64_t i, int64_t j) {
  int64_t at = x.offset + i * x.row_stride + j * x.col_stride;
  for (std::size_t d = s.batch.size(); d-- > 0; batch /= s.batch[d]) at += batch % s.batch[d] * x.batch_strides[d];
  return at;
}

int64_t batches(const MatmulSpec& s) {
  int64_t product = 1;
  for (int64_t extent : s.batch) product *= extent;
  return product;
}

/// The definition of the op for one element.
template <class T>
T dot(const T* a, int64_t a_step, const T* b, int64_t b_step, int64_t k) {
  if constexpr (std::is_floating_point_v<T>) {
    T sum = 0;
    for (int64_t p = 0; p < k; ++p) sum = std::fma(a[p * a_step], b[p * b_step], sum);
    return sum;
  } else if constexpr (std::is_integral_v<T>) {
    std::uint64_t sum = 0;
    for (int64_t p = 0; p < k; ++p)
      sum += static_cast<std::uint64_t>(a[p * a_step]) * static_cast<std::uint64_t>(b[p * b_step]);
    return static_cast<T>(sum);
  } else {
    float sum = 0;
    for (int64_t p = 0; p < k; ++p)
      sum = std::fma(static_cast<float>(a[p * a_step]), static_cast<float>(b[p * b_step]), sum);
    return T(sum);
  }
}

template <class T>
bool same_bits(T x, T y) {
  if constexpr (!std::is_integral_v<T>) {
    if (std::isnan(static_cast<double>(static_cast<float>(x))))
      return std::isnan(static_cast<double>(static_cast<float>(y)));
  }
  return std::memcmp(&x, &y, sizeof(T)) == 0;
}

template <class T>
void fill(T* data, int64_t count, std::mt19937_64& random, bool special) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      data[i] = static_cast<T>(random());
    } else {
      const double value = static_cast<double>(static_cast<int64_t>(random()) >> 11) * 0x1p-52;
      data[i] = T(static_cast<float>(value));
      if constexpr (std::is_same_v<T, double>) data[i] = value;
      if (special && random() % 16 == 0) {
        const float odd[] = {0.0f, -0.0f, 1e-40f, -3e-39f, 0x1p-126f, 3e38f, -3e38f, 6e-8f};
        data[i] = T(odd[random() % 8]);
      }
      if (special && random() % 512 == 0) data[i] = T(random() % 2 ? std::numeric_limits<float>::infinity() : NAN);
    }
  }
}

enum class Share { kOneCall, kSingleTasksBackwards, kThreads };

void run(const MatmulHarness& kernel, void* const* buffers, Share share) {
  const int64_t tasks = kernel.info().tasks;
  if (share == Share::kOneCall) return kernel.run(buffers, 0, tasks);
  if (share == Share::kSingleTasksBackwards) {
    for (int64_t t = tasks; t-- > 0;) kernel.run(buffers, t, t + 1);
    return;
  }
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] { kernel.run(buffers, tasks * t / 3, tasks * (t + 1) / 3); });
  for (std::thread& thread : threads) thread.join();
}

/// Runs `spec` (offsets are set here) in every way and compares all of c's buffer, gaps included.
template <class T>
void expect_exact(MatmulSpec s, int vector_bytes, bool special = false) {
  SCOPED_TRACE(testing::Message() << name_of(s.dtype) << " m=" << s.m << " n=" << s.n << " k=" << s.k
                                  << " batch=" << testing::PrintToString(s.batch) << " vector_bytes=" << vector_bytes);
  std::mt19937_64 random(static_cast<std::uint64_t>(s.m * 1000003 + s.n * 1009 + s.k));
  const Extent ea = extent_of(s, s.a, s.m, s.k), eb = extent_of(s, s.b, s.k, s.n), ec = extent_of(s, s.c, s.m, s.n);
  s.a.offset = -ea.low, s.b.offset = -eb.low, s.c.offset = -ec.low;
  const int64_t na = ea.high - ea.low, nb = eb.high - eb.low, nc = ec.high - ec.low;
  const auto bytes = [](int64_t n) { return static_cast<std::size_t>(n) * sizeof(T); };

  const MatmulHarness kernel(s, vector_bytes);
  for (Share share : {Share::kOneCall, Share::kSingleTasksBackwards, Share::kThreads}) {
    const bool guard_end = share != Share::kSingleTasksBackwards;
    const GuardedBuffer a(bytes(na), guard_end), b(bytes(nb), guard_end), c(bytes(nc), guard_end);
    fill(a.as<T>(), na, random, special);
    fill(b.as<T>(), nb, random, special);
    std::memset(c.as<void>(), 0x5b, bytes(nc));
    std::vector<T> expected(c.as<T>(), c.as<T>() + nc);
    for (int64_t batch = 0; batch < batches(s); ++batch)
      for (int64_t i = 0; i < s.m; ++i)
        for (int64_t j = 0; j < s.n; ++j)
          expected[static_cast<std::size_t>(position(s, s.c, batch, i, j))] =
              dot(a.as<T>() + position(s, s.a, batch, i, 0), s.a.col_stride, b.as<T>() + position(s, s.b, batch, 0, j),
                  s.b.row_stride, s.k);
    void* buffers[] = {a.as<void>(), b.as<void>(), c.as<void>()};
    run(kernel, buffers, share);
    for (int64_t i = 0; i < nc; ++i)
      ASSERT_TRUE(same_bits(expected[static_cast<std::size_t>(i)], c.as<T>()[i]))
          << "element " << i << " of " << nc << ", share " << static_cast<int>(share);
  }
}

void transpose(MatmulOperand& x, int64_t extent) {
  x.row_stride = 1;
  x.col_stride = extent;
}

class Matmul : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (GetParam() > host_vector_bytes()) GTEST_SKIP() << "this machine has no AVX-512";
  }
  template <class T>
  MatmulSpec dense(int64_t m, int64_t n, int64_t k, std::vector<int64_t> batch = {}) {
    return dense_matmul(dtype_of<T>, std::move(batch), m, n, k);
  }
};

constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 7, 13, 14, 15, 16, 17, 31, 33, 64, 65, 100, 129, 257};

/// `count` shapes with every size at least once in every place, layouts of a and b alternating.
template <class T>
void expect_exact_on_sizes(int count, int vector_bytes) {
  const int sizes = static_cast<int>(std::size(kSizes));
  for (int t = 0; t < count; ++t) {
    const int64_t m = kSizes[t % sizes], n = kSizes[(t * 5 + 3 + t / sizes) % sizes],
                  k = kSizes[(t * 7 + 11 * (t / sizes)) % sizes];
    MatmulSpec s = dense_matmul(dtype_of<T>, {}, m, n, k);
    if (t % 2 == 1) transpose(s.a, m);
    if (t % 4 >= 2) transpose(s.b, k);
    if (t % 9 == 8) transpose(s.c, m);
    expect_exact<T>(s, vector_bytes);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_P(Matmul, Float32IsTheFmaChainOnOddSizes) { expect_exact_on_sizes<float>(108, GetParam()); }
TEST_P(Matmul, Float64IsTheFmaChainOnOddSizes) { expect_exact_on_sizes<double>(36, GetParam()); }
TEST_P(Matmul, BFloat16RoundsOnceOnOddSizes) { expect_exact_on_sizes<bfloat16>(36, GetParam()); }
TEST_P(Matmul, Float16RoundsOnceOnOddSizes) { expect_exact_on_sizes<float16>(36, GetParam()); }
TEST_P(Matmul, IntegersWrapOnOddSizes) {
  expect_exact_on_sizes<std::int8_t>(18, GetParam());
  expect_exact_on_sizes<std::uint8_t>(18, GetParam());
  expect_exact_on_sizes<std::int16_t>(18, GetParam());
  expect_exact_on_sizes<std::uint16_t>(18, GetParam());
  expect_exact_on_sizes<std::int32_t>(18, GetParam());
  expect_exact_on_sizes<std::uint32_t>(18, GetParam());
  expect_exact_on_sizes<std::int64_t>(18, GetParam());
  expect_exact_on_sizes<std::uint64_t>(18, GetParam());
}

TEST_P(Matmul, ManyBlocksInEveryDirectionChangeNoBit) {
  expect_exact<float>(dense<float>(311, 1100, 1050), GetParam());
  expect_exact<bfloat16>(dense<bfloat16>(600, 530, 530), GetParam());
  MatmulSpec linear = dense<float>(150, 600, 700);
  transpose(linear.b, 700);
  expect_exact<float>(linear, GetParam());
}

TEST_P(Matmul, NothingToSumGivesPositiveZeros) {
  expect_exact<float>(dense<float>(37, 41, 0), GetParam());
  expect_exact<bfloat16>(dense<bfloat16>(37, 41, 0), GetParam());
  expect_exact<std::int16_t>(dense<std::int16_t>(5, 3, 0), GetParam());
}

TEST_P(Matmul, EmptyResultsHaveNoTasks) {
  for (const MatmulSpec& s : {dense<float>(0, 5, 5), dense<float>(5, 0, 5), dense<float>(5, 5, 5, {3, 0})})
    EXPECT_EQ(MatmulHarness(s, GetParam()).info().tasks, 0);
}

TEST_P(Matmul, VectorsOnEitherSide) {
  for (int64_t size : {1, 17, 300, 1025}) {
    expect_exact<float>(dense<float>(1, size, 300), GetParam());
    expect_exact<float>(dense<float>(size, 1, 300), GetParam());
    expect_exact<bfloat16>(dense<bfloat16>(1, size, 77), GetParam());
    expect_exact<double>(dense<double>(size, 1, 77), GetParam());
    MatmulSpec column = dense<float>(300, 1, size);
    transpose(column.a, 300);
    expect_exact<float>(column, GetParam());
  }
}

TEST_P(Matmul, SpecialValuesTravelLikeInAnyOtherFma) {
  expect_exact<float>(dense<float>(50, 60, 40), GetParam(), true);
  expect_exact<double>(dense<double>(50, 60, 40), GetParam(), true);
  expect_exact<bfloat16>(dense<bfloat16>(50, 60, 40), GetParam(), true);
  expect_exact<float16>(dense<float16>(50, 60, 40), GetParam(), true);
}

TEST_P(Matmul, BatchesBroadcast) {
  MatmulSpec shared_b = dense<float>(9, 20, 11, {3, 4});
  shared_b.b.batch_strides = {0, 0};
  expect_exact<float>(shared_b, GetParam());
  MatmulSpec shared_a = dense<float>(40, 20, 33, {3, 4});
  shared_a.a.batch_strides = {0, 40 * 33};
  expect_exact<float>(shared_a, GetParam());
  MatmulSpec crossed = dense<double>(7, 9, 5, {2, 3, 4});
  crossed.a.batch_strides = {0, 35, 0};
  crossed.b.batch_strides = {45, 0, 90};
  expect_exact<double>(crossed, GetParam());
  MatmulSpec rows = dense<bfloat16>(1, 33, 65, {21});
  rows.b.batch_strides = {0};
  expect_exact<bfloat16>(rows, GetParam());
}

TEST_P(Matmul, StridesOfAnyKind) {
  MatmulSpec s = dense<float>(35, 70, 50, {2});
  s.a = {0, 0, -3, 200, {17000}};
  s.b = {1, 0, 150, -2, {-8000}};
  s.c = {2, 0, 300, 4, {11000}};
  expect_exact<float>(s, GetParam());
  s.c = {2, 0, 1, 40, {3000}};
  expect_exact<float>(s, GetParam());
  s.dtype = s.out = DType::kBFloat16;
  expect_exact<bfloat16>(s, GetParam());
  MatmulSpec repeated = dense<float>(64, 64, 64);
  repeated.a.row_stride = 0;
  repeated.b.row_stride = 0;
  expect_exact<float>(repeated, GetParam());
  MatmulSpec page_apart = dense<float>(30, 100, 40);
  page_apart.a.row_stride = 1024;
  expect_exact<float>(page_apart, GetParam());
}

TEST_P(Matmul, HalfOperandsCanGiveFloat32) {
  MatmulSpec s = dense<bfloat16>(20, 50, 30);
  s.out = DType::kFloat32;
  std::mt19937_64 random(1);
  std::vector<bfloat16> a(20 * 30), b(30 * 50);
  fill(a.data(), 600, random, false);
  fill(b.data(), 1500, random, false);
  std::vector<float> c(1000);
  void* buffers[] = {a.data(), b.data(), c.data()};
  const MatmulHarness kernel(s, GetParam());
  kernel.run(buffers, 0, kernel.info().tasks);
  for (int64_t i = 0; i < 20; ++i)
    for (int64_t j = 0; j < 50; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < 30; ++p)
        sum = std::fma(static_cast<float>(a[static_cast<std::size_t>(i * 30 + p)]),
                       static_cast<float>(b[static_cast<std::size_t>(p * 50 + j)]), sum);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(sum),
                std::bit_cast<std::uint32_t>(c[static_cast<std::size_t>(i * 50 + j)]));
    }
}

TEST(MatmulPlan, ScratchOfAWorkerStaysBelowTwoMebibytes) {
  for (int vector_bytes : {32, 64})
    for (DType dtype : {DType::kInt8, DType::kBFloat16, DType::kFloat32, DType::kFloat64})
      for (int64_t rows : {1, 2, 14, 100000})
        for (int64_t cols : {1, 2, 100000}) {
          MatmulSpec s = dense_matmul(dtype, {}, rows, cols, 1000000);
          EXPECT_LE(plan_matmul(s, vector_bytes).scratch_bytes, 2 << 20);
          transpose(s.b, 1000000);
          EXPECT_LE(plan_matmul(s, vector_bytes).scratch_bytes, 2 << 20);
        }
}

INSTANTIATE_TEST_SUITE_P(Widths, Matmul, testing::Values(32, 64),
                         [](const auto& width) { return width.param == 64 ? "Avx512" : "Avx2"; });

}  // namespace
}  // namespace tenon::codegen
