// SPDX-License-Identifier: MIT
// Settings are checked against their table, and no number of threads goes beyond what the process may use.
#include "runtime/options.h"

#include <gtest/gtest.h>
#include <tbb/info.h>

#include <set>
#include <string>

#include "runtime/device/cpu/parallel.h"
#include "runtime/session/dump.h"
#include "runtime/session/store.h"

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

TEST(Options, FusionIsPartOfTheKeyAndUnknownModesNameTheValidOnes) {
  Options& o = options();
  const std::string before = o.fusion;
  std::set<std::string> environments;
  for (const auto& [name, mode] : kFusionModes) {
    EXPECT_TRUE(set_option(o, "TENON_FUSION", name).ok());
    EXPECT_EQ(session::compile_options().fusion.mode, mode);
    environments.insert(session::environment_text());
  }
  EXPECT_EQ(environments.size(), kFusionModes.size());
  const absl::Status status = set_option(o, "TENON_FUSION", "fastest");
  std::string valid;
  for (const auto& [name, mode] : kFusionModes) absl::StrAppend(&valid, valid.empty() ? "" : "|", std::string(name));
  EXPECT_EQ(std::string(status.message()), "'fastest' is not one of " + valid);
  o.fusion = before;
}

TEST(Options, RealizeIsPartOfTheKeyAndUnknownModesNameTheValidOnes) {
  Options& o = options();
  std::set<std::string> environments;
  for (const auto& [name, mode] : kRealizeModes) {
    EXPECT_TRUE(set_option(o, "TENON_REALIZE", name).ok());
    EXPECT_EQ(session::compile_options().realize, mode);
    environments.insert(session::environment_text());
  }
  EXPECT_EQ(environments.size(), kRealizeModes.size());
  EXPECT_EQ(std::string(set_option(o, "TENON_REALIZE", "eager").message()), "'eager' is not one of tenon|inductor");
  o.realize = "tenon";
}

TEST(Options, TheCostTableIsPartOfTheKey) {
  EXPECT_NE(session::environment_text().find("\ncosts " + to_string(CostTable()) + "\n"), std::string::npos);
}

}  // namespace
}  // namespace tenon
