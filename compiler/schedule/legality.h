// SPDX-License-Identifier: MIT
// Whether two groups may be one kernel: a table of rows, each with a stable reason code.
#pragma once

#include <optional>
#include <string>

#include "compiler/schedule/group.h"

namespace tenon {

/// Why a pair may not fuse: a code from the fusion design, and a detail for people.
struct Refusal {
  const char* code = "";
  std::string detail;
  std::string text() const;
};

/// Knows which group produces and which groups read each buffer.
class Dependencies {
 public:
  /// `groups` by id; dead ids are null.
  void rebuild(const LoweredGraph& lowered, const std::vector<const Group*>& groups);
  int producer(BufferId buffer) const { return producers_[static_cast<std::size_t>(buffer)]; }
  const std::vector<int>& readers(BufferId buffer) const { return readers_[static_cast<std::size_t>(buffer)]; }
  /// Whether b can be reached from a through some third group.
  bool has_path_between(int a, int b) const;
  /// Whether b is reached from a at all.
  bool depends_on(int b, int a) const;

 private:
  bool reaches(int from, int to, int skip_direct_of) const;
  void order_groups();
  std::vector<int> producers_;
  std::vector<std::vector<int>> readers_;
  std::vector<std::vector<int>> successors_;
  std::vector<int> position_;  ///< in some topological order of the groups
  mutable std::vector<int> stamp_;
  mutable int epoch_ = 0;
};

/// The merged group when `a` (which must not depend on `b`) and `b` may fuse, else the refusal.
struct FusionResult {
  std::optional<Group> group;
  Refusal refusal;
};
FusionResult try_fuse(const LoweredGraph& lowered, const Dependencies& dependencies, int a_id, const Group& a, int b_id,
                      const Group& b);

/// An inner reduction with few rows and long ones, or an outer one with few columns: it runs as partials and a finish,
/// and takes no neighbours.
bool is_split_reduction(const Group& group);

}  // namespace tenon
