// SPDX-License-Identifier: MIT
// Explaining costs nothing where nobody asks, and asking changes nothing of what is compiled. Allocations are counted
// by replacing the program's operator new, which a sanitizer does for itself.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "absl/strings/str_cat.h"
#include "compiler/ir/loop_text.h"
#include "runtime/session/dump.h"
#include "tests/random_graph.h"
#include "tests/unit/explained.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TENON_COUNTS_ALLOCATIONS

namespace {
thread_local std::int64_t allocations = 0;
}

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* block = std::malloc(bytes > 0 ? bytes : 1)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif

namespace tenon {
namespace {

TEST(ExplainCost, ProgramsThatRunAreCompiledWithoutALog) {
  EXPECT_EQ(session::compile_options().log, nullptr);
  EXPECT_FALSE(session::compile_options().stage_done);
}

TEST(ExplainCost, ALogChangesNothingOfWhatIsCompiled) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = testing::random_graph(seed, 40);
    DecisionLog log;
    CompileOptions with, without;
    with.log = &log;
    const auto a = build_loops(graph, with), b = build_loops(graph, without);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(print_loops(*a), print_loops(*b));
  }
}

#ifdef TENON_COUNTS_ALLOCATIONS
/// Layers that reduce rows and columns of one value, so that most pairs are refused, with long reasons.
Graph layers_that_do_not_fuse(int depth) {
  std::string text = "input x: float32[64, 256]\n", last = "x";
  for (int layer = 0; layer < depth; ++layer) {
    const auto name = [&](int n) { return absl::StrCat("%", 10 * layer + n + 1); };
    absl::StrAppend(&text, name(0), ": float32[64, 1] = max(", last, ", axis=[1], keepdims=true)\n");
    absl::StrAppend(&text, name(1), ": float32[256] = max(", last, ", axis=[0], keepdims=false)\n");
    absl::StrAppend(&text, name(2), ": float32[64, 256] = add(", last, ", ", name(1), ")\n");
    absl::StrAppend(&text, name(3), ": float32[64, 256] = flip(", name(2), ", axes=[0])\n");
    absl::StrAppend(&text, name(4), ": float32[64, 256] = add(", name(3), ", ", name(0), ")\n");
    last = name(4);
  }
  return parse_program(absl::StrCat(text, "output ", last))->graph;
}

std::int64_t allocations_of(const Graph& graph, DecisionLog* log) {
  CompileOptions options;
  options.log = log;
  const std::int64_t before = allocations;
  EXPECT_TRUE(build_loops(graph, options).ok());
  return allocations - before;
}

TEST(ExplainCost, NoRecordIsWrittenAndNoReasonPutIntoWordsWithoutALog) {
  const Graph graph = layers_that_do_not_fuse(40);
  DecisionLog log;
  const std::int64_t with = allocations_of(graph, &log), without = allocations_of(graph, nullptr);
  // A record's text is one allocation at least: of each node in three stages, of each value, and of each long reason.
  std::int64_t texts = static_cast<std::int64_t>(log.realize.size());
  for (const StageRecord& stage : log.stages) texts += static_cast<std::int64_t>(stage.nodes.size());
  const auto long_reasons = std::count_if(log.candidates.begin(), log.candidates.end(),
                                          [](const CandidateRecord& c) { return c.reason.size() > 15; });
  ASSERT_GT(long_reasons, 100);
  EXPECT_GE(with - without, texts + long_reasons);
}
#endif

}  // namespace
}  // namespace tenon
