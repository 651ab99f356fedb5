// SPDX-License-Identifier: MIT
// Questions about two nodes or kernels, answered from a decision log.
//
// A name is that of a node after rewriting ("%7"; "7" will do) or of a kernel ("k0", or its whole symbol). An inlined
// node stands for the realized ones that it is computed in.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/explain/decision_log.h"

namespace tenon {

/// Why `a` and `b` are not one kernel, or that they are. A name that does not exist is an answer, too.
PairAnswer why_not(const DecisionLog& log, std::string_view a, std::string_view b);

/// The score that the pair had when it was last tested, in picoseconds; nothing if it never was.
std::optional<std::int64_t> score_of(const DecisionLog& log, std::string_view a, std::string_view b);

/// The nodes that a candidate's a or b names: "%3+%7" is 3 and 7.
std::vector<int> members_of(std::string_view group);

/// The kernels that compute a node, by their positions: those that have it as a member or have it inlined.
std::vector<int> kernels_of(const DecisionLog& log, int node);

/// The graph that was lowered: nodes of the stage "rewrite"; empty if there is no such stage.
const std::vector<NodeRecord>& lowered_nodes(const DecisionLog& log);

}  // namespace tenon
