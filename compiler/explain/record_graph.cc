// SPDX-License-Identifier: MIT
// See record_graph.h.
#include "compiler/explain/record_graph.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ir/graph_text.h"

namespace tenon {
namespace {

std::string op_text(const Node& node) {
  const bool is_reduction = node.op == Op::k_reduce || node.op == Op::k_scan;
  return std::string(is_reduction ? name_of(static_cast<ReduceKind>(node.value("kind"))) : name_of(node.op));
}

NodeRecord record_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  NodeRecord record;
  record.id = id;
  record.op = op_text(node);
  record.text = node_text(graph, id);
  record.type = to_string(node.type);
  record.operands.assign(node.operands.begin(), node.operands.end());
  record.source = node.origin;
  record.bytes = numel(node.type.shape) * static_cast<std::int64_t>(size_of(node.type.dtype));
  record.is_leaf = row_of(node.op).kind == OpKind::leaf;
  return record;
}

}  // namespace

std::string node_text(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  std::string operands =
      absl::StrJoin(node.operands, ", ", [](std::string* out, NodeId o) { absl::StrAppend(out, "%", o); });
  if (node.op == Op::k_constant)
    operands = element_text(node.type.dtype, static_cast<std::uint64_t>(node.value("bits")));
  const std::string arguments = operands.empty() ? "" : absl::StrCat("(", operands, ")");
  return absl::StrCat("%", id, " = ", op_text(node), arguments, ": ", to_string(node.type));
}

void record_graph(const Graph& graph, std::string_view stage, std::size_t nodes_in, DecisionLog& log) {
  StageRecord record{std::string(stage), static_cast<int>(nodes_in), static_cast<int>(graph.size()), {}, -1};
  for (NodeId id = 0; id < record.nodes_out; ++id) record.nodes.push_back(record_of(graph, id));
  for (NodeId id : graph.outputs) record.nodes[static_cast<std::size_t>(id)].is_output = true;
  log.stages.push_back(std::move(record));
}

void record_decompositions(const Graph& traced, const Graph& primitives, DecisionLog& log) {
  std::vector<std::vector<int>> made(traced.size());
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    made[static_cast<std::size_t>(primitives.nodes[i].origin)].push_back(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < traced.size(); ++i) {
    if (row_of(traced.nodes[i].op).form != OpForm::composite) continue;
    const auto id = static_cast<NodeId>(i);
    log.rewrites.push_back({"decompose", op_text(traced.nodes[i]), node_text(traced, id), std::move(made[i]), {id}});
  }
}

}  // namespace tenon
