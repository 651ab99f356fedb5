// SPDX-License-Identifier: MIT
// The promise of accuracy, tried on a sample: float32 functions are within 1 ULP of the exact value, float64 functions
// within 2. tests/trials/math_trials.cc tries all float32 inputs and millions of float64 ones.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "compiler/ops/math/math.h"
#include "tests/ops/math_oracle.h"

namespace tenon::math {
namespace {

template <class T>
constexpr double kPromise = sizeof(T) == 4 ? 1 : 2;

/// Where formulas change over, where results leave the range, near zeros of the functions, and values of huge angles.
template <class T>
std::vector<T> hard_points() {
  std::vector<T> points;
  const auto around = [&](double x) {
    T low = static_cast<T>(x), high = low;
    for (int i = 0; i < 50; ++i) {
      points.insert(points.end(), {low, high, -low, -high});
      low = std::nextafter(low, T(0));
      high = std::nextafter(high, std::numeric_limits<T>::infinity());
    }
  };
  const double points_of_both[] = {
      0x1p-149, 0x1p-126,   0x1p-100, 0x1p-26, 0x1p-24, 1e-8,    1e-3,       0.125, 1.0 / 3, 0.34657359, 0.45,  0.5,
      2.0 / 3,  0.70710678, 0.9,      0.95,    1.0,     4.0 / 3, 1.41421356, 2.0,   3.95,    9.0,        10.05, 27.2,
      87.3365,  88.7228,    89.4159,  103.972, 127.0,   128.0,   149.0,      150.0, 12800.0, 1e10,       1e30};
  for (double x : points_of_both) around(x);
  for (int k = 1; k <= 64; ++k) around(k * std::numbers::pi / 4);
  if (sizeof(T) == 4) return points;
  const double points_of_float64[] = {0x1p-1074, 0x1p-1022, 0x1p-54, 708.39, 709.78, 710.4758, 744.44,
                                      745.13,    1022.0,    1024.0,  1074.0, 0x1p20, 0x1p60,   0x1p1000};
  for (double x : points_of_float64) around(x);
  // Nearest to multiples of pi/2, by continued fractions of 2^e * 2 / pi.
  const double nearly_quarters[] = {0x1.6ac5b262ca1ffp+849, 0x1.6c6cbc45dc8dep+5,   0x1.b951f1572eba5p+23,
                                    0x1.504cac51f1eafp+131, 0x1.e009c53148be1p+991, 0x1.4c96c11134d36p+577,
                                    0x1.cfe482285f8edp+860, 0x1.db41f3cb71d7bp+680, 0x1.e7e44a78ac18cp+197};
  for (double x : nearly_quarters) around(x);
  return points;
}

template <class T>
void expect_accurate(MathFn fn, T x, T y) {
  const T got = eval_math(fn, x, y);
  const Wide<T> exact = oracle<Wide<T>>(fn, x, y);
  ASSERT_LE(ulp_error(got, exact), kPromise<T>)
      << name_of(fn) << "(" << std::hexfloat << x << ", " << y << ") = " << got << ", exact " << exact;
}

class MathAccuracy : public testing::TestWithParam<MathFn> {};

TEST_P(MathAccuracy, float32_is_within_1_ulp_on_a_sample_of_all_bit_patterns) {
  constexpr std::uint32_t kStep = 104'729;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += kStep) {
    expect_accurate<float>(GetParam(), std::bit_cast<float>(static_cast<std::uint32_t>(bits)), 0);
  }
}

TEST_P(MathAccuracy, float32_is_within_1_ulp_at_hard_points) {
  for (float x : hard_points<float>()) expect_accurate<float>(GetParam(), x, 1.5f);
}

TEST_P(MathAccuracy, float64_is_within_2_ulp_at_hard_points) {
  for (double x : hard_points<double>()) expect_accurate<double>(GetParam(), x, 1.5);
}

TEST_P(MathAccuracy, both_types_keep_their_promise_on_random_inputs) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> near(-8, 8);
  const auto draw = [&] { return random() & 1 ? near(random) : std::bit_cast<double>(random()); };
  for (int i = 0; i < 20'000; ++i) {
    const double x = draw(), y = draw();
    expect_accurate<double>(GetParam(), x, y);
    expect_accurate<float>(GetParam(), static_cast<float>(x), static_cast<float>(y));
  }
}

std::vector<MathFn> functions_with_oracle() {
  std::vector<MathFn> functions;
  for (std::size_t i = 0; i < kNumMathFns; ++i) {
    if (has_oracle(static_cast<MathFn>(i))) functions.push_back(static_cast<MathFn>(i));
  }
  return functions;
}

INSTANTIATE_TEST_SUITE_P(All, MathAccuracy, testing::ValuesIn(functions_with_oracle()),
                         [](const testing::TestParamInfo<MathFn>& info) { return std::string(name_of(info.param)); });

// Powers near 1 and near the ends of the range, where an error of the logarithm is multiplied by up to 1,000.
TEST(MathPow, large_exponents_keep_the_promise) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 50'000; ++i) {
    const double x = std::exp2(unit(random) * 4 - 2);
    const double limit = (unit(random) * 2 - 1) / std::log2(x);
    expect_accurate<float>(MathFn::kPow, static_cast<float>(x), static_cast<float>(limit * 140));
    expect_accurate<double>(MathFn::kPow, x, limit * 1070);
  }
}

}  // namespace
}  // namespace tenon::math
