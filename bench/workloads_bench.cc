// SPDX-License-Identifier: MIT
// Times the workloads and prints one JSON row each, with the protocol and the keys of peers.py (run it on one cache
// folder twice for cold and warm first_ms). Added: `bytes`, of inputs and outputs, each once, and `floor_us`, in which
// memory alone moves them. The row copy_rate gives bytes a second of copying 32 MiB. With any --benchmark_ argument it
// is a Google Benchmark program instead.
//
//   workloads_bench [--only NAME,NAME] [--out FILE] [--seconds S]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "bench/memory_floor.h"
#include "bench/workloads.h"

namespace tenon::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Tensors call(const Workload& workload, const Tensors& inputs) {
  Tensors outputs = workload.trace(inputs);
  eval(outputs);
  return outputs;
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t middle = times.size() / 2;
  return times.size() % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

double rounded(double value, double digits) { return std::round(value * digits) / digits; }

/// First, a third of the way, and last element, as float32.
Json check_values(const Tensor& output) {
  const Tensor flat = flatten(output.astype(DType::kFloat32));
  Json values = Json::array();
  for (const std::int64_t i : {std::int64_t{0}, flat.size() / 3, flat.size() - 1})
    values.push_back(static_cast<double>(flat.data<float>()[i]));
  return values;
}

Block block_of(const Tensor& t) {
  const auto bytes = static_cast<std::size_t>(bytes_moved({t}, {}));
  const auto block = [&](const auto* data) { return Block(reinterpret_cast<const std::byte*>(data), bytes); };
  switch (t.dtype()) {
    case DType::kBFloat16:
      return block(t.data<bfloat16>());
    case DType::kUInt8:
      return block(t.data<std::uint8_t>());
    case DType::kInt64:
      return block(t.data<std::int64_t>());
    default:
      return block(t.data<float>());
  }
}

double floor_us(const Tensors& inputs, const Tensors& outputs) {
  std::vector<Block> reads;
  for (const Tensor& t : inputs) reads.push_back(block_of(t));
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  return memory_floor(reads, static_cast<std::size_t>(bytes_moved({}, outputs)), threads) * 1e6;
}

/// A CPU evaluates at the call, so the time of a call is that of its run.
Json time_workload(const Workload& workload, double seconds) {
  const Tensors inputs = make_inputs(workload);
  Clock::time_point start = Clock::now();
  Tensors outputs = call(workload, inputs);
  const double first = seconds_since(start);
  for (int i = 0; i < 3; ++i) outputs = call(workload, inputs);
  start = Clock::now();
  call(workload, inputs);
  const int reps = static_cast<int>(std::clamp(seconds / std::max(seconds_since(start), 2e-6), 5.0, 200.0));
  std::vector<double> runs;
  for (int i = 0; i < reps; ++i) {
    start = Clock::now();
    outputs = call(workload, inputs);
    runs.push_back(seconds_since(start));
  }
  start = Clock::now();
  for (int i = 0; i < reps; ++i) outputs = call(workload, inputs);
  const double back_to_back = seconds_since(start) / reps;
  const double run_us = rounded(median(runs) * 1e6, 100);
  return {{"first_ms", rounded(first * 1e3, 1000)},
          {"run_us", run_us},
          {"back_to_back_us", rounded(back_to_back * 1e6, 100)},
          {"call_us", run_us},
          {"reps", reps},
          {"check", check_values(outputs.front())},
          {"bytes", bytes_moved(inputs, outputs)},
          {"floor_us", rounded(floor_us(inputs, outputs), 100)}};
}

Json row_of(std::string_view workload, Json values) {
  Json row = {{"peer", "tenon"}, {"device", "cpu"}, {"workload", workload}};
  row.update(values);
  return row;
}

Json workload_row(const Workload& workload, double seconds) {
  try {
    return row_of(workload.name, time_workload(workload, seconds));
  } catch (const std::exception& error) {
    return row_of(workload.name, {{"error", error.what()}});
  }
}

Json copy_rate_row() {
  const Tensor x = zeros({8 << 20}).eval();
  return row_of("copy_rate", {{"bytes_per_second", std::round(2e6 * 4 * (8 << 20) / floor_us({x}, {x}))}});
}

struct Arguments {
  std::string only, out;
  double seconds = 0.5;

  bool wants(std::string_view name) const {
    return only.empty() || ("," + only + ",").find("," + std::string(name) + ",") != std::string::npos;
  }
};

int print_rows(const Arguments& arguments) {
  Json rows = Json::array();
  const auto add = [&](Json row) {
    std::cout << row << std::endl;
    rows.push_back(std::move(row));
  };
  // A program of another kind first, so that opening LLVM is in no row's first_ms.
  const Tensor throw_away = make_input({InputSpec::Kind::kFloat32, {1000}, 9});
  for (int i = 0; i < 2; ++i) (throw_away * 2.0 + 3.0).eval();
  if (arguments.wants("copy_rate")) add(copy_rate_row());
  for (const Workload& workload : workloads())
    if (arguments.wants(workload.name)) add(workload_row(workload, arguments.seconds));
  if (!arguments.out.empty()) std::ofstream(arguments.out) << rows.dump(1) << "\n";
  return 0;
}

int parse_and_print(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--only") {
      arguments.only = value;
    } else if (name == "--out") {
      arguments.out = value;
    } else if (name == "--seconds") {
      arguments.seconds = std::atof(value);
    } else {
      std::cerr << "usage: workloads_bench [--only NAME,NAME] [--out FILE] [--seconds S]\n";
      return 2;
    }
  }
  return print_rows(arguments);
}

void run_workload(benchmark::State& state, const Workload& workload) {
  const Tensors inputs = make_inputs(workload);
  Tensors outputs = call(workload, inputs);
  for (auto _ : state) outputs = call(workload, inputs);
  state.SetBytesProcessed(state.iterations() * bytes_moved(inputs, outputs));
}

const bool is_registered = [] {
  for (const Workload& workload : workloads())
    benchmark::RegisterBenchmark(("workload/" + std::string(workload.name)).c_str(), run_workload, workload)
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  return true;
}();

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  const bool is_google =
      std::any_of(argv, argv + argc, [](std::string_view a) { return a.starts_with("--benchmark_"); });
  if (!is_google) return tenon::bench::parse_and_print(argc, argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
