// SPDX-License-Identifier: MIT
// See case_file.h. Malformed input throws std::runtime_error inside this file, and leaves it as a status.
#include "runtime/tool/case_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/op.h"
#include "compiler/ops/scalar_eval.h"
#include "runtime/api/access.h"
#include "runtime/tool/json_file.h"
#include "runtime/tool/program_file.h"

namespace tenon::tool {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error(message); }

void only_fields(const Json& object, std::initializer_list<std::string_view> known, const std::string& where) {
  if (!object.is_object()) fail(where + " is not an object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) fail(where + " has an unknown field '" + key + "'");
  }
}

const Json& field_of(const Json& object, const char* field) {
  if (!object.is_object()) fail("an object was expected, not " + object.dump().substr(0, 40));
  const auto found = object.find(field);
  if (found == object.end()) fail("the field '" + std::string(field) + "' is missing");
  return *found;
}

std::string text_of(const Json& object, const char* field) {
  const Json& value = field_of(object, field);
  if (!value.is_string()) fail("'" + std::string(field) + "' is no text: " + value.dump().substr(0, 40));
  return value.get<std::string>();
}

const Json& array_of(const Json& object, const char* field) {
  const Json& value = field_of(object, field);
  if (!value.is_array()) fail(std::string(field) + " is not an array");
  return value;
}

bool is_special(const Json& j) { return j == "nan" || j == "inf" || j == "-inf" || j == "-0.0"; }

double special(const std::string& text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "-0.0") return -0.0;
  fail("'" + text + "' is no number");
}

Number number_of(const Json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_unsigned()) {
    const auto u = j.get<std::uint64_t>();
    if (u > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return u;
    return static_cast<std::int64_t>(u);
  }
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_number_float()) return j.get<double>();
  if (j.is_string()) return special(j.get<std::string>());
  fail("a number was expected, not " + j.dump().substr(0, 40));
}

std::int64_t integer_of(const Json& j, const std::string& what) {
  const bool is_large = j.is_number_unsigned() && j.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (!j.is_number_integer() || is_large) fail(what + " is no integer: " + j.dump().substr(0, 40));
  return j.get<std::int64_t>();
}

bool is_in_range(const Json& j, DType dtype) {
  const bool is_negative = !j.is_number_unsigned();
  const int bits = static_cast<int>(size_of(dtype)) * 8 - (is_unsigned_int(dtype) ? 0 : 1);
  if (is_negative) return !is_unsigned_int(dtype) && j.get<std::int64_t>() >> bits >= -1;
  return bits == 64 || j.get<std::uint64_t>() >> bits == 0;
}

/// Refuses an element that its dtype cannot hold as written.
void check_element(const Json& j, DType dtype) {
  const std::string text = j.dump().substr(0, 40);
  if (dtype == DType::kBool) {
    if (!j.is_boolean()) fail(text + " is neither true nor false");
  } else if (is_float(dtype)) {
    if (!j.is_number() && !is_special(j)) fail(text + " is no number");
  } else if (!j.is_number_integer() || !is_in_range(j, dtype)) {
    fail(absl::StrCat(text, " is no ", std::string(name_of(dtype))));
  }
}

std::uint64_t bits_of_number(const Number& number, DType dtype) {
  if (const auto* u = std::get_if<std::uint64_t>(&number)) {
    return is_float(dtype) ? bits_of(dtype, static_cast<double>(*u)) : *u;
  }
  if (const auto* i = std::get_if<std::int64_t>(&number)) {
    return is_float(dtype) ? bits_of(dtype, static_cast<double>(*i)) : bits_of(dtype, *i);
  }
  if (const auto* b = std::get_if<bool>(&number)) return bits_of(dtype, static_cast<std::int64_t>(*b));
  return bits_of(dtype, std::get<double>(number));
}

