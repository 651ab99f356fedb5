// SPDX-License-Identifier: MIT
// What a call costs beside its arithmetic: tracing, key, look-up in memory and run of a program of N elementwise ops on
// 1,024 floats. Counters split the time; `threads` is the threads of the process afterwards: 1 says that no pool was
// made. Nothing is read from or written to disk.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "tenon/tenon.h"

namespace tenon::bench {
namespace {

constexpr std::int64_t kFloats = 1024;

/// Before the first use of the library, and only in a process that runs these.
void turn_cache_off() { setenv("TENON_CACHE", "off", 1); }

/// Half the ops multiply, half add; operands are tensors.
Tensor chain_of_tensors(Tensor x, const Tensor& y, std::int64_t ops) {
  for (std::int64_t i = 0; i < ops; i += 2) x = x * y + y;
  return x;
}

/// The same with numbers, each an argument of the program.
Tensor chain_of_numbers(Tensor x, const Tensor&, std::int64_t ops) {
  for (std::int64_t i = 0; i < ops; i += 2) x = x * 0.5 + 0.25;
  return x;
}

double threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<double>(std::distance(begin(tasks), end(tasks)));
}

void add_counters(benchmark::State& state, const Statistics& before) {
  const Statistics after = statistics();
  const double to_microseconds = 1e3 / static_cast<double>(state.iterations());
  state.counters["key_us"] = (after.key_ms - before.key_ms) * to_microseconds;
  state.counters["run_us"] = (after.run_ms - before.run_ms) * to_microseconds;
  state.counters["threads"] = threads_of_process();
}

template <Tensor (*trace)(Tensor, const Tensor&, std::int64_t)>
void call(benchmark::State& state) {
  turn_cache_off();
  const Tensor x = full({kFloats}, 0.5f).eval(), y = full({kFloats}, 0.25f).eval();
  trace(x, y, state.range(0)).eval();
  const Statistics before = statistics();
  for (auto _ : state) {
    const Tensor result = trace(x, y, state.range(0));
    benchmark::DoNotOptimize(result.eval());
  }
  add_counters(state, before);
}

/// Tracing alone: nodes made and released.
template <Tensor (*trace)(Tensor, const Tensor&, std::int64_t)>
void trace_only(benchmark::State& state) {
  turn_cache_off();
  const Tensor x = full({kFloats}, 0.5f).eval(), y = full({kFloats}, 0.25f).eval();
  for (auto _ : state) benchmark::DoNotOptimize(trace(x, y, state.range(0)));
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const std::int64_t ops : {2, 16, 64, 256, 1024}) b->Arg(ops);
  b->Unit(benchmark::kMicrosecond);
}

BENCHMARK(call<chain_of_tensors>)->Name("overhead/call/tensors")->Apply(sizes);
BENCHMARK(call<chain_of_numbers>)->Name("overhead/call/numbers")->Apply(sizes);
BENCHMARK(trace_only<chain_of_tensors>)->Name("overhead/trace/tensors")->Apply(sizes);
BENCHMARK(trace_only<chain_of_numbers>)->Name("overhead/trace/numbers")->Apply(sizes);

}  // namespace
}  // namespace tenon::bench
