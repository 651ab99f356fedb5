// SPDX-License-Identifier: MIT
// Settings are checked against their table, and no number of threads goes beyond what the process may use.
#include "runtime/options.h"

#include <gtest/gtest.h>
#include <tbb/info.h>

#include <string>

#include "runtime/device/cpu/parallel.h"

namespace tenon {
namespace {

TEST(Options, DumpTakesStagesThatExist) {
  Options o;
  EXPECT_TRUE(set_option(o, "TENON_DUMP", "graph,llvm").ok());
  EXPECT_TRUE(set_option(o, "TENON_DUMP", "").ok());
  EXPECT_TRUE(set_option(o, "TENON_DUMP", "all").ok());
  const absl::Status status = set_option(o, "TENON_DUMP", "graph,lops");
  EXPECT_EQ(std::string(status.message()), "'lops' is not one of graph|decompose|rewrite|loops|llvm|asm|all");
  EXPECT_EQ(o.dump, "all");
}

TEST(Options, ThreadsAreAtMostWhatTheProcessMayUse) {
  device::set_num_threads(1 << 20);
  EXPECT_LE(device::num_threads(), tbb::info::default_concurrency());
}

}  // namespace
}  // namespace tenon
