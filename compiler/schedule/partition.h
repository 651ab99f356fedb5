// SPDX-License-Identifier: MIT
// Search over whole partitions of a small component into kernels, where greedy looks at one pair at a time.
//
// Exact, up to 12 nodes: the cheapest way to take connected convex groups off the component, one after another, over
// all sets of nodes that may be done first (downsets). Beam, up to 64: nodes are placed in order, into kernels of their
// neighbours or a new one, and the 32 cheapest partial partitions are kept. Both count the groups that they try to
// build and end at a bound on that number, never by a clock. Neither computes a value twice.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/schedule/cost.h"
#include "compiler/schedule/fusion_options.h"

namespace tenon {

inline constexpr int kMaxExactNodes = 12;
inline constexpr int kMaxBeamNodes = 64;

/// Nodes that fusion may join, and the kernels around them. A set of nodes is a mask: bit i is the node at places[i].
struct Component {
  std::vector<Group> around;               ///< groups in topological order, the component's nodes as groups of one
  std::vector<int> places;                 ///< of the component's nodes in `around`; bits are in topological order
  std::vector<std::pair<int, int>> edges;  ///< bits of pairs that one kernel may hold, but for paths between
  std::vector<std::uint64_t> greedy;       ///< the partition to be improved upon
  std::vector<Group> greedy_groups;        ///< its groups
};

struct Partition {
  std::vector<Group> groups;
  std::vector<std::uint64_t> masks;
  /// How groups that greedy did not make come about, pair by pair.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> fused;
  std::int64_t cost = 0;  ///< picoseconds, of all groups
  std::int64_t greedy_cost = 0;
  std::int64_t evaluations = 0;  ///< groups that the search tried to build
  bool is_complete = true;       ///< false: the bound on them was met, and exact search has looked at a part only
};

/// The best partition found: never dearer than the greedy one, which it is where nothing better was found.
Partition search_exact(const LoweredGraph& lowered, const Component& component, const FusionOptions& options);
Partition search_beam(const LoweredGraph& lowered, const Component& component, const FusionOptions& options);

}  // namespace tenon
