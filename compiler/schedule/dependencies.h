// SPDX-License-Identifier: MIT
// Which groups produce and read which buffers, and in what order groups may run. Kept up to date while groups merge.
//
// Groups are named by small numbers. A topological order is held as a list with labels, so that "before" is one
// comparison; a merge moves only what lies between the two groups and is reached from one of them. A search for a path
// looks from both ends and stops at a bound on its steps, so that no question costs more than a constant.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/types/span.h"
#include "compiler/schedule/group.h"

namespace tenon {

class Dependencies {
 public:
  /// `groups` in topological order; a group's number is its position.
  Dependencies(const LoweredGraph& lowered, absl::Span<const Group> groups);

  /// The group that writes `buffer`, or -1: an input, or a value that every reader computes itself.
  int producer(BufferId buffer) const { return producers_[static_cast<std::size_t>(buffer)]; }
  /// The groups that read `buffer` and do not write it, ascending.
  const absl::btree_set<int>& readers(BufferId buffer) const { return readers_[static_cast<std::size_t>(buffer)]; }
  /// Buffers of other groups that `group` reads, and those that it writes; ascending.
  const std::vector<BufferId>& reads(int group) const { return reads_[static_cast<std::size_t>(group)]; }
  const std::vector<BufferId>& writes(int group) const { return writes_[static_cast<std::size_t>(group)]; }

  /// Whether a stands before b in the order that is held now.
  bool is_before(int a, int b) const { return label(a) < label(b); }
  /// Whether b reads what a writes.
  bool is_consumer(int a, int b) const;

  enum Path : std::uint8_t {
    kNone,
    kThrough,  ///< a path from a to b through a third group
    kTooFar,   ///< the search ended at its bound
  };
  /// Of groups a before b.
  Path path_between(int a, int b) const;

  /// Makes a and b one group, whose number is the smaller of theirs and is returned. a before b, and no path between.
  int merge(int a, int b);

  /// The groups in topological order.
  std::vector<int> order() const;

  /// Steps that searches for paths have made: a measure of time without a clock.
  std::int64_t steps() const { return steps_; }

 private:
  struct Side;
  std::int64_t label(int group) const { return labels_[static_cast<std::size_t>(group)]; }
  Path search(int a, int b, std::vector<int>& between, bool& is_forward) const;
  template <class Visit>
  void for_each_neighbour(int group, bool forward, const Visit& visit) const;
  std::int64_t degree(int group, bool forward) const;
  void unlink(int group);
  void link_before(absl::Span<const int> groups, int next);
  void relabel();

  std::vector<int> producers_;
  std::vector<absl::btree_set<int>> readers_;
  std::vector<std::vector<BufferId>> reads_, writes_;
  std::vector<int> next_, previous_;  ///< the order; the last entry is the list's own end
  std::vector<std::int64_t> labels_;
  mutable std::vector<int> stamps_[2];
  mutable int epoch_ = 0;
  mutable std::int64_t steps_ = 0;
};

}  // namespace tenon
