// SPDX-License-Identifier: MIT
// Graph rewrites: equal nodes become one, operations that do nothing go, views of views become one, constants fold.
//
// Rules are tables: identities.h of algebra, rule.h of attributes and shapes. None changes a bit of any result, and
// none looks at the value of a run-time scalar. One walk in topological order applies them to each node, whose operands
// are already rewritten, and to what it became, until none matches (or 16 have); what no output needs is dropped at the
// end (inputs and scalars stay, since they are the program's signature).
#pragma once

#include "absl/status/statusor.h"
#include "compiler/explain/decision_log.h"
#include "compiler/ir/graph.h"

namespace tenon {

/// The same program, smaller. Primitives only, as decompose() makes them. Each match goes into `log`, which may be
/// null.
absl::StatusOr<Graph> rewrite(const Graph& graph, DecisionLog* log = nullptr);

}  // namespace tenon
