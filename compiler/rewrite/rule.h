// SPDX-License-Identifier: MIT
// Rewrite rules that look at attributes and shapes, which identities.h cannot say. To add one: its function and its
// row, with a program in which it matches; the tests run that.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "compiler/ops/graph_builder.h"

namespace tenon {

/// What a rule sees: the node to be, with its rewritten operands, which are nodes of the builder.
struct Site {
  GraphBuilder& builder;
  const Node& node;
  absl::Span<const NodeId> operands;
  /// Whether operand 0 has this node as its only reader, and is not an output.
  bool is_only_reader = false;

  bool is(Op op) const { return node.op == op; }
  const Graph& graph() const { return builder.graph(); }
  const Node& operand(std::size_t i) const { return graph().node(operands[i]); }
  Value value(std::size_t i) const { return {&builder, operands[i]}; }
  bool has_type_of_operand() const { return node.type == operand(0).type; }
};

struct Rule {
  std::string_view name;
  /// The node's replacement, of its type, or -1. A rule that does not match appends nothing.
  NodeId (*apply)(const Site&);
  /// The lines of a program without its output line, which is the last value. A, B and C are each dtype in turn.
  std::string_view example;
};

absl::Span<const Rule> movement_rules();    ///< views, concat, pad, take
absl::Span<const Rule> arithmetic_rules();  ///< casts, constants, matmul

}  // namespace tenon
