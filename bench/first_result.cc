// SPDX-License-Identifier: MIT
// A new process that computes one program of compile_programs.h. It prints three numbers: microseconds from the start
// of main to the first result, microseconds of looking the program up on disk and loading it, and programs compiled.
// compile_bench starts it; the cache is that of TENON_CACHE_DIR.
#include <chrono>
#include <cstdio>

#include "bench/compile_programs.h"

int main(int argc, char** argv) {
  using namespace tenon;
  const auto start = std::chrono::steady_clock::now();
  const bench::CompileProgram* program = argc == 2 ? bench::find_compile_program(argv[1]) : nullptr;
  if (!program) {
    std::fprintf(stderr, "usage: first_result PROGRAM\n");
    return 2;
  }
  program->trace(bench::compile_input(bench::kRows)).eval();
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
  const Statistics s = statistics();
  std::printf("%.1f %.1f %d\n", elapsed.count(), 1e3 * (s.lookup_ms + s.load_ms), static_cast<int>(s.compiled));
}
