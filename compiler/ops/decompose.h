// SPDX-License-Identifier: MIT
// Decomposition of composite ops into primitives.
//
// One function a composite row of the op table, found by name. After the pass a graph holds primitives only; the bits
// of a composite are those of its decomposition. Half types widen to float32 at the start and round once at the end.
#pragma once

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/graph_builder.h"

namespace tenon {

/// A composite node's value from its operands' values. The pass casts the result to the node's dtype.
using Decomposition = Value (*)(const Node& node, absl::Span<const Value> operands);
/// The decomposition of an op; null for primitives.
Decomposition decomposition_of(Op op);

/// The same program in primitives. Node::origin of the result refers to nodes of `graph`.
absl::StatusOr<Graph> decompose(const Graph& graph);

}  // namespace tenon
