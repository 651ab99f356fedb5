// SPDX-License-Identifier: MIT
// See fuse.h.
#include "compiler/schedule/fuse.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/schedule/cost.h"
#include "compiler/schedule/refine.h"
#include "compiler/schedule/run_order.h"

namespace tenon {
namespace {

constexpr std::size_t kWindow = 64;      // readers of a buffer that are paired with its producer
constexpr std::size_t kSiblings = 4;     // readers of a buffer, on either side, that are paired with a reader
constexpr std::size_t kFewReaders = 16;  // up to here all of them are
constexpr int kMaxDistance = 64;         // of horizontal pairs, in nodes
constexpr std::int64_t kMinSharedBytes = 10;

struct Candidate {
  int a = -1, b = -1;
  int a_version = 0, b_version = 0;
  int round = 0, distance = 0;
  bool is_vertical = false;
  std::size_t record = 0;  ///< in the log
  FusionScore score;
  auto key() const { return std::tuple(-score.template_rank, -score.value, distance, a, b); }
  bool operator<(const Candidate& other) const { return other.key() < key(); }  // the queue's top is the best
};

std::vector<Group> single_groups(const LoweredGraph& lowered) {
  std::vector<Group> groups;
  groups.reserve(lowered.nodes.size());
  for (std::size_t i = 0; i < lowered.nodes.size(); ++i) groups.push_back(group_of(lowered, static_cast<int>(i)));
  return groups;
}

class Search {
 public:
  Search(const LoweredGraph& lowered, const FusionOptions& options, DecisionLog* log)
      : lowered_(lowered),
        costs_(options.costs),
        rows_off_(options.rows_off),
        rule_(options.mode == FusionMode::kInductor ? ScoreRule::kInductor : ScoreRule::kTime),
        log_(log),
        groups_(single_groups(lowered)),
        dependencies_(lowered, groups_),
        versions_(groups_.size(), 0),
        rounds_(groups_.size(), 0),
        work_(groups_.size()),
        fused_into_(log ? groups_.size() : 0) {}

  void fuse_greedily() {
    for (int g = 0; g < static_cast<int>(groups_.size()); ++g) measure(g);
    for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
      for (int other : get_possible_fusions(g)) {
        if (other < g) test(other, g);
      }
    }
    while (!queue_.empty()) {
      Candidate best = queue_.top();
      queue_.pop();
      commit(best);
    }
  }

  absl::StatusOr<FusionPlan> plan() {
    FusionPlan out;
    out.evaluations = evaluations_;
    out.path_steps = dependencies_.steps();
    const std::vector<int> alive = dependencies_.order();
    for (int g : run_order(dependencies_, alive)) out.groups.push_back(std::move(group(g)));
    if (out.groups.size() != alive.size()) return absl::InternalError("fusion made a cycle");
    return out;
  }

  /// Pairs of nodes that one kernel may hold, but for paths between them.
  const std::vector<std::pair<int, int>>& edges() const { return edges_; }
  const std::vector<FusedRecord>& fused() const { return fused_; }

 private:
  Group& group(int g) { return groups_[static_cast<std::size_t>(g)]; }
  int& version(int g) { return versions_[static_cast<std::size_t>(g)]; }
  int& round(int g) { return rounds_[static_cast<std::size_t>(g)]; }

