// SPDX-License-Identifier: MIT
// Where no memory is left for the compiler's thread, new programs are interpreted, with the values of compiled ones.
#include <sys/resource.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <fstream>

#include "check.h"

namespace tn = tenon;

/// Lets the process have `bytes` of address space more than it has.
void leave(rlim_t bytes) {
  rlim_t kibibytes = 0;
  std::string word;
  for (std::ifstream status("/proc/self/status"); status >> word;) {
    if (word == "VmSize:") status >> kibibytes;
  }
  const rlimit limit{kibibytes * 1024 + bytes, RLIM_INFINITY};
  check(kibibytes > 0 && setrlimit(RLIMIT_AS, &limit) == 0, "the address space can be limited");
}

std::vector<float> waves(int size) {
  return tn::sin(tn::arange(0, size, 1, tn::DType::kFloat32) * 3 + 1).to_vector<float>();
}

/// How a new process fares that has so many bytes for LLVM and all else: a value, or an exception, but
/// no signal.
void run_short_of_memory(rlim_t bytes) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      leave(bytes);
      check(waves(1000).size() == 1000, "a compile that runs out of memory leaves the values");
    } catch (const std::exception&) {  // too little for the interpreter as well
    }
    std::_Exit(0);
  }
  int status = -1;
  check(waitpid(child, &status, 0) == child, "a child can be waited for");
  // 127 is the C library's own, when it has no memory for a library's thread-local data.
  check(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 127),
        "a compile that runs out of memory ends no process");
}

int main() {
  setenv("TENON_CACHE", "off", 1);
  setenv("TENON_LOG", "error", 1);
  for (rlim_t mebibytes = 160; mebibytes < 280; mebibytes += 2) run_short_of_memory(mebibytes << 20);

  std::vector<float> compiled = waves(1000);
  check(tn::statistics().compiler_opened, "the first program is compiled");
  const std::uint64_t before = tn::statistics().compiled;

  leave(32 << 20);  // half of the stack that the compiler's thread asks for
  const std::vector<float> interpreted = waves(999);
  check(tn::statistics().compiled == before, "nothing more is compiled");
  compiled.pop_back();
  check(interpreted == compiled, "the interpreter has the same values");
}
