// SPDX-License-Identifier: MIT
// Whether two groups may be one kernel: a table of rows, each with a stable reason code.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/group.h"

namespace tenon {

/// Why a pair may not fuse: the code of a row, and a detail for people, which becomes words only where it is read. It
/// may be read as long as the lowered graph is there.
struct Refusal {
  const char* code = "";
  std::function<std::string()> detail;
  std::string text() const;
};

/// A row of the table. What nothing in this compiler can break has no check, and says why in `absent`.
struct LegalityRow {
  int number = 0;           ///< L1 to L20 of the fusion design
  const char* code = "";    ///< stable
  const char* rule = "";    ///< what must hold
  const char* absent = "";  ///< why there is nothing to check; empty where it is checked
};

/// All rows, by number.
std::vector<LegalityRow> legality_table();

/// Two groups that share a buffer; `a` stands before `b` in the order of `dependencies`.
struct FusionPair {
  const LoweredGraph& lowered;
  const Dependencies& dependencies;
  int a_id, b_id;
  const Group& a;
  const Group& b;
  std::uint32_t rows_off = 0;  ///< bit n: row Ln is not checked. Tests only, which show that the row is needed
};

/// The merged group, or why there is none.
struct FusionResult {
  std::optional<Group> group;
  Refusal refusal;
};

/// Whether the two may be one kernel: every row of the table holds, and one loop nest can hold both.
FusionResult can_fuse(const FusionPair& pair);

/// An inner reduction with few rows and long ones, or an outer one with few columns: it runs as partials and a finish,
/// and takes no neighbours.
bool is_split_reduction(const Group& group);

}  // namespace tenon
