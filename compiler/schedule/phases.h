// SPDX-License-Identifier: MIT
// When the members of a group run: the phases that its kernel will have, and what several passes over one sequence ask.
#pragma once

#include <vector>

#include "compiler/schedule/group.h"

namespace tenon {

/// The phase of each member, by position. Loops over the full space run at even times, rows at odd ones: a reduction
/// made at time t can be used by rows from t+1 and by full loops from t+2; everything else can be used at once.
/// A nested reduction has full loops at time 0, what runs once a step of its sequence at 1, rows at 2.
std::vector<int> phase_times(const LoweredGraph& lowered, const Group& group);

/// Whether a task of this group walks its sequence more than once: a result of an outer reduction is used along the
/// reduced axis.
bool has_passes(const LoweredGraph& lowered, const Group& group);

/// What several passes over the sequence read, each an element a point: values that one pass makes and another uses,
/// and elements of other groups' buffers. The first pass leaves them in a local of the task.
struct PassedOn {
  Access access;
  int first = 0, last = 0;  ///< the times of the passes that use it, the first of which has it
};
std::vector<PassedOn> passed_on(const LoweredGraph& lowered, const Group& group);

/// The lanes of a task such that what is passed on stays in the cache; 0 where so few would
/// that their pieces of rows are slow to move.
std::int64_t column_tile(const LoweredGraph& lowered, const Group& group);

}  // namespace tenon
