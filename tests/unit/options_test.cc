// SPDX-License-Identifier: MIT
// Settings are checked against their table.
#include "runtime/options.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace tenon
