// SPDX-License-Identifier: MIT
// The main of tenon-static, one program that is the tool, the tests and the benchmarks, with the compiler linked in.
//
// `tenon-static test ...` takes GoogleTest's flags, `bench ...` Google Benchmark's, `workloads ...` those of
// workloads_bench; any other words go to the tool. Under the name tests or bench the program is that alone.
#include <benchmark/benchmark.h>

#include <string_view>

int tenon_test_main(int argc, char** argv);
int tenon_tool_main(int argc, char** argv);
int tenon_workloads_bench_main(int argc, char** argv);

namespace {

int run_benchmarks(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view path = argv[0];
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (name == "tests") return tenon_test_main(argc, argv);
  if (name == "bench") return run_benchmarks(argc, argv);
  if (word == "test") return tenon_test_main(argc - 1, argv + 1);
  if (word == "bench") return run_benchmarks(argc - 1, argv + 1);
  if (word == "workloads") return tenon_workloads_bench_main(argc - 1, argv + 1);
  return tenon_tool_main(argc, argv);
}
