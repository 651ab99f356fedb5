// SPDX-License-Identifier: MIT
// See fuse.h.
#include "compiler/schedule/fuse.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/schedule/cost.h"

namespace tenon {
namespace {

constexpr std::size_t kWindow = 64;  // readers of one buffer that are paired with one another
constexpr int kMaxDistance = 64;     // of horizontal pairs, in nodes
constexpr std::int64_t kMinSharedBytes = 10;

struct Candidate {
  int a = -1, b = -1;
  bool is_vertical = false;
  std::int64_t score = 0, shared_bytes = 0;
  int distance = 0;
  auto key() const { return std::tuple(-score, distance, a, b); }
};

class Search {
 public:
  Search(const LoweredGraph& lowered, DecisionLog* log) : lowered_(lowered), log_(log) {
    for (std::size_t i = 0; i < lowered.nodes.size(); ++i) groups_.push_back(group_of(lowered, static_cast<int>(i)));
    alive_.assign(groups_.size(), true);
  }

  absl::StatusOr<std::vector<Group>> run() {
    for (int round = 1; run_round(round); ++round) {
    }
    return ordered();
  }

 private:
  bool run_round(int round) {
    rebuild();
    std::vector<Candidate> candidates;
    for (const auto& [a, b] : pairs()) test(round, a, b, candidates);
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& x, const Candidate& y) { return x.key() < y.key(); });
    bool changed = false;
    for (const Candidate& c : candidates) changed |= commit(round, c);
    return changed;
  }

  void rebuild() {
    std::vector<const Group*> view(groups_.size(), nullptr);
    for (std::size_t g = 0; g < groups_.size(); ++g) view[g] = alive_[g] ? &groups_[g] : nullptr;
    dependencies_.rebuild(lowered_, view);
  }

  /// Pairs that share a buffer: writer with reader, and readers with one another; the earlier group first.
  std::vector<std::pair<int, int>> pairs() const {
    std::vector<std::pair<int, int>> out;
    absl::flat_hash_set<std::pair<int, int>> seen;
    const auto add = [&](int a, int b) {
      if (a == b) return;
      if (groups_[static_cast<std::size_t>(a)].members.front().node >
          groups_[static_cast<std::size_t>(b)].members.front().node)
        std::swap(a, b);
      if (seen.emplace(a, b).second) out.emplace_back(a, b);
    };
    for (std::size_t buffer = 0; buffer < lowered_.buffers.size(); ++buffer) {
      const auto& readers = dependencies_.readers(static_cast<BufferId>(buffer));
      const int producer = dependencies_.producer(static_cast<BufferId>(buffer));
      for (std::size_t i = 0; i < readers.size(); ++i) {
        if (producer >= 0) add(producer, readers[i]);
        for (std::size_t j = i + 1; j < std::min(readers.size(), i + kWindow); ++j) add(readers[i], readers[j]);
      }
    }
    return out;
  }

  void test(int round, int a, int b, std::vector<Candidate>& candidates) {
    if (dependencies_.depends_on(a, b)) std::swap(a, b);
    Candidate c;
    c.a = a;
    c.b = b;
    c.is_vertical = dependencies_.depends_on(b, a);
    const Group &ga = groups_[static_cast<std::size_t>(a)], &gb = groups_[static_cast<std::size_t>(b)];
    c.distance = std::abs(gb.members.front().node - ga.members.back().node);
    FusionResult result = try_fuse(lowered_, dependencies_, a, ga, b, gb);
    if (!result.group) return record(round, c, "rejected", result.refusal.text());
    evaluate(c, ga, gb, *result.group);
    if (!c.is_vertical && c.distance > kMaxDistance) return record(round, c, "rejected", "TOO_FAR");
    if (c.shared_bytes < kMinSharedBytes && !c.is_vertical) return record(round, c, "rejected", "TOO_SMALL_SHARED");
    if (c.score <= 0) return record(round, c, "rejected", "UNPROFITABLE");
    candidates.push_back(c);
  }

  void evaluate(Candidate& c, const Group& a, const Group& b, const Group& both) const {
    const Traffic ta = traffic_of(lowered_, dependencies_, a, c.a), tb = traffic_of(lowered_, dependencies_, b, c.b);
    const Traffic tab = traffic_of(lowered_, dependencies_, both, c.a, c.b);
    const std::int64_t saved = kernel_cost(ta) + kernel_cost(tb) - kernel_cost(tab);
    c.shared_bytes = ta.read_bytes + ta.write_bytes + tb.read_bytes + tb.write_bytes - tab.read_bytes - tab.write_bytes;
    const bool same_kind = a.kernel_class == b.kernel_class;
    c.score = saved * (same_kind ? 2 : 1);
  }

