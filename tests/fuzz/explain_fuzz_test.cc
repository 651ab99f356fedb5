// SPDX-License-Identifier: MIT
// What an explanation says of a random program is what was compiled: its fused pairs, replayed in order over single
// values, give its kernels; every tested pair has a verdict; every value is where the report says.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compiler/explain/pair_query.h"
#include "compiler/ir/graph_text.h"
#include "compiler/pipeline.h"
#include "tests/random_graph.h"

namespace tenon {
namespace {

using Members = std::vector<int>;

Members sorted(Members members) {
  std::sort(members.begin(), members.end());
  return members;
}

/// A report, replayed: groups of realized values, fused pair by pair.
class Replay {
 public:
  explicit Replay(const DecisionLog& log) {
    for (const KernelRecord& k : log.kernels) {
      for (int node : k.members) singles_.insert(node);
    }
    for (const CandidateRecord& c : log.candidates) {
      for (const std::string* label : {&c.a, &c.b}) {
        for (int node : members_of(*label)) singles_.insert(node);
      }
    }
  }

  /// Fuses the pair. A group that no earlier pair has made is one value.
  void fuse(const CandidateRecord& c) {
    Members both = take(members_of(c.a));
    const Members other = take(members_of(c.b));
    both.insert(both.end(), other.begin(), other.end());
    groups_.push_back(sorted(std::move(both)));
  }

  /// Groups that were made, and the values that nothing was fused with.
  std::set<Members> groups() const {
    std::set<Members> out(groups_.begin(), groups_.end());
    for (int node : singles_) {
      const auto has_it = [&](const Members& g) { return std::find(g.begin(), g.end(), node) != g.end(); };
      if (std::none_of(groups_.begin(), groups_.end(), has_it)) out.insert({node});
    }
    return out;
  }

 private:
  Members take(Members label) {
    label = sorted(std::move(label));
    const auto at = std::find(groups_.begin(), groups_.end(), label);
    if (at != groups_.end()) {
      groups_.erase(at);
    } else {
      EXPECT_EQ(label.size(), 1u) << "a pair names a group that no earlier pair made";
    }
    return label;
  }

  std::vector<Members> groups_;
  std::set<int> singles_;
};

std::set<Members> kernels_in(const DecisionLog& log) {
  std::set<Members> out;
  for (const KernelRecord& k : log.kernels) out.insert(sorted(k.members));
  return out;
}

void check_replay(const DecisionLog& log) {
  Replay replay(log);
  for (const CandidateRecord& c : log.candidates) {
    if (c.verdict == "fused") replay.fuse(c);
  }
  EXPECT_EQ(replay.groups(), kernels_in(log));
}

void check_verdicts(const DecisionLog& log) {
  static const std::set<std::string> known = {"fused", "rejected", "unprofitable", "lost", "stale"};
  int round = 1;
  for (const CandidateRecord& c : log.candidates) {
    EXPECT_TRUE(known.contains(c.verdict)) << c.a << " " << c.b << ": " << c.verdict;
    EXPECT_EQ(c.verdict == "fused", c.reason.empty()) << c.a << " " << c.b;
    EXPECT_GE(c.round, round);
    round = c.round;
  }
}

/// A member of a kernel is realized, and what is inlined stands in kernels that read it.
void check_realize_table(const DecisionLog& log) {
  for (const RealizeRecord& r : log.realize) {
    EXPECT_TRUE(!r.realized || r.into.empty()) << r.text;
    for (int host : r.into) {
      const auto at = std::ranges::find(log.realize, host, &RealizeRecord::node);
      ASSERT_NE(at, log.realize.end()) << r.text;
      EXPECT_TRUE(at->realized) << r.text << " is inlined into %" << host;
    }
  }
}

TEST(ExplainFuzz, ReplayingTheFusedPairsGivesTheKernels) {
  std::int64_t fused = 0;
  for (std::uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    const testing::RandomProgram program = testing::random_program(seed, seed % 10 == 0 ? 80 : 20);
    SCOPED_TRACE(seed);
    SCOPED_TRACE(print_graph(program.graph));
    DecisionLog log;
    CompileOptions options;
    options.log = &log;
    ASSERT_TRUE(build_loops(program.graph, options).ok());
    check_replay(log);
    check_verdicts(log);
    check_realize_table(log);
    fused += std::ranges::count(log.candidates, "fused", &CandidateRecord::verdict);
  }
  EXPECT_GT(fused, 1000) << "the graphs have something to fuse";
}

}  // namespace
}  // namespace tenon
