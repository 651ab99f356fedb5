// SPDX-License-Identifier: MIT
// The fusion search: greedy, best pair first, until no pair may fuse with profit; then, for small components, over
// whole partitions (refine.h).
//
// Pairs that share a buffer (within a window a buffer, so that their number stays linear) are tested once, and the
// legal ones wait in a queue by score. The best is tested again and fused; only pairs of the new group are then tested
// anew. A pair whose group was fused elsewhere meanwhile is dropped when it comes up. Ties break by distance and by
// number, never by address or time.
#pragma once

#include "absl/status/statusor.h"
#include "compiler/explain/decision_log.h"
#include "compiler/schedule/fusion_options.h"
#include "compiler/schedule/group.h"

namespace tenon {

struct FusionPlan {
  std::vector<Group> groups;     ///< in topological order
  std::int64_t evaluations = 0;  ///< pairs tested: a measure of time without a clock
  std::int64_t path_steps = 0;   ///< steps of searches for paths between pairs
};

/// `log` may be null. A round of its candidates is one generation: pairs of single nodes are round 1, pairs of a group
/// that was fused in round n are round n + 1. Internal if the groups have no order, which no legal fusion can cause.
absl::StatusOr<FusionPlan> fuse(const LoweredGraph& lowered, const FusionOptions& options, DecisionLog* log);

}  // namespace tenon
