// SPDX-License-Identifier: MIT
// Greedy, exact and beam search beside one another, and exact search beside brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/cost.h"
#include "compiler/schedule/fuse.h"
#include "compiler/schedule/run_order.h"
#include "tests/unit/loop_graphs.h"

namespace tenon {
namespace {

/// A graph to be built in any topological order of its nodes.
struct Dag {
  struct Node {
    std::vector<int> reads;  ///< nodes; -1, -2: inputs
    std::int64_t elements = 0;
    bool is_output = false;
  };
  std::vector<Node> nodes;

  LoweredGraph lowered(const std::vector<int>& order) const {
    testing::LoopGraph g(100000);
    const BufferId inputs[] = {g.input(), g.input()};
    std::vector<BufferId> buffers(nodes.size(), -1);
    for (int n : order) {
      const Node& node = nodes[static_cast<std::size_t>(n)];
      std::vector<BufferId> reads;
      for (int r : node.reads) reads.push_back(r < 0 ? inputs[-r - 1] : buffers[static_cast<std::size_t>(r)]);
      buffers[static_cast<std::size_t>(n)] = g.sum(reads, node.elements, node.is_output);
    }
    return std::move(g.graph());
  }
  std::vector<int> order() const {
    std::vector<int> out(nodes.size());
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  /// Another topological order.
  std::vector<int> shuffled(std::mt19937& random) const {
    std::vector<int> out;
    std::vector<bool> done(nodes.size(), false);
    while (out.size() < nodes.size()) {
      const auto n = static_cast<std::size_t>(random() % nodes.size());
      const bool is_ready =
          std::ranges::all_of(nodes[n].reads, [&](int r) { return r < 0 || done[static_cast<std::size_t>(r)]; });
      if (done[n] || !is_ready) continue;
      done[n] = true;
      out.push_back(static_cast<int>(n));
    }
    return out;
  }
};

/// Nodes of two sizes, which do not join, and of many degrees.
Dag random_dag(std::uint32_t seed, int nodes) {
  std::mt19937 random(seed);
  Dag dag;
  const int reach = 1 + static_cast<int>(random() % 6);
  const std::uint32_t odd = random() % 5;
  for (int n = 0; n < nodes; ++n) {
    Dag::Node node;
    for (std::uint32_t k = 0; k < 1 + random() % 3; ++k) {
      const int r = n - 1 - static_cast<int>(random() % static_cast<std::uint32_t>(reach));
      node.reads.push_back(std::max(r, -2));
    }
    node.elements = random() % 8 < odd ? 77777 : 100000;
    node.is_output = n + 1 == nodes || random() % 4 == 0;
    dag.nodes.push_back(std::move(node));
  }
  // What nobody reads is asked for.
  std::vector<bool> is_read(dag.nodes.size(), false);
  for (const Dag::Node& node : dag.nodes) {
    for (int r : node.reads) {
      if (r >= 0) is_read[static_cast<std::size_t>(r)] = true;
    }
  }
  for (std::size_t n = 0; n < dag.nodes.size(); ++n) dag.nodes[n].is_output |= !is_read[n];
  return dag;
}

struct Outcome {
  std::int64_t cost = 0;
  DecisionLog log;
  std::vector<Group> groups;
};

Outcome outcome(const LoweredGraph& lowered, FusionMode mode) {
  Outcome out;
  FusionOptions options;
  options.mode = mode;
  absl::StatusOr<FusionPlan> plan = fuse(lowered, options, &out.log);
  if (!plan.ok()) throw std::runtime_error(std::string(plan.status().message()));
  const Dependencies d(lowered, plan->groups);
  for (std::size_t g = 0; g < plan->groups.size(); ++g)
    out.cost += kernel_cost(work_of(lowered, d, plan->groups[g], options.costs, static_cast<int>(g)), options.costs);
  out.groups = std::move(plan->groups);
  return out;
}

TEST(FusionPartition, ExactIsNeverWorseThanGreedyWhichIsWithinATenthOfIt) {
  double worst = 1;
  int better = 0, beyond = 0;
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const Dag dag = random_dag(seed, 3 + static_cast<int>(seed % 10));
    const LoweredGraph lowered = dag.lowered(dag.order());
    const std::int64_t greedy = outcome(lowered, FusionMode::kGreedy).cost;
    const std::int64_t exact = outcome(lowered, FusionMode::kExact).cost;
    ASSERT_LE(exact, greedy) << seed;
    better += exact < greedy;
    const double ratio = static_cast<double>(greedy) / static_cast<double>(exact);
    beyond += ratio > 1.10;
    worst = std::max(worst, ratio);
  }
  std::printf("greedy / exact: %.4f at worst, beyond 1.10 in %d and above 1 in %d of 1000\n", worst, beyond, better);
  EXPECT_LE(beyond, 1);
  EXPECT_LE(worst, 1.101);
}

TEST(FusionPartition, BeamIsNeverWorseThanGreedy) {
  int better = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Dag dag = random_dag(seed + 5000, 13 + static_cast<int>(seed % 50));
    const LoweredGraph lowered = dag.lowered(dag.order());
    const std::int64_t greedy = outcome(lowered, FusionMode::kGreedy).cost;
    const std::int64_t beam = outcome(lowered, FusionMode::kBeam).cost;
    ASSERT_LE(beam, greedy) << seed;
    better += beam < greedy;
  }
  RecordProperty("better", better);
}

/// The cheapest partition by trying all: each node joins one of the groups so far or opens one.
class BruteForce {
 public:
  explicit BruteForce(const LoweredGraph& lowered) : lowered_(lowered) {}

