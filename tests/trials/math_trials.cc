// SPDX-License-Identifier: MIT
// Measures the worst error of the elementary functions.
//
//   math_trials f32 NAME|all [STEP [END]]  every STEP-th of the bit patterns below END (default: all 2^32); functions
//   of
//                                          two arguments get END / STEP random pairs
//   math_trials f64 NAME|all [COUNT]       COUNT random inputs (default 2,000,000), over all bits and over [-8, 8]
//
// One line a function: name, worst error in ULP, the input that has it, and how many results are not the rounded exact
// value. The oracle is the C library in float64 (float32; libmvec, 2^-26 ULP) and libquadmath (float64). Exit status 1
// where an error passes the promise. Not part of the build; README.md of compiler/ops/math says how it is compiled so
// that both the formulas and the oracle (libmvec) run vectorised.
#include <quadmath.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "compiler/ops/math/math.h"
#include "tests/ops/math_oracle.h"
#include "tests/trials/math_formulas.h"

namespace tenon::math {

using Quad = __float128;

/// fn by libquadmath.
static Quad oracle(MathFn fn, Quad x, Quad y) {
  switch (fn) {
    case MathFn::kRsqrt:
      return 1 / sqrtq(x);
    case MathFn::kCbrt:
      return cbrtq(x);
    case MathFn::kExp:
      return expq(x);
    case MathFn::kExp2:
      return exp2q(x);
    case MathFn::kExpm1:
      return expm1q(x);
    case MathFn::kLog:
      return logq(x);
    case MathFn::kLog2:
      return log2q(x);
    case MathFn::kLog10:
      return log10q(x);
    case MathFn::kLog1p:
      return log1pq(x);
    case MathFn::kSin:
      return sinq(x);
    case MathFn::kCos:
      return cosq(x);
    case MathFn::kTan:
      return tanq(x);
    case MathFn::kAsin:
      return asinq(x);
    case MathFn::kAcos:
      return acosq(x);
    case MathFn::kAtan:
      return atanq(x);
    case MathFn::kSinh:
      return sinhq(x);
    case MathFn::kCosh:
      return coshq(x);
    case MathFn::kTanh:
      return tanhq(x);
    case MathFn::kAsinh:
      return asinhq(x);
    case MathFn::kAcosh:
      return acoshq(x);
    case MathFn::kAtanh:
      return atanhq(x);
    case MathFn::kErf:
      return erfq(x);
    case MathFn::kErfc:
      return erfcq(x);
    case MathFn::kPow:
      return powq(x, y);
    case MathFn::kAtan2:
      return atan2q(x, y);
    default:
      return 0;
  }
}

static double ulp_error(double got, Quad exact) {
  constexpr double kBad = std::numeric_limits<double>::infinity();
  if (isnanq(exact) || std::isnan(got)) return static_cast<bool>(isnanq(exact)) == std::isnan(got) ? 0 : kBad;
  if (static_cast<bool>(signbitq(exact)) != std::signbit(got)) return kBad;
  const Quad top = scalbnq(1, 1024);
  const Quad value = std::isinf(got) ? top : fabsq(got);
  const Quad wanted = fminq(fabsq(exact), top);
  const int exponent = wanted == 0 ? -1022 : std::max(ilogbq(wanted), -1022);
  return static_cast<double>(scalbnq(fabsq(value - wanted), 52 - exponent));
}

namespace {

constexpr std::size_t kBlock = 1024;

template <class T>
struct Worst {
  double error = 0;
  T x = 0;
  T y = 0;
  std::uint64_t misrounded = 0;
};

template <class T>
struct Block {
  std::array<T, kBlock> x, y, got;
};

template <MathFn fn, class T, class W>
void judge(const Block<T>& block, Worst<T>& worst) {
  std::array<W, kBlock> exact;
  std::array<double, kBlock> error;
#pragma omp simd
  for (std::size_t i = 0; i < kBlock; ++i) {
    exact[i] = oracle(fn, static_cast<W>(block.x[i]), static_cast<W>(block.y[i]));
  }
  for (std::size_t i = 0; i < kBlock; ++i) error[i] = ulp_error(block.got[i], exact[i]);
  for (std::size_t i = 0; i < kBlock; ++i) worst.misrounded += error[i] > 0.5;
  const std::size_t top = std::max_element(error.begin(), error.end()) - error.begin();
  if (error[top] > worst.error) worst = {error[top], block.x[top], block.y[top], worst.misrounded};
}

/// Runs blocks [0, count) on all cores; fill(block, number) gives each its inputs.
template <MathFn fn, class T, class W, class Fill>
Worst<T> run(std::uint64_t count, Fill fill) {
  std::vector<Worst<T>> results(std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::thread> threads;
  for (Worst<T>& result : results) {
    threads.emplace_back([&] {
      Block<T> block;
      for (std::uint64_t n = next++; n < count; n = next++) {
        fill(block, n);
        evaluate(fn, block.x.data(), block.y.data(), block.got.data(), kBlock);
        judge<fn, T, W>(block, result);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  Worst<T> worst;
  for (const Worst<T>& r : results) {
    const std::uint64_t misrounded = worst.misrounded + r.misrounded;
    if (r.error > worst.error) worst = r;
    worst.misrounded = misrounded;
  }
  return worst;
}

/// Half of the inputs have random bits, half are in [-8, 8].
template <class T>
void fill_random(Block<T>& block, std::uint64_t number) {
  std::mt19937_64 random(number);
  std::uniform_real_distribution<T> near(-8, 8);
  const auto draw = [&] { return random() & 1 ? near(random) : std::bit_cast<T>(static_cast<Bits<T>>(random())); };
  for (std::size_t i = 0; i < kBlock; ++i) {
    block.x[i] = draw();
    block.y[i] = draw();
  }
}

template <MathFn fn>
Worst<float> try_float(std::uint64_t step, std::uint64_t end) {
  const std::uint64_t blocks = end / kBlock / step;
  if constexpr (arity_of(fn) == 2) return run<fn, float, double>(blocks, fill_random<float>);
  return run<fn, float, double>(blocks, [step](Block<float>& block, std::uint64_t n) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      block.x[i] = std::bit_cast<float>(static_cast<std::uint32_t>((n * kBlock + i) * step));
    }
    block.y = {};
  });
}

template <MathFn fn>
Worst<double> try_double(std::uint64_t count) {
  return run<fn, double, Quad>(count / kBlock + 1, fill_random<double>);
}

template <class T>
bool report(MathFn fn, const Worst<T>& worst, double promise) {
  std::printf("%-10s %s worst %.4f ULP at (%a, %a), %llu misrounded%s\n", name_of(fn).data(),
              sizeof(T) == 4 ? "f32" : "f64", worst.error, static_cast<double>(worst.x), static_cast<double>(worst.y),
              static_cast<unsigned long long>(worst.misrounded), worst.error > promise ? "  FAILED" : "");
  std::fflush(stdout);
  return worst.error <= promise;
}

int run_all(std::string_view type, std::string_view name, std::uint64_t amount, std::uint64_t end) {
  bool good = true;
#define TENON_TRY(FN, NAME, ARITY)                                                    \
  if (has_oracle(MathFn::FN) && (name == "all" || name == #NAME)) {                   \
    good &= type == "f32" ? report(MathFn::FN, try_float<MathFn::FN>(amount, end), 1) \
                          : report(MathFn::FN, try_double<MathFn::FN>(amount), 2);    \
  }
  TENON_MATH_FUNCTIONS(TENON_TRY)
#undef TENON_TRY
  return good ? 0 : 1;
}

}  // namespace
}  // namespace tenon::math

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: math_trials f32|f64 NAME|all [STEP|COUNT [END]]\n");
    return 2;
  }
  const std::string_view type = argv[1];
  const std::uint64_t amount = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : type == "f32" ? 1 : 2'000'000;
  const std::uint64_t end = argc > 4 ? std::strtoull(argv[4], nullptr, 0) : std::uint64_t{1} << 32;
  return tenon::math::run_all(type, argv[2], amount, end);
}
