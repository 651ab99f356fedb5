// SPDX-License-Identifier: MIT
// Fusion never costs memory: for random programs the arena is at most that of the program unfused, and one buffer more.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/graph_text.h"
#include "compiler/pipeline.h"
#include "tests/fuzz/seeds.h"
#include "tests/random_graph.h"

namespace tenon {
namespace {

LoopProgram built(const Graph& graph, FusionMode mode) {
  CompileOptions options;
  options.fusion.mode = mode;
  absl::StatusOr<LoopProgram> loops = build_loops(graph, options);
  if (!loops.ok()) throw std::runtime_error(std::string(loops.status().message()));
  return *std::move(loops);
}

std::int64_t largest_temporary(const LoopProgram& program) {
  std::int64_t most = 0;
  for (const Buffer& b : program.buffers) {
    const std::int64_t bytes = numel(b.shape) * static_cast<std::int64_t>(size_of(b.dtype));
    if (b.space == Buffer::kTemporary) most = std::max(most, (bytes + 63) / 64 * 64);
  }
  return most;
}

void expect_peak(const Graph& graph) {
  const LoopProgram off = built(graph, FusionMode::kOff);
  for (const auto& [name, mode] : kFusionModes) {
    ASSERT_LE(built(graph, mode).arena_bytes, off.arena_bytes + largest_temporary(off)) << name << "\n"
                                                                                        << print_graph(graph);
  }
}

TEST(MemoryFuzz, FusedProgramsPeakAtMostOneBufferAboveUnfusedOnes) {
  const auto try_seeds = [](std::uint64_t offset, std::uint64_t sample, int max_ops) {
    testing::for_seeds(offset, sample,
                       [&](std::uint64_t seed) { expect_peak(testing::random_program(seed, max_ops).graph); });
  };
  try_seeds(4'000'000'000, 1500, 14);
  try_seeds(5'000'000'000, 200, 60);
}

}  // namespace
}  // namespace tenon
