// SPDX-License-Identifier: MIT
// Random programs: what lowering and fusion made, run by the loop-IR interpreter, has the bits of the graph interpreter,
// in either order of tasks; and compiled code has them too.
#include <gtest/gtest.h>

#include <cstdlib>

#include "compiler/ir/graph_text.h"
#include "compiler/ir/serialize.h"
#include "compiler/ir/verify.h"
#include "compiler/ops/decompose.h"
#include "compiler/ops/loop_interpreter.h"
#include "compiler/pipeline.h"
#include "runtime/device/cpu/allocator.h"
#include "runtime/device/cpu/host_cpu.h"
#include "runtime/session/compiler_library.h"
#include "runtime/session/program.h"
#include "tests/fuzz/random_graph.h"
#include "tests/fuzz/same_bits.h"

namespace tenon {
namespace {

using testing::RandomProgram;

/// Number of seeds: FUZZ_SEEDS, or a sample that a test run can afford.
std::uint64_t seeds(std::uint64_t sample) {
  const char* wanted = std::getenv("FUZZ_SEEDS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : sample;
}
std::uint64_t first_seed() {
  const char* wanted = std::getenv("FUZZ_FIRST");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 0;
}

absl::StatusOr<std::vector<HostTensor>> expected(const RandomProgram& p) {
  absl::StatusOr<Graph> primitives = decompose(p.graph);
  if (!primitives.ok()) return primitives.status();
  return interpret(*primitives, p.views(), p.scalars);
}

TEST(FusionFuzz, LoopsHaveTheBitsOfTheGraph) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + seeds(3000); ++seed) {
    const RandomProgram p = testing::random_program(seed, 14);
    const auto want = expected(p);
    ASSERT_TRUE(want.ok()) << "seed " << seed << " " << want.status() << "\n" << print_graph(p.graph);
    CompileOptions options;
    options.verify = true;
    const auto loops = build_loops(p.graph, options);
    ASSERT_TRUE(loops.ok()) << "seed " << seed << " " << loops.status() << "\n" << print_graph(p.graph);
    for (const bool reverse : {false, true}) {
      const auto got = interpret_loops(*loops, p.views(), p.scalars, {reverse});
      ASSERT_TRUE(got.ok()) << "seed " << seed << " " << got.status() << "\n" << print_graph(p.graph);
      for (std::size_t o = 0; o < want->size(); ++o) {
        ASSERT_TRUE(testing::same_bits((*want)[o].type, (*got)[o].data.data(), (*want)[o].data.data()))
            << "seed " << seed << " output " << o << "\n" << print_graph(p.graph);
      }
    }
  }
}

TEST(FusionFuzz, CompiledCodeHasTheBitsOfTheGraph) {
  if (device::runnable_targets().empty()) GTEST_SKIP() << "this processor has no target";
  const CodeGenerator generate = [](absl::Span<const std::byte> kernels) {
    return session::compile_kernels(std::span(kernels.data(), kernels.size()), device::runnable_targets().front());
  };
  for (std::uint64_t seed = first_seed(); seed < first_seed() + seeds(150); ++seed) {
    const RandomProgram p = testing::random_program(seed + 1000000, 14);
    const auto want = expected(p);
    ASSERT_TRUE(want.ok()) << want.status();
    const auto artifact = compile(encode_graph(p.graph), generate, {});
    ASSERT_TRUE(artifact.ok()) << "seed " << seed << " " << artifact.status() << "\n" << print_graph(p.graph);
    const auto program = session::Program::load(*artifact);
    ASSERT_TRUE(program.ok()) << program.status();
    std::vector<const void*> inputs;
    std::vector<device::StorageRef> results;
    std::vector<void*> outputs;
    for (const HostTensor& t : p.inputs) inputs.push_back(t.data.data());
    for (const HostTensor& t : *want) {
      results.push_back(device::allocate(t.data.size()));
      outputs.push_back(results.back()->data);
    }
    const absl::Status status = (*program)->run({inputs, p.scalars, outputs});
    ASSERT_TRUE(status.ok()) << status;
    for (std::size_t o = 0; o < want->size(); ++o) {
      ASSERT_TRUE(testing::same_bits((*want)[o].type, outputs[o], (*want)[o].data.data()))
          << "seed " << seed << " output " << o << "\n" << print_graph(p.graph);
    }
  }
}

}  // namespace
}  // namespace tenon
