// SPDX-License-Identifier: MIT
// What the first use of a program costs. cold: compiling it, LLVM being open already, disk cache off (`call_ms` is the
// whole first call). warm: the first result of a new process that finds the program on disk, from the start of its
// main; `load_us` is the look-up and load in it. The cache is a fresh folder that goes afterwards.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "bench/compile_programs.h"

namespace tenon::bench {
namespace {

/// Before the first use of the library, and only in a process that runs these.
void turn_cache_off() { setenv("TENON_CACHE", "off", 1); }

double milliseconds_of_call(const CompileProgram& program, std::int64_t rows) {
  const Tensor x = compile_input(rows);
  const auto start = std::chrono::steady_clock::now();
  program.trace(x).eval();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Never twice the same, so that every call compiles.
std::int64_t fresh_rows() {
  static std::int64_t rows = kRows;
  return ++rows;
}

void cold(benchmark::State& state, const CompileProgram& program) {
  turn_cache_off();
  milliseconds_of_call(program, fresh_rows());
  const Statistics before = statistics();
  double call_ms = 0, compiled_ms = before.compile_ms;
  for (auto _ : state) {
    call_ms += milliseconds_of_call(program, fresh_rows());
    const double now = statistics().compile_ms;
    state.SetIterationTime((now - compiled_ms) * 1e-3);
    compiled_ms = now;
  }
  const auto calls = static_cast<double>(state.iterations());
  state.counters["call_ms"] = call_ms / calls;
  state.counters["kernels"] = static_cast<double>(statistics().kernels - before.kernels) / calls;
}

struct FirstResult {
  double first_us, load_us;
  int compiled;
};

/// Nothing when the process could not be run.
std::optional<FirstResult> start_process(const CompileProgram& program, const std::string& cache) {
  const std::string command =
      "TENON_CACHE=rw TENON_CACHE_DIR=" + cache + " " TENON_BIN_DIR "/first_result " + std::string(program.name);
  std::FILE* const output = popen(command.c_str(), "r");
  if (!output) return {};
  FirstResult r{};
  const bool is_read = std::fscanf(output, "%lf %lf %d", &r.first_us, &r.load_us, &r.compiled) == 3;
  return pclose(output) == 0 && is_read ? std::optional(r) : std::nullopt;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tenon-bench-XXXXXX").string();
    if (mkdtemp(name.data())) path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void warm(benchmark::State& state, const CompileProgram& program) {
  const TemporaryFolder cache;
  const auto first = start_process(program, cache.path());
  if (!first) return state.SkipWithError("first_result cannot be run");
  double load_us = 0;
  for (auto _ : state) {
    const auto r = start_process(program, cache.path());
    if (!r || r->compiled != 0) return state.SkipWithError("the program was not found on disk");
    state.SetIterationTime(r->first_us * 1e-6);
    load_us += r->load_us;
  }
  state.counters["load_us"] = load_us / static_cast<double>(state.iterations());
  state.counters["cold_us"] = first->first_us;
}

const bool is_registered = [] {
  for (const CompileProgram& program : compile_programs()) {
    const auto add = [&](const char* kind, auto* function) {
      const std::string name = "compile/" + std::string(kind) + "/" + std::string(program.name);
      return benchmark::RegisterBenchmark(name.c_str(), function, program)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    };
    add("cold", cold);
    add("warm", warm)->Iterations(50);
  }
  return true;
}();

}  // namespace
}  // namespace tenon::bench
