// SPDX-License-Identifier: MIT
// The invariants of graphs. Those of loop programs are in verify_loops.cc.
#include "compiler/ir/verify.h"

#include "compiler/ir/text.h"

namespace tenon {
namespace {

template <class... Parts>
absl::Status broken(const Parts&... parts) {
  return absl::InternalError(cat("the graph is broken: ", parts...));
}

/// The leaf's attribute is its position in the list, and the list names it there.
bool is_listed(const std::vector<NodeId>& leaves, NodeId id, std::int64_t position) {
  return position >= 0 && position < static_cast<std::int64_t>(leaves.size()) &&
         leaves[static_cast<std::size_t>(position)] == id;
}

absl::Status verify_leaf(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto words = node.attrs.words();
  if (!node.operands.empty() || words.size() != 2 || words[0] != 1) return broken("leaf %", id, " is malformed");
  if (!is_possible_shape(node.type.shape)) return broken("%", id, " has no possible shape");
  if (node.op == Op::k_input) {
    if (!is_listed(graph.inputs, id, words[1])) return broken("%", id, " is not listed as input ", words[1]);
    const Shape& strides = graph.layouts[static_cast<std::size_t>(words[1])].strides;
    if (!are_possible_strides(node.type.shape, strides)) return broken("the strides of %", id, " do not fit it");
    return absl::OkStatus();
  }
  if (!node.type.shape.empty()) return broken("%", id, " is not 0-d");
  if (node.op == Op::k_scalar) {
    if (!is_listed(graph.scalars, id, words[1])) return broken("%", id, " is not listed as scalar ", words[1]);
  } else if (!is_element(node.type.dtype, static_cast<std::uint64_t>(words[1]))) {
    return broken("%", id, " is wider than its dtype");
  }
  return absl::OkStatus();
}

absl::Status verify_call(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  absl::InlinedVector<const TensorType*, 4> types;
  for (const NodeId operand : node.operands) {
    if (operand < 0 || operand >= id) return broken("%", id, " uses %", operand, ", which does not come before it");
    types.push_back(&graph.node(operand).type);
  }
  Attrs parsed;
  if (!Attrs::parse(node.attrs.words(), num_attributes(node.op), &parsed)) return broken("attributes of %", id);
  const auto type = infer(node.op, types, node.attrs);
  if (!type.ok()) return broken("%", id, ": ", std::string(type.status().message()));
  if (*type != node.type) return broken("%", id, " is ", to_string(node.type), " but infers as ", to_string(*type));
  return absl::OkStatus();
}

}  // namespace

absl::Status verify(const Graph& graph) {
  if (graph.layouts.size() != graph.inputs.size()) return broken("inputs and layouts differ in number");
  std::size_t inputs = 0, scalars = 0;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.size()); ++id) {
    const Op op = graph.node(id).op;
    if (op >= Op::kCount) return broken("%", id, " has no op");
    inputs += op == Op::k_input;
    scalars += op == Op::k_scalar;
    const bool is_leaf = row_of(op).kind == OpKind::leaf;
    if (auto status = is_leaf ? verify_leaf(graph, id) : verify_call(graph, id); !status.ok()) return status;
  }
  if (inputs != graph.inputs.size() || scalars != graph.scalars.size()) return broken("a listed leaf is no leaf");
  for (const NodeId id : graph.outputs) {
    if (id < 0 || id >= static_cast<NodeId>(graph.size())) return broken("output %", id, " does not exist");
  }
  return absl::OkStatus();
}

}  // namespace tenon
