// SPDX-License-Identifier: MIT
// The fusion search: its work grows with the graph and no faster, whatever the shape, and its order of groups is one.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/fuse.h"
#include "tests/unit/loop_graphs.h"

namespace tenon {
namespace {

using testing::LoopGraph;

LoweredGraph chain(int nodes) {
  LoopGraph g(1000);
  BufferId last = g.input();
  for (int n = 0; n < nodes; ++n) last = g.sum({last}, n + 1 == nodes);
  return std::move(g.graph());
}

LoweredGraph fan(int nodes) {
  LoopGraph g(1000);
  const BufferId source = g.sum({g.input()});
  for (int n = 1; n < nodes; ++n) g.sum({source}, true);
  return std::move(g.graph());
}

/// Pairs of an inner and an outer value that each layer adds to the stream.
LoweredGraph residual_stack(int nodes) {
  LoopGraph g(1000);
  BufferId stream = g.input();
  for (int n = 0; n < nodes; n += 2) stream = g.sum({g.sum({stream}), stream}, n + 2 >= nodes);
  return std::move(g.graph());
}

/// Half the nodes go down, the other half come up, each reading what was made at its level on the way down.
LoweredGraph ladder(int nodes) {
  LoopGraph g(1000);
  std::vector<BufferId> levels = {g.input()};
  for (int n = 0; n < nodes / 2; ++n) levels.push_back(g.sum({levels.back()}));
  BufferId up = levels.back();
  for (int n = nodes / 2 - 1; n >= 0; --n) up = g.sum({up, levels[static_cast<std::size_t>(n)]}, n == 0);
  return std::move(g.graph());
}

/// Pairs of values that share nothing but one input.
LoweredGraph comb(int nodes) {
  LoopGraph g(1000);
  const BufferId x = g.input();
  std::vector<BufferId> fronts;
  for (int n = 0; n < nodes / 2; ++n) fronts.push_back(g.sum({x}));
  for (BufferId front : fronts) g.sum({front}, true);
  return std::move(g.graph());
}

const std::map<std::string, std::function<LoweredGraph(int)>> kShapes = {
    {"chain", chain}, {"fan", fan}, {"residual_stack", residual_stack}, {"ladder", ladder}, {"comb", comb}};

FusionOptions greedy() {
  FusionOptions options;
  options.mode = FusionMode::kGreedy;
  return options;
}

FusionPlan plan_of(const LoweredGraph& lowered) {
  absl::StatusOr<FusionPlan> plan = fuse(lowered, greedy(), nullptr);
  if (!plan.ok()) throw std::runtime_error(std::string(plan.status().message()));
  return *std::move(plan);
}

TEST(FusionSearch, WorkGrowsWithTheGraphAndNoFaster) {
  for (const auto& [name, make] : kShapes) {
    const FusionPlan small = plan_of(make(1000)), large = plan_of(make(10000));
    EXPECT_LE(large.evaluations, 12 * small.evaluations) << name;
    EXPECT_LE(large.evaluations, 20 * 10000) << name;
    EXPECT_LE(large.path_steps, 400 * 10000) << name;
    RecordProperty(name + "_evaluations", static_cast<int>(large.evaluations));
    RecordProperty(name + "_path_steps", static_cast<int>(large.path_steps));
    RecordProperty(name + "_groups", static_cast<int>(large.groups.size()));
  }
}

TEST(FusionSearch, AHundredThousandNodes) {
  for (const std::string name : {"chain", "residual_stack"}) {
    const FusionPlan plan = plan_of(kShapes.at(name)(100000));
    EXPECT_LE(plan.evaluations, 20 * 100000) << name;
    EXPECT_LE(plan.groups.size(), 2500u) << name;
  }
}

/// Every value is written before it is read, and every node is in one group.
void expect_order(const LoweredGraph& lowered, const FusionPlan& plan) {
  std::vector<int> written(lowered.buffers.size(), -1);
  std::size_t members = 0;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    for (const Member& m : plan.groups[g].members) {
      ++members;
      for (const Access& read : m.reads) {
        const auto& buffer = lowered.buffers[static_cast<std::size_t>(read.buffer)];
        EXPECT_TRUE(buffer.space == Buffer::kInput || written[static_cast<std::size_t>(read.buffer)] >= 0);
      }
      written[static_cast<std::size_t>(m.write.buffer)] = static_cast<int>(g);
    }
  }
  EXPECT_EQ(members, lowered.nodes.size());
}

LoweredGraph random_graph(std::uint32_t seed, int nodes) {
  std::mt19937 random(seed);
  LoopGraph g(1000);
  std::vector<BufferId> values = {g.input(), g.input()};
  const std::size_t reach = 2 + random() % 12;
  for (int n = 0; n < nodes; ++n) {
    std::vector<BufferId> reads;
    for (std::uint32_t k = 0; k < 1 + random() % 3; ++k)
      reads.push_back(values[values.size() - 1 - random() % std::min(values.size(), reach)]);
    // Sizes that do not fit one another keep groups apart, so that paths between groups come about.
    values.push_back(g.sum(reads, random() % 4 == 0 ? 999 : 1000, random() % 5 == 0));
  }
  return std::move(g.graph());
}

TEST(FusionSearch, GroupsOfRandomGraphsHaveAnOrder) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const LoweredGraph lowered = random_graph(seed, 10 + static_cast<int>(seed));
    expect_order(lowered, plan_of(lowered));
  }
}

