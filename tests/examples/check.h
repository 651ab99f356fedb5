// SPDX-License-Identifier: MIT
// How the examples say that a promise was not kept: by name, and with exit status 1.
#pragma once

#include <cstdlib>
#include <iostream>

/// Ends the program with status 1 if `holds` is false; `promise` says what should have been true.
inline void check(bool holds, const char* promise) {
  if (holds) return;
  std::cerr << "not kept: " << promise << "\n";
  std::exit(1);
}
