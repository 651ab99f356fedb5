// SPDX-License-Identifier: MIT
// The fusion search: greedy rounds over scored pairs, best first, until no pair may fuse with profit.
//
// In a round every pair of groups that shares a buffer is tested (within a window a buffer, so that time stays linear),
// legal pairs are sorted by score, and each is fused after its legality was tested again. Ties break by distance and by
// position, never by address or time.
#pragma once

#include "absl/status/statusor.h"
#include "compiler/explain/decision_log.h"
#include "compiler/schedule/group.h"

namespace tenon {

/// Groups in topological order. `log` may be null. Internal if they have none, which no legal fusion can cause.
absl::StatusOr<std::vector<Group>> fuse(const LoweredGraph& lowered, DecisionLog* log);

}  // namespace tenon
