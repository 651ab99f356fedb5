// SPDX-License-Identifier: MIT
// Friendlier arguments over rows, and short compositions. Index lists are in indexing.cc.
#include "tenon/functions.h"

#include <algorithm>
#include <numeric>

#include "compiler/ir/text.h"
#include "runtime/api/call.h"
#include "runtime/trace/promote.h"
#include "tenon/ops.h"

namespace tenon {

using api::attributes;
using api::call;

namespace {

Dims identity(std::int64_t rank) {
  Dims axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::int64_t axis_of(std::string_view op, const TensorArg& x, std::int64_t axis) {
  return api::normalize_axis(op, axis, api::rank_of(x), x.call_site());
}

struct Padding {
  Dims before, after;
};

Padding padding_of(const TensorArg& x, const Widths& widths) {
  if (widths.size() != api::shape_of(x).size()) {
    trace::fail("pad", cat(widths.size(), " pairs of widths for ", to_string(x.node()->type)), x.call_site());
  }
  Padding padding;
  for (const auto& [before, after] : widths) {
    padding.before.push_back(before);
    padding.after.push_back(after);
  }
  return padding;
}

bool is_two(const Operand& y) { return !y.node() && !y.scalar().is_float() && y.scalar().as_int() == 2; }

using Parameters = std::initializer_list<const OptionalOperand*>;

/// x and, as the row allows, the tensors that are given of weight and bias.
absl::InlinedVector<trace::TraceNode*, 3> given_tensors(Op op, const TensorArg& x, Parameters parameters) {
  absl::InlinedVector<trace::TraceNode*, 3> tensors = {x.node()};
  bool is_last = false;
  for (const OptionalOperand* parameter : parameters) {
    const Operand* given = parameter->get();
    if (given && (is_last || !given->node())) {
      trace::fail(name_of(op), given->node() ? "a bias needs a weight" : "weight and bias are tensors", x.call_site());
    }
    is_last = !given;
    if (given) tensors.push_back(given->node());
  }
  return tensors;
}

/// The tensors in the dtype that a float x and its parameters meet in.
absl::InlinedVector<trace::NodeRef, 3> promoted(Op op, const TensorArg& x, Parameters parameters) {
  const auto tensors = given_tensors(op, x, parameters);
  DType common = api::dtype_of(x);
  for (const trace::TraceNode* tensor : tensors) common = trace::promote(common, tensor->type.dtype).value_or(common);
  if (!is_float(api::dtype_of(x))) common = api::dtype_of(x);  // which the row refuses
  absl::InlinedVector<trace::NodeRef, 3> cast;
  for (trace::TraceNode* tensor : tensors) cast.push_back(trace::cast(tensor, common, x.call_site()));
  return cast;
}

Tensor normalised(Op op, const TensorArg& x, double epsilon, Parameters parameters, std::int64_t axis) {
  const auto tensors = promoted(op, x, parameters);
  const DType dtype = tensors[0]->type.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const trace::NodeRef small = trace::scalar_argument(dtype, epsilon, op, x.call_site());
  absl::InlinedVector<trace::Argument, 4> arguments = {{tensors[0].get(), 0}, {small.get(), 0}};
  for (std::size_t i = 1; i < tensors.size(); ++i) arguments.push_back({tensors[i].get(), 0});
  return api::finish(trace::apply(op, arguments, attributes(api::axis_of(op, x, axis)), x.call_site()), x.call_site());
}

}  // namespace

Tensor astype(const TensorArg& x, DType dtype) { return x.tensor().astype(dtype, x.call_site()); }

Tensor pow(const Operand& x, const Operand& y) {
  const bool is_square = is_two(y) && x.node() && api::dtype_of(x) != DType::kBool;
  return is_square ? call(Op::k_square, {&x}) : call(Op::k_pow, {&x, &y});
}

Tensor clip(const TensorArg& x, const OptionalOperand& min, const OptionalOperand& max) {
  if (min.get() && max.get()) return call(Op::k_clip, {&x, min.get(), max.get()});
  if (min.get()) return call(Op::k_maximum, {&x, min.get()});
  if (max.get()) return call(Op::k_minimum, {&x, max.get()});
  return x.tensor();
}

Tensor permute_dims(const TensorArg& x, const Dims& axes) {
  Dims normal = axes;
  for (std::int64_t& axis : normal) axis = axis_of("permute_dims", x, axis);
  return call(Op::k_permute_dims, {&x}, attributes(normal));
}

Tensor matrix_transpose(const TensorArg& x) { return transpose(x); }

Tensor swapaxes(const TensorArg& x, std::int64_t a, std::int64_t b) {
  Dims axes = identity(api::rank_of(x));
  std::swap(axes[static_cast<std::size_t>(axis_of("swapaxes", x, a))],
            axes[static_cast<std::size_t>(axis_of("swapaxes", x, b))]);
  return permute_dims(x, axes);
}

Tensor moveaxis(const TensorArg& x, std::int64_t from, std::int64_t to) {
  Dims axes = identity(api::rank_of(x));
  const std::int64_t source = axis_of("moveaxis", x, from), target = axis_of("moveaxis", x, to);
  axes.erase(axes.begin() + source);
  axes.insert(axes.begin() + target, source);
  return permute_dims(x, axes);
}

Tensor expand_dims(const TensorArg& x, const Axes& axis) {
  if (axis.is_all()) trace::fail("expand_dims", "needs the places of the new axes", x.call_site());
  const std::int64_t rank = api::rank_of(x) + static_cast<std::int64_t>(axis.list().size());
  return call(Op::k_expand_dims, {&x}, attributes(api::normalize_axes("expand_dims", axis, rank, x.call_site())));
}

Tensor flatten(const TensorArg& x) { return reshape(x, {-1}); }

Tensor pad(const TensorArg& x, const Widths& widths, const Operand& value) {
  const Padding padding = padding_of(x, widths);
  return call(Op::k_pad, {&x, &value}, attributes(padding.before, padding.after));
}

Tensor pad(const TensorArg& x, const Widths& widths, PadMode mode) {
  const Padding padding = padding_of(x, widths);
  return call(Op::k_pad_mode, {&x}, attributes(padding.before, padding.after, mode));
}

Tensor repeat(const TensorArg& x, std::int64_t count, std::int64_t axis) {
  const std::int64_t at = axis_of("repeat", x, axis);
  if (count < 0) trace::fail("repeat", cat("the count ", count, " is negative"), x.call_site());
  const Tensor spread = expand_dims(x, at + 1);
  Dims shape = spread.shape();
  shape[static_cast<std::size_t>(at + 1)] = count;
  const Tensor repeated = broadcast_to({spread, x.call_site()}, shape);
  shape[static_cast<std::size_t>(at)] *= count;
  shape.erase(shape.begin() + at + 1);
  return reshape({repeated, x.call_site()}, shape);
}

Tensor layer_norm(const TensorArg& x, const OptionalOperand& weight, const OptionalOperand& bias, double epsilon,
                  std::int64_t axis) {
  return normalised(Op::k_layer_norm, x, epsilon, {&weight, &bias}, axis);
}

Tensor rms_norm(const TensorArg& x, const OptionalOperand& weight, double epsilon, std::int64_t axis) {
  return normalised(Op::k_rms_norm, x, epsilon, {&weight}, axis);
}

}  // namespace tenon
