// SPDX-License-Identifier: MIT
// tenon run, explain, compile: one program through the session.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>

#include "absl/strings/str_cat.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/loop_text.h"
#include "compiler/ir/serialize.h"
#include "runtime/api/access.h"
#include "runtime/device/cpu/allocator.h"
#include "runtime/device/cpu/host_cpu.h"
#include "runtime/session/compiler_library.h"
#include "runtime/session/dump.h"
#include "runtime/session/session.h"
#include "runtime/tool/command.h"
#include "runtime/tool/program_file.h"

namespace tenon::tool {
namespace {

using Clock = std::chrono::steady_clock;
double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

absl::StatusOr<LoadedProgram> load_one(const Arguments& arguments) {
  if (arguments.positional.size() != 1)
    return absl::InvalidArgumentError("give one program: a .tir file or FILE.json#ID");
  return load_program(arguments.positional[0]);
}

struct Times {
  double trace_ms = 0, key_ms = 0, run_ms = 0;
};

absl::StatusOr<std::vector<device::StorageRef>> execute(const LoadedProgram& program, Times& times) {
  const Clock::time_point key_start = Clock::now();
  const session::ProgramKey key = session::key_of(program.key_bytes);
  times.key_ms = milliseconds_since(key_start);
  absl::StatusOr<std::shared_ptr<const session::Program>> compiled = session::store().find_or_make(key);
  if (!compiled.ok()) return compiled.status();
  std::vector<device::StorageRef> results;
  std::vector<void*> outputs;
  std::vector<const void*> inputs;
  for (const TensorType& type : program.outputs) {
    const auto bytes = static_cast<std::size_t>(numel(type.shape)) * size_of(type.dtype);
    results.push_back(device::allocate(bytes));
    if (!results.back()) return absl::ResourceExhaustedError(absl::StrCat("no memory for ", to_string(type)));
    outputs.push_back(results.back()->data);
  }
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    inputs.push_back(static_cast<const std::byte*>(program.inputs[i]->data) + program.input_offsets[i]);
  }
  const Clock::time_point start = Clock::now();
  absl::Status status = (*compiled)->run({inputs, program.scalars, outputs});
  times.run_ms = milliseconds_since(start);
  if (!status.ok()) return status;
  return results;
}

/// Milliseconds with three decimals.
double rounded(double ms) { return std::round(ms * 1e3) / 1e3; }

void print_stats(const Times& times) {
  const session::Counters c = session::counters();
  nlohmann::ordered_json out = {{"compiled", c.compiled},
                                {"memory_hits", c.memory_hits},
                                {"disk_hits", c.disk_hits},
                                {"compiler_opened", session::is_compiler_open()},
                                {"kernels", c.kernels},
                                {"trace_ms", rounded(times.trace_ms)},
                                {"key_ms", rounded(times.key_ms)},
                                {"lookup_ms", rounded(c.lookup_us / 1e3)},
                                {"compile_ms", rounded(c.compile_us / 1e3)},
                                {"load_ms", rounded(c.load_us / 1e3)},
                                {"run_ms", rounded(times.run_ms)}};
  std::cout << out.dump() << "\n";
}

}  // namespace

int run_command(const Arguments& arguments) {
  const Clock::time_point start = Clock::now();
  absl::StatusOr<LoadedProgram> program = load_one(arguments);
  if (!program.ok()) return fail(program.status());
  Times times;
  times.trace_ms = milliseconds_since(start);
  absl::StatusOr<std::vector<device::StorageRef>> results = execute(*program, times);
  if (!results.ok()) return fail(results.status());
  for (std::size_t i = 0; i < results->size() && !arguments.has("quiet"); ++i) {
    std::cout << program->output_names[i] << " = "
              << to_string(internal::Access::wrap(trace::make_ready(program->outputs[i], (*results)[i], {}, 0)))
              << "\n";
  }
  if (arguments.has("stats")) print_stats(times);
  return kOk;
}

int compile_command(const Arguments& arguments) {
  absl::StatusOr<LoadedProgram> program = load_one(arguments);
  if (!program.ok()) return fail(program.status());
  const std::string emit = arguments.value("emit");
  absl::StatusOr<Graph> graph = decode_graph(program->key_bytes);
  if (!graph.ok()) return fail(graph.status());
  if (emit == "graph") {
    std::cout << print_graph(*graph);
    return kOk;
  }
  if (emit != "loops" && emit != "llvm" && emit != "asm") return fail_input("--emit is one of graph, loops, llvm, asm");
  absl::StatusOr<LoopProgram> loops = build_loops(*graph, session::compile_options());
  if (!loops.ok()) return fail(loops.status());
  if (emit == "loops") {
    std::cout << print_loops(*loops);
    return kOk;
  }
  const auto& targets = device::runnable_targets();
  const codegen::TargetSpec target = targets.empty() ? codegen::TargetSpec() : targets.front();
  const auto text = session::compile_kernels(encode_loop_program(*loops), target,
                                             emit == "llvm" ? kTenonEmitLlvm : kTenonEmitAssembly);
  if (!text.ok()) return fail(text.status());
  std::cout.write(reinterpret_cast<const char*>(text->data()), static_cast<std::streamsize>(text->size()));
  return kOk;
}

}  // namespace tenon::tool
