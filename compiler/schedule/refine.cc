// SPDX-License-Identifier: MIT
// See refine.h.
#include "compiler/schedule/refine.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/schedule/partition.h"
#include "compiler/schedule/run_order.h"

namespace tenon {
namespace {

constexpr std::size_t kMaxNodes = 512;  // of a graph, since each component looks at all of it

/// Sets of nodes that grow together.
class Unions {
 public:
  explicit Unions(std::size_t n) : parents_(n) { std::iota(parents_.begin(), parents_.end(), 0); }
  int find(int n) {
    int& parent = parents_[static_cast<std::size_t>(n)];
    return parent == n ? n : parent = find(parent);
  }
  void join(int a, int b) {
    const auto [first, second] = std::minmax({find(a), find(b)});
    parents_[static_cast<std::size_t>(second)] = first;
  }

 private:
  std::vector<int> parents_;
};

class Refinement {
 public:
  Refinement(const LoweredGraph& lowered, const FusionOptions& options, const std::vector<std::pair<int, int>>& edges,
             const std::vector<FusedRecord>& fused, FusionPlan& plan, DecisionLog* log)
      : lowered_(lowered), options_(options), edges_(edges), fused_(fused), plan_(plan), log_(log) {}

  void run() {
    if (lowered_.nodes.size() > kMaxNodes) return record({}, {}, "greedy", "more than 512 nodes in the graph");
    Unions unions(lowered_.nodes.size());
    for (const auto& [a, b] : edges_) unions.join(a, b);
    for (const Group& group : plan_.groups) {
      for (const Member& m : group.members) unions.join(m.node, group.members.front().node);
    }
    absl::btree_map<int, std::vector<int>> components;
    for (int n = 0; n < static_cast<int>(lowered_.nodes.size()); ++n) components[unions.find(n)].push_back(n);
    for (const auto& [first, nodes] : components) {
      if (nodes.size() > 1) improve(nodes);
    }
  }

 private:
  void improve(const std::vector<int>& nodes) {
    const auto kernels = std::ranges::count_if(
        plan_.groups, [&](const Group& g) { return std::ranges::binary_search(nodes, g.members.front().node); });
    if (options_.mode == FusionMode::kAuto && kernels == 1)
      return record(nodes, {}, "greedy", "one kernel holds them all");
    if (nodes.size() > kMaxBeamNodes) return record(nodes, {}, "greedy", "more than 64 nodes");
    const Component component = component_of(nodes);
    Partition best;
    if (options_.mode != FusionMode::kBeam && nodes.size() <= kMaxExactNodes) {
      best = search_exact(lowered_, component, options_);
      if (best.is_complete) record(nodes, best, "exact", "");
    }
    if (best.groups.empty() || !best.is_complete) {
      Partition beam = search_beam(lowered_, component, options_);
      beam.evaluations += best.evaluations;
      const char* reason = options_.mode == FusionMode::kBeam ? "asked for"
                           : best.groups.empty()              ? "more than 12 nodes, too many for exact"
                                                              : "exact met its bound of 1000 groups";
      if (best.groups.empty() || beam.cost < best.cost) best = std::move(beam);
      record(nodes, best, "beam", reason);
    }
    plan_.evaluations += best.evaluations;
    if (best.cost < best.greedy_cost) take(nodes, best);
  }

  /// The plan with the component's nodes one by one.
  Component component_of(const std::vector<int>& nodes) const {
    Component out;
    for (const Group& group : plan_.groups) {
      if (!std::ranges::binary_search(nodes, group.members.front().node)) {
        out.around.push_back(group);
        continue;
      }
      out.greedy.push_back(mask_of(nodes, group));
      out.greedy_groups.push_back(group);
    }
    for (int n : nodes) out.around.push_back(group_of(lowered_, n));
    out.around = in_run_order(lowered_, std::move(out.around));
    absl::btree_map<int, int> places;  // of nodes
    for (std::size_t g = 0; g < out.around.size(); ++g)
      places[out.around[g].members.front().node] = static_cast<int>(g);
    for (int n : nodes) out.places.push_back(places[n]);
    for (const auto& [a, b] : edges_) {
      if (std::ranges::binary_search(nodes, a)) out.edges.emplace_back(bit_of(nodes, a), bit_of(nodes, b));
    }
    return out;
  }

