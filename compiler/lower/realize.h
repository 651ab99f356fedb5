// SPDX-License-Identifier: MIT
// Which values get memory (realize) and which are computed inside their readers (inline).
//
// The rules and their constants are those of the fusion design: must-rules for legality, then a cost comparison, then
// caps. A value that is inlined is never allocated. Every decision carries the rule that made it and its numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace tenon {

struct RealizeDecision {
  NodeId node = -1;
  bool realized = false;
  std::string_view rule;  ///< "must/output", "cost/store is cheaper", "exempt/one load", ...
  int reads = 0;          ///< distinct realized values and inputs that the inlined body loads
  int ops = 0;            ///< ops of the inlined body
  int weight = 0;         ///< the sum of their weights
  int users = 0;          ///< distinct (reader, access) pairs: how often it would be computed if inlined
  std::int64_t bytes_in = 0, bytes_out = 0;
  std::int64_t inline_cost = 0, store_cost = 0;  ///< picoseconds
};

/// One decision for each node, in node order; leaves are never realized.
std::vector<RealizeDecision> decide_realize(const Graph& graph);

}  // namespace tenon