  bool commit(int round, const Candidate& c) {
    const auto a = static_cast<std::size_t>(c.a), b = static_cast<std::size_t>(c.b);
    if (!alive_[a] || !alive_[b] || touched_in_.size() != groups_.size()) touched_in_.resize(groups_.size(), 0);
    if (!alive_[a] || !alive_[b] || touched_in_[a] == round || touched_in_[b] == round) {
      record(round, c, "stale", "LOST_TO a pair with a better score");
      return false;
    }
    FusionResult result = try_fuse(lowered_, dependencies_, c.a, groups_[a], c.b, groups_[b]);
    if (!result.group) {
      record(round, c, "rejected", result.refusal.text());
      return false;
    }
    record(round, c, "fused", "");
    groups_[a] = std::move(*result.group);
    alive_[b] = false;
    touched_in_[a] = touched_in_[b] = round;
    rebuild();
    return true;
  }

  void record(int round, const Candidate& c, const char* verdict, std::string reason) const {
    if (!log_) return;
    CandidateRecord r;
    r.round = round;
    r.a = label(groups_[static_cast<std::size_t>(c.a)]);
    r.b = label(groups_[static_cast<std::size_t>(c.b)]);
    r.kind = c.is_vertical ? "vertical" : "horizontal";
    r.score = c.score;
    r.shared_bytes = c.shared_bytes;
    r.same_kind =
        groups_[static_cast<std::size_t>(c.a)].kernel_class == groups_[static_cast<std::size_t>(c.b)].kernel_class;
    r.distance = c.distance;
    r.verdict = verdict;
    r.reason = std::move(reason);
    log_->candidates.push_back(std::move(r));
  }

  std::string label(const Group& group) const {
    return absl::StrJoin(group.members, "+", [&](std::string* out, const Member& m) {
      absl::StrAppend(out, "%", lowered_.nodes[static_cast<std::size_t>(m.node)].node);
    });
  }

  /// Alive groups, each after what it reads; among ready ones the one with the earliest node.
  absl::StatusOr<std::vector<Group>> ordered() {
    rebuild();
    std::vector<int> missing(groups_.size(), 0);
    const auto inputs_of = [&](std::size_t g) {
      absl::flat_hash_set<int> from;
      for (const Member& m : groups_[g].members) {
        for (const Access& r : m.reads) {
          const int p = dependencies_.producer(r.buffer);
          if (p >= 0 && p != static_cast<int>(g)) from.insert(p);
        }
      }
      return from;
    };
    std::vector<std::vector<int>> successors(groups_.size());
    std::vector<std::pair<int, int>> ready;  // (first node, group), a heap with the smallest on top
    const auto after = std::greater<std::pair<int, int>>();
    const auto make_ready = [&](std::size_t g) {
      ready.emplace_back(groups_[g].members.front().node, static_cast<int>(g));
      std::push_heap(ready.begin(), ready.end(), after);
    };
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!alive_[g]) continue;
      for (int p : inputs_of(g)) {
        successors[static_cast<std::size_t>(p)].push_back(static_cast<int>(g));
        ++missing[g];
      }
      if (missing[g] == 0) make_ready(g);
    }
    std::vector<Group> out;
    while (!ready.empty()) {
      std::pop_heap(ready.begin(), ready.end(), after);
      const auto g = static_cast<std::size_t>(ready.back().second);
      ready.pop_back();
      for (int s : successors[g]) {
        if (--missing[static_cast<std::size_t>(s)] == 0) make_ready(static_cast<std::size_t>(s));
      }
      out.push_back(std::move(groups_[g]));
    }
    const auto alive = static_cast<std::size_t>(std::count(alive_.begin(), alive_.end(), true));
    if (out.size() != alive) return absl::InternalError("fusion made a cycle");
    return out;
  }

  const LoweredGraph& lowered_;
  DecisionLog* log_;
  std::vector<Group> groups_;
  std::vector<bool> alive_;
  std::vector<int> touched_in_;
  Dependencies dependencies_;
};

}  // namespace

absl::StatusOr<std::vector<Group>> fuse(const LoweredGraph& lowered, DecisionLog* log) {
  return Search(lowered, log).run();
}

}  // namespace tenon
