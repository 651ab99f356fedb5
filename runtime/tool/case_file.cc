// SPDX-License-Identifier: MIT
// See case_file.h. Malformed input throws std::runtime_error inside this file, and leaves it as a status.
#include "runtime/tool/case_file.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/scalar_eval.h"
#include "runtime/api/access.h"
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
  std::vector<std::byte> data(count * size_of(type.dtype));
  if (!is_widened) {
    std::memcpy(data.data(), source, data.size());
    return data;
  }
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
  t.name = j.at("name").get<std::string>();
  const std::optional<DType> dtype = dtype_named(j.at("dtype").get<std::string>());
  if (!dtype) fail("no dtype '" + j.at("dtype").get<std::string>() + "'");
  t.type.dtype = *dtype;
  for (const Json& extent : j.at("shape")) {
    const auto n = extent.get<std::int64_t>();
    if (n < 0 || n > (std::int64_t{1} << 32)) fail("a length of " + std::to_string(n));
    t.type.shape.push_back(n);
  }
  if (j.contains("file")) {
    t.data = data_of_file(folder + j.at("file").get<std::string>(), t.type);
  } else if (numel(t.type.shape) > 0) {
    append_elements(j.at("data"), t.type, 0, t.data);
  }
  return t;
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
      for (const Json& v : inner) list.push_back(v.is_null() ? std::nullopt : std::optional(v.get<std::int64_t>()));
    }
  } else if (a.is_list) {
    for (const Json& v : j) a.ints.push_back(v.get<std::int64_t>());
  } else if (j.is_string() && j != "nan" && j != "inf" && j != "-inf" && j != "-0.0") {
    a.text = j.get<std::string>();
  } else if (!a.is_null) {
    a.number = number_of(j);
    if (const auto* i = std::get_if<std::int64_t>(&*a.number)) a.ints = {*i};
    if (const auto* b = std::get_if<bool>(&*a.number)) a.ints = {*b};
  }
  return a;
}

CaseStep step_of(const Json& j) {
  only_fields(j, {"op", "args", "attrs", "out", "repeat"}, "a step");
  CaseStep step;
  step.op = j.at("op").get<std::string>();
  for (const Json& arg : j.at("args")) {
    if (arg.is_string()) {
      step.arguments.emplace_back(arg.get<std::string>());
    } else {
      only_fields(arg, {"scalar"}, "an argument");
      step.arguments.emplace_back(number_of(arg.at("scalar")));
    }
  }
  for (const auto& [name, value] : j.at("attrs").items()) step.attributes.push_back(attribute_of(name, value));
  step.out = j.at("out").get<std::string>();
  step.repeat = j.value("repeat", 1);
  if (step.repeat < 1) fail("repeat is less than 1");
  return step;
}

CaseOutput output_of(const Json& j, const std::string& folder) {
  only_fields(j, {"name", "dtype", "shape", "data", "file", "rtol", "atol", "ulp", "signed_zero"}, "an output");
  CaseOutput out;
  out.want = tensor_of(j, folder);
  out.rtol = j.value("rtol", 0.0);
  out.atol = j.value("atol", 0.0);
  if (j.contains("ulp")) out.ulp = j.at("ulp").get<std::int64_t>();
  out.signed_zero = j.value("signed_zero", false);
  return out;
}

Case case_of(const Json& j, const std::string& folder) {
  only_fields(j, {"id", "source", "kind", "inputs", "program", "outputs", "note", "check"}, "a case");
  Case c;
  c.id = j.at("id").get<std::string>();
  try {
    for (const Json& input : j.at("inputs")) {
      only_fields(input, {"name", "dtype", "shape", "data", "file"}, "an input");
      c.inputs.push_back(tensor_of(input, folder));
    }
    for (const Json& step : j.at("program")) c.steps.push_back(step_of(step));
    for (const Json& output : j.at("outputs")) c.outputs.push_back(output_of(output, folder));
  } catch (const std::exception& error) {
    fail("case " + c.id + ": " + error.what());
  }
  if (c.steps.empty() || c.outputs.empty()) fail("case " + c.id + " has no step or no output");
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
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  try {
    const Json file = Json::parse(*text);
    if (!file.is_array()) fail("the file is not an array of cases");
    std::vector<Case> cases;
    for (const Json& j : file) cases.push_back(case_of(j, folder));
    return cases;
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.what()));
  }
}

}  // namespace tenon::tool
