// SPDX-License-Identifier: MIT
// One parameter for each operand and attribute of a row, in order; types and defaults follow from the row's columns and
// the short tables below.
#include "compiler/ops/generate_ops.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "compiler/ir/op.h"
#include "compiler/ir/text.h"

namespace tenon {
namespace {

constexpr std::size_t kColumns = 120;

/// Rows with a hand-written function (include/tenon/functions.h, creation.h, tensor.h).
constexpr std::array kHandWritten = {
    Op::k_cast,   Op::k_pow,        Op::k_clip,         Op::k_permute_dims,  Op::k_slice,          Op::k_expand_dims,
    Op::k_pad,    Op::k_pad_mode,   Op::k_slice_update, Op::k_dynamic_slice, Op::k_full,           Op::k_iota,
    Op::k_arange, Op::k_linspace,   Op::k_eye,          Op::k_random_bits,   Op::k_random_uniform, Op::k_random_normal,
    Op::k_all,    Op::k_layer_norm, Op::k_rms_norm};

struct Default {
  Op op;
  std::string_view attribute, value;
};
constexpr std::array kDefaults = {Default{Op::k_softmax, "axis", "-1"},
                                  Default{Op::k_log_softmax, "axis", "-1"},
                                  Default{Op::k_concat, "axis", "0"},
                                  Default{Op::k_stack, "axis", "0"},
                                  Default{Op::k_take, "axis", "0"},
                                  Default{Op::k_take_along_axis, "axis", "-1"},
                                  Default{Op::k_tril, "k", "0"},
                                  Default{Op::k_triu, "k", "0"},
                                  Default{Op::k_var, "correction", "0"},
                                  Default{Op::k_std, "correction", "0"},
                                  Default{Op::k_gelu, "approximate", "false"},
                                  Default{Op::k_one_hot, "dtype", "DType::kFloat32"}};

bool is_generated(Op op) {
  return row_of(op).form != OpForm::internal &&
         std::find(kHandWritten.begin(), kHandWritten.end(), op) == kHandWritten.end();
}

std::vector<Op> public_ops() {
  std::vector<Op> ops;
  for (int i = 0; i < kNumOps; ++i) {
    if (row_of(static_cast<Op>(i)).form != OpForm::internal) ops.push_back(static_cast<Op>(i));
  }
  return ops;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) found.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

bool takes_list(Op op) { return row_of(op).operands.find("...") != std::string_view::npos; }
bool has_resolved_dtype(Op op) { return row_of(op).result == "reduce_sum" || row_of(op).result == "scan_sum"; }

/// Ops where a number may stand for a tensor: those that promote operands together.
bool takes_scalars(Op op, std::string_view operand) {
  const OpRow& row = row_of(op);
  const bool is_condition = op == Op::k_where && operand == "condition";
  return row.promotion != Promotion::none && row.kind != OpKind::matmul && words(row.operands).size() > 1 &&
         !is_condition;
}

struct Parameter {
  std::string type, name, default_value, argument;  // argument: what the body hands on
};

Parameter operand_parameter(Op op, std::string_view operand) {
  if (takes_list(op)) return {"const std::vector<Tensor>&", "tensors", "", ""};
  return {takes_scalars(op, operand) ? "const Operand&" : "const TensorArg&", std::string(operand), "",
          cat("&", operand)};
}

std::string default_of(Op op, const AttrSpec& spec) {
  for (const Default& row : kDefaults) {
    if (row.op == op && row.attribute == spec.name) return std::string(row.value);
  }
  // Dropping all axes of length 1 by default would make ranks depend on data's shape.
  if (spec.type == AttrType::kAxes && op != Op::k_squeeze) return "{}";
  return spec.name == "keepdims" ? "false" : "";
}

Parameter attribute_parameter(Op op, const AttrSpec& spec) {
  const std::string name(spec.name);
  const std::string x = takes_list(op) ? "tensors, call_site" : "x";
  switch (spec.type) {
    case AttrType::kInts:
      return {"const Dims&", name, "", name};
    case AttrType::kBool:
    case AttrType::kMode:
      return {name == "keepdims" ? "KeepDims" : "bool", name, default_of(op, spec), cat("bool(", name, ")")};
    case AttrType::kDType:
      if (has_resolved_dtype(op)) {
        return {"std::optional<DType>", name, "{}", cat("accumulator_dtype(x, ", name, ")")};
      }
      return {"DType", name, default_of(op, spec), name};
    case AttrType::kAxis:
      return {"std::int64_t", name, default_of(op, spec), cat("axis_of(Op::k_", name_of(op), ", ", x, ", ", name, ")")};
    case AttrType::kAxes:
      return {"const Axes&", name, default_of(op, spec), cat("axes_of(Op::k_", name_of(op), ", ", x, ", ", name, ")")};
    case AttrType::kInt:
      break;
  }
  return {"std::int64_t", name, default_of(op, spec), name};
}

std::vector<Parameter> operand_parameters(Op op) {
  std::vector<Parameter> parameters;
  for (const std::string_view operand : words(row_of(op).operands))
    parameters.push_back(operand_parameter(op, operand));
  return parameters;
}

std::vector<Parameter> attribute_parameters(Op op) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < num_attributes(op); ++i) parameters.push_back(attribute_parameter(op, attribute(op, i)));
  return parameters;
}

