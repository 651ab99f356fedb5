// SPDX-License-Identifier: MIT
// A destructor of a static, or a handler of atexit, may evaluate: it gets what it would have got in main.
#include <tenon/tenon.h>

#include <cstdlib>
#include <exception>
#include <iostream>

namespace tn = tenon;

namespace {

// Of main as well as of the end.
tn::Tensor product() { return tn::matmul(tn::ones({300, 200}), tn::ones({200, 100})); }

// Of the end only, unless main is given a word: each size is a new program, after the first when LLVM is closed.
tn::Tensor squares(int size) { return tn::square(tn::arange(size)) * 3 + 1; }

// What check.h does, but a process that exits already cannot exit.
void check(bool holds, const char* promise) {
  if (holds) return;
  std::cerr << "not kept: " << promise << "\n";
  std::_Exit(1);
}

int next_size = 1000;

void check_values() try {
  for (const float value : product().to_vector<float>()) check(value == 200, "a program of main has the same values");
  std::int64_t i = 0;
  for (const std::int64_t value : squares(next_size).to_vector<std::int64_t>()) {
    check(value == 3 * i * i + 1, "a new program has its values");
    ++i;
  }
  check(i == next_size++, "a new program has all its values");
} catch (const std::exception& error) {
  check(false, error.what());
}

const struct Last {
  ~Last() { check_values(); }
} last;

}  // namespace

int main(int count, char**) {
  std::atexit(check_values);  // runs after what the library has registered
  product().eval();
  for (const int size : {1000, 1001, 1002}) {
    if (count > 1) squares(size).eval();
  }
  std::atexit(check_values);  // runs before it
}
