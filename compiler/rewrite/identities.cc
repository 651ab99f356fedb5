// SPDX-License-Identifier: MIT
// See identities.h.
#include "compiler/rewrite/identities.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

namespace tenon {
namespace {

constexpr Identity kIdentities[] = {
    {"multiply(x, 1) = x"},
    {"divide(x, 1) = x"},
    {"add(x, -0) = x"},
    {"subtract(x, 0) = x"},
    {"subtract(-0, x) = negative(x)"},
    {"negative(negative(x)) = x"},
    {"add(x, negative(y)) = subtract(x, y)"},
    {"subtract(x, negative(y)) = add(x, y)"},
    {"multiply(negative(x), negative(y)) = multiply(x, y)"},
    {"divide(negative(x), negative(y)) = divide(x, y)"},
    {"fma(x, 1, y) = add(x, y)"},
    {"fma(x, y, -0) = multiply(x, y)"},
    {"abs(abs(x)) = abs(x)"},
    {"abs(negative(x)) = abs(x)", DTypes::kSigned},
    {"subtract(x, x) = 0", DTypes::kIntegers},
    {"multiply(x, 0) = 0", DTypes::kNotFloats},

    {"maximum(x, x) = x"},
    {"minimum(x, x) = x"},
    {"maximum(maximum(x, y), y) = maximum(x, y)"},
    {"minimum(minimum(x, y), y) = minimum(x, y)"},
    {"minimum(maximum(x, y), y) = y", DTypes::kNotFloats},
    {"maximum(minimum(x, y), y) = y", DTypes::kNotFloats},

    {"floor(x) = x", DTypes::kIntegers},
    {"ceil(x) = x", DTypes::kIntegers},
    {"trunc(x) = x", DTypes::kIntegers},
    {"round(x) = x", DTypes::kIntegers},
    {"floor(floor(x)) = floor(x)"},
    {"ceil(ceil(x)) = ceil(x)"},
    {"trunc(trunc(x)) = trunc(x)"},
    {"round(round(x)) = round(x)"},
    {"sign(sign(x)) = sign(x)"},

    {"where(c, x, x) = x"},
    {"where(logical_not(c), x, y) = where(c, y, x)"},
    {"where(c, where(c, x, y), z) = where(c, x, z)"},
    {"where(c, x, where(c, y, z)) = where(c, x, z)"},

    {"logical_not(logical_not(x)) = x"},
    {"logical_not(equal(x, y)) = not_equal(x, y)"},
    {"logical_not(not_equal(x, y)) = equal(x, y)"},
    {"logical_not(less(x, y)) = greater_equal(x, y)", DTypes::kNotFloats},
    {"logical_not(less_equal(x, y)) = greater(x, y)", DTypes::kNotFloats},
    {"logical_not(greater(x, y)) = less_equal(x, y)", DTypes::kNotFloats},
    {"logical_not(greater_equal(x, y)) = less(x, y)", DTypes::kNotFloats},
    {"logical_and(x, x) = x"},
    {"logical_or(x, x) = x"},
    {"bitwise_invert(bitwise_invert(x)) = x"},
    {"bitwise_and(x, x) = x"},
    {"bitwise_or(x, x) = x"},
    {"bitwise_or(x, 0) = x"},
    {"bitwise_xor(x, 0) = x"},
    {"bitwise_xor(x, x) = 0"},
    {"bitwise_left_shift(x, 0) = x"},
    {"bitwise_right_shift(x, 0) = x"},
};

/// pattern = op ( pattern {, pattern} ) | number | variable. Takes the table's text, of which every line is tried.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Pattern pattern() {
    skip_blanks();
    const std::size_t first = at_;
    while (at_ < text_.size() && text_[at_] != '(' && text_[at_] != ')' && text_[at_] != ',' && text_[at_] != ' ')
      ++at_;
    const std::string_view word = text_.substr(first, at_ - first);
    Pattern p;
    if (take('(')) {
      p.kind = Pattern::kApply;
      p.op = find_op(word).value();
      do p.operands.push_back(pattern());
      while (take(','));
      take(')');
    } else if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9')) {
      p.kind = Pattern::kNumber;
      p.number = std::strtod(std::string(word).c_str(), nullptr);
    } else {
      p.variable = word[0];
    }
    return p;
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

std::vector<ParsedIdentity> parse_all() {
  std::vector<ParsedIdentity> all;
  for (const Identity& identity : kIdentities) {
    Parser parser(identity.text);
    Pattern from = parser.pattern();
    parser.take('=');
    all.push_back({identity, std::move(from), parser.pattern()});
  }
  return all;
}

bool is_number(const Graph& graph, NodeId id, double number) {
  const Node& node = graph.node(id);
  return node.op == Op::k_constant &&
         static_cast<std::uint64_t>(node.value("bits")) == bits_of(node.type.dtype, number);
}

bool node_matches(const Graph& graph, NodeId id, const Pattern& pattern, Bindings& bindings) {
  if (pattern.kind == Pattern::kNumber) return is_number(graph, id, pattern.number);
  if (pattern.kind == Pattern::kApply) {
    return matches(graph, graph.node(id).op, graph.node(id).operands, pattern, bindings);
  }
  NodeId& bound = bindings[pattern.variable];
  if (bound < 0) bound = id;
  return bound == id;
}

bool operands_match(const Graph& graph, absl::Span<const NodeId> operands, const Pattern& pattern, bool swapped,
                    Bindings& bindings) {
  Bindings found = bindings;
  for (std::size_t i = 0; i < pattern.operands.size(); ++i) {
    if (!node_matches(graph, operands[swapped && i < 2 ? 1 - i : i], pattern.operands[i], found)) return false;
  }
  bindings = found;
  return true;
}

}  // namespace

