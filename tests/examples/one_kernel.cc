// SPDX-License-Identifier: MIT
// What is written as many steps is run as one: softmax, layer norm and a chain of twenty functions, each one kernel,
// each beside plain loops in double precision.
#include <tenon/tenon.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "check.h"

namespace tn = tenon;

constexpr int kRows = 50, kColumns = 1000;

tn::Tensor softmax_by_hand(const tn::Tensor& x) {
  const tn::Tensor e = tn::exp(x - tn::max(x, {-1}, tn::keepdims));
  return e / tn::sum(e, {-1}, tn::keepdims);
}

tn::Tensor layer_norm_by_hand(const tn::Tensor& x) {
  const tn::Tensor distance = x - tn::mean(x, {-1}, tn::keepdims);
  return distance * tn::rsqrt(tn::mean(distance * distance, {-1}, tn::keepdims) + 1e-5);
}

tn::Tensor twenty_functions(tn::Tensor x) {
  for (int i = 0; i < 10; ++i) x = 0.9 * tn::sin(x);
  return x;
}

using Row = std::vector<double>;

void softmax_in_loops(Row& row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& v : row) sum += v = std::exp(v - top);
  for (double& v : row) v /= sum;
}

void layer_norm_in_loops(Row& row) {
  double mean = 0, square = 0;
  for (const double v : row) mean += v / kColumns;
  for (const double v : row) square += (v - mean) * (v - mean) / kColumns;
  for (double& v : row) v = (v - mean) / std::sqrt(square + 1e-5);
}

void twenty_in_loops(Row& row) {
  for (double& v : row) {
    for (int i = 0; i < 10; ++i) v = 0.9 * std::sin(v);
  }
}

/// Whether y is what `loops` makes of the rows of x, but for a few roundings of float32.
bool is_close(const tn::Tensor& x, const tn::Tensor& y, const std::function<void(Row&)>& loops) {
  const std::vector<float> before = x.to_vector<float>(), after = y.to_vector<float>();
  for (int r = 0; r < kRows; ++r) {
    Row row(before.begin() + r * kColumns, before.begin() + (r + 1) * kColumns);
    loops(row);
    for (int c = 0; c < kColumns; ++c) {
      if (std::abs(after[r * kColumns + c] - row[c]) > 1e-7 + 1e-5 * std::abs(row[c])) return false;
    }
  }
  return true;
}

int main() {
  const tn::Tensor x = (3 * tn::random::normal({kRows, kColumns}, tn::seed(5))).eval();
  const tn::Tensor soft = softmax_by_hand(x), norm = layer_norm_by_hand(x), twenty = twenty_functions(x);
  check(tn::explain(soft).num_kernels() == 1, "softmax by hand is one kernel");
  check(tn::explain(norm).num_kernels() == 1, "layer norm by hand is one kernel");
  check(tn::explain(twenty).num_kernels() == 1, "twenty functions are one kernel");

  check(is_close(x, soft, softmax_in_loops), "softmax is what loops give");
  check(is_close(x, norm, layer_norm_in_loops), "layer norm is what loops give");
  check(is_close(x, twenty, twenty_in_loops), "the chain is what loops give");
}
