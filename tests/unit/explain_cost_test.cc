// SPDX-License-Identifier: MIT
// Explaining costs nothing where nobody asks, and asking changes nothing of what is compiled.
#include <gtest/gtest.h>

#include "compiler/ir/loop_text.h"
#include "runtime/session/dump.h"
#include "tests/unit/explained.h"
#include "tests/unit/random_graph.h"

namespace tenon {
namespace {

TEST(ExplainCost, ProgramsThatRunAreCompiledWithoutALog) {
  EXPECT_EQ(session::compile_options().log, nullptr);
  EXPECT_FALSE(session::compile_options().stage_done);
}

TEST(ExplainCost, ALogChangesNothingOfWhatIsCompiled) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed, 40);
    DecisionLog log;
    CompileOptions with, without;
    with.log = &log;
    const auto a = build_loops(graph, with), b = build_loops(graph, without);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(print_loops(*a), print_loops(*b));
  }
}

}  // namespace
}  // namespace tenon
