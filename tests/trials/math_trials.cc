// SPDX-License-Identifier: MIT
// Measures the worst error of the elementary functions.
//
//   math_trials f32 NAME|all [STEP]    every STEP-th of all 2^32 inputs (default 1); functions of two arguments get
//                                      2^32 / STEP random pairs
//   math_trials f64 NAME|all [COUNT]   COUNT random inputs (default 2,000,000), spread over bits and over [-8, 8]
//
// One line a function: name, worst error in ULP, the input that has it, and how many results are not the rounded exact
// value. Exit status 1 where an error passes the promise. Build with -O3 -march=native: formulas then run vectorised.
#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "compiler/ops/math/eval_builder.h"
#include "compiler/ops/math/math.h"
#include "tests/ops/math_oracle.h"

namespace tenon::math {
namespace {

/// EvalBuilder without branches, which a compiler can vectorise.
struct TrialBuilder : EvalBuilder {
  template <class T, std::size_t N, class Slow>
  std::array<T, N> if_any(bool c, std::array<T, N> fast, Slow slow) const {
    const std::array<T, N> rare = slow();
    for (std::size_t i = 0; i < N; ++i) fast[i] = c ? rare[i] : fast[i];
    return fast;
  }
};

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

template <MathFn fn, class T>
void evaluate(Block<T>& block) {
  TrialBuilder builder;
  for (std::size_t i = 0; i < kBlock; ++i) {
    block.got[i] = apply_math<T>(builder, fn, block.x[i], block.y[i]);
  }
}

template <class T, class Wide>
void judge(MathFn fn, const Block<T>& block, Worst<T>& worst) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const Wide exact = oracle(fn, static_cast<Wide>(block.x[i]), static_cast<Wide>(block.y[i]));
    const double error = ulp_error(block.got[i], exact);
    worst.misrounded += error > 0.5;
    if (error > worst.error) worst = {error, block.x[i], block.y[i], worst.misrounded};
  }
}

/// Runs blocks [0, count) on all cores; fill(block, number) gives each its inputs.
template <MathFn fn, class T, class Wide, class Fill>
Worst<T> run(std::uint64_t count, Fill fill) {
  std::vector<Worst<T>> results(std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::thread> threads;
  for (Worst<T>& result : results) {
    threads.emplace_back([&] {
      Block<T> block;
      for (std::uint64_t n = next++; n < count; n = next++) {
        fill(block, n);
        evaluate<fn>(block);
        judge<T, Wide>(fn, block, result);
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
Worst<float> try_float(std::uint64_t step) {
  const std::uint64_t blocks = (std::uint64_t{1} << 32) / kBlock / step;
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

int run_all(std::string_view type, std::string_view name, std::uint64_t amount) {
  bool good = true;
#define TENON_TRY(FN, NAME, ARITY)                                                 \
  if (has_oracle(MathFn::FN) && (name == "all" || name == #NAME)) {                \
    good &= type == "f32" ? report(MathFn::FN, try_float<MathFn::FN>(amount), 1)   \
                          : report(MathFn::FN, try_double<MathFn::FN>(amount), 2); \
  }
  TENON_MATH_FUNCTIONS(TENON_TRY)
#undef TENON_TRY
  return good ? 0 : 1;
}

}  // namespace
}  // namespace tenon::math

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: math_trials f32|f64 NAME|all [STEP|COUNT]\n");
    return 2;
  }
  const std::string_view type = argv[1];
  const std::uint64_t amount = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : type == "f32" ? 1 : 2'000'000;
  return tenon::math::run_all(type, argv[2], amount);
}
