// SPDX-License-Identifier: MIT
// Parsing the text form: a scanner, and one function a construct of the grammar in graph_text.h.
//
// The first thing that is wrong is kept with its line and column; every function gives false from then on. Recursion is
// bounded by kMaxRank, and memory by the length of the text.
#include <algorithm>
#include <charconv>

#include "absl/container/flat_hash_map.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/text.h"
#include "compiler/ir/text_scanner.h"

namespace tenon {
namespace {

template <class T>
bool read_number(std::string_view text, T* out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

/// A number, true, false, nan, inf or 0x... as an element of dtype; false when it is none or does not fit an integer.
bool read_element(std::string_view text, DType dtype, std::uint64_t* bits) {
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *bits, 16);
    return error == std::errc() && end == text.data() + text.size() && is_element(dtype, *bits);
  }
  if (dtype == DType::kBool) {
    *bits = text == "true" || text == "1";
    return *bits || text == "false" || text == "0";
  }
  if (dtype == DType::kUInt64) return read_number(text, bits);
  if (is_int(dtype)) {
    std::int64_t value = 0;
    if (!read_number(text, &value)) return false;
    *bits = bits_of(dtype, value);
    return element_text(dtype, *bits) == cat(value);
  }
  if (dtype == DType::kFloat32) {  // at once, not by way of a double, which would round twice
    float value = 0;
    if (!read_number(text, &value)) return false;
    *bits = bits_of(dtype, static_cast<double>(value));
    return true;
  }
  double value = 0;
  if (!read_number(text, &value)) return false;
  *bits = bits_of(dtype, value);
  return true;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text) { advance(); }

  absl::StatusOr<ProgramText> parse() {
    while (token_.kind != Token::kEnd) {
      if (take_if("", Token::kNewline)) continue;
      if (!parse_line() || !expect_end_of_line()) return status_;
    }
    return std::move(program_);
  }

 private:
  // ---- tokens ----
  void advance() { token_ = scanner_.next(); }

  bool error_at(const Token& token, std::string_view what) {
    if (status_.ok()) {
      status_ = absl::InvalidArgumentError(cat("line ", token.line, ", column ", token.column, ": ", what));
    }
    return false;
  }
  bool error(std::string_view what) { return error_at(token_, what); }
  bool unexpected(std::string_view wanted) {
    const bool is_blank = token_.kind == Token::kEnd || token_.kind == Token::kNewline;
    return error(cat("expected ", wanted, is_blank ? " before the end of the line" : ", found ",
                     is_blank ? "" : token_.text.substr(0, 40)));
  }

  bool take_if(std::string_view text, Token::Kind kind) {
    if (token_.kind != kind || (kind != Token::kNewline && token_.text != text)) return false;
    advance();
    return true;
  }
  bool take_if(std::string_view punctuation) { return take_if(punctuation, Token::kPunctuation); }
  bool take(std::string_view punctuation) { return take_if(punctuation) || unexpected(cat("'", punctuation, "'")); }
  bool take_name(Token* out) {
    if (token_.kind != Token::kName) return unexpected("a name");
    *out = token_;
    advance();
    return true;
  }
  bool expect_end_of_line() {
    return token_.kind == Token::kEnd || take_if("", Token::kNewline) || unexpected("the end of the line");
  }

  template <class T>
  bool take_number(T* out, std::string_view wanted) {
    if (token_.kind != Token::kNumber || !read_number(token_.text, out)) return unexpected(wanted);
    advance();
    return true;
  }

  bool parse_ints(Shape* out) {
    out->clear();
    if (!take("[")) return false;
    while (!take_if("]")) {
      if (!out->empty() && !take(",")) return false;
      if (out->size() == kMaxRank * 4) return error("the list is too long");
      if (!take_number(&out->emplace_back(), "an integer")) return false;
    }
    return true;
  }

  // ---- names and types ----
  bool define(const Token& name, NodeId id) {
    if (names_.emplace(name.text, id).second) return true;
    return error_at(name, cat("'", name.text, "' is defined twice"));
  }
  bool parse_reference(NodeId* out) {
    Token name;
    if (!take_name(&name)) return false;
    const auto found = names_.find(name.text);
    if (found == names_.end()) return error_at(name, cat("'", name.text, "' is not defined above"));
    *out = found->second;
    return true;
  }

