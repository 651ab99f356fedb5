// SPDX-License-Identifier: MIT
// The decomposition pass: walks the graph once and replaces composite nodes.
#include "compiler/ops/decompose.h"

namespace tenon {

#define TENON_DECLARE_composite(name) Value decompose_##name(const Node& node, absl::Span<const Value> x);
#define TENON_DECLARE_primitive(name)
#define TENON_DECLARE_internal(name)
#define TENON_OP(name, operands, attributes, kind, promotion, result, form, ...) TENON_DECLARE_##form(name)
#include "compiler/ops/op_table.def"
#undef TENON_OP

Decomposition decomposition_of(Op op) {
#define TENON_ENTRY_composite(name) decompose_##name
#define TENON_ENTRY_primitive(name) nullptr
#define TENON_ENTRY_internal(name) nullptr
#define TENON_OP(name, operands, attributes, kind, promotion, result, form, ...) TENON_ENTRY_##form(name),
  static constexpr Decomposition kTable[kNumOps] = {
#include "compiler/ops/op_table.def"
  };
#undef TENON_OP
  return kTable[static_cast<int>(op)];
}

absl::StatusOr<Graph> decompose(const Graph& graph) {
  GraphBuilder builder;
  std::vector<NodeId> image(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.nodes[i];
    builder.set_origin(static_cast<NodeId>(i));
    Decomposition decomposition = decomposition_of(node.op);
    if (!decomposition) {
      absl::InlinedVector<NodeId, 4> operands;
      for (NodeId id : node.operands) operands.push_back(image[static_cast<std::size_t>(id)]);
      image[i] = builder.append_copy(node, operands);
      continue;
    }
    absl::InlinedVector<Value, 4> operands;
    for (NodeId id : node.operands) operands.push_back({&builder, image[static_cast<std::size_t>(id)]});
    if (operands.empty()) operands.push_back({&builder, -1});  // creation ops reach the builder through it
    Value value = reshape(cast(decomposition(node, operands), node.type.dtype), node.type.shape);
    image[i] = value.id;
  }
  if (!builder.status().ok()) return builder.status();
  map_signature(graph, image, builder.graph());
  return std::move(builder.graph());
}

}  // namespace tenon
