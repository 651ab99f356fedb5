// SPDX-License-Identifier: MIT
// Rewrite rules that read as algebra: "multiply(x, 1) = x". To add one, add its line to identities.cc.
//
// An identity holds bit for bit for every value of the dtypes that stand beside it: NaN, infinities, zeros of both
// signs, subnormals, the extremes of integers. The tests try each of them with the interpreter.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "compiler/ops/graph_builder.h"

namespace tenon {

/// One side of an identity: an op of patterns, a number (a constant of whatever dtype it meets), or a variable.
struct Pattern {
  enum Kind { kVariable, kNumber, kApply };
  Kind kind = kVariable;
  Op op = Op::k_constant;  ///< kApply
  char variable = 0;       ///< kVariable: 'x', 'y', 'z', or 'c' for a condition
  double number = 0;       ///< kNumber; -0 is minus zero for floats and 0 for the others
  std::vector<Pattern> operands;
};

enum class DTypes { kAll, kFloats, kIntegers, kSigned, kNotFloats };
bool includes(DTypes set, DType dtype);

struct Identity {
  std::string_view text;         ///< its name too
  DTypes dtypes = DTypes::kAll;  ///< of x
};

/// What the variables of a pattern stand for; -1: nothing yet.
class Bindings {
 public:
  NodeId& operator[](char variable) { return nodes_[slot(variable)]; }
  NodeId operator[](char variable) const { return nodes_[slot(variable)]; }

 private:
  static std::size_t slot(char variable) { return variable == 'c' ? 3 : static_cast<std::size_t>(variable - 'x'); }
  std::array<NodeId, 4> nodes_ = {-1, -1, -1, -1};
};

struct ParsedIdentity {
  Identity identity;
  Pattern from, to;
};

/// All of them, in the order in which they are tried.
const std::vector<ParsedIdentity>& identities();
/// Those whose left side begins with `op`.
const std::vector<const ParsedIdentity*>& identities_of(Op op);

/// Whether `op` of `operands` has the form of `pattern`. Operands of a commutative op may stand in either order; a
/// variable that occurs twice is one node.
bool matches(const Graph& graph, Op op, absl::Span<const NodeId> operands, const Pattern& pattern, Bindings& bindings);

/// The value of the pattern; numbers take the dtype of x.
Value make(GraphBuilder& builder, const Pattern& pattern, const Bindings& bindings);

/// True for ops with op(x, y) = op(y, x), a NaN being as good as another.
bool is_commutative(Op op);

}  // namespace tenon
