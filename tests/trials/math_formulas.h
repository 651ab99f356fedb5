// SPDX-License-Identifier: MIT
// The elementary functions over arrays, in a file of its own so that it can be compiled by the compiler that vectorises
// it best.
#pragma once

#include <cstddef>

#include "compiler/ops/math/math.h"

namespace tenon::math {

/// out[i] = fn(x[i], y[i]) for i < n, n a multiple of 64. The arrays do not overlap.
void evaluate(MathFn fn, const float* x, const float* y, float* out, std::size_t n);
void evaluate(MathFn fn, const double* x, const double* y, double* out, std::size_t n);

}  // namespace tenon::math