void append_elements(const Json& j, const TensorType& type, std::size_t axis, std::vector<std::byte>& out) {
  if (axis == type.shape.size()) {
    check_element(j, type.dtype);
    const std::uint64_t bits = bits_of_number(number_of(j), type.dtype);
    const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
    out.insert(out.end(), bytes, bytes + size_of(type.dtype));
    return;
  }
  if (!j.is_array() || static_cast<std::int64_t>(j.size()) != type.shape[axis])
    fail("data does not have the shape " + to_string(type.shape));
  for (const Json& part : j) append_elements(part, type, axis + 1, out);
}

std::vector<std::byte> data_of_file(const std::string& path, const TensorType& type) {
  absl::StatusOr<Tensor> array = read_npy(path);
  if (!array.ok()) fail(std::string(array.status().message()));
  const trace::TraceNode& value = *internal::Access::node(*array);
  const bool is_widened = type.dtype == DType::kBFloat16 && value.type.dtype == DType::kFloat32;
  if (value.type.shape != type.shape || (value.type.dtype != type.dtype && !is_widened)) {
    fail(path + " holds " + to_string(value.type) + ", not " + to_string(type));
  }
  const auto count = static_cast<std::size_t>(numel(type.shape));
  const auto* source = static_cast<const std::byte*>(value.storage->data) + value.byte_offset;
  if (!is_widened) return {source, source + count * size_of(type.dtype)};
  std::vector<std::byte> data(count * size_of(type.dtype));
  for (std::size_t i = 0; i < count; ++i) {
    float wide;
    std::memcpy(&wide, source + i * 4, 4);
    const bfloat16 half(wide);
    std::memcpy(&data[i * 2], &half.bits, 2);
  }
  return data;
}

CaseTensor tensor_of(const Json& j, const std::string& folder) {
  CaseTensor t;
  t.name = text_of(j, "name");
  const std::optional<DType> dtype = dtype_named(text_of(j, "dtype"));
  if (!dtype) fail("no dtype '" + text_of(j, "dtype") + "'");
  t.type.dtype = *dtype;
  for (const Json& extent : array_of(j, "shape")) t.type.shape.push_back(integer_of(extent, "a length"));
  if (!is_possible_shape(t.type.shape)) fail("a tensor of shape " + to_string(t.type.shape));
  if (j.contains("file") == j.contains("data")) fail("tensor '" + t.name + "' has not one of data and file");
  if (j.contains("file")) {
    t.data = data_of_file(folder + text_of(j, "file"), t.type);
  } else if (numel(t.type.shape) > 0 || !array_of(j, "data").empty()) {
    append_elements(field_of(j, "data"), t.type, 0, t.data);
  }
  return t;
}

/// What a step of the case format looks like: operands are x (a tensor) or v (a tensor or a number); the last of
/// several stands for those that follow. Attributes are "name:type", with ! where one is needed.
struct Form {
  std::string_view op;
  std::size_t min_operands, max_operands;
  std::string_view operands;
  std::string_view attributes;
};

constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();
constexpr std::string_view kReduction = "axis:axes keepdims:bool";