  bool parse_dtype(DType* out) {
    Token name;
    if (!take_name(&name)) return false;
    const auto dtype = find_dtype(name.text);
    if (!dtype) return error_at(name, cat("there is no dtype '", name.text, "'"));
    *out = *dtype;
    return true;
  }
  bool parse_type(TensorType* out) {
    const Token start = token_;
    if (!parse_dtype(&out->dtype)) return false;
    if (token_.is("[") && !parse_ints(&out->shape)) return false;
    return is_possible_shape(out->shape) || error_at(start, "this is not a possible shape");
  }

  // ---- lines ----
  bool parse_line() {
    Token name;
    if (!take_name(&name)) return false;
    if (name.text == "input") return parse_input();
    if (name.text == "scalar") return parse_scalar();
    if (name.text == "output") return parse_outputs();
    TensorType type;
    const Token* declared = nullptr;
    Token type_start;
    if (take_if(":")) {
      type_start = token_;
      declared = &type_start;
      if (!parse_type(&type)) return false;
    }
    return take("=") && parse_call(declared, type) && define(name, last_node());
  }

  NodeId last_node() const { return static_cast<NodeId>(graph().size() - 1); }
  Graph& graph() { return program_.graph; }
  const Graph& graph() const { return program_.graph; }

  void add_leaf(Op op, const TensorType& type, std::int64_t value) {
    Node node;
    node.op = op;
    node.type = type;
    node.attrs.append(value);
    graph().nodes.push_back(std::move(node));
  }

  bool parse_input() {
    Token name;
    TensorType type;
    if (!take_name(&name) || !take(":") || !parse_type(&type)) return false;
    InputLayout layout;
    if (!parse_layout(type, &layout)) return false;
    add_leaf(Op::k_input, type, static_cast<std::int64_t>(graph().inputs.size()));
    graph().inputs.push_back(last_node());
    graph().layouts.push_back(std::move(layout));
    program_.input_names.emplace_back(name.text);
    return parse_initialiser(type, &program_.inputs.emplace_back()) && define(name, last_node());
  }

  bool parse_layout(const TensorType& type, InputLayout* layout) {
    while (token_.kind == Token::kName) {
      const Token key = token_;
      advance();
      if (!take("=")) return false;
      if (key.text == "strides") {
        if (!parse_ints(&layout->strides)) return false;
        if (layout->strides.empty() || !are_possible_strides(type.shape, layout->strides)) {
          return error_at(key, "strides need one entry an axis and a reach in memory");
        }
      } else if (key.text == "aligned") {
        if (!parse_bool(&layout->aligned64)) return false;
      } else {
        return error_at(key, cat("an input has no property '", key.text, "'"));
      }
    }
    return true;
  }

  bool parse_scalar() {
    Token name;
    TensorType type;
    if (!take_name(&name) || !take(":")) return false;
    const Token type_start = token_;
    if (!parse_type(&type)) return false;
    if (!type.shape.empty()) return error_at(type_start, "a scalar has no axes");
    add_leaf(Op::k_scalar, type, static_cast<std::int64_t>(graph().scalars.size()));
    graph().scalars.push_back(last_node());
    program_.scalar_names.emplace_back(name.text);
    const Token value = token_;
    Initialiser& initialiser = program_.scalars.emplace_back();
    if (!parse_initialiser(type, &initialiser)) return false;
    if (initialiser.kind > Initialiser::kNone && initialiser.kind != Initialiser::kLiteral) {
      return error_at(value, "a scalar takes a number");
    }
    return define(name, last_node());
  }

  bool parse_outputs() {
    do {
      if (!parse_reference(&graph().outputs.emplace_back())) return false;
    } while (take_if(","));
    return true;
  }

  // ---- initialisers ----
  bool parse_initialiser(const TensorType& type, Initialiser* out) {
    if (!take_if("=")) return true;
    if (take_if("fill", Token::kName)) return parse_fill(out);
    if (token_.kind == Token::kString) {
      out->kind = Initialiser::kFile;
      out->file = token_.text.substr(1, token_.text.size() - 2);
      advance();
      return true;
    }
    out->kind = Initialiser::kLiteral;
    if (numel(type.shape) == 0) return take("[") && take("]");
    return parse_elements(type.dtype, type.shape, &out->elements);
  }

