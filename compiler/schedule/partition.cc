// SPDX-License-Identifier: MIT
// See partition.h.
#include "compiler/schedule/partition.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <tuple>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"

namespace tenon {
namespace {

using Mask = std::uint64_t;

constexpr std::int64_t kMaxExactEvaluations = 1000;
constexpr std::int64_t kMaxBeamEvaluations = 16;  // a node
constexpr std::size_t kBeamWidth = 32;
constexpr std::uint32_t kPathRow = 1u << 3;  // of the legality table: paths are known here from masks

template <class Visit>
void for_each_bit(Mask mask, const Visit& visit) {
  for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}
Mask bit(int n) { return Mask{1} << n; }

/// What of a component runs before what: through its own nodes or through kernels around it.
class Precedence {
 public:
  Precedence(const Component& component, const Dependencies& dependencies)
      : before_(component.places.size(), 0), around_(component.places.size(), 0) {
    const std::size_t groups = component.around.size();
    std::vector<Mask> all(groups, 0), outside(groups, 0);  // that lead to a group; by a way outside the component
    std::vector<int> bits(groups, -1);
    for (std::size_t i = 0; i < component.places.size(); ++i)
      bits[static_cast<std::size_t>(component.places[i])] = static_cast<int>(i);
    for (std::size_t g = 0; g < groups; ++g) {
      for (BufferId buffer : dependencies.reads(static_cast<int>(g))) {
        if (dependencies.producer(buffer) < 0) continue;
        const auto from = static_cast<std::size_t>(dependencies.producer(buffer));
        all[g] |= all[from] | (bits[from] >= 0 ? bit(bits[from]) : 0);
        if (bits[from] < 0) {
          outside[g] |= outside[from];
        } else if (bits[g] < 0) {
          outside[g] |= bit(bits[from]);
        }
      }
      if (bits[g] < 0) continue;
      before_[static_cast<std::size_t>(bits[g])] = all[g];
      around_[static_cast<std::size_t>(bits[g])] = outside[g];
    }
  }

  /// What must run before `mask` and is not in it.
  Mask before(Mask mask) const {
    Mask out = 0;
    for_each_bit(mask, [&](int n) { out |= before_[static_cast<std::size_t>(n)]; });
    return out & ~mask;
  }

  /// No path between nodes of `mask` leaves it.
  bool is_convex(Mask mask) const {
    bool is_closed = true;
    for_each_bit(mask, [&](int n) { is_closed &= (around_[static_cast<std::size_t>(n)] & mask) == 0; });
    for_each_bit(before(mask), [&](int n) { is_closed &= (before_[static_cast<std::size_t>(n)] & mask) == 0; });
    return is_closed;
  }

  /// `masks` in an order in which they may run; fewer of them if there is none.
  std::vector<Mask> ordered(std::vector<Mask> masks) const {
    std::vector<Mask> out;
    Mask open = 0;
    for (Mask mask : masks) open |= mask;
    std::sort(masks.begin(), masks.end());
    for (bool changed = true; changed;) {
      changed = false;
      for (Mask& mask : masks) {
        if (mask == 0 || (before(mask) & open) != 0) continue;
        out.push_back(mask);
        open &= ~mask;
        mask = 0;
        changed = true;
      }
    }
    return out;
  }

 private:
  std::vector<Mask> before_, around_;
};

/// The groups of a component that can be built, each built once.
class Groups {
 public:
  struct Entry {
    Group group;
    std::int64_t cost = 0;
    Mask first = 0, second = 0;  ///< what it was fused from; 0: a single node, or a group that greedy made
  };

  Groups(const LoweredGraph& lowered, const Component& component, const FusionOptions& options,
         std::int64_t max_evaluations)
      : max_evaluations_(max_evaluations),
        lowered_(lowered),
        component_(component),
        costs_(options.costs),
        rows_off_(options.rows_off | kPathRow),
        dependencies_(lowered, component.around),
        precedence_(component, dependencies_),
        neighbours_(component.places.size(), 0) {
    bits_.assign(component.around.size(), -1);
    for (int i = 0; i < size(); ++i) bits_[static_cast<std::size_t>(component.places[static_cast<std::size_t>(i)])] = i;
    for (int i = 0; i < size(); ++i)
      add(bit(i), component.around[static_cast<std::size_t>(component.places[static_cast<std::size_t>(i)])], 0, 0);
    for (const auto& [a, b] : component.edges) {
      neighbours_[static_cast<std::size_t>(a)] |= bit(b);
      neighbours_[static_cast<std::size_t>(b)] |= bit(a);
    }
  }

