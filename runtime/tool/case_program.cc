// SPDX-License-Identifier: MIT
// See case_program.h. One row an op of the case format: its name, and a call of the public function.
#include "runtime/tool/case_program.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "runtime/api/access.h"
#include "runtime/session/session.h"
#include "tenon/tenon.h"

namespace tenon::tool {
namespace {

Scalar scalar_of(const Number& number) {
  return std::visit([](auto v) { return Scalar(v); }, number);
}

/// A step with its operands at hand.
struct Call {
  const CaseStep& step;
  const std::map<std::string, Tensor>& values;
  const Tensor* first = nullptr;  ///< replaces argument 0 in repetitions

  const Tensor& tensor(std::size_t i) const {
    if (i == 0 && first) return *first;
    return values.at(std::get<std::string>(step.arguments[i]));
  }
  Operand operand(std::size_t i) const {
    const auto* number = std::get_if<Number>(&step.arguments[i]);
    if (number && !(i == 0 && first)) return Operand(scalar_of(*number));
    return Operand(tensor(i));
  }
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> all;
    for (std::size_t i = 0; i < step.arguments.size(); ++i) all.push_back(tensor(i));
    return all;
  }
  Dims dims(std::string_view name) const { return step.find(name) ? step.find(name)->ints : Dims(); }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    const CaseAttribute* a = step.find(name);
    return a && !a->ints.empty() ? a->ints[0] : otherwise;
  }
  Axes axes(std::string_view name = "axis") const {
    const CaseAttribute* a = step.find(name);
    return a ? Axes(a->ints) : Axes();
  }
  KeepDims keep() const { return integer("keepdims", 0) != 0; }
  Scalar number(std::string_view name, Scalar otherwise) const {
    const CaseAttribute* a = step.find(name);
    return a && a->number ? scalar_of(*a->number) : otherwise;
  }
  std::optional<DType> dtype() const {
    const CaseAttribute* a = step.find("dtype");
    return a ? dtype_named(a->text) : std::nullopt;
  }
};

using Function = std::function<Tensor(const Call&)>;

std::vector<Index> index_list(const Call& c) {
  std::vector<Index> list;
  for (const auto& part : c.step.find("slices")->lists) {
    const auto bound = [&](std::size_t i) { return part.size() > i && part[i] ? Bound(*part[i]) : Bound(none); };
    list.push_back(slice(bound(0), bound(1), part.size() > 2 && part[2] ? *part[2] : 1));
  }
  return list;
}

Tensor sliced(const Call& c) {
  if (!c.step.find("slices") || c.step.find("slices")->lists.empty()) return c.tensor(0);
  return c.tensor(0)[IndexList(index_list(c))];
}

Tensor updated(const Call& c) {
  const CaseAttribute* slices = c.step.find("slices");
  return slice_update(c.tensor(0), IndexList(slices ? index_list(c) : std::vector<Index>()), c.operand(1));
}

Tensor padded(const Call& c) {
  Widths widths;
  for (const auto& part : c.step.find("pad_width")->lists) widths.emplace_back(*part.at(0), *part.at(1));
  const CaseAttribute* mode = c.step.find("mode");
  if (mode && mode->text == "reflect") return pad(c.tensor(0), widths, PadMode::kReflect);
  if (mode && mode->text == "edge") return pad(c.tensor(0), widths, PadMode::kEdge);
  return pad(c.tensor(0), widths, Operand(c.number("value", 0)));
}

Tensor clipped(const Call& c) {
  const CaseAttribute *low = c.step.find("min"), *high = c.step.find("max");
  Tensor x = c.tensor(0);
  if (low) x = maximum(x, scalar_of(*low->number));
  return high ? minimum(x, scalar_of(*high->number)) : x;
}

Tensor normalised(const Call& c) {
  const Scalar epsilon = c.number("epsilon", 1e-5);
  const double value = epsilon.is_float() ? epsilon.as_float() : static_cast<double>(epsilon.as_int());
  const std::size_t n = c.step.arguments.size();
  const OptionalOperand weight = n > 1 ? OptionalOperand(c.tensor(1)) : OptionalOperand(none);
  const OptionalOperand bias = n > 2 ? OptionalOperand(c.tensor(2)) : OptionalOperand(none);
  return layer_norm(c.tensor(0), weight, bias, value, c.integer("axis", -1));
}

template <Tensor (*kFunction)(const TensorArg&)>
Function unary() {
  return [](const Call& c) { return kFunction(c.tensor(0)); };
}
template <Tensor (*kFunction)(const Operand&, const Operand&)>
Function binary() {
  return [](const Call& c) { return kFunction(c.operand(0), c.operand(1)); };
}
template <Tensor (*kFunction)(const TensorArg&, const Axes&, KeepDims)>
Function reduction() {
  return [](const Call& c) { return kFunction(c.tensor(0), c.axes(), c.keep()); };
}