  bool parse_fill(Initialiser* out) {
    out->kind = Initialiser::kFill;
    return take("(") && take_number(&out->seed, "a seed") && take(",") && take_number(&out->lo, "a number") &&
           take(",") && take_number(&out->hi, "a number") && take(")");
  }

  bool parse_elements(DType dtype, absl::Span<const std::int64_t> shape, std::vector<std::uint64_t>* out) {
    if (shape.empty()) return parse_element(dtype, &out->emplace_back());
    if (!take("[")) return false;
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      if (i > 0 && !take(",")) return false;
      if (!parse_elements(dtype, shape.subspan(1), out)) return false;
    }
    return take("]");
  }

  bool parse_element(DType dtype, std::uint64_t* bits) {
    const bool is_value = token_.kind == Token::kNumber || token_.kind == Token::kName;
    if (!is_value || !read_element(token_.text, dtype, bits)) return unexpected(cat("a value of ", name_of(dtype)));
    advance();
    return true;
  }

  // ---- calls ----
  bool parse_call(const Token* declared, const TensorType& type) {
    Token name;
    if (!take_name(&name)) return false;
    const auto op = find_op(name.text);
    if (!op || *op == Op::k_input || *op == Op::k_scalar)
      return error_at(name, cat("there is no op '", name.text, "'"));
    if (!take("(")) return false;
    if (*op == Op::k_constant) return parse_constant(declared, type);
    Node node;
    node.op = *op;
    std::vector<Shape> attributes(static_cast<std::size_t>(num_attributes(*op)));
    std::vector<bool> given(attributes.size());
    if (!parse_arguments(&node, &attributes, &given)) return false;
    if (!complete_attributes(name, node, &attributes, given)) return false;
    for (const Shape& list : attributes) node.attrs.append(list);
    return add_node(name, declared, type, std::move(node));
  }

  bool parse_constant(const Token* declared, const TensorType& type) {
    if (!declared) return error("a constant needs its type");
    if (!type.shape.empty()) return error_at(*declared, "a constant has no axes");
    std::uint64_t bits = 0;
    if (!parse_element(type.dtype, &bits) || !take(")")) return false;
    add_leaf(Op::k_constant, type, static_cast<std::int64_t>(bits));
    return true;
  }

  bool parse_arguments(Node* node, std::vector<Shape>* attributes, std::vector<bool>* given) {
    for (bool first = true; !take_if(")"); first = false) {
      if (!first && !take(",")) return false;
      const Token name = token_;
      if (name.kind != Token::kName) return unexpected("an operand or an attribute");
      const int index = attribute_index(node->op, name.text);
      if (index < 0 || names_.contains(name.text)) {
        // An operand may be called like an attribute; what follows the name decides.
        advance();
        if (!take_if("=")) {
          if (!use(name, node)) return false;
          continue;
        }
        if (index < 0) return error_at(name, cat(name_of(node->op), " has no attribute '", name.text, "'"));
      } else {
        advance();
        if (!take("=")) return false;
      }
      const auto i = static_cast<std::size_t>(index);
      if ((*given)[i]) return error_at(name, cat("'", name.text, "' is given twice"));
      (*given)[i] = true;
      if (!parse_attribute(attribute(node->op, index), &(*attributes)[i])) return false;
    }
    return true;
  }

  bool use(const Token& name, Node* node) {
    const auto found = names_.find(name.text);
    if (found == names_.end()) return error_at(name, cat("'", name.text, "' is not defined above"));
    node->operands.push_back(found->second);
    return true;
  }

  bool parse_bool(bool* out) {
    *out = token_.is("true");
    if (token_.kind != Token::kName || (!*out && !token_.is("false"))) return unexpected("true or false");
    advance();
    return true;
  }

  bool parse_attribute(const AttrSpec& spec, Shape* out) {
    switch (spec.type) {
      case AttrType::kInts:
      case AttrType::kAxes:
        return parse_ints(out);
      case AttrType::kBool: {
        bool value = false;
        if (!parse_bool(&value)) return false;
        out->push_back(value);
        return true;
      }
      case AttrType::kDType: {
        DType dtype = DType::kBool;
        if (!parse_dtype(&dtype)) return false;
        out->push_back(static_cast<std::int64_t>(dtype));
        return true;
      }
      case AttrType::kMode:
        if (token_.kind == Token::kName) return parse_mode(spec, out);
        [[fallthrough]];
      default:
        return take_number(&out->emplace_back(), "an integer");
    }
  }

  bool parse_mode(const AttrSpec& spec, Shape* out) {
    if (spec.name == "order" && (token_.is("inner") || token_.is("outer"))) out->push_back(token_.is("outer"));
    for (std::int64_t kind = 0; spec.name == "kind" && kind <= static_cast<std::int64_t>(ReduceKind::argmin); ++kind) {
      if (token_.is(name_of(static_cast<ReduceKind>(kind)))) out->push_back(kind);
    }
    if (out->empty()) return unexpected(cat("a value of ", spec.name));
    advance();
    return true;
  }

  /// Fills in defaults and counts negative axes from the end.
  bool complete_attributes(const Token& call, const Node& node, std::vector<Shape>* attributes,
                           const std::vector<bool>& given) {
    const auto shape = node.operands.empty() ? Shape() : graph().node(node.operands[0]).type.shape;
    const auto rank = static_cast<std::int64_t>(shape.size()) + (node.op == Op::k_stack);
    for (std::size_t i = 0; i < attributes->size(); ++i) {
      const AttrSpec& spec = attribute(node.op, static_cast<int>(i));
      Shape& list = (*attributes)[i];
      if (!given[i] && !default_attribute(node, spec, rank, &list)) {
        return error_at(call, cat(name_of(node.op), " needs ", spec.name, "=..."));
      }
      if ((spec.type != AttrType::kAxis && spec.type != AttrType::kAxes) || node.op == Op::k_iota) continue;
      for (std::int64_t& axis : list) axis += axis < 0 ? rank : 0;
      std::sort(list.begin(), list.end());
    }
    return true;
  }

  bool default_attribute(const Node& node, const AttrSpec& spec, std::int64_t rank, Shape* list) const {
    const bool is_zero = spec.type == AttrType::kBool || (spec.type == AttrType::kMode && spec.name != "kind") ||
                         spec.name == "correction" || spec.name == "k" || spec.name == "stream";
    if (is_zero) {
      list->push_back(0);
    } else if (spec.type == AttrType::kAxes) {
      for (std::int64_t axis = 0; axis < rank; ++axis) list->push_back(axis);
    } else if (spec.name == "steps") {
      list->assign(static_cast<std::size_t>(rank), 1);
    } else if (spec.type == AttrType::kDType && !node.operands.empty()) {
      return default_sum_dtype(node, list);
    } else {
      return false;
    }
    return true;
  }

  bool default_sum_dtype(const Node& node, Shape* list) const {
    const std::string_view rule = row_of(node.op).result;
    if (rule != "reduce_sum" && rule != "scan_sum") return false;
    const DType dtype = graph().node(node.operands[0]).type.dtype;
    const DType wide = is_float(dtype) ? dtype : is_unsigned_int(dtype) ? DType::kUInt64 : DType::kInt64;
    list->push_back(static_cast<std::int64_t>(wide));
    return true;
  }

  bool add_node(const Token& call, const Token* declared, const TensorType& type, Node node) {
    absl::InlinedVector<const TensorType*, 4> types;
    for (const NodeId id : node.operands) types.push_back(&graph().node(id).type);
    auto inferred = infer(node.op, types, node.attrs);
    if (!inferred.ok()) return error_at(call, std::string(inferred.status().message()));
    if (declared && *inferred != type) {
      return error_at(*declared, cat("the type of this ", name_of(node.op), " is ", to_string(*inferred), ", not ",
                                     to_string(type)));
    }
    node.type = *std::move(inferred);
    graph().nodes.push_back(std::move(node));
    return true;
  }

  TextScanner scanner_;
  Token token_;
  absl::Status status_;
  ProgramText program_;
  absl::flat_hash_map<std::string_view, NodeId> names_;
};

}  // namespace

absl::StatusOr<ProgramText> parse_program(std::string_view text) { return Parser(text).parse(); }

}  // namespace tenon