  int size() const { return static_cast<int>(component_.places.size()); }
  Mask all() const { return size() == 64 ? ~Mask{0} : bit(size()) - 1; }
  const Precedence& precedence() const { return precedence_; }
  bool is_exhausted() const { return evaluations_ >= max_evaluations_; }
  std::int64_t cost(Mask mask) const { return entries_.at(mask).cost; }
  Mask neighbours(Mask mask) const {
    Mask out = 0;
    for_each_bit(mask, [&](int n) { out |= neighbours_[static_cast<std::size_t>(n)]; });
    return out & ~mask;
  }

  /// Whether one group can hold both, which it then does. Fails where each leads to the other.
  bool fuse(Mask a, Mask b) {
    if (entries_.contains(a | b)) return true;
    if ((precedence_.before(a) & b) != 0) std::swap(a, b);
    if (is_exhausted() || (precedence_.before(a) & b) != 0 || refused_.contains({a, b})) return false;
    ++evaluations_;
    FusionResult result =
        can_fuse({lowered_, dependencies_, place(a), place(b), entries_.at(a).group, entries_.at(b).group, rows_off_});
    if (!result.group) {
      refused_.emplace(a, b);
      return false;
    }
    add(a | b, *std::move(result.group), a, b);
    return true;
  }

  /// Takes greedy's groups in where they are new or cheaper.
  std::vector<Mask> add_greedy() {
    for (std::size_t g = 0; g < component_.greedy.size(); ++g) {
      const Mask mask = component_.greedy[g];
      const auto it = entries_.find(mask);
      if (it == entries_.end() || cost_of(mask, component_.greedy_groups[g]) < it->second.cost)
        add(mask, component_.greedy_groups[g], 0, 0);
    }
    return component_.greedy;
  }

  std::int64_t cost(const std::vector<Mask>& masks) const {
    std::int64_t sum = 0;
    for (Mask mask : masks) sum += cost(mask);
    return sum;
  }

  Partition partition(const std::vector<Mask>& masks) const {
    Partition out;
    out.masks = masks;
    out.cost = cost(masks);
    out.greedy_cost = cost(component_.greedy);
    out.evaluations = evaluations_;
    for (Mask mask : masks) {
      out.groups.push_back(entries_.at(mask).group);
      add_fusions(mask, out.fused);
    }
    return out;
  }

  std::size_t count() const { return entries_.size(); }
  /// Masks of all groups that were built, ascending.
  std::vector<Mask> built() const {
    std::vector<Mask> out;
    for (const auto& [mask, entry] : entries_) out.push_back(mask);
    return out;
  }

 private:
  int place(Mask mask) const { return component_.places[static_cast<std::size_t>(std::countr_zero(mask))]; }

  std::int64_t cost_of(Mask mask, const Group& group) const {
    const auto is_inside = [&](int reader) {
      const int n = bits_[static_cast<std::size_t>(reader)];
      return n >= 0 && (mask >> n & 1) != 0;
    };
    return kernel_cost(work_of(lowered_, group, costs_,
                               [&](BufferId buffer) {
                                 if (lowered_.buffers[static_cast<std::size_t>(buffer)].space == Buffer::kOutput)
                                   return true;
                                 const auto& readers = dependencies_.readers(buffer);
                                 return !std::all_of(readers.begin(), readers.end(), is_inside);
                               }),
                       costs_);
  }

  void add(Mask mask, Group group, Mask first, Mask second) {
    const std::int64_t cost = cost_of(mask, group);
    entries_.insert_or_assign(mask, Entry{std::move(group), cost, first, second});
  }

  void add_fusions(Mask mask, std::vector<std::pair<Mask, Mask>>& out) const {
    const Entry& entry = entries_.at(mask);
    if (entry.first == 0) return;
    add_fusions(entry.first, out);
    add_fusions(entry.second, out);
    out.emplace_back(entry.first, entry.second);
  }