const std::map<std::string, Function, std::less<>>& functions() {
  static const std::map<std::string, Function, std::less<>> table = {
      {"abs", unary<abs>()},
      {"acos", unary<acos>()},
      {"acosh", unary<acosh>()},
      {"asin", unary<asin>()},
      {"asinh", unary<asinh>()},
      {"atan", unary<atan>()},
      {"atanh", unary<atanh>()},
      {"bitwise_invert", unary<bitwise_invert>()},
      {"cbrt", unary<cbrt>()},
      {"ceil", unary<ceil>()},
      {"cos", unary<cos>()},
      {"cosh", unary<cosh>()},
      {"erf", unary<erf>()},
      {"erfc", unary<erfc>()},
      {"exp", unary<exp>()},
      {"exp2", unary<exp2>()},
      {"expm1", unary<expm1>()},
      {"floor", unary<floor>()},
      {"isfinite", unary<isfinite>()},
      {"isinf", unary<isinf>()},
      {"isnan", unary<isnan>()},
      {"log", unary<log>()},
      {"log10", unary<log10>()},
      {"log1p", unary<log1p>()},
      {"log2", unary<log2>()},
      {"logical_not", unary<logical_not>()},
      {"negative", unary<negative>()},
      {"reciprocal", unary<reciprocal>()},
      {"relu", unary<relu>()},
      {"round", unary<round>()},
      {"rsqrt", unary<rsqrt>()},
      {"sigmoid", unary<sigmoid>()},
      {"sign", unary<sign>()},
      {"signbit", unary<signbit>()},
      {"sin", unary<sin>()},
      {"sinh", unary<sinh>()},
      {"sqrt", unary<sqrt>()},
      {"square", unary<square>()},
      {"tan", unary<tan>()},
      {"tanh", unary<tanh>()},
      {"trunc", unary<trunc>()},
      {"add", binary<add>()},
      {"atan2", binary<atan2>()},
      {"bitwise_and", binary<bitwise_and>()},
      {"bitwise_left_shift", binary<bitwise_left_shift>()},
      {"bitwise_or", binary<bitwise_or>()},
      {"bitwise_right_shift", binary<bitwise_right_shift>()},
      {"bitwise_xor", binary<bitwise_xor>()},
      {"divide", binary<divide>()},
      {"equal", binary<equal>()},
      {"floor_divide", binary<floor_divide>()},
      {"fmod", binary<fmod>()},
      {"greater", binary<greater>()},
      {"greater_equal", binary<greater_equal>()},
      {"less", binary<less>()},
      {"less_equal", binary<less_equal>()},
      {"logical_and", binary<logical_and>()},
      {"logical_or", binary<logical_or>()},
      {"logical_xor", binary<logical_xor>()},
      {"maximum", binary<maximum>()},
      {"minimum", binary<minimum>()},
      {"multiply", binary<multiply>()},
      {"nextafter", binary<nextafter>()},
      {"not_equal", binary<not_equal>()},
      {"pow", binary<pow>()},
      {"remainder", binary<remainder>()},
      {"subtract", binary<subtract>()},
      {"any", reduction<any>()},
      {"max", reduction<max>()},
      {"mean", reduction<mean>()},
      {"min", reduction<min>()},
      {"argmax", reduction<argmax>()},
      {"argmin", reduction<argmin>()},
      {"logsumexp", reduction<logsumexp>()},
      {"all", [](const Call& c) { return all(c.tensor(0), c.axes(), c.keep()); }},
      {"sum", [](const Call& c) { return sum(c.tensor(0), c.axes(), c.keep(), c.dtype()); }},
      {"prod", [](const Call& c) { return prod(c.tensor(0), c.axes(), c.keep(), c.dtype()); }},
      {"var", [](const Call& c) { return var(c.tensor(0), c.axes(), c.keep(), c.integer("correction", 0)); }},
      {"cumsum", [](const Call& c) { return cumsum(c.tensor(0), c.integer("axis", 0), c.dtype()); }},
      {"cumprod", [](const Call& c) { return cumprod(c.tensor(0), c.integer("axis", 0), c.dtype()); }},
      {"softmax", [](const Call& c) { return softmax(c.tensor(0), c.integer("axis", -1)); }},
      {"log_softmax", [](const Call& c) { return log_softmax(c.tensor(0), c.integer("axis", -1)); }},
      {"layer_norm", normalised},
      {"gelu",
       [](const Call& c) {
         const CaseAttribute* a = c.step.find("approximate");
         return gelu(c.tensor(0), a && a->text == "tanh");
       }},
      {"matmul", [](const Call& c) { return matmul(c.tensor(0), c.tensor(1)); }},
      {"cast", [](const Call& c) { return c.tensor(0).astype(*c.dtype()); }},
      {"where", [](const Call& c) { return where(c.tensor(0), c.operand(1), c.operand(2)); }},
      {"clip", clipped},
      {"reshape", [](const Call& c) { return reshape(c.tensor(0), c.dims("shape")); }},
      {"permute_dims", [](const Call& c) { return permute_dims(c.tensor(0), c.dims("axes")); }},
      {"broadcast_to", [](const Call& c) { return broadcast_to(c.tensor(0), c.dims("shape")); }},
      {"expand_dims", [](const Call& c) { return expand_dims(c.tensor(0), c.axes()); }},
      {"squeeze", [](const Call& c) { return squeeze(c.tensor(0), c.axes()); }},
      {"flip", [](const Call& c) { return flip(c.tensor(0), c.axes()); }},
      {"tile", [](const Call& c) { return tile(c.tensor(0), c.dims("repetitions")); }},
      {"slice", sliced},
      {"slice_update", updated},
      {"pad", padded},
      {"concat", [](const Call& c) { return concat(c.tensors(), c.integer("axis", 0)); }},
      {"stack", [](const Call& c) { return stack(c.tensors(), c.integer("axis", 0)); }},
      {"take", [](const Call& c) { return take(c.tensor(0), c.tensor(1), c.integer("axis", 0)); }},
      {"take_along_axis",
       [](const Call& c) { return take_along_axis(c.tensor(0), c.tensor(1), c.integer("axis", -1)); }},
      {"tril", [](const Call& c) { return tril(c.tensor(0), c.integer("k", 0)); }},
      {"triu", [](const Call& c) { return triu(c.tensor(0), c.integer("k", 0)); }},
      {"full", [](const Call& c) { return full(c.dims("shape"), c.number("value", 0), c.dtype()); }},
      {"arange",
       [](const Call& c) { return arange(c.number("start", 0), c.number("stop", 0), c.number("step", 1), c.dtype()); }},
      {"eye",
       [](const Call& c) {
         return eye(c.integer("n_rows", 0), c.integer("n_cols", c.integer("n_rows", 0)), c.integer("k", 0),
                    c.dtype().value_or(DType::kFloat32));
       }},
  };
  return table;
}