bool includes(DTypes set, DType dtype) {
  const bool is_integer = is_signed_int(dtype) || is_unsigned_int(dtype);
  switch (set) {
    case DTypes::kFloats:
      return is_float(dtype);
    case DTypes::kIntegers:
      return is_integer;
    case DTypes::kSigned:
      return is_signed(dtype);
    case DTypes::kNotFloats:
      return !is_float(dtype);
    default:
      return true;
  }
}

const std::vector<ParsedIdentity>& identities() {
  static const auto& all = *new std::vector<ParsedIdentity>(parse_all());  // leaked: statics may evaluate
  return all;
}

const std::vector<const ParsedIdentity*>& identities_of(Op op) {
  static const auto& by_op = []() -> auto& {
    auto& table = *new std::array<std::vector<const ParsedIdentity*>, kNumOps>;
    for (const ParsedIdentity& i : identities()) table[static_cast<std::size_t>(i.from.op)].push_back(&i);
    return table;
  }();
  return by_op[static_cast<std::size_t>(op)];
}

bool is_commutative(Op op) {
  static constexpr Op kCommutative[] = {Op::k_add,         Op::k_multiply,    Op::k_maximum,     Op::k_minimum,
                                        Op::k_equal,       Op::k_not_equal,   Op::k_logical_and, Op::k_logical_or,
                                        Op::k_logical_xor, Op::k_bitwise_and, Op::k_bitwise_or,  Op::k_bitwise_xor,
                                        Op::k_fma};  // in its factors
  return std::find(std::begin(kCommutative), std::end(kCommutative), op) != std::end(kCommutative);
}

bool matches(const Graph& graph, Op op, absl::Span<const NodeId> operands, const Pattern& pattern, Bindings& bindings) {
  if (op != pattern.op || operands.size() != pattern.operands.size()) return false;
  return operands_match(graph, operands, pattern, false, bindings) ||
         (is_commutative(op) && operands_match(graph, operands, pattern, true, bindings));
}

Value make(GraphBuilder& builder, const Pattern& pattern, const Bindings& bindings) {
  if (pattern.kind == Pattern::kVariable) return {&builder, bindings[pattern.variable]};
  if (pattern.kind == Pattern::kNumber) return constant_like({&builder, bindings['x']}, pattern.number);
  std::vector<Value> operands;
  for (const Pattern& operand : pattern.operands) operands.push_back(make(builder, operand, bindings));
  return tenon::apply(pattern.op, operands);
}

}  // namespace tenon
