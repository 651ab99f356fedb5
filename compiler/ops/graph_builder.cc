// SPDX-License-Identifier: MIT
// See graph_builder.h.
#include "compiler/ops/graph_builder.h"

#include <algorithm>

namespace tenon {

NodeId GraphBuilder::append(Op op, absl::Span<const NodeId> operands, Attrs attrs) {
  absl::InlinedVector<const TensorType*, 4> types;
  for (NodeId id : operands) types.push_back(&graph_.node(id).type);
  absl::StatusOr<TensorType> type = infer(op, types, attrs);
  Node node;
  node.op = op;
  if (type.ok()) {
    node.type = *std::move(type);
  } else {
    status_.Update(type.status());
    if (!types.empty()) node.type = *types[0];
  }
  node.operands.assign(operands.begin(), operands.end());
  node.attrs = std::move(attrs);
  node.origin = origin_;
  graph_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(graph_.nodes.size()) - 1;
}

NodeId GraphBuilder::append_copy(const Node& node, absl::Span<const NodeId> operands) {
  Node copy = node;
  copy.operands.assign(operands.begin(), operands.end());
  copy.origin = origin_;
  graph_.nodes.push_back(std::move(copy));
  return static_cast<NodeId>(graph_.nodes.size()) - 1;
}

void map_signature(const Graph& from, absl::Span<const NodeId> image, Graph& to) {
  const auto mapped = [&](const std::vector<NodeId>& ids) {
    std::vector<NodeId> out;
    for (NodeId id : ids) out.push_back(image[static_cast<std::size_t>(id)]);
    return out;
  };
  to.inputs = mapped(from.inputs);
  to.scalars = mapped(from.scalars);
  to.outputs = mapped(from.outputs);
  to.layouts = from.layouts;
}

namespace {

NodeId append_constant(Graph& graph, DType dtype, std::uint64_t bits, NodeId origin) {
  Node node;
  node.op = Op::k_constant;
  node.type.dtype = dtype;
  node.attrs.append(static_cast<std::int64_t>(bits));
  node.origin = origin;
  graph.nodes.push_back(std::move(node));
  return static_cast<NodeId>(graph.nodes.size()) - 1;
}

}  // namespace

NodeId GraphBuilder::constant(DType dtype, double value) {
  return append_constant(graph_, dtype, bits_of(dtype, value), origin_);
}
NodeId GraphBuilder::constant(DType dtype, std::int64_t value) {
  return append_constant(graph_, dtype, bits_of(dtype, value), origin_);
}

Value apply(Op op, absl::Span<const Value> operands, Attrs attrs) {
  absl::InlinedVector<NodeId, 4> ids;
  for (const Value& v : operands) ids.push_back(v.id);
  return {operands[0].builder, operands[0].builder->append(op, ids, std::move(attrs))};
}

Value constant_like(const Value& v, double value) { return {v.builder, v.builder->constant(v.dtype(), value)}; }

Value operator+(const Value& a, const Value& b) { return apply(Op::k_add, {a, b}); }
Value operator-(const Value& a, const Value& b) { return apply(Op::k_subtract, {a, b}); }
Value operator*(const Value& a, const Value& b) { return apply(Op::k_multiply, {a, b}); }
Value operator/(const Value& a, const Value& b) { return apply(Op::k_divide, {a, b}); }
Value operator-(const Value& a) { return apply(Op::k_negative, {a}); }

Value cast(const Value& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Attrs attrs;
  attrs.append(static_cast<std::int64_t>(dtype));
  return apply(Op::k_cast, {x}, std::move(attrs));
}

Value reshape(const Value& x, absl::Span<const std::int64_t> shape) {
  if (absl::MakeConstSpan(x.shape()) == shape) return x;
  return apply(Op::k_reshape, {x}, Attrs{shape});
}

Value broadcast_to(const Value& x, absl::Span<const std::int64_t> shape) {
  if (absl::MakeConstSpan(x.shape()) == shape) return x;
  return apply(Op::k_broadcast_to, {x}, Attrs{shape});
}

Value where(const Value& condition, const Value& x, const Value& y) { return apply(Op::k_where, {condition, x, y}); }

Value widen(const Value& x) { return is_half(x.dtype()) ? cast(x, DType::kFloat32) : x; }

Value index_along(GraphBuilder* builder, absl::Span<const std::int64_t> shape, int axis) {
  Attrs attrs;
  attrs.append(shape);
  attrs.append(axis);
  attrs.append(static_cast<std::int64_t>(DType::kInt64));
  return {builder, builder->append(Op::k_iota, {}, std::move(attrs))};
}

namespace {

Value reduce_one(const Value& x, ReduceKind kind, int axis, ReduceOrder order) {
  Attrs attrs;
  attrs.append(static_cast<std::int64_t>(kind));
  attrs.append(axis);
  attrs.append(static_cast<std::int64_t>(order));
  return apply(Op::k_reduce, {x}, std::move(attrs));
}

}  // namespace

Value reduce_axes(const Value& x, ReduceKind kind, absl::Span<const std::int64_t> axes, bool keepdims) {
  const auto is_reduced = [&](std::size_t i) {
    return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
  };
  const bool is_arg = kind == ReduceKind::argmax || kind == ReduceKind::argmin;
  Shape result, merged;  // merged: runs of reduced axes as one, no length 1
  std::vector<bool> merged_reduced;
  for (std::size_t i = 0; i < x.shape().size(); ++i) {
    const std::int64_t extent = x.shape()[i];
    const bool reduced = is_reduced(i);
    if (!reduced || keepdims) result.push_back(reduced ? 1 : extent);
    if (extent == 1) continue;
    if (reduced && !merged_reduced.empty() && merged_reduced.back()) {
      merged.back() *= extent;
    } else {
      merged.push_back(extent);
      merged_reduced.push_back(reduced);
    }
  }
  if (is_arg && std::count(merged_reduced.begin(), merged_reduced.end(), true) == 0) {  // every index is 0
    merged.push_back(1);
    merged_reduced.push_back(true);
  }
  Value v = reshape(x, merged);
  for (std::size_t i = merged.size(); i-- > 0;) {
    if (!merged_reduced[i]) continue;
    const bool is_last = i + 1 == merged.size();
    v = reduce_one(v, kind, static_cast<int>(i), is_last ? ReduceOrder::inner : ReduceOrder::outer);
  }
  return reshape(v, result);
}

}  // namespace tenon
