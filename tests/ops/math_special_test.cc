// SPDX-License-Identifier: MIT
// Values that are exact by definition: the special cases of C99's annex F, exact points, nextafter, and the division
// of Python and NumPy.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "compiler/ops/math/math.h"
#include "tests/ops/math_oracle.h"

namespace tenon::math {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
testing::AssertionResult same(T got, T wanted) {
  const bool equal = got == wanted && std::signbit(got) == std::signbit(wanted);
  if (equal || (std::isnan(got) && std::isnan(wanted))) return testing::AssertionSuccess();
  return testing::AssertionFailure() << got << " instead of " << wanted;
}

template <class T>
class MathSpecial : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(MathSpecial, FloatTypes);

template <class T>
std::vector<T> special_values() {
  using L = std::numeric_limits<T>;
  return {T(0),           T(-0.0),       T(1),     T(-1),    T(0.5),          T(-0.5),          T(2),
          T(-2),          T(3),          T(-3),    T(2.5),   T(-2.5),         T(1e30),          T(-1e30),
          T(0x1p24),      -L::max(),     L::max(), L::min(), L::denorm_min(), -L::denorm_min(), L::infinity(),
          -L::infinity(), L::quiet_NaN()};
}

TYPED_TEST(MathSpecial, pow_and_atan2_follow_annex_f_for_all_pairs_of_special_values) {
  using T = TypeParam;
  for (T x : special_values<T>()) {
    for (T y : special_values<T>()) {
      for (MathFn fn : {MathFn::kPow, MathFn::kAtan2}) {
        EXPECT_LE(ulp_error(eval_math(fn, x, y), oracle<Wide<T>>(fn, x, y)), 1)
            << name_of(fn) << "(" << x << ", " << y << ") = " << eval_math(fn, x, y);
      }
    }
  }
}

TYPED_TEST(MathSpecial, functions_of_one_argument_follow_annex_f) {
  using T = TypeParam;
  for (std::size_t i = 0; i < kNumMathFns; ++i) {
    const auto fn = static_cast<MathFn>(i);
    if (arity_of(fn) != 1) continue;
    for (T x : special_values<T>()) {
      EXPECT_LE(ulp_error(eval_math(fn, x), oracle<Wide<T>>(fn, x, 0)), 1.5) << name_of(fn) << "(" << x << ")";
    }
  }
}

TYPED_TEST(MathSpecial, powers_and_logarithms_of_two_are_exact) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  for (int k = L::min_exponent - L::digits; k < L::max_exponent; ++k) {
    const T power = std::ldexp(T(1), k);
    EXPECT_TRUE(same(eval_math(MathFn::kExp2, T(k)), power)) << k;
    EXPECT_TRUE(same(eval_math(MathFn::kLog2, power), T(k))) << k;
    EXPECT_TRUE(same(eval_math(MathFn::kPow, T(2), T(k)), power)) << k;
  }
  for (int k = -20; k <= 20; ++k) EXPECT_TRUE(same(eval_math(MathFn::kCbrt, T(k * k * k)), T(k))) << k;
}

TYPED_TEST(MathSpecial, nextafter_is_that_of_the_c_library) {
  using T = TypeParam;
  const std::vector<T> values = special_values<T>();
  for (T x : values) {
    for (T y : values) EXPECT_TRUE(same(eval_math(MathFn::kNextafter, x, y), std::nextafter(x, y))) << x << " " << y;
  }
}

TYPED_TEST(MathSpecial, fmod_is_that_of_the_c_library) {
  using T = TypeParam;
  const auto expect_fmod = [](T x, T y) {
    EXPECT_TRUE(same(eval_math(MathFn::kFmod, x, y), std::fmod(x, y))) << std::hexfloat << x << " " << y;
  };
  const std::vector<T> values = special_values<T>();
  for (T x : values) {
    for (T y : values) expect_fmod(x, y);
  }
  std::mt19937_64 random(4);
  std::uniform_real_distribution<T> exponent(-3, std::numeric_limits<T>::digits + 2);
  for (int i = 0; i < 100'000; ++i) {
    const T y = std::bit_cast<T>(static_cast<Bits<T>>(random()));
    const T times = std::exp2(exponent(random));
    expect_fmod(y * times, y);
    expect_fmod(y * std::trunc(times), y);
    expect_fmod(std::nextafter(y * std::trunc(times), T(0)), y);
  }
}

TYPED_TEST(MathSpecial, division_of_integers_rounds_down) {
  using T = TypeParam;
  std::mt19937_64 random(3);
  std::uniform_int_distribution<std::int64_t> draw(-1'000'000, 1'000'000), small(-1000, 1000);
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t x = draw(random), y = i % 2 == 0 ? small(random) : draw(random);
    if (y == 0) continue;
    const std::int64_t remainder = (x % y + y) % y;
    EXPECT_TRUE(same<T>(std::abs(eval_math(MathFn::kRemainder, T(x), T(y))), T(std::abs(remainder)))) << x << " " << y;
    EXPECT_EQ(eval_math(MathFn::kFloorDivide, T(x), T(y)), T((x - remainder) / y)) << x << " " << y;
  }
}

struct Division {
  double x, y, quotient, remainder;
};

// From NumPy 2: numpy.floor_divide and numpy.remainder of float64.
constexpr Division kDivisions[] = {
    {7, 3, 2, 1},
    {-7, 3, -3, 2},
    {7, -3, -3, -2},
    {-7, -3, 2, -1},
    {0.0, 3, 0.0, 0.0},
    {-0.0, 3, -0.0, 0.0},
    {0.0, -3, -0.0, -0.0},
    {6, 3, 2, 0.0},
    {-6, 3, -2, 0.0},
    {6, -3, -2, -0.0},
    {1.0, 0.1, 9, 0.09999999999999995},
    {-1.0, 0.1, -10, 5.551115123125783e-17},
    {1e300, 1e-5, 1e305, 6.148232504163852e-06},
    {1, kInf, 0.0, 1},
    {-1, kInf, -1, kInf},
    {1, -kInf, -1, -kInf},
    {-1, -kInf, 0.0, -1},
    {kInf, 2, kNan, kNan},
    {1, 0.0, kInf, kNan},
    {-1, 0.0, -kInf, kNan},
    {1, -0.0, -kInf, kNan},
    {0.0, 0.0, kNan, kNan},
    {kNan, 1, kNan, kNan},
    {1, kNan, kNan, kNan},
};

TEST(MathDivision, floor_divide_and_remainder_are_those_of_numpy) {
  for (const Division& d : kDivisions) {
    EXPECT_TRUE(same(eval_math(MathFn::kFloorDivide, d.x, d.y), d.quotient)) << d.x << " // " << d.y;
    EXPECT_TRUE(same(eval_math(MathFn::kRemainder, d.x, d.y), d.remainder)) << d.x << " % " << d.y;
  }
}

}  // namespace
}  // namespace tenon::math
