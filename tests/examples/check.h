// SPDX-License-Identifier: MIT
// How the examples say that a promise was not kept: by name, and with exit status 1.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

/// Ends the program with status 1 if `holds` is false; `promise` says what should have been true.
inline void check(bool holds, const char* promise) {
  if (holds) return;
  std::cerr << "not kept: " << promise << "\n";
  std::exit(1);
}

/// The same for what holds only as long as nobody asks to evaluate every call on its own (TENON_EAGER=1).
inline void check_lazy(bool holds, const char* promise) {
  const char* eager = std::getenv("TENON_EAGER");
  if (!eager || std::string_view(eager) != "1") check(holds, promise);
}
