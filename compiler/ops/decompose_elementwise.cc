// SPDX-License-Identifier: MIT
// Decompositions of elementwise composites, creation and random ops.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/ops/decompose.h"

namespace tenon {
namespace {

using Values = absl::Span<const Value>;

Value unary(Op op, const Value& x) { return apply(op, {x}); }
Value maximum(const Value& a, const Value& b) { return apply(Op::k_maximum, {a, b}); }
Value minimum(const Value& a, const Value& b) { return apply(Op::k_minimum, {a, b}); }
DType dtype_attr(const Node& node) { return static_cast<DType>(node.value("dtype")); }

}  // namespace

Value decompose_square(const Node&, Values x) { return x[0] * x[0]; }

Value decompose_reciprocal(const Node&, Values x) { return 1.0 / x[0]; }

Value decompose_clip(const Node&, Values x) { return minimum(maximum(x[0], x[1]), x[2]); }

Value decompose_relu(const Node&, Values x) { return maximum(x[0], constant_like(x[0], 0)); }

Value decompose_sigmoid(const Node&, Values x) {
  const Value v = widen(x[0]);
  return 1.0 / (unary(Op::k_exp, -v) + 1.0);
}

Value decompose_silu(const Node&, Values x) {
  const Value v = widen(x[0]);
  return v / (unary(Op::k_exp, -v) + 1.0);
}

Value decompose_gelu(const Node& node, Values x) {
  const Value v = widen(x[0]);
  if (node.value("approximate") == 0) {
    return v * (unary(Op::k_erf, v * std::numbers::sqrt2 * 0.5) + 1.0) * 0.5;
  }
  // (1 + tanh(u))/2 = 1/(1 + exp(-2u)), which does not cancel where tanh(u) is near -1.
  const double slope = -2 * std::sqrt(2 / std::numbers::pi);
  return v / (unary(Op::k_exp, (v + v * v * v * 0.044715) * slope) + 1.0);
}

Value decompose_softplus(const Node&, Values x) {
  const Value v = widen(x[0]);
  return maximum(v, constant_like(v, 0)) + unary(Op::k_log1p, unary(Op::k_exp, -unary(Op::k_abs, v)));
}

Value decompose_logaddexp(const Node&, Values x) {
  const Value a = widen(x[0]), b = widen(x[1]);
  const Value tail = unary(Op::k_log1p, unary(Op::k_exp, -unary(Op::k_abs, a - b)));
  // Equal infinities have no difference.
  return where(apply(Op::k_equal, {a, b}), a + std::numbers::ln2, maximum(a, b) + tail);
}

Value decompose_full(const Node& node, Values x) { return broadcast_to(x[0], node.ints("shape")); }

Value decompose_arange(const Node& node, Values x) {
  const std::int64_t length = node.value("length");
  const Value i = cast(index_along(x[0].builder, {length}, 0), x[0].dtype());
  return x[0] + i * x[1];
}

Value decompose_linspace(const Node& node, Values x) {
  const std::int64_t length = node.value("length");
  const bool endpoint = node.value("endpoint") != 0;
  const Value start = widen(x[0]), stop = widen(x[1]);
  const Value index = index_along(start.builder, {length}, 0);
  const double steps = static_cast<double>(std::max<std::int64_t>(endpoint ? length - 1 : length, 1));
  const Value line = start + cast(index, start.dtype()) * ((stop - start) / steps);
  if (!endpoint || length < 2) return line;
  return where(apply(Op::k_equal, {index, constant_like(index, static_cast<double>(length - 1))}), stop, line);
}

Value decompose_eye(const Node& node, Values x) {
  const Shape shape = {node.value("n_rows"), node.value("n_cols")};
  const Value row = index_along(x[0].builder, shape, 0), column = index_along(x[0].builder, shape, 1);
  const Value k = constant_like(row, static_cast<double>(node.value("k")));
  return cast(apply(Op::k_equal, {column - row, k}), dtype_attr(node));
}

Value decompose_one_hot(const Node& node, Values x) {
  Shape shape = x[0].shape();
  shape.push_back(1);
  const Value wanted = reshape(cast(x[0], DType::kInt64), shape);
  shape.back() = node.value("classes");
  const Value index = index_along(x[0].builder, shape, static_cast<int>(shape.size()) - 1);
  return cast(apply(Op::k_equal, {index, wanted}), dtype_attr(node));
}

namespace {

Value triangle(const Node& node, const Value& x, Op keep) {
  const int rank = x.rank();
  const Value row = index_along(x.builder, x.shape(), rank - 2), column = index_along(x.builder, x.shape(), rank - 1);
  const Value k = constant_like(row, static_cast<double>(node.value("k")));
  return where(apply(keep, {column - row, k}), x, constant_like(x, 0));
}

}  // namespace

Value decompose_tril(const Node& node, Values x) { return triangle(node, x[0], Op::k_less_equal); }
Value decompose_triu(const Node& node, Values x) { return triangle(node, x[0], Op::k_greater_equal); }

namespace {

Value random_word(const Value& seed, absl::Span<const std::int64_t> shape, std::int64_t stream) {
  Attrs attrs;
  attrs.append(shape);
  attrs.append(stream);
  return apply(Op::k_random_bits, {seed}, std::move(attrs));
}

Value shift_right(const Value& bits, int count) {
  return apply(Op::k_bitwise_right_shift, {bits, constant_like(bits, count)});
}

/// Uniform in [0, 1): 24 random bits for float32, 53 for float64 (words `stream` and `stream + 1`).
Value unit_uniform(const Value& seed, absl::Span<const std::int64_t> shape, std::int64_t stream, DType dtype) {
  const Value high = random_word(seed, shape, stream);
  if (dtype != DType::kFloat64) return cast(shift_right(high, 8), DType::kFloat32) * 0x1p-24;
  const Value low = random_word(seed, shape, stream + 1);
  return (cast(shift_right(high, 5), dtype) * 0x1p26 + cast(shift_right(low, 6), dtype)) * 0x1p-53;
}

/// The largest value of dtype below `high`.
Value largest_below(const Value& high, DType dtype) {
  const Value rounded = cast(high, dtype);
  const Value next = apply(Op::k_nextafter, {rounded, constant_like(rounded, -INFINITY)});
  return where(apply(Op::k_less, {widen(rounded), high}), rounded, next);
}

}  // namespace

Value decompose_random_uniform(const Node& node, Values x) {
  const DType dtype = dtype_attr(node);
  const Value low = widen(x[1]), high = widen(x[2]);
  const Value value = cast(low + unit_uniform(x[0], node.ints("shape"), 0, dtype) * (high - low), dtype);
  // Both the sum and the cast may round up to `high`.
  const Value limit = largest_below(high, dtype);
  return minimum(value, where(apply(Op::k_less, {low, high}), limit, constant_like(limit, INFINITY)));
}

Value decompose_random_normal(const Node& node, Values x) {
  const DType dtype = dtype_attr(node);
  // 1 - u lies in (0, 1], so the logarithm is finite.
  const Value u = unit_uniform(x[0], node.ints("shape"), 0, dtype);
  const Value radius = unary(Op::k_sqrt, unary(Op::k_log, constant_like(u, 1) - u) * -2.0);
  return radius * unary(Op::k_cos, unit_uniform(x[0], node.ints("shape"), 2, dtype) * (2 * std::numbers::pi));
}

}  // namespace tenon