/// Appends `text` (pieces joined by blanks) in lines of at most kColumns; later lines start with `indent`.
void append_wrapped(std::string* out, std::string_view first, std::string_view indent, std::string_view text) {
  std::string line(first);
  bool is_fresh = true;
  for (const std::string_view word : words(text)) {
    if (!is_fresh && line.size() + 1 + word.size() > kColumns) {
      *out += line + "\n";
      line = indent;
      is_fresh = true;
    }
    if (!is_fresh) line += " ";
    line += word;
    is_fresh = false;
  }
  *out += line + "\n";
}

std::string signature(Op op, bool with_defaults) {
  std::vector<Parameter> parameters = operand_parameters(op);
  const std::vector<Parameter> attributes = attribute_parameters(op);
  parameters.insert(parameters.end(), attributes.begin(), attributes.end());
  if (takes_list(op)) {
    parameters.push_back({"const std::source_location&", "call_site", "std::source_location::current()", ""});
  }
  std::string text;
  for (const Parameter& p : parameters) {
    if (!text.empty()) text += ", ";
    text += cat(p.type, " ", p.name);
    if (with_defaults && !p.default_value.empty()) text += cat(" = ", p.default_value);
  }
  return cat(text, ")");
}

std::string dtype_note(Op op) {
  switch (row_of(op).promotion) {
    case Promotion::common:
      return "Operands are brought to one dtype.";
    case Promotion::floating:
      return words(row_of(op).operands).size() > 1 ? "Operands are brought to one floating dtype."
                                                   : "Integers and bool are cast to float32 first.";
    case Promotion::boolean:
      return "Other dtypes are taken as x != 0.";
    case Promotion::none:
      break;
  }
  return "";
}

/// The documentation as sentences: a first word that is a word, not a formula, gets its capital.
std::string sentences(Op op) {
  std::string text = cat(row_of(op).documentation, ". ", dtype_note(op));
  const std::size_t end = text.find_first_of(" ,;.");
  const bool is_word = end > 2 && std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end),
                                              [](char c) { return c >= 'a' && c <= 'z'; });
  if (is_word) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

void append_declaration(std::string* out, Op op) {
  append_wrapped(out, "/// ", "/// ", sentences(op));
  const std::string head = cat("TENON_API Tensor ", name_of(op), "(");
  append_wrapped(out, head, std::string(head.size(), ' '), cat(signature(op, true), ";"));
}

std::string body(Op op) {
  std::string operands, attributes;
  for (const Parameter& p : operand_parameters(op)) operands += cat(operands.empty() ? "" : ", ", p.argument);
  for (const Parameter& p : attribute_parameters(op)) attributes += cat(attributes.empty() ? "" : ", ", p.argument);
  std::string text = cat("return call(Op::k_", name_of(op), ", ");
  text += takes_list(op) ? "tensors" : cat("{", operands, "}");
  if (!attributes.empty()) text += cat(", attributes(", attributes, ")");
  return cat(text, takes_list(op) ? ", call_site);" : ");");
}

void append_definition(std::string* out, Op op) {
  const std::string head = cat("Tensor ", name_of(op), "(");
  append_wrapped(out, head, std::string(head.size(), ' '), cat(signature(op, false), " {"));
  append_wrapped(out, "  ", "      ", body(op));
  *out += "}\n";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string generate_ops_header() {
  std::string out = R"(// SPDX-License-Identifier: MIT
// The functions of the library that are a row of compiler/ops/op_table.def as it is.
// Generated from the table: do not edit.
//
// Elementwise functions broadcast as NumPy's do. Integers with floats give the float's dtype, float16 with bfloat16
// gives float32, a number beside tensors takes their dtype. Axes count from 0, or from the end when negative. Nothing
// is computed at the call; a mistake of shapes, dtypes or axes throws Error (kInvalidArgument) at the call.
#pragma once

#include <cstdint>
#include <optional>
#include <source_location>
#include <vector>

#include "tenon/arguments.h"
#include "tenon/tensor.h"

namespace tenon {
)";
  for (const Op op : public_ops()) {
    if (!is_generated(op)) continue;
    out += "\n";
    append_declaration(&out, op);
  }
  return out + "\n}  // namespace tenon\n";
}

std::string generate_ops_bodies() {
  std::string out = R"(// SPDX-License-Identifier: MIT
// Bodies of include/tenon/ops.h. Generated from compiler/ops/op_table.def: do not edit.
#include "runtime/api/call.h"
#include "tenon/ops.h"

namespace tenon {

using namespace api;

)";
  for (const Op op : public_ops()) {
    if (!is_generated(op)) continue;
    append_definition(&out, op);
    out += "\n";
  }
  return out + "}  // namespace tenon\n";
}

std::string generate_ops_page() {
  std::string out = R"(# The ops

Generated from compiler/ops/op_table.def: do not edit. Each row is a function of the library; `x?` may be absent, `x...`
takes any number. Bits: *exact* follow from the definition; *device* are fixed by op, shapes, dtypes, device and options.

| op | operands | attributes | promotion | bits | meaning |
| --- | --- | --- | --- | --- | --- |
)";
  constexpr std::string_view kPromotions[] = {"one dtype", "one floating dtype", "bool", "-"};
  for (const Op op : public_ops()) {
    const OpRow& row = row_of(op);
    out +=
        cat("| `", row.name, "` | ", row.operands.empty() ? "-" : row.operands, " | ",
            row.attributes.empty() ? "-" : row.attributes, " | ", kPromotions[static_cast<std::size_t>(row.promotion)],
            " | ", row.bits == OpBits::exact ? "exact" : "device", " | ", escaped(row.documentation), " |\n");
  }
  return out;
}

}  // namespace tenon
