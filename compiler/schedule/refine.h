// SPDX-License-Identifier: MIT
// Improves what greedy search made, component by component, where a component is small enough to look at whole
// partitions of it (partition.h).
#pragma once

#include <utility>
#include <vector>

#include "compiler/explain/decision_log.h"
#include "compiler/schedule/fuse.h"

namespace tenon {

/// A pair that greedy search fused: its record in the log, and the nodes of both.
struct FusedRecord {
  std::size_t record = 0;
  std::vector<int> nodes;
};

/// `edges`: pairs of nodes that one kernel may hold, but for paths between them. `fused` and `log` go together; `log`
/// may be null. It gets a record of each component and of each pair of a better partition.
void refine(const LoweredGraph& lowered, const FusionOptions& options, const std::vector<std::pair<int, int>>& edges,
            const std::vector<FusedRecord>& fused, FusionPlan& plan, DecisionLog* log);

}  // namespace tenon