  std::int64_t best() {
    place(0, {});
    return best_;
  }

 private:
  void place(int n, const std::vector<std::vector<int>>& parts) {
    if (n == static_cast<int>(lowered_.nodes.size())) return judge(parts);
    for (std::size_t p = 0; p <= parts.size(); ++p) {
      auto next = parts;
      if (p == parts.size()) next.emplace_back();
      next[p].push_back(n);
      place(n + 1, next);
    }
  }

  /// A part is a kernel when its nodes are of one size and connected by buffers.
  bool is_kernel(const std::vector<int>& part) const {
    std::vector<int> reached = {part[0]};
    for (std::size_t next = 0; next < reached.size(); ++next) {
      for (int n : part) {
        if (std::ranges::find(reached, n) == reached.end() && shares(reached[next], n)) reached.push_back(n);
      }
    }
    return reached.size() == part.size();
  }
  bool shares(int a, int b) const {
    const LoopNode &x = lowered_.nodes[static_cast<std::size_t>(a)], &y = lowered_.nodes[static_cast<std::size_t>(b)];
    if (x.space != y.space) return false;
    const auto touches = [](const LoopNode& node, BufferId buffer) {
      return node.buffer == buffer || std::ranges::any_of(node.body, [&](const Instr& i) {
               return i.kind == Instr::kLoad && i.buffer == buffer;
             });
    };
    for (BufferId buffer = 0; buffer < static_cast<BufferId>(lowered_.buffers.size()); ++buffer) {
      if (touches(x, buffer) && touches(y, buffer)) return true;
    }
    return false;
  }

  void judge(const std::vector<std::vector<int>>& parts) {
    std::vector<Group> groups;
    for (const auto& part : parts) {
      if (!is_kernel(part)) return;
      Group group = group_of(lowered_, part[0]);
      for (std::size_t m = 1; m < part.size(); ++m)
        group.members.push_back(group_of(lowered_, part[m]).members.front());
      groups.push_back(std::move(group));
    }
    const std::size_t count = groups.size();
    groups = in_run_order(lowered_, std::move(groups));
    if (groups.size() != count) return;
    const Dependencies d(lowered_, groups);
    std::int64_t cost = 0;
    for (std::size_t g = 0; g < count; ++g)
      cost += kernel_cost(work_of(lowered_, d, groups[g], {}, static_cast<int>(g)), {});
    best_ = std::min(best_, cost);
  }

  const LoweredGraph& lowered_;
  std::int64_t best_ = INT64_MAX;
};

TEST(FusionPartition, ExactIsTheBestOfAllPartitions) {
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const Dag dag = random_dag(seed + 9000, 3 + static_cast<int>(seed % 5));
    const LoweredGraph lowered = dag.lowered(dag.order());
    EXPECT_EQ(outcome(lowered, FusionMode::kExact).cost, BruteForce(lowered).best());
  }
}

TEST(FusionPartition, NumberingDoesNotMatterToExact) {
  std::mt19937 random(1);
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Dag dag = random_dag(seed + 20000, 4 + static_cast<int>(seed % 9));
    const Outcome a = outcome(dag.lowered(dag.order()), FusionMode::kExact);
    const Outcome b = outcome(dag.lowered(dag.shuffled(random)), FusionMode::kExact);
    // Of several components each is searched with the others as they are.
    if (a.log.searches.size() != 1 || a.log.searches[0].method != "exact") continue;
    EXPECT_EQ(a.cost, b.cost) << seed;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST(FusionPartition, EqualGraphsHaveEqualPlans) {
  for (const auto& [name, mode] : kFusionModes) {
    const Dag dag = random_dag(3, 40);
    const Outcome a = outcome(dag.lowered(dag.order()), mode), b = outcome(dag.lowered(dag.order()), mode);
    ASSERT_EQ(a.groups.size(), b.groups.size());
    for (std::size_t g = 0; g < a.groups.size(); ++g) {
      ASSERT_EQ(a.groups[g].members.size(), b.groups[g].members.size());
      for (std::size_t m = 0; m < a.groups[g].members.size(); ++m)
        EXPECT_EQ(a.groups[g].members[m].node, b.groups[g].members[m].node) << name;
    }
  }
}

TEST(FusionPartition, ATooLargeGraphSaysThatItUsedTheBeamOrGreedy) {
  const auto method = [](int nodes) {
    Dag dag = random_dag(1, nodes);
    for (int n = 0; n < nodes; ++n) dag.nodes[static_cast<std::size_t>(n)] = {{n - 1}, n == 1 ? 77777 : 100000, true};
    const Outcome o = outcome(dag.lowered(dag.order()), FusionMode::kExact);
    const auto largest = std::ranges::max_element(o.log.searches, {}, [](const auto& s) { return s.nodes.size(); });
    return absl::StrCat(largest->method, ": ", largest->reason);
  };
  EXPECT_EQ(method(12), "exact: ");
  EXPECT_EQ(method(16), "beam: more than 12 nodes, too many for exact");
  EXPECT_EQ(method(80), "greedy: more than 64 nodes");
  EXPECT_EQ(method(600), "greedy: more than 512 nodes in the graph");
}

}  // namespace
}  // namespace tenon
