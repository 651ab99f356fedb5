// SPDX-License-Identifier: MIT
// Random well-formed graphs for tests: ops, operands and attributes are drawn and kept when `infer` accepts them, so
// every op of the table occurs.
#pragma once

#include <random>

#include "compiler/ir/graph.h"

namespace tenon {

class RandomGraph {
 public:
  explicit RandomGraph(std::uint32_t seed) : random_(seed) {}

  Graph make(int nodes, bool primitives_only) {
    for (int i = 0; i < 3; ++i) add_leaf();
    for (int tries = 0; tries < 60 * nodes && static_cast<int>(graph_.size()) < nodes; ++tries) {
      below(12) == 0 ? add_leaf() : add_call(primitives_only);
    }
    for (int i = 0; i < 3; ++i) graph_.outputs.push_back(any_node());
    return std::move(graph_);
  }

 private:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  NodeId any_node() { return static_cast<NodeId>(below(static_cast<std::int64_t>(graph_.size()))); }
  DType any_dtype() { return static_cast<DType>(below(kNumDTypes)); }
  Shape any_shape() {
    Shape shape(static_cast<std::size_t>(below(4)));
    for (auto& extent : shape) extent = below(8) == 0 ? 0 : 1 + below(4);
    return shape;
  }

  void push(const Node& node) { graph_.nodes.push_back(node); }
  void add_leaf() {
    Node node;
    node.type.dtype = any_dtype();
    const auto id = static_cast<NodeId>(graph_.size());
    const auto kind = below(4);
    if (kind == 0) {
      node.op = Op::k_constant;
      node.attrs.append(static_cast<std::int64_t>(bits_of(node.type.dtype, below(100) - 50)));
    } else if (kind == 1) {
      node.op = Op::k_scalar;
      node.attrs.append(static_cast<std::int64_t>(graph_.scalars.size()));
      graph_.scalars.push_back(id);
    } else {
      node.op = Op::k_input;
      node.type.shape = any_shape();
      node.attrs.append(static_cast<std::int64_t>(graph_.inputs.size()));
      graph_.inputs.push_back(id);
      InputLayout layout;
      layout.aligned64 = below(2) == 0;
      if (below(2) == 0 && !node.type.shape.empty()) layout.strides = Shape(node.type.shape.size(), below(5) - 2);
      graph_.layouts.push_back(layout);
    }
    push(node);
  }

  Attrs any_attrs(Op op, const Shape& x) {
    Attrs attrs;
    const auto rank = static_cast<std::int64_t>(x.size());
    for (int i = 0; i < num_attributes(op); ++i) {
      const AttrSpec& spec = attribute(op, i);
      if (spec.type == AttrType::kInts) {
        Shape list = spec.name == "shape" ? any_shape() : Shape(x.size());
        if (spec.name == "lengths") list = x;
        if (spec.name == "axes") {
          for (std::size_t k = 0; k < list.size(); ++k) list[k] = rank - 1 - static_cast<std::int64_t>(k);
        } else if (spec.name != "shape" && spec.name != "lengths" && spec.name != "starts") {
          for (auto& value : list) value = 1 + below(2);
        }
        attrs.append(list);
      } else if (spec.type == AttrType::kAxes) {
        Shape axes;
        for (std::int64_t axis = 0; axis < rank; ++axis) {
          if (below(2) == 0) axes.push_back(axis);
        }
        attrs.append(axes);
      } else {
        attrs.append(spec.type == AttrType::kDType ? static_cast<std::int64_t>(any_dtype())
                                                   : below(spec.type == AttrType::kBool ? 2 : 4));
      }
    }
    return attrs;
  }

  void add_call(bool primitives_only) {
    Node node;
    node.op = static_cast<Op>(below(kNumOps));
    const OpRow& row = row_of(node.op);
    if (row.kind == OpKind::leaf || (primitives_only && row.form == OpForm::composite)) return;
    const int least = min_operands(node.op), most = std::min(max_operands(node.op), least + 3);
    absl::InlinedVector<const TensorType*, 4> types;
    for (auto count = least + below(most - least + 1); count > 0; --count) {
      // Often the same node again, since most ops want equal dtypes.
      node.operands.push_back(node.operands.empty() || below(2) == 0 ? any_node() : node.operands[0]);
    }
    for (const NodeId id : node.operands) types.push_back(&graph_.node(id).type);
    node.attrs = any_attrs(node.op, types.empty() ? any_shape() : types[0]->shape);
    auto type = infer(node.op, types, node.attrs);
    if (!type.ok() || numel(type->shape) > 4096) return;
    node.type = *std::move(type);
    push(node);
  }

  std::mt19937 random_;
  Graph graph_;
};

inline Graph random_graph(std::uint32_t seed, int nodes, bool primitives_only = false) {
  return RandomGraph(seed).make(nodes, primitives_only);
}

}  // namespace tenon
