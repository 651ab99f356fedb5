// SPDX-License-Identifier: MIT
// Decompositions of reductions, scans and normalisations.
#include <algorithm>
#include <numeric>

#include "compiler/ops/decompose.h"

namespace tenon {
namespace {

using Values = absl::Span<const Value>;

Value unary(Op op, const Value& x) { return apply(op, {x}); }
bool keepdims(const Node& node) { return node.value("keepdims") != 0; }

std::int64_t count(const Value& x, absl::Span<const std::int64_t> axes) {
  std::int64_t n = 1;
  for (std::int64_t axis : axes) n *= x.shape()[static_cast<std::size_t>(axis)];
  return n;
}

Shape trailing_axes(const Value& x, std::int64_t first) {
  Shape axes(static_cast<std::size_t>(x.rank() - first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

/// Accumulates a sum or product in its result dtype, half types in float32.
Value accumulate(const Node& node, const Value& x, ReduceKind kind) {
  const DType dtype = static_cast<DType>(node.value("dtype"));
  return reduce_axes(cast(x, is_half(dtype) ? DType::kFloat32 : dtype), kind, node.ints("axis"), keepdims(node));
}

Value mean_of(const Value& x, absl::Span<const std::int64_t> axes, bool keep) {
  return reduce_axes(x, ReduceKind::sum, axes, keep) / static_cast<double>(count(x, axes));
}

Value variance_of(const Value& x, absl::Span<const std::int64_t> axes, bool keep, std::int64_t correction) {
  const Value distance = x - mean_of(x, axes, true);
  const double divisor = std::max(static_cast<double>(count(x, axes)) - static_cast<double>(correction), 0.0);
  if (divisor == 0) return reduce_axes(distance * distance, ReduceKind::sum, axes, keep) / divisor;
  // Each square is divided before they are added, so that the sum overflows no earlier than the variance.
  return reduce_axes(distance * (distance * (1.0 / divisor)), ReduceKind::sum, axes, keep);
}

/// The maximum, or 0 where it is infinite, so that x - shift is never inf - inf.
Value finite_maximum(const Value& x, absl::Span<const std::int64_t> axes) {
  const Value top = reduce_axes(x, ReduceKind::max, axes, true);
  return where(unary(Op::k_isfinite, top), top, constant_like(top, 0));
}

bool is_empty(const Value& x) { return numel(x.shape()) == 0; }

}  // namespace

Value decompose_sum(const Node& node, Values x) { return accumulate(node, x[0], ReduceKind::sum); }
Value decompose_prod(const Node& node, Values x) { return accumulate(node, x[0], ReduceKind::prod); }

Value decompose_max(const Node& node, Values x) {
  return reduce_axes(x[0], ReduceKind::max, node.ints("axis"), keepdims(node));
}
Value decompose_min(const Node& node, Values x) {
  return reduce_axes(x[0], ReduceKind::min, node.ints("axis"), keepdims(node));
}

namespace {

/// any and all: the extreme of bools; over nothing, the constant `empty`.
Value quantified(const Node& node, const Value& x, ReduceKind kind, bool empty) {
  if (count(x, node.ints("axis")) > 0) return reduce_axes(x, kind, node.ints("axis"), keepdims(node));
  return broadcast_to(constant_like(x, empty ? 1 : 0), node.type.shape);
}

}  // namespace

Value decompose_any(const Node& node, Values x) { return quantified(node, x[0], ReduceKind::max, false); }
Value decompose_all(const Node& node, Values x) { return quantified(node, x[0], ReduceKind::min, true); }

Value decompose_argmax(const Node& node, Values x) {
  return reduce_axes(x[0], ReduceKind::argmax, node.ints("axis"), keepdims(node));
}
Value decompose_argmin(const Node& node, Values x) {
  return reduce_axes(x[0], ReduceKind::argmin, node.ints("axis"), keepdims(node));
}

Value decompose_count_nonzero(const Node& node, Values x) {
  const Value counted = cast(cast(x[0], DType::kBool), DType::kInt64);
  return reduce_axes(counted, ReduceKind::sum, node.ints("axis"), keepdims(node));
}

Value decompose_mean(const Node& node, Values x) { return mean_of(widen(x[0]), node.ints("axis"), keepdims(node)); }
Value decompose_var(const Node& node, Values x) {
  return variance_of(widen(x[0]), node.ints("axis"), keepdims(node), node.value("correction"));
}
Value decompose_std(const Node& node, Values x) {
  return unary(Op::k_sqrt, variance_of(widen(x[0]), node.ints("axis"), keepdims(node), node.value("correction")));
}

Value decompose_logsumexp(const Node& node, Values x) {
  const Value v = widen(x[0]);
  const auto axes = node.ints("axis");
  const Value shift = finite_maximum(v, axes);
  const Value total = reduce_axes(unary(Op::k_exp, v - shift), ReduceKind::sum, axes, true);
  return reshape(unary(Op::k_log, total) + shift, node.type.shape);
}

Value decompose_softmax(const Node& node, Values x) {
  const Value v = widen(x[0]);
  if (is_empty(v)) return v;
  const Shape axes = {node.value("axis")};
  const Value e = unary(Op::k_exp, v - reduce_axes(v, ReduceKind::max, axes, true));
  return e / reduce_axes(e, ReduceKind::sum, axes, true);
}

Value decompose_log_softmax(const Node& node, Values x) {
  const Value v = widen(x[0]);
  if (is_empty(v)) return v;
  const Shape axes = {node.value("axis")};
  const Value shifted = v - reduce_axes(v, ReduceKind::max, axes, true);
  return shifted - unary(Op::k_log, reduce_axes(unary(Op::k_exp, shifted), ReduceKind::sum, axes, true));
}

namespace {

Value scale(const Value& y, const Value& weight) { return y * cast(weight, y.dtype()); }

}  // namespace

Value decompose_layer_norm(const Node& node, Values x) {
  const Value v = widen(x[0]);
  const Shape axes = trailing_axes(v, node.value("axis"));
  const Value centred = v - mean_of(v, axes, true);
  const Value variance =
      reduce_axes(centred * centred, ReduceKind::sum, axes, true) / static_cast<double>(count(v, axes));
  Value y = centred * unary(Op::k_rsqrt, variance + cast(x[1], v.dtype()));
  if (x.size() > 2) y = scale(y, x[2]);
  return x.size() > 3 ? y + cast(x[3], v.dtype()) : y;
}

Value decompose_rms_norm(const Node& node, Values x) {
  const Value v = widen(x[0]);
  const Shape axes = trailing_axes(v, node.value("axis"));
  const Value y = v * unary(Op::k_rsqrt, mean_of(v * v, axes, true) + cast(x[1], v.dtype()));
  return x.size() > 2 ? scale(y, x[2]) : y;
}

namespace {

Value running(const Node& node, const Value& x, ReduceKind kind) {
  const DType dtype = static_cast<DType>(node.value("dtype"));
  Attrs attrs;
  attrs.append(static_cast<std::int64_t>(kind));
  attrs.append(node.value("axis"));
  return apply(Op::k_scan, {cast(x, is_half(dtype) ? DType::kFloat32 : dtype)}, std::move(attrs));
}

}  // namespace

Value decompose_cumsum(const Node& node, Values x) { return running(node, x[0], ReduceKind::sum); }
Value decompose_cumprod(const Node& node, Values x) { return running(node, x[0], ReduceKind::prod); }

}  // namespace tenon
