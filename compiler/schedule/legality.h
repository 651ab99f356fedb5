// SPDX-License-Identifier: MIT
// Whether two groups may be one kernel: a table of rows, each with a stable reason code.
#pragma once

#include <optional>
#include <string>

#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/group.h"

namespace tenon {

/// Why a pair may not fuse: a code from the fusion design, and a detail for people.
struct Refusal {
  const char* code = "";
  std::string detail;
  std::string text() const;
};

/// Two groups that share a buffer; `a` stands before `b` in the order of `dependencies`.
struct FusionPair {
  const LoweredGraph& lowered;
  const Dependencies& dependencies;
  int a_id, b_id;
  const Group& a;
  const Group& b;
};

/// The merged group, or why there is none.
struct FusionResult {
  std::optional<Group> group;
  Refusal refusal;
};

/// Whether the two may be one kernel: every row of the table, then whether one loop nest can hold both.
FusionResult can_fuse(const FusionPair& pair);

/// An inner reduction with few rows and long ones, or an outer one with few columns: it runs as partials and a finish,
/// and takes no neighbours.
bool is_split_reduction(const Group& group);

}  // namespace tenon