  std::int64_t max_evaluations_;
  const LoweredGraph& lowered_;
  const Component& component_;
  const CostTable& costs_;
  std::uint32_t rows_off_;
  std::vector<int> bits_;  ///< of places in `around`; -1: not of the component
  absl::btree_set<std::pair<Mask, Mask>> refused_;
  Dependencies dependencies_;
  Precedence precedence_;
  std::vector<Mask> neighbours_;
  absl::btree_map<Mask, Entry> entries_;
  std::int64_t evaluations_ = 0;
};

/// Builds every connected group, by nodes that are a source or a sink beside it: each connected set has such a node
/// whose removal leaves it connected.
void grow_all(Groups& groups) {
  std::vector<Mask> open = groups.built();
  for (std::size_t next = 0; next < open.size() && !groups.is_exhausted(); ++next) {
    const Mask mask = open[next];
    for_each_bit(groups.neighbours(mask), [&](int n) {
      const std::size_t known = groups.count();
      if (groups.fuse(mask, bit(n)) && groups.count() > known) open.push_back(mask | bit(n));
    });
  }
}

/// The cheapest sequence of groups that takes all nodes off, each after what it needs.
std::vector<Mask> cheapest_sequence(const Groups& groups) {
  struct Step {
    std::int64_t cost = std::numeric_limits<std::int64_t>::max();
    Mask group = 0;
  };
  std::vector<Step> best(static_cast<std::size_t>(groups.all()) + 1);
  best[0].cost = 0;
  std::vector<std::pair<Mask, Mask>> moves;  // a group, and what it needs
  for (Mask mask : groups.built()) {
    if (groups.precedence().is_convex(mask)) moves.emplace_back(mask, groups.precedence().before(mask));
  }
  for (Mask done = 0; done < groups.all(); ++done) {
    const Step from = best[static_cast<std::size_t>(done)];
    if (done != 0 && from.group == 0) continue;
    for (const auto& [mask, needs] : moves) {
      if ((mask & done) != 0 || (needs & ~done) != 0) continue;
      Step& to = best[static_cast<std::size_t>(done | mask)];
      const std::int64_t cost = from.cost + groups.cost(mask);
      if (cost < to.cost) to = {cost, mask};
    }
  }
  std::vector<Mask> out;
  for (Mask done = groups.all(); done != 0; done &= ~best[static_cast<std::size_t>(done)].group)
    out.push_back(best[static_cast<std::size_t>(done)].group);
  std::reverse(out.begin(), out.end());
  return out;
}

/// A partition of the nodes placed so far; its masks ascending.
struct State {
  std::int64_t cost = 0;
  std::vector<Mask> masks;
  friend auto operator<=>(const State&, const State&) = default;
};

/// `state` with groups `gone` replaced by `made`, if that has an order.
std::optional<State> replaced(const Groups& groups, const State& state, std::initializer_list<Mask> gone, Mask made) {
  if (!groups.precedence().is_convex(made)) return std::nullopt;
  State out;
  for (Mask mask : state.masks) {
    if (std::find(gone.begin(), gone.end(), mask) == gone.end()) out.masks.push_back(mask);
  }
  out.masks.push_back(made);
  std::sort(out.masks.begin(), out.masks.end());
  if (groups.precedence().ordered(out.masks).size() != out.masks.size()) return std::nullopt;
  out.cost = groups.cost(out.masks);
  return out;
}

/// Every way to place node n: by itself, in a group of a neighbour, or in one that takes another in as well.
void place(Groups& groups, const State& state, int n, std::vector<State>& out) {
  const auto push = [&](std::optional<State> next) {
    if (next) out.push_back(*std::move(next));
  };
  push(replaced(groups, state, {}, bit(n)));
  const Mask near = groups.neighbours(bit(n));
  for (Mask a : state.masks) {
    if ((a & near) == 0 || !groups.fuse(a, bit(n))) continue;
    push(replaced(groups, state, {a}, a | bit(n)));
    for (Mask b : state.masks) {
      if (b != a && (b & near) != 0 && groups.fuse(a | bit(n), b))
        push(replaced(groups, state, {a, b}, a | b | bit(n)));
    }
  }
}

}  // namespace

Partition search_exact(const LoweredGraph& lowered, const Component& component, const FusionOptions& options) {
  Groups groups(lowered, component, options, kMaxExactEvaluations);
  grow_all(groups);
  const bool is_complete = !groups.is_exhausted();
  groups.add_greedy();
  Partition out = groups.partition(cheapest_sequence(groups));
  out.is_complete = is_complete;
  return out;
}

Partition search_beam(const LoweredGraph& lowered, const Component& component, const FusionOptions& options) {
  Groups groups(lowered, component, options, kMaxBeamEvaluations * static_cast<std::int64_t>(component.places.size()));
  std::vector<State> beam = {{}};
  for (int n = 0; n < groups.size(); ++n) {
    std::vector<State> next;
    for (const State& state : beam) place(groups, state, n, next);
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    if (next.size() > kBeamWidth) next.resize(kBeamWidth);
    beam = std::move(next);
  }
  const std::vector<Mask> greedy = groups.add_greedy();
  const bool is_better = groups.cost(beam.front().masks) < groups.cost(greedy);
  Partition out = groups.partition(groups.precedence().ordered(is_better ? beam.front().masks : greedy));
  out.is_complete = !groups.is_exhausted();
  return out;
}

}  // namespace tenon