/// Ops whose form does not follow from the op table.
constexpr Form kForms[] = {
    {"all", 1, 1, "x", kReduction},
    {"any", 1, 1, "x", kReduction},
    {"arange", 0, 0, "", "start:number stop:number! step:number dtype:dtype"},
    {"argmax", 1, 1, "x", kReduction},
    {"argmin", 1, 1, "x", kReduction},
    {"broadcast_to", 1, 1, "x", "shape:ints!"},
    {"cast", 1, 1, "x", "dtype:dtype!"},
    {"clip", 1, 1, "x", "min:number max:number"},
    {"concat", 1, kAnyNumber, "x", "axis:int"},
    {"cumprod", 1, 1, "x", "axis:int dtype:dtype"},
    {"cumsum", 1, 1, "x", "axis:int dtype:dtype"},
    {"expand_dims", 1, 1, "x", "axis:axes!"},
    {"eye", 0, 0, "", "n_rows:int! n_cols:int k:int dtype:dtype"},
    {"flip", 1, 1, "x", "axis:axes"},
    {"full", 0, 0, "", "shape:ints! value:number! dtype:dtype"},
    {"gelu", 1, 1, "x", "approximate:text"},
    {"layer_norm", 1, 3, "x", "axis:int epsilon:number"},
    {"log_softmax", 1, 1, "x", "axis:int"},
    {"logsumexp", 1, 1, "x", kReduction},
    {"matmul", 2, 2, "x", ""},
    {"max", 1, 1, "x", kReduction},
    {"mean", 1, 1, "x", kReduction},
    {"min", 1, 1, "x", kReduction},
    {"pad", 1, 1, "x", "pad_width:lists! mode:text value:number"},
    {"permute_dims", 1, 1, "x", "axes:ints!"},
    {"prod", 1, 1, "x", "axis:axes keepdims:bool dtype:dtype"},
    {"reshape", 1, 1, "x", "shape:ints!"},
    {"slice", 1, 1, "x", "slices:lists!"},
    {"slice_update", 2, 2, "xv", "slices:lists!"},
    {"softmax", 1, 1, "x", "axis:int"},
    {"squeeze", 1, 1, "x", "axis:axes"},
    {"stack", 1, kAnyNumber, "x", "axis:int"},
    {"sum", 1, 1, "x", "axis:axes keepdims:bool dtype:dtype"},
    {"take", 2, 2, "x", "axis:int"},
    {"take_along_axis", 2, 2, "x", "axis:int"},
    {"tile", 1, 1, "x", "repetitions:ints!"},
    {"tril", 1, 1, "x", "k:int"},
    {"triu", 1, 1, "x", "k:int"},
    {"var", 1, 1, "x", "axis:axes keepdims:bool correction:int"},
    {"where", 3, 3, "xv", ""},
};

/// The form of an op; nothing for ops that cases cannot use, which are reported by name when they are run.
std::optional<Form> form_of(std::string_view name) {
  const auto* row = std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& f) { return f.op == name; });
  if (row != std::end(kForms)) return *row;
  const std::optional<Op> op = find_op(name);
  if (!op || num_attributes(*op) > 0) return std::nullopt;
  return Form{name, static_cast<std::size_t>(min_operands(*op)), static_cast<std::size_t>(max_operands(*op)),
              min_operands(*op) == 1 ? "x" : "v", ""};
}

bool are_integers(const Json& list) {
  return std::all_of(list.begin(), list.end(), [](const Json& v) { return v.is_number_integer(); });
}

/// pad_width: pairs of integers; slices: up to three integers or nulls an axis.
bool are_lists(const Json& lists, bool is_pad) {
  return lists.is_array() && std::all_of(lists.begin(), lists.end(), [&](const Json& list) {
           if (!list.is_array() || (is_pad ? list.size() != 2 || !are_integers(list) : list.size() > 3)) return false;
           return std::all_of(list.begin(), list.end(),
                              [](const Json& v) { return v.is_null() || v.is_number_integer(); });
         });
}

/// Refuses a value that is not of the type that the form names.
void check_attribute(const std::string& name, const Json& j, const std::string& type) {
  const bool is_ints = j.is_array() && are_integers(j);
  const bool is_right = type == "int"      ? j.is_number_integer()
                        : type == "ints"   ? is_ints
                        : type == "axes"   ? is_ints || j.is_number_integer()
                        : type == "bool"   ? j.is_boolean()
                        : type == "number" ? j.is_number() || j.is_boolean() || is_special(j)
                        : type == "lists"  ? are_lists(j, name == "pad_width")
                        : type == "dtype"  ? j.is_string() && dtype_named(j.get<std::string>())
                                           : j.is_string();
  if (!is_right) fail(absl::StrCat("attribute '", name, "' is no ", type, ": ", j.dump().substr(0, 40)));
  if (name == "approximate" && j != "none" && j != "tanh") fail("attribute 'approximate' is neither none nor tanh");
}

