// SPDX-License-Identifier: MIT
// Runs a command as a user would, and takes what it printed.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace tenon::testing {

struct Output {
  int status = -1;   ///< exit status; -1: it did not start, or ended by a signal
  std::string text;  ///< standard output and standard error
};

/// Runs `command` in the shell and waits for its end.
inline Output run(const std::string& command) {
  Output out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return out;
  std::array<char, 4096> buffer;
  while (std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) out.text.append(buffer.data(), n);
  const int status = pclose(pipe);
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

}  // namespace tenon::testing