Tensor tensor_of(const CaseTensor& t) {
  const Dims shape(t.type.shape.begin(), t.type.shape.end());
  return internal::copy_in(t.data.data(), static_cast<std::size_t>(numel(t.type.shape)), t.type.dtype, shape,
                           std::source_location::current());
}

bool is_known_mode(const CaseStep& step) {
  const CaseAttribute* mode = step.find("mode");
  return !mode || mode->text == "constant" || mode->text == "reflect" || mode->text == "edge";
}

}  // namespace

std::string unsupported(const Case& c) {
  for (const CaseStep& step : c.steps) {
    if (!functions().contains(step.op)) return "op " + step.op;
    if (!is_known_mode(step)) return "attr mode=" + step.find("mode")->text;
  }
  return "";
}

std::map<std::string, Tensor> build_case(const Case& c, void (*after_step)(const Tensor&)) {
  std::map<std::string, Tensor> values;
  for (const CaseTensor& input : c.inputs) values[input.name] = tensor_of(input);
  for (const CaseStep& step : c.steps) {
    const Function& function = functions().find(step.op)->second;
    Tensor result = function({step, values, nullptr});
    if (after_step) after_step(result);
    for (int i = 1; i < step.repeat; ++i) {
      const Tensor previous = result;
      result = function({step, values, &previous});
      if (after_step) after_step(result);
    }
    values[step.out] = std::move(result);
  }
  return values;
}

absl::StatusOr<LoadedProgram> load_case(const std::string& path, const std::string& id) {
  absl::StatusOr<std::vector<Case>> cases = read_cases(path);
  if (!cases.ok()) return cases.status();
  const auto found = std::find_if(cases->begin(), cases->end(), [&](const Case& c) { return c.id == id; });
  if (found == cases->end()) return absl::InvalidArgumentError(absl::StrCat(path, " has no case '", id, "'"));
  if (const std::string missing = unsupported(*found); !missing.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("case ", id, " needs ", missing, ", which is not supported"));
  }
  try {
    const std::map<std::string, Tensor> values = build_case(*found);
    LoadedProgram out;
    std::vector<trace::TraceNode*> wanted;
    for (const CaseOutput& output : found->outputs) {
      const Tensor& value = values.at(output.want.name);
      trace::TraceNode* node = internal::Access::node(value);
      const bool is_lazy = !value.is_evaluated() && std::find(wanted.begin(), wanted.end(), node) == wanted.end();
      if (!is_lazy) continue;
      wanted.push_back(node);
      out.output_names.push_back(output.want.name);
    }
    session::CapturedProgram captured = session::capture(wanted);
    out.key_bytes = std::move(captured.key_bytes);
    out.inputs = std::move(captured.inputs);
    out.input_offsets = std::move(captured.input_offsets);
    out.scalars = std::move(captured.scalars);
    out.outputs = std::move(captured.outputs);
    return out;
  } catch (const Error& error) {
    return absl::InvalidArgumentError(absl::StrCat("case ", id, ": ", error.what()));
  }
}

}  // namespace tenon::tool