void check_attributes(const Json& attributes, const std::string& specification) {
  std::set<std::string> known;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(specification, ' ', absl::SkipEmpty()))) {
    const std::size_t colon = word.find(':');
    const std::string name = word.substr(0, colon);
    const bool is_needed = word.back() == '!';
    const std::string type = word.substr(colon + 1, word.size() - colon - 1 - (is_needed ? 1 : 0));
    known.insert(name);
    const auto found = attributes.find(name);
    const bool is_absent = found == attributes.end() || found->is_null();
    if (is_absent && is_needed) fail("attribute '" + name + "' is missing");
    if (!is_absent) check_attribute(name, *found, type);
  }
  for (const auto& [name, value] : attributes.items()) {
    if (!known.contains(name)) fail("unknown attribute '" + name + "'");
  }
}

/// Refuses operands by number, and scalars where a tensor is needed or whose dtype would follow from nothing.
void check_operands(const std::vector<CaseArgument>& arguments, const Form& form) {
  const std::size_t n = arguments.size();
  if (n < form.min_operands || n > form.max_operands) fail(absl::StrCat("it does not take ", n, " arguments"));
  std::size_t values = 0, scalars = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_value = form.operands[std::min(i, form.operands.size() - 1)] == 'v';
    const bool is_scalar = std::holds_alternative<Number>(arguments[i]);
    values += is_value;
    scalars += is_scalar;
    if (is_scalar && !is_value) fail(absl::StrCat("argument ", i, " is a scalar where it takes a tensor"));
  }
  if (scalars > 0 && scalars == values && form.op != "slice_update") fail("all its values are scalars");
}

CaseAttribute attribute_of(const std::string& name, const Json& j) {
  CaseAttribute a;
  a.name = name;
  a.is_null = j.is_null();
  a.is_list = j.is_array();
  const bool is_nested = a.is_list && !j.empty() && j[0].is_array();
  if (is_nested) {
    for (const Json& inner : j) {
      auto& list = a.lists.emplace_back();
      for (const Json& v : inner) list.push_back(v.is_null() ? std::nullopt : std::optional(integer_of(v, name)));
    }
  } else if (a.is_list) {
    for (const Json& v : j) a.ints.push_back(integer_of(v, name));
  } else if (j.is_string() && !is_special(j)) {
    a.text = j.get<std::string>();
  } else if (!a.is_null) {
    a.number = number_of(j);
    if (const auto* i = std::get_if<std::int64_t>(&*a.number)) a.ints = {*i};
    if (const auto* b = std::get_if<bool>(&*a.number)) a.ints = {*b};
  }
  return a;
}

CaseArgument argument_of(const Json& j) {
  if (j.is_string()) return j.get<std::string>();
  only_fields(j, {"scalar"}, "an argument");
  return number_of(field_of(j, "scalar"));
}

int repeat_of(const Json& j) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::int64_t n = j.contains("repeat") ? integer_of(field_of(j, "repeat"), "repeat") : 1;
  if (n < 1 || n > kMost) fail(absl::StrCat("repeat is ", n, ", not 1 to ", kMost));
  return static_cast<int>(n);
}

CaseStep step_of(const Json& j) {
  only_fields(j, {"op", "args", "attrs", "out", "repeat"}, "a step");
  CaseStep step;
  step.op = text_of(j, "op");
  step.out = text_of(j, "out");
  try {
    for (const Json& arg : array_of(j, "args")) step.arguments.push_back(argument_of(arg));
    const Json& attributes = field_of(j, "attrs");
    if (!attributes.is_object()) fail("attrs is not an object");
    if (const std::optional<Form> form = form_of(step.op)) {
      check_operands(step.arguments, *form);
      check_attributes(attributes, std::string(form->attributes));
    }
    for (const auto& [name, value] : attributes.items()) step.attributes.push_back(attribute_of(name, value));
    step.repeat = repeat_of(j);
  } catch (const std::exception& error) {
    fail("step '" + step.out + "' (" + step.op + "): " + error.what());
  }
  return step;
}

