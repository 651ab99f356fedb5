// SPDX-License-Identifier: MIT
// Where no memory is left for the compiler's thread, new programs are interpreted, with the values of compiled ones.
#include <sys/resource.h>
#include <tenon/tenon.h>

#include <cstdlib>
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

int main() {
  setenv("TENON_CACHE", "off", 1);
  std::vector<float> compiled = waves(1000);
  check(tn::statistics().compiler_opened, "the first program is compiled");
  const std::uint64_t before = tn::statistics().compiled;

  leave(32 << 20);  // half of the stack that the compiler's thread asks for
  const std::vector<float> interpreted = waves(999);
  check(tn::statistics().compiled == before, "nothing more is compiled");
  compiled.pop_back();
  check(interpreted == compiled, "the interpreter has the same values");
}
