// SPDX-License-Identifier: MIT
// Builds graphs: appends checked nodes, and gives decompositions and rewrites an algebra over them.
//
// Every node is checked by infer(). A failed check is a fault of the compiler, not of the user (traced nodes have been
// checked before): the builder keeps the first one in status() and goes on with the operand's type, so that callers
// need one check at the end.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace tenon {

class GraphBuilder {
 public:
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  const absl::Status& status() const { return status_; }
  /// Nodes made from now on come from this traced node.
  void set_origin(NodeId origin) { origin_ = origin; }

  NodeId append(Op op, absl::Span<const NodeId> operands, Attrs attrs = {});
  /// Appends a copy of a node that is known to be well formed, with other operands.
  NodeId append_copy(const Node& node, absl::Span<const NodeId> operands);
  /// A 0-d constant, rounded to dtype.
  NodeId constant(DType dtype, double value);
  NodeId constant(DType dtype, std::int64_t value);

 private:
  Graph graph_;
  absl::Status status_;
  NodeId origin_ = -1;
};

/// Gives `to` the inputs, scalars, outputs and layouts of `from`, node id by node image[id].
void map_signature(const Graph& from, absl::Span<const NodeId> image, Graph& to);

/// A node under construction with the operators of algebra. Numbers beside a value take its dtype.
struct Value {
  GraphBuilder* builder = nullptr;
  NodeId id = -1;

  const TensorType& type() const { return builder->graph().node(id).type; }
  DType dtype() const { return type().dtype; }
  const Shape& shape() const { return type().shape; }
  int rank() const { return static_cast<int>(shape().size()); }
};

Value apply(Op op, absl::Span<const Value> operands, Attrs attrs = {});
Value constant_like(const Value& v, double value);

Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator-(const Value& a);
inline Value operator+(const Value& a, double b) { return a + constant_like(a, b); }
inline Value operator*(const Value& a, double b) { return a * constant_like(a, b); }
inline Value operator/(double a, const Value& b) { return constant_like(b, a) / b; }
inline Value operator/(const Value& a, double b) { return a / constant_like(a, b); }

/// Cast; the value itself when it has that dtype.
Value cast(const Value& x, DType dtype);
/// Reshape; the value itself when it has that shape.
Value reshape(const Value& x, absl::Span<const std::int64_t> shape);
Value broadcast_to(const Value& x, absl::Span<const std::int64_t> shape);
Value where(const Value& condition, const Value& x, const Value& y);
/// float32 for half types, else the value itself: composite ops compute there and round once at the end.
Value widen(const Value& x);
/// Index along an axis of a shape, as int64.
Value index_along(GraphBuilder* builder, absl::Span<const std::int64_t> shape, int axis);

/// Several axes reduced in the canonical order (decisions.md, 6), in the dtype of x: axes of length 1 drop out,
/// adjacent ones merge, the innermost run goes by the inner order if nothing follows it, the others by the outer order,
/// inside first. Result without the axes, or with length 1 in their places.
Value reduce_axes(const Value& x, ReduceKind kind, absl::Span<const std::int64_t> axes, bool keepdims);

}  // namespace tenon
