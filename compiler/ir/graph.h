// SPDX-License-Identifier: MIT
// The compiler's graph: SSA nodes in topological order, each one op with its result type.
//
// A graph is a value: passes take one and return one. It is made by decoding canonical bytes (compiler/ir/serialize.h)
// or by GraphBuilder, which checks each node with the op's row. Operand ids are always smaller than the node's own id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/ir/attrs.h"
#include "compiler/ir/op.h"
#include "compiler/ir/tensor_type.h"

namespace tenon {

using NodeId = std::int32_t;

/// Elements of a program input as they lie in memory: strides in elements (0: broadcast, negative: reversed), from the
/// address of element [0, ..., 0]. Empty strides mean row-major. aligned64: whether that address is a multiple of 64, for
/// targets that make other code then; the CPU does not, and its programs leave it at true.
struct InputLayout {
  Shape strides;
  bool aligned64 = true;
  friend bool operator==(const InputLayout&, const InputLayout&) = default;
};

struct Node {
  Op op = Op::k_constant;
  TensorType type;
  absl::InlinedVector<NodeId, 3> operands;
  Attrs attrs;
  NodeId origin = -1;  ///< id in the traced graph of the op that this node was made from

  /// Attributes by the name in the op's row. The name must be one of the row's.
  absl::Span<const std::int64_t> ints(std::string_view name) const { return attrs.list(attribute_index(op, name)); }
  std::int64_t value(std::string_view name) const { return attrs.value(attribute_index(op, name)); }
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<NodeId> inputs;   ///< nodes of op input, in the order of the program's tensor arguments
  std::vector<NodeId> scalars;  ///< nodes of op scalar, in the order of the scalar block
  std::vector<NodeId> outputs;
  std::vector<InputLayout> layouts;  ///< one for each of `inputs`

  const Node& node(NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return nodes.size(); }
};

/// Shape and dtype check of one op: the result's type, or a message that names the op and the operands' types.
/// Operands must already be promoted (row's column `promotion`). Implemented in compiler/ops/infer.cc.
absl::StatusOr<TensorType> infer(Op op, absl::Span<const TensorType* const> operands, const Attrs& attrs);

/// Bits of a 0-d element as stored, in the low bytes; what `constant` and scalar blocks hold.
/// from_double rounds to nearest even; integers take the value modulo 2^bits (saturating from double).
std::uint64_t bits_of(DType dtype, double value);
std::uint64_t bits_of(DType dtype, std::int64_t value);

}  // namespace tenon
