// SPDX-License-Identifier: MIT
// The elementary functions on the host. Compiled without contraction, as every file of Tenon is.
#include "compiler/ops/math/math.h"

#include "compiler/ops/math/eval_builder.h"

namespace tenon::math {

float eval_math(MathFn fn, float x, float y) {
  EvalBuilder builder;
  return apply_math<float>(builder, fn, x, y);
}

double eval_math(MathFn fn, double x, double y) {
  EvalBuilder builder;
  return apply_math<double>(builder, fn, x, y);
}

}  // namespace tenon::math
