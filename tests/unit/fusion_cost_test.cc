// SPDX-License-Identifier: MIT
// The cost model in integers: each term counts, on one and on several threads, and what is fused never costs more.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "compiler/schedule/cost.h"
#include "compiler/schedule/fusion_options.h"
#include "tests/unit/loop_graphs.h"

namespace tenon {
namespace {

CostTable round_table() {
  CostTable table;
  table.kernel_ps = 1000;
  table.threads_ps = 5000;
  table.cores = 4;
  table.thread_work = 100;
  table.core_ps_per_kib = 1024;   // a picosecond a byte
  table.memory_ps_per_kib = 512;  // two cores have it all
  table.op_ps = 10;
  return table;
}

Work work(std::int64_t read, std::int64_t write, std::int64_t operations) {
  Work w;
  w.read_bytes = read;
  w.write_bytes = write;
  w.operations = operations;
  w.tasks = 1000;
  return w;
}

TEST(FusionCost, LaunchAndTheLargerOfMemoryAndComputeAndATwentiethOfTheOther) {
  const CostTable t = round_table();
  EXPECT_EQ(kernel_cost(work(0, 0, 0), t), 1000);
  EXPECT_EQ(kernel_cost(work(3000, 1000, 0), t), 1000 + 4000);
  EXPECT_EQ(kernel_cost(work(3000, 1000, 40), t), 1000 + 4000 + 400 / 20);
  EXPECT_EQ(kernel_cost(work(300, 100, 40), t), 1000 + 400 + 400 / 20);
  EXPECT_EQ(kernel_cost(work(0, 0, 60), t), 1000 + 600);
}

TEST(FusionCost, WhatWasTouchedBeforeIsCheaper) {
  const CostTable t = round_table();
  Work w = work(1024, 0, 0);
  w.near_bytes = 4096 * 4;
  EXPECT_EQ(kernel_cost(w, t), 1000 + 1024 + 4096);
  w.near_bytes = 0;
  w.nearest_bytes = 10240 * 10;
  EXPECT_EQ(kernel_cost(w, t), 1000 + 1024 + 10240);
}

TEST(FusionCost, ThreadsShareTheWorkWhereThatPays) {
  const CostTable t = round_table();
  EXPECT_EQ(kernel_cost(work(0, 0, 4000), t), 1000 + 5000 + 10000);           // by four
  EXPECT_EQ(kernel_cost(work(102400, 0, 400), t), 1000 + 5000 + 51200 + 50);  // memory gives two their full rate
  EXPECT_EQ(kernel_cost(work(0, 0, 500), t), 1000 + 5000);                    // 5000 alone, 6250 by four
  Work w = work(0, 0, 4000);
  w.tasks = 1;
  EXPECT_EQ(kernel_cost(w, t), 1000 + 40000);
}

TEST(FusionCost, EveryFieldOfTheTableIsInItsText) {
  const std::string text = to_string(CostTable());
  std::set<std::string> texts = {text};
  for (const CostField& field : kCostFields) {
    CostTable table;
    table.*field.value += 1;
    texts.insert(to_string(table));
  }
  EXPECT_EQ(texts.size(), kCostFields.size() + 1);
  EXPECT_EQ(sizeof(CostTable), kCostFields.size() * sizeof(std::int64_t));
}

TEST(FusionCost, ModesHaveNamesThatAreRead) {
  for (const auto& [name, mode] : kFusionModes) EXPECT_EQ(parse_fusion_mode(name), mode);
  EXPECT_EQ(parse_fusion_mode("fastest"), std::nullopt);
}

struct Scored {
  FusionScore time, bytes;
};

/// A pair of nodes that read one input, the second also the first, over that many elements.
Scored score(std::int64_t elements, bool second_reads_first) {
  testing::LoopGraph g(elements);
  const BufferId x = g.input();
  const BufferId first = g.sum({x}, !second_reads_first);
  g.sum(second_reads_first ? std::vector{first} : std::vector{x}, true);
  const std::vector<Group> groups = {group_of(g.graph(), 0), group_of(g.graph(), 1)};
  const Dependencies d(g.graph(), groups);
  const FusionPair pair{g.graph(), d, 0, 1, groups[0], groups[1], 0};
  const FusionResult both = can_fuse(pair);
  EXPECT_TRUE(both.group.has_value());
  const CostTable t;
  const Work a = work_of(g.graph(), d, groups[0], t, 0), b = work_of(g.graph(), d, groups[1], t, 1);
  return {score_fusion(pair, a, b, *both.group, t, ScoreRule::kTime),
          score_fusion(pair, a, b, *both.group, t, ScoreRule::kInductor)};
}

TEST(FusionCost, AFusedPairSavesALaunchAndTheBytesThatItShares) {
  const Scored vertical = score(100, true), horizontal = score(100, false);
  EXPECT_EQ(vertical.time.shared_bytes, 2 * 400);  // neither stored nor read
  EXPECT_EQ(horizontal.time.shared_bytes, 400);    // read once
  const CostTable t;
  EXPECT_GT(vertical.time.saved, t.kernel_ps + 800 * t.core_ps_per_kib / 1024 - 1000);
  EXPECT_EQ(vertical.time.value, 2 * vertical.time.saved);
  EXPECT_EQ(vertical.bytes.value, 16 * 2 * 400);
  EXPECT_EQ(horizontal.bytes.value, 16 * 400);
}

}  // namespace
}  // namespace tenon