  /// Groups that share a buffer with g: what it reads from, the first readers of what it writes, and the readers beside
  /// it of what it reads. Ascending.
  std::vector<int> get_possible_fusions(int g) const {
    std::vector<int> out;
    for (BufferId buffer : dependencies_.writes(g)) {
      const auto& readers = dependencies_.readers(buffer);
      std::copy_n(readers.begin(), std::min(readers.size(), kWindow), std::back_inserter(out));
    }
    for (BufferId buffer : dependencies_.reads(g)) {
      if (dependencies_.producer(buffer) >= 0) out.push_back(dependencies_.producer(buffer));
      const auto& readers = dependencies_.readers(buffer);
      const std::size_t siblings = readers.size() <= kFewReaders ? kFewReaders : kSiblings;
      auto it = readers.find(g);
      for (auto [n, after] = std::pair(std::size_t{0}, std::next(it)); n < siblings && after != readers.end(); ++n)
        out.push_back(*after++);
      for (std::size_t n = 0; n < siblings && it != readers.begin(); ++n) out.push_back(*--it);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  void measure(int g) { work_[static_cast<std::size_t>(g)] = work_of(lowered_, dependencies_, group(g), costs_, g); }
  const Work& work(int g) const { return work_[static_cast<std::size_t>(g)]; }

  FusionPair pair(int a, int b) { return {lowered_, dependencies_, a, b, group(a), group(b), rows_off_}; }
  void order(int& a, int& b) const {
    if (!dependencies_.is_before(a, b)) std::swap(a, b);
  }

  void test(int a, int b) {
    order(a, b);
    Candidate c;
    c.a = a;
    c.b = b;
    c.a_version = version(a);
    c.is_vertical = dependencies_.is_consumer(a, b);
    c.b_version = version(b);
    c.round = std::max(round(a), round(b)) + 1;
    c.distance = std::abs(group(b).members.front().node - group(a).members.back().node);
    ++evaluations_;
    const FusionResult result = can_fuse(pair(a, b));
    if (result.group) c.score = score_fusion(pair(a, b), work(a), work(b), *result.group, costs_, rule_);
    const bool may_join = result.group || result.refusal.code == std::string("PATH_BETWEEN");
    if (c.round == 1 && may_join) edges_.emplace_back(c.a, c.b);
    open_record(c);
    if (!result.group) return close_record(c, "rejected", text_of(result.refusal));
    if (!c.is_vertical && c.distance > kMaxDistance) return close_record(c, "rejected", "TOO_FAR");
    if (!c.is_vertical && c.score.shared_bytes < kMinSharedBytes)
      return close_record(c, "rejected", "TOO_SMALL_SHARED");
    if (c.score.value <= 0) return close_record(c, "unprofitable", "UNPROFITABLE");
    queue_.push(c);
  }

  void commit(const Candidate& c) {
    for (const auto& [g, tested] : {std::pair(c.a, c.a_version), std::pair(c.b, c.b_version)}) {
      if (version(g) != tested) return close_record(c, "lost", lost_to(g));
    }
    int a = c.a, b = c.b;
    order(a, b);
    FusionResult result = can_fuse(pair(a, b));
    if (!result.group) return close_record(c, "stale", text_of(result.refusal));
    close_record(c, "fused", "");
    if (log_) keep_fused(c.record, *result.group);
    const int kept = dependencies_.merge(a, b);
    group(kept) = *std::move(result.group);
    for (int g : {a, b}) {
      ++version(g);
      if (log_) fused_into_[static_cast<std::size_t>(g)] = label(group(kept));
    }
    group(std::max(a, b)) = {};
    round(kept) = c.round;
    measure(kept);
    for (int other : get_possible_fusions(kept)) test(other, kept);
  }

  void keep_fused(std::size_t record, const Group& both) {
    FusedRecord& f = fused_.emplace_back();
    f.record = record;
    for (const Member& m : both.members) f.nodes.push_back(m.node);
  }

  void open_record(Candidate& c) {
    if (!log_) return;
    c.record = log_->candidates.size();
    CandidateRecord& r = log_->candidates.emplace_back();
    r.round = c.round;
    r.a = label(group(c.a));
    r.b = label(group(c.b));
    r.kind = c.is_vertical ? "vertical" : "horizontal";
    r.score = c.score.value;
    r.shared_bytes = c.score.shared_bytes;
    r.same_kind = group(c.a).kernel_class == group(c.b).kernel_class;
    r.distance = c.distance;
  }

  void close_record(const Candidate& c, const char* verdict, std::string reason) {
    if (!log_) return;
    log_->candidates[c.record].verdict = verdict;
    log_->candidates[c.record].reason = std::move(reason);
  }

  std::string text_of(const Refusal& refusal) const { return log_ ? refusal.text() : ""; }

  std::string lost_to(int g) const {
    return log_ ? absl::StrCat("LOST_TO(", fused_into_[static_cast<std::size_t>(g)], ")") : "";
  }

  std::string label(const Group& group) const {
    return absl::StrJoin(group.members, "+", [&](std::string* out, const Member& m) {
      absl::StrAppend(out, "%", lowered_.nodes[static_cast<std::size_t>(m.node)].node);
    });
  }

  const LoweredGraph& lowered_;
  const CostTable& costs_;
  std::uint32_t rows_off_;
  ScoreRule rule_;
  DecisionLog* log_;
  std::vector<Group> groups_;
  Dependencies dependencies_;
  std::vector<int> versions_;  ///< of a group: how often it was fused
  std::vector<int> rounds_;    ///< of a group: in which it was fused; 0: a single node
  std::vector<Work> work_;
  std::vector<std::string> fused_into_;  ///< for the log: the group that took this one
  std::priority_queue<Candidate> queue_;
  std::vector<std::pair<int, int>> edges_;
  std::vector<FusedRecord> fused_;
  std::int64_t evaluations_ = 0;
};

/// Records of one round stay in their order.
void sort_by_round(std::vector<CandidateRecord>& records) {
  absl::btree_map<int, std::vector<CandidateRecord>> rounds;
  for (CandidateRecord& r : records) rounds[r.round].push_back(std::move(r));
  records.clear();
  for (auto& [round, list] : rounds) std::move(list.begin(), list.end(), std::back_inserter(records));
}

}  // namespace

absl::StatusOr<FusionPlan> fuse(const LoweredGraph& lowered, const FusionOptions& options, DecisionLog* log) {
  Search search(lowered, options, log);
  if (options.mode != FusionMode::kOff) search.fuse_greedily();
  absl::StatusOr<FusionPlan> plan = search.plan();
  const bool is_refined =
      options.mode == FusionMode::kAuto || options.mode == FusionMode::kExact || options.mode == FusionMode::kBeam;
  if (plan.ok() && is_refined) refine(lowered, options, search.edges(), search.fused(), *plan, log);
  if (log) sort_by_round(log->candidates);
  return plan;
}

}  // namespace tenon
