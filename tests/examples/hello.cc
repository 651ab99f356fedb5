// SPDX-License-Identifier: MIT
// The first program of the README, and the checks that the README does not show.
#include <tenon/tenon.h>

#include <cmath>
#include <iostream>

#include "check.h"

namespace tn = tenon;

int main() {
  tn::Tensor x = tn::random::normal({4096, 1024}, tn::seed(7));  // float32; nothing runs yet
  tn::Tensor w = tn::ones({1024});
  tn::Tensor y = x * tn::rsqrt(tn::mean(x * x, {-1}, tn::keepdims) + 1e-6) * w;  // RMSNorm; numbers are weak
  std::cout << y << "\n";                       // compiled here, on first need; the next process loads it
  std::vector<float> v = y.to_vector<float>();  // typed reads check the dtype and throw
  float corner = y[{0, -1}].item<float>();      // the value is there: nothing is compiled

  // A row of y has a mean square of 1, whatever x was, but for the epsilon and the rounding.
  float squares = 0;
  for (int column = 0; column < 1024; ++column) squares += v[column] * v[column];
  check(std::abs(squares / 1024 - 1) < 1e-4f, "a normalised row has a mean square of 1");
  check(corner == v[1023], "an element read alone is the element of the whole");
}