  static int bit_of(const std::vector<int>& nodes, int node) {
    return static_cast<int>(std::ranges::lower_bound(nodes, node) - nodes.begin());
  }
  static std::uint64_t mask_of(const std::vector<int>& nodes, const Group& group) {
    std::uint64_t mask = 0;
    for (const Member& m : group.members) mask |= std::uint64_t{1} << bit_of(nodes, m.node);
    return mask;
  }

  void take(const std::vector<int>& nodes, Partition& best) {
    if (log_) tell(nodes, best);
    std::erase_if(plan_.groups,
                  [&](const Group& g) { return std::ranges::binary_search(nodes, g.members.front().node); });
    for (Group& group : best.groups) plan_.groups.push_back(std::move(group));
    plan_.groups = in_run_order(lowered_, std::move(plan_.groups));
  }

  /// Pairs of greedy search whose group is not in the better partition are lost to it; what made its groups is added.
  void tell(const std::vector<int>& nodes, const Partition& best) {
    int round = 0;
    for (const CandidateRecord& r : log_->candidates) round = std::max(round, r.round);
    std::uint64_t remade = 0;
    for (const auto& [a, b] : best.fused) remade |= a | b;
    for (const FusedRecord& f : fused_) {
      if (!std::ranges::binary_search(nodes, f.nodes.front())) continue;
      std::uint64_t mask = 0;
      for (int n : f.nodes) mask |= std::uint64_t{1} << bit_of(nodes, n);
      const bool is_kept =
          (mask & remade) == 0 && std::ranges::any_of(best.masks, [&](std::uint64_t m) { return (mask & ~m) == 0; });
      if (is_kept) continue;
      log_->candidates[f.record].verdict = "lost";
      log_->candidates[f.record].reason = "LOST_TO(a cheaper partition)";
    }
    for (const auto& [a, b] : best.fused) {
      CandidateRecord& r = log_->candidates.emplace_back();
      r.round = ++round;
      r.a = label(nodes, a);
      r.b = label(nodes, b);
      r.kind = "partition";
      r.verdict = "fused";
    }
  }

  std::string label(const std::vector<int>& nodes, std::uint64_t mask) const {
    std::string out;
    for (; mask != 0; mask &= mask - 1) {
      const int node = nodes[static_cast<std::size_t>(std::countr_zero(mask))];
      absl::StrAppend(&out, out.empty() ? "%" : "+%", lowered_.nodes[static_cast<std::size_t>(node)].node);
    }
    return out;
  }

  void record(const std::vector<int>& nodes, const Partition& best, const char* method, const char* reason) {
    if (!log_) return;
    SearchRecord& r = log_->searches.emplace_back();
    for (int n : nodes) r.nodes.push_back(lowered_.nodes[static_cast<std::size_t>(n)].node);
    r.method = method;
    r.reason = reason;
    r.evaluations = best.evaluations;
    r.greedy_cost = best.greedy_cost;
    r.cost = best.cost;
  }

  const LoweredGraph& lowered_;
  const FusionOptions& options_;
  const std::vector<std::pair<int, int>>& edges_;
  const std::vector<FusedRecord>& fused_;
  FusionPlan& plan_;
  DecisionLog* log_;
};

}  // namespace

void refine(const LoweredGraph& lowered, const FusionOptions& options, const std::vector<std::pair<int, int>>& edges,
            const std::vector<FusedRecord>& fused, FusionPlan& plan, DecisionLog* log) {
  Refinement(lowered, options, edges, fused, plan, log).run();
}

}  // namespace tenon
