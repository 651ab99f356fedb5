// SPDX-License-Identifier: MIT
// Graph rewrites: equal nodes become one, operations that do nothing go, views of views become one, constants fold.
//
// Rules are a table (rewrite.cc). None changes a bit of any result, and none looks at the value of a run-time scalar.
// One walk in topological order applies each rule to operands that are already rewritten, so the pass ends after one
// sweep; what no output needs is dropped at the end (inputs and scalars stay, since they are the program's signature).
#pragma once

#include "absl/status/statusor.h"
#include "compiler/explain/decision_log.h"
#include "compiler/ir/graph.h"

namespace tenon {

/// The same program, smaller. Primitives only, as decompose() makes them. Each match goes into `log`, which may be
/// null.
absl::StatusOr<Graph> rewrite(const Graph& graph, DecisionLog* log = nullptr);

}  // namespace tenon
