// SPDX-License-Identifier: MIT
// Mistakes are thrown at the call that makes them, with the caller's file and line, never later.
#include <tenon/tenon.h>

#include <functional>
#include <iostream>
#include <string>

#include "check.h"

namespace tn = tenon;

/// Runs what must fail, and returns what was said.
std::string message_of(const std::function<void()>& mistake) {
  try {
    mistake();
  } catch (const tn::Error& error) {
    check(error.code() == tn::ErrorCode::kInvalidArgument, "a mistake of the caller is told as one");
    check(std::string(error.file()).ends_with("mistakes.cc"), "the message names the caller's file");
    return error.op() + ": " + error.message();
  }
  check(false, "a mistake throws");
  return "";
}

int main() {
  const tn::Tensor x = tn::ones({2, 3}), y = tn::ones({4});
  const int count = 3;
  for (const std::string& message : {
           message_of([&] { x + y; }),
           message_of([&] { tn::matmul(x, y); }),
           message_of([&] { tn::sum(x, {2}); }),
           message_of([&] { tn::reshape(x, {4, -1}); }),
           message_of([&] { x[{count, 0}]; }),
           message_of([&] { (void)tn::ones({}).item<double>(); }),
       }) {
    std::cout << message << "\n";
  }

  // The library stays usable after an error.
  check(tn::sum(x).item<float>() == 6.0f, "after a mistake the next call works");
}
