// SPDX-License-Identifier: MIT
// Loops over EvalBuilder without a branch, which clang vectorises whole.
#include "tests/trials/math_formulas.h"

#include <array>

#include "compiler/ops/math/eval_builder.h"

namespace tenon::math {
namespace {

struct SelectBuilder : EvalBuilder {
  template <class T, std::size_t N, class Slow>
  std::array<T, N> if_any(bool c, std::array<T, N> fast, Slow slow) const {
    const std::array<T, N> rare = slow();
    for (std::size_t i = 0; i < N; ++i) fast[i] = c ? rare[i] : fast[i];
    return fast;
  }
};

template <MathFn fn, class T>
void loop(const T* __restrict x, const T* __restrict y, T* __restrict out, std::size_t n) {
  SelectBuilder builder;
  for (std::size_t i = 0; i < n; ++i) out[i] = apply_math<T>(builder, fn, x[i], y[i]);
}

template <class T>
void choose(MathFn fn, const T* x, const T* y, T* out, std::size_t n) {
  switch (fn) {
#define TENON_TRIAL_CASE(FN, NAME, ARITY) \
  case MathFn::FN:                        \
    return loop<MathFn::FN>(x, y, out, n);
    TENON_MATH_FUNCTIONS(TENON_TRIAL_CASE)
#undef TENON_TRIAL_CASE
  }
}

}  // namespace

void evaluate(MathFn fn, const float* x, const float* y, float* out, std::size_t n) { choose(fn, x, y, out, n); }
void evaluate(MathFn fn, const double* x, const double* y, double* out, std::size_t n) { choose(fn, x, y, out, n); }

}  // namespace tenon::math
