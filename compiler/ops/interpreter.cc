// SPDX-License-Identifier: MIT
// Runs a graph node by node: leaves, then one family function a node, and frees values after their last use.
#include "compiler/ops/interpreter.h"

#include <cstring>

#include "compiler/ir/text.h"
#include "compiler/ops/interpreter_ops.h"

namespace tenon {
namespace {

using interpreter::Call;

HostTensor make_tensor(const TensorType& type) {
  return {type, std::vector<std::byte>(static_cast<std::size_t>(numel(type.shape)) * size_of(type.dtype))};
}

HostTensor make_element(const TensorType& type, std::uint64_t bits) {
  HostTensor tensor = make_tensor(type);
  std::memcpy(tensor.data.data(), &bits, tensor.data.size());
  return tensor;
}

HostTensor read_input(const TensorType& type, const HostView& view) {
  HostTensor tensor = make_tensor(type);
  auto* data = static_cast<std::byte*>(const_cast<void*>(view.data));  // copy_box only reads its source
  const Shape strides = view.strides.empty() ? row_major_strides(type.shape) : view.strides;
  interpreter::copy_box(type.shape, size_of(type.dtype), {tensor.data.data(), row_major_strides(type.shape)},
                        {data, strides});
  return tensor;
}

void run(const Call& call) {
  switch (row_of(call.node.op).kind) {
    case OpKind::elementwise:
      return interpreter::run_elementwise(call);
    case OpKind::view:
      return interpreter::run_view(call);
    case OpKind::index:
      return interpreter::run_index(call);
    case OpKind::create:
      return interpreter::run_create(call);
    case OpKind::reduce:
    case OpKind::scan:
      return interpreter::run_reduce(call);
    case OpKind::matmul:
      return interpreter::run_matmul(call);
    case OpKind::composite:
    case OpKind::leaf:
      return;
  }
}

/// Node after whose computation a value may go; the graph's size for outputs.
std::vector<NodeId> last_uses(const Graph& graph) {
  std::vector<NodeId> last(graph.size());
  for (NodeId id = 0; id < static_cast<NodeId>(graph.size()); ++id) {
    last[static_cast<std::size_t>(id)] = id;
    for (const NodeId operand : graph.node(id).operands) last[static_cast<std::size_t>(operand)] = id;
  }
  for (const NodeId id : graph.outputs) last[static_cast<std::size_t>(id)] = static_cast<NodeId>(graph.size());
  return last;
}

absl::Status check(const Graph& graph, absl::Span<const HostView> inputs, absl::Span<const std::uint64_t> scalars) {
  if (inputs.size() != graph.inputs.size() || scalars.size() != graph.scalars.size()) {
    return absl::InvalidArgumentError(cat("the graph takes ", graph.inputs.size(), " inputs and ", graph.scalars.size(),
                                          " scalars, not ", inputs.size(), " and ", scalars.size()));
  }
  for (const Node& node : graph.nodes) {
    if (row_of(node.op).form != OpForm::composite) continue;
    return absl::InvalidArgumentError(cat("the interpreter runs primitives only, not ", name_of(node.op)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<HostTensor>> interpret(const Graph& graph, absl::Span<const HostView> inputs,
                                                  absl::Span<const std::uint64_t> scalars, bool keep_all) {
  if (auto status = check(graph, inputs, scalars); !status.ok()) return status;
  const std::vector<NodeId> last = last_uses(graph);
  std::vector<HostTensor> values(graph.size());
  for (NodeId id = 0; id < static_cast<NodeId>(graph.size()); ++id) {
    const Node& node = graph.node(id);
    HostTensor& value = values[static_cast<std::size_t>(id)];
    if (row_of(node.op).kind == OpKind::leaf) {
      const auto number = static_cast<std::uint64_t>(node.attrs.value(0));
      value = node.op == Op::k_input ? read_input(node.type, inputs[number])
                                     : make_element(node.type, node.op == Op::k_scalar ? scalars[number] : number);
      continue;
    }
    value = make_tensor(node.type);
    absl::InlinedVector<const HostTensor*, 3> operands;
    for (const NodeId operand : node.operands) operands.push_back(&values[static_cast<std::size_t>(operand)]);
    run({node, operands, value.data.data()});
    for (const NodeId operand : node.operands) {
      const auto i = static_cast<std::size_t>(operand);
      if (!keep_all && last[i] == id) std::vector<std::byte>().swap(values[i].data);
    }
  }
  if (keep_all) return values;
  std::vector<HostTensor> outputs;
  for (const NodeId id : graph.outputs) outputs.push_back(values[static_cast<std::size_t>(id)]);
  return outputs;
}

}  // namespace tenon
