// SPDX-License-Identifier: MIT
// Views as index maps: where in its operand an element of a view lies.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/index_expr.h"

namespace tenon {

using IndexTuple = std::vector<IndexExpr>;

/// reshape, permute_dims, broadcast_to, slice: no computation, an index map only.
bool is_view(Op op);

/// The index in view.operands[0] (of shape `source`) of element `index` of `view`.
IndexTuple map_view_index(IndexPool& pool, const Node& view, const Shape& source, const IndexTuple& index);

/// Index into an operand of shape `shape` that NumPy broadcasting pairs with `index` of the result.
IndexTuple broadcast_index(IndexPool& pool, const IndexTuple& index, const Shape& shape);

/// One loop variable an axis of `shape`, numbered from `first`.
IndexTuple axis_variables(IndexPool& pool, const Shape& shape, int first = 0);

/// The node below a chain of views, and the index there.
struct ViewSource {
  NodeId node;
  IndexTuple index;
};
ViewSource resolve_views(IndexPool& pool, const Graph& graph, NodeId node, IndexTuple index);

}  // namespace tenon
