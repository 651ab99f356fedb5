// SPDX-License-Identifier: MIT
// See views.h.
#include "compiler/lower/views.h"

namespace tenon {

bool is_view(Op op) { return row_of(op).kind == OpKind::view; }

IndexTuple broadcast_index(IndexPool& pool, const IndexTuple& index, const Shape& shape) {
  IndexTuple out(shape.size());
  const std::size_t skipped = index.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) out[i] = shape[i] == 1 ? pool.constant(0) : index[skipped + i];
  return out;
}

IndexTuple map_view_index(IndexPool& pool, const Node& view, const Shape& source, const IndexTuple& index) {
  IndexTuple out(source.size());
  switch (view.op) {
    case Op::k_reshape:
      return pool.delinearize(pool.linearize(index, view.type.shape), source);
    case Op::k_permute_dims: {
      const auto axes = view.ints("axes");
      for (std::size_t i = 0; i < axes.size(); ++i) out[static_cast<std::size_t>(axes[i])] = index[i];
      return out;
    }
    case Op::k_slice: {
      const auto starts = view.ints("starts"), steps = view.ints("steps");
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = pool.add(pool.multiply(index[i], steps[i]), starts[i]);
      return out;
    }
    default:
      return broadcast_index(pool, index, source);
  }
}

IndexTuple axis_variables(IndexPool& pool, const Shape& shape, int first) {
  IndexTuple index;
  for (std::size_t i = 0; i < shape.size(); ++i) index.push_back(pool.var(first + static_cast<int>(i), shape[i]));
  return index;
}

ViewSource resolve_views(IndexPool& pool, const Graph& graph, NodeId node, IndexTuple index) {
  while (is_view(graph.node(node).op)) {
    const NodeId source = graph.node(node).operands[0];
    index = map_view_index(pool, graph.node(node), graph.node(source).type.shape, index);
    node = source;
  }
  return {node, std::move(index)};
}

}  // namespace tenon