/// Paths by Floyd and Warshall's closure over the groups as they are.
class Closure {
 public:
  Closure(const Dependencies& d, const std::vector<int>& groups) : groups_(groups), reach_(groups.size()) {
    for (auto& row : reach_) row.assign(groups.size(), false);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (std::size_t j = 0; j < groups.size(); ++j) reach_[i][j] = i != j && d.is_consumer(groups[i], groups[j]);
    }
    for (std::size_t k = 0; k < groups.size(); ++k) {
      for (std::size_t i = 0; i < groups.size(); ++i) {
        for (std::size_t j = 0; j < groups.size(); ++j) reach_[i][j] = reach_[i][j] || (reach_[i][k] && reach_[k][j]);
      }
    }
  }
  bool path(std::size_t i, std::size_t j) const { return reach_[i][j]; }
  bool path_between(std::size_t i, std::size_t j) const {
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      if (k != i && k != j && reach_[i][k] && reach_[k][j]) return true;
    }
    return false;
  }

 private:
  std::vector<int> groups_;
  std::vector<std::vector<bool>> reach_;
};

TEST(FusionSearch, PathsAndOrderAreThoseOfTheClosureAfterEveryMerge) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const LoweredGraph lowered = random_graph(seed, 24);
    std::vector<Group> groups;
    for (std::size_t n = 0; n < lowered.nodes.size(); ++n) groups.push_back(group_of(lowered, static_cast<int>(n)));
    Dependencies d(lowered, groups);
    std::mt19937 random(seed);
    for (std::vector<int> alive = d.order(); alive.size() > 2; alive = d.order()) {
      const Closure closure(d, alive);
      std::vector<std::pair<int, int>> mergeable;
      for (std::size_t i = 0; i < alive.size(); ++i) {
        for (std::size_t j = i + 1; j < alive.size(); ++j) {
          ASSERT_FALSE(closure.path(j, i)) << "order, seed " << seed;
          const bool between = closure.path_between(i, j);
          ASSERT_EQ(d.path_between(alive[i], alive[j]), between ? Dependencies::kThrough : Dependencies::kNone);
          if (!between) mergeable.emplace_back(alive[i], alive[j]);
        }
      }
      const auto& [a, b] = mergeable[random() % mergeable.size()];
      d.merge(a, b);
    }
  }
}

TEST(FusionSearch, EveryTestedPairHasAVerdict) {
  const LoweredGraph lowered = random_graph(7, 60);
  DecisionLog log;
  const absl::StatusOr<FusionPlan> plan = fuse(lowered, greedy(), &log);
  ASSERT_TRUE(plan.ok());
  std::map<std::string, int> verdicts;
  for (const CandidateRecord& r : log.candidates) {
    ++verdicts[r.verdict];
    EXPECT_TRUE(r.verdict == "fused" || !r.reason.empty()) << r.a << " " << r.b;
  }
  EXPECT_EQ(static_cast<std::size_t>(verdicts["fused"]), lowered.nodes.size() - plan->groups.size());
  EXPECT_GT(verdicts["rejected"], 0);
  EXPECT_GT(verdicts["lost"], 0);
  EXPECT_EQ(verdicts.count(""), 0u);
  EXPECT_EQ(static_cast<std::int64_t>(log.candidates.size()), plan->evaluations);
}

}  // namespace
}  // namespace tenon