double tolerance_of(const Json& j, const char* field) {
  if (!j.contains(field)) return 0;
  const Json& value = j.at(field);
  if (!value.is_number() || value.get<double>() < 0) fail(std::string(field) + " is no number of at least 0");
  return value.get<double>();
}

CaseOutput output_of(const Json& j, const std::string& folder) {
  only_fields(j, {"name", "dtype", "shape", "data", "file", "rtol", "atol", "ulp", "signed_zero"}, "an output");
  CaseOutput out;
  out.want = tensor_of(j, folder);
  out.rtol = tolerance_of(j, "rtol");
  out.atol = tolerance_of(j, "atol");
  if (j.contains("ulp")) out.ulp = integer_of(field_of(j, "ulp"), "ulp");
  if (out.ulp.value_or(0) < 0) fail("ulp is negative");
  const Json signed_zero = j.value("signed_zero", Json(false));
  if (!signed_zero.is_boolean()) fail("signed_zero is neither true nor false");
  out.signed_zero = signed_zero.get<bool>();
  return out;
}

/// Every name is defined once and before it is used; outputs are steps.
void check_names(const Case& c) {
  std::set<std::string> defined, steps, outputs;
  const auto define = [&](const std::string& name) {
    if (!defined.insert(name).second) fail("'" + name + "' is defined twice");
  };
  for (const CaseTensor& input : c.inputs) define(input.name);
  for (const CaseStep& step : c.steps) {
    for (const CaseArgument& argument : step.arguments) {
      const auto* name = std::get_if<std::string>(&argument);
      if (name && !defined.contains(*name)) fail("step '" + step.out + "' uses '" + *name + "', which is not defined");
    }
    define(step.out);
    steps.insert(step.out);
  }
  for (const CaseOutput& output : c.outputs) {
    const std::string& name = output.want.name;
    if (!steps.contains(name)) fail("output '" + name + "' is no step");
    if (!outputs.insert(name).second) fail("output '" + name + "' is given twice");
  }
}

Case case_of(const Json& j, const std::string& folder) {
  only_fields(j, {"id", "source", "kind", "inputs", "program", "outputs", "note", "check"}, "a case");
  Case c;
  c.id = text_of(j, "id");
  try {
    for (const Json& input : array_of(j, "inputs")) {
      only_fields(input, {"name", "dtype", "shape", "data", "file"}, "an input");
      c.inputs.push_back(tensor_of(input, folder));
    }
    for (const Json& step : array_of(j, "program")) c.steps.push_back(step_of(step));
    for (const Json& output : array_of(j, "outputs")) c.outputs.push_back(output_of(output, folder));
    if (c.steps.empty() || c.outputs.empty()) fail("it has no step or no output");
    check_names(c);
  } catch (const std::exception& error) {
    fail("case " + c.id + ": " + error.what());
  }
  return c;
}

}  // namespace

const CaseAttribute* CaseStep::find(std::string_view name) const {
  for (const CaseAttribute& a : attributes) {
    if (a.name == name && !a.is_null) return &a;
  }
  return nullptr;
}

std::optional<DType> dtype_named(std::string_view name) {
  for (int t = 0; t < kNumDTypes; ++t) {
    if (name_of(static_cast<DType>(t)) == name) return static_cast<DType>(t);
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<Case>> read_cases(const std::string& path) {
  absl::StatusOr<std::string> text = read_text(path);
  if (!text.ok()) return text.status();
  const absl::StatusOr<Json> file = parse_json(*text, path);
  if (!file.ok()) return file.status();
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  try {
    if (!file->is_array()) fail("the file is not an array of cases");
    std::vector<Case> cases;
    std::set<std::string> ids;
    for (const Json& j : *file) {
      cases.push_back(case_of(j, folder));
      if (!ids.insert(cases.back().id).second) fail("case " + cases.back().id + " is defined twice");
    }
    return cases;
  } catch (const std::exception& error) {
    std::string message = absl::StrCat(path, ": ", error.what());
    std::replace(message.begin(), message.end(), '\n', ' ');
    return absl::InvalidArgumentError(message);
  }
}

}  // namespace tenon::tool
