// SPDX-License-Identifier: MIT
// Which values get memory (realize) and which are computed inside their readers (inline).
//
// The rules and their constants are those of the fusion design: must-rules for legality, then a table of caps,
// exemptions and costs (realize_rules.h). A value that is inlined is never allocated. Every decision carries the rule
// that made it and its numbers. Of the must-rules of the design, those on scatters, binary searches, several devices
// and side effects have no op here to apply to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/cost_table.h"
#include "compiler/ir/graph.h"

namespace tenon {

/// kInductor: the thresholds of PyTorch Inductor on a CPU, for comparison. Part of what code depends on.
enum class RealizeMode : std::uint8_t { kTenon, kInductor };
inline constexpr std::array<std::pair<std::string_view, RealizeMode>, 2> kRealizeModes = {
    {{"tenon", RealizeMode::kTenon}, {"inductor", RealizeMode::kInductor}}};
/// The mode of that name, or nothing.
std::optional<RealizeMode> parse_realize_mode(std::string_view name);

struct RealizeDecision {
  NodeId node = -1;
  bool realized = false;
  std::string_view rule;  ///< "must/output", "cost/store is cheaper", "exempt/one load", ...
  int reads = 0;          ///< distinct realized values and inputs that the inlined body loads
  int ops = 0;            ///< ops of the inlined body
  int weight = 0;         ///< the sum of their weights
  /// Effective users: how often an element would be computed if inlined. kTenon: distinct (kernel, access) pairs, where
  /// readers that certainly share a kernel are one, and a table counts as often as its elements are gathered.
  /// kInductor: readers in the graph, where a broadcast counts as often as it repeats.
  int users = 0;
  std::int64_t bytes_in = 0, bytes_out = 0;
  std::int64_t inline_cost = 0, store_cost = 0;  ///< picoseconds
};

/// One decision for each node, in node order; leaves are never realized.
std::vector<RealizeDecision> decide_realize(const Graph& graph, RealizeMode mode, const CostTable& costs);

}  // namespace tenon
