// SPDX-License-Identifier: MIT
// Puts the realize table into the decision log.
#pragma once

#include "compiler/explain/decision_log.h"
#include "compiler/lower/lower.h"

namespace tenon {

/// Adds the stage "lower" and one record for each value of `graph` that is not a leaf.
void record_lowering(const Graph& graph, const LoweredGraph& lowered, DecisionLog& log);

}  // namespace tenon
