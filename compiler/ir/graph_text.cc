// SPDX-License-Identifier: MIT
// Printing a graph and a program in the text form. Parsing is in graph_parse.cc.
#include "compiler/ir/graph_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "absl/container/flat_hash_set.h"
#include "compiler/ir/text.h"

namespace tenon {
namespace {

template <class T>
std::string shortest(T value) {
  char digits[40];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

std::string hexadecimal(std::uint64_t bits) {
  char digits[20];
  return cat("0x", std::string_view(digits, static_cast<std::size_t>(
                                                std::to_chars(digits, digits + sizeof digits, bits, 16).ptr - digits)));
}

/// The value of a float of any width.
double float_value(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::kFloat16: {
      float16 half;
      half.bits = static_cast<std::uint16_t>(bits);
      return static_cast<double>(static_cast<float>(half));
    }
    case DType::kBFloat16:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
    case DType::kFloat32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    default:
      return std::bit_cast<double>(bits);
  }
}

std::int64_t sign_extended(DType dtype, std::uint64_t bits) {
  const int unused = 64 - static_cast<int>(8 * size_of(dtype));
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

/// A literal's element: as element_text, but a NaN with a payload keeps its bits.
std::string literal_text(DType dtype, std::uint64_t bits) {
  const std::string text = element_text(dtype, bits);
  const bool is_default = text != "nan" || bits == bits_of(dtype, std::numeric_limits<double>::quiet_NaN());
  return is_default ? text : hexadecimal(bits);
}

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph), names_(graph.size()) {
    for (NodeId id = 0; id < static_cast<NodeId>(graph.size()); ++id) name(id) = cat("%", id);
  }

  /// Gives leaves their names; where one is missing, taken, or could be mistaken for a node's, a fresh one.
  void name_leaves(const std::vector<NodeId>& leaves, absl::Span<const std::string> names, char prefix) {
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      std::string chosen = i < names.size() ? names[i] : "";
      if (chosen.empty() || chosen[0] == '%') chosen = cat(prefix, i);
      while (!taken_.insert(chosen).second) chosen += '_';
      name(leaves[i]) = chosen;
    }
  }

  std::string line(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.op == Op::k_input) return cat("input ", name(id), ": ", type_text(node.type), layout_text(node));
    if (node.op == Op::k_scalar) return cat("scalar ", name(id), ": ", type_text(node.type));
    std::string text = cat(name(id), ": ", type_text(node.type), " = ", name_of(node.op), "(");
    if (node.op == Op::k_constant) {
      const auto bits = static_cast<std::uint64_t>(node.attrs.value(0));
      return cat(text, hexadecimal(bits), ")  # ", element_text(node.type.dtype, bits));
    }
    std::string_view separator;
    for (const NodeId operand : node.operands) {
      text += cat(separator, name(operand));
      separator = ", ";
    }
    for (int i = 0; i < num_attributes(node.op); ++i) {
      text += cat(separator, attribute(node.op, i).name, "=", attribute_text(node, i));
      separator = ", ";
    }
    return text + ")";
  }

  std::string output_line() {
    std::string text;
    for (const NodeId id : graph_.outputs) text += cat(text.empty() ? "output " : ", ", name(id));
    return text.empty() ? text : text + "\n";
  }

 private:
  std::string& name(NodeId id) { return names_[static_cast<std::size_t>(id)]; }

  static std::string type_text(const TensorType& type) {
    return type.shape.empty() ? std::string(name_of(type.dtype)) : to_string(type);
  }

  std::string layout_text(const Node& node) const {
    const InputLayout& layout = graph_.layouts[static_cast<std::size_t>(node.attrs.value(0))];
    std::string text;
    if (!layout.strides.empty()) text += cat(" strides=", to_string(layout.strides));
    if (!layout.aligned64) text += " aligned=false";
    return text;
  }

  static std::string attribute_text(const Node& node, int index) {
    const AttrSpec& spec = attribute(node.op, index);
    const auto list = node.attrs.list(index);
    switch (spec.type) {
      case AttrType::kInts:
      case AttrType::kAxes:
        return to_string(list);
      case AttrType::kBool:
        return cat(list[0] != 0);
      case AttrType::kDType:
        return std::string(name_of(static_cast<DType>(list[0])));
      case AttrType::kMode:
        if (spec.name == "kind") return std::string(name_of(static_cast<ReduceKind>(list[0])));
        if (spec.name == "order") return list[0] == 0 ? "inner" : "outer";
        return cat(list[0]);
      default:
        return cat(list[0]);
    }
  }

  const Graph& graph_;
  std::vector<std::string> names_;
  absl::flat_hash_set<std::string> taken_;
};

/// Elements [*next, ...) of a literal of `shape`, which has elements.
std::string nested_text(const Initialiser& value, DType dtype, absl::Span<const std::int64_t> shape,
                        std::size_t* next) {
  if (shape.empty()) return literal_text(dtype, value.elements[(*next)++]);
  std::string text = "[";
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    text += cat(i > 0 ? ", " : "", nested_text(value, dtype, shape.subspan(1), next));
  }
  return text + "]";
}

std::string initialiser_text(const Initialiser& value, const TensorType& type) {
  std::size_t next = 0;
  switch (value.kind) {
    case Initialiser::kNone:
      return "";
    case Initialiser::kFill:
      return cat(" = fill(", value.seed, ", ", shortest(value.lo), ", ", shortest(value.hi), ")");
    case Initialiser::kFile:
      return cat(" = \"", value.file, "\"");
    case Initialiser::kLiteral:
      return cat(" = ", value.elements.empty() ? "[]" : nested_text(value, type.dtype, type.shape, &next));
  }
  return "";
}

std::string print(const Graph& graph, const ProgramText* program) {
  Printer printer(graph);
  const absl::Span<const std::string> none;
  printer.name_leaves(graph.inputs, program ? absl::MakeConstSpan(program->input_names) : none, 'x');
  printer.name_leaves(graph.scalars, program ? absl::MakeConstSpan(program->scalar_names) : none, 's');
  std::string text;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.size()); ++id) {
    const Node& node = graph.node(id);
    text += printer.line(id);
    if (program && (node.op == Op::k_input || node.op == Op::k_scalar)) {
      const auto& initialisers = node.op == Op::k_input ? program->inputs : program->scalars;
      text += initialiser_text(initialisers[static_cast<std::size_t>(node.attrs.value(0))], node.type);
    }
    text += '\n';
  }
  return text + printer.output_line();
}

}  // namespace

std::string element_text(DType dtype, std::uint64_t bits) {
  if (dtype == DType::kBool) return cat(bits != 0);
  if (is_signed_int(dtype)) return cat(sign_extended(dtype, bits));
  if (is_unsigned_int(dtype)) return cat(bits);
  const double value = float_value(dtype, bits);
  if (std::isnan(value)) return "nan";
  return dtype == DType::kFloat64 ? shortest(value) : shortest(static_cast<float>(value));
}

std::string print_graph(const Graph& graph) { return print(graph, nullptr); }
std::string print_program(const ProgramText& program) { return print(program.graph, &program); }

}  // namespace tenon
