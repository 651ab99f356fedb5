// SPDX-License-Identifier: MIT
// Bodies of include/tenon/ops.h. Generated from compiler/ops/op_table.def: do not edit.
#include "runtime/api/call.h"
#include "tenon/ops.h"

namespace tenon {

using namespace api;

Tensor negative(const TensorArg& x) {
  return call(Op::k_negative, {&x});
}

Tensor abs(const TensorArg& x) {
  return call(Op::k_abs, {&x});
}

Tensor sign(const TensorArg& x) {
  return call(Op::k_sign, {&x});
}

Tensor sqrt(const TensorArg& x) {
  return call(Op::k_sqrt, {&x});
}

Tensor rsqrt(const TensorArg& x) {
  return call(Op::k_rsqrt, {&x});
}

Tensor cbrt(const TensorArg& x) {
  return call(Op::k_cbrt, {&x});
}

Tensor exp(const TensorArg& x) {
  return call(Op::k_exp, {&x});
}

Tensor exp2(const TensorArg& x) {
  return call(Op::k_exp2, {&x});
}

Tensor expm1(const TensorArg& x) {
  return call(Op::k_expm1, {&x});
}

Tensor log(const TensorArg& x) {
  return call(Op::k_log, {&x});
}

Tensor log2(const TensorArg& x) {
  return call(Op::k_log2, {&x});
}

Tensor log10(const TensorArg& x) {
  return call(Op::k_log10, {&x});
}

Tensor log1p(const TensorArg& x) {
  return call(Op::k_log1p, {&x});
}

Tensor sin(const TensorArg& x) {
  return call(Op::k_sin, {&x});
}

Tensor cos(const TensorArg& x) {
  return call(Op::k_cos, {&x});
}

Tensor tan(const TensorArg& x) {
  return call(Op::k_tan, {&x});
}

Tensor asin(const TensorArg& x) {
  return call(Op::k_asin, {&x});
}

Tensor acos(const TensorArg& x) {
  return call(Op::k_acos, {&x});
}

Tensor atan(const TensorArg& x) {
  return call(Op::k_atan, {&x});
}

Tensor sinh(const TensorArg& x) {
  return call(Op::k_sinh, {&x});
}

Tensor cosh(const TensorArg& x) {
  return call(Op::k_cosh, {&x});
}

Tensor tanh(const TensorArg& x) {
  return call(Op::k_tanh, {&x});
}

Tensor asinh(const TensorArg& x) {
  return call(Op::k_asinh, {&x});
}

Tensor acosh(const TensorArg& x) {
  return call(Op::k_acosh, {&x});
}

Tensor atanh(const TensorArg& x) {
  return call(Op::k_atanh, {&x});
}

Tensor erf(const TensorArg& x) {
  return call(Op::k_erf, {&x});
}

Tensor erfc(const TensorArg& x) {
  return call(Op::k_erfc, {&x});
}

Tensor floor(const TensorArg& x) {
  return call(Op::k_floor, {&x});
}

Tensor ceil(const TensorArg& x) {
  return call(Op::k_ceil, {&x});
}

Tensor trunc(const TensorArg& x) {
  return call(Op::k_trunc, {&x});
}

Tensor round(const TensorArg& x) {
  return call(Op::k_round, {&x});
}

Tensor isnan(const TensorArg& x) {
  return call(Op::k_isnan, {&x});
}

Tensor isinf(const TensorArg& x) {
  return call(Op::k_isinf, {&x});
}

Tensor isfinite(const TensorArg& x) {
  return call(Op::k_isfinite, {&x});
}

Tensor signbit(const TensorArg& x) {
  return call(Op::k_signbit, {&x});
}

Tensor logical_not(const TensorArg& x) {
  return call(Op::k_logical_not, {&x});
}

Tensor bitwise_invert(const TensorArg& x) {
  return call(Op::k_bitwise_invert, {&x});
}

Tensor add(const Operand& x, const Operand& y) {
  return call(Op::k_add, {&x, &y});
}

Tensor subtract(const Operand& x, const Operand& y) {
  return call(Op::k_subtract, {&x, &y});
}

Tensor multiply(const Operand& x, const Operand& y) {
  return call(Op::k_multiply, {&x, &y});
}

Tensor divide(const Operand& x, const Operand& y) {
  return call(Op::k_divide, {&x, &y});
}

Tensor floor_divide(const Operand& x, const Operand& y) {
  return call(Op::k_floor_divide, {&x, &y});
}

Tensor remainder(const Operand& x, const Operand& y) {
  return call(Op::k_remainder, {&x, &y});
}

Tensor fmod(const Operand& x, const Operand& y) {
  return call(Op::k_fmod, {&x, &y});
}

Tensor atan2(const Operand& y, const Operand& x) {
  return call(Op::k_atan2, {&y, &x});
}

Tensor nextafter(const Operand& x, const Operand& y) {
  return call(Op::k_nextafter, {&x, &y});
}

Tensor maximum(const Operand& x, const Operand& y) {
  return call(Op::k_maximum, {&x, &y});
}

Tensor minimum(const Operand& x, const Operand& y) {
  return call(Op::k_minimum, {&x, &y});
}

Tensor fma(const Operand& x, const Operand& y, const Operand& z) {
  return call(Op::k_fma, {&x, &y, &z});
}

Tensor equal(const Operand& x, const Operand& y) {
  return call(Op::k_equal, {&x, &y});
}

Tensor not_equal(const Operand& x, const Operand& y) {
  return call(Op::k_not_equal, {&x, &y});
}

Tensor less(const Operand& x, const Operand& y) {
  return call(Op::k_less, {&x, &y});
}

Tensor less_equal(const Operand& x, const Operand& y) {
  return call(Op::k_less_equal, {&x, &y});
}

Tensor greater(const Operand& x, const Operand& y) {
  return call(Op::k_greater, {&x, &y});
}

Tensor greater_equal(const Operand& x, const Operand& y) {
  return call(Op::k_greater_equal, {&x, &y});
}

Tensor logical_and(const Operand& x, const Operand& y) {
  return call(Op::k_logical_and, {&x, &y});
}

Tensor logical_or(const Operand& x, const Operand& y) {
  return call(Op::k_logical_or, {&x, &y});
}

Tensor logical_xor(const Operand& x, const Operand& y) {
  return call(Op::k_logical_xor, {&x, &y});
}

Tensor bitwise_and(const Operand& x, const Operand& y) {
  return call(Op::k_bitwise_and, {&x, &y});
}

Tensor bitwise_or(const Operand& x, const Operand& y) {
  return call(Op::k_bitwise_or, {&x, &y});
}

Tensor bitwise_xor(const Operand& x, const Operand& y) {
  return call(Op::k_bitwise_xor, {&x, &y});
}

Tensor bitwise_left_shift(const Operand& x, const Operand& y) {
  return call(Op::k_bitwise_left_shift, {&x, &y});
}

Tensor bitwise_right_shift(const Operand& x, const Operand& y) {
  return call(Op::k_bitwise_right_shift, {&x, &y});
}

Tensor where(const TensorArg& condition, const Operand& x, const Operand& y) {
  return call(Op::k_where, {&condition, &x, &y});
}

Tensor square(const TensorArg& x) {
  return call(Op::k_square, {&x});
}

Tensor reciprocal(const TensorArg& x) {
  return call(Op::k_reciprocal, {&x});
}

Tensor relu(const TensorArg& x) {
  return call(Op::k_relu, {&x});
}

Tensor sigmoid(const TensorArg& x) {
  return call(Op::k_sigmoid, {&x});
}

Tensor silu(const TensorArg& x) {
  return call(Op::k_silu, {&x});
}

Tensor gelu(const TensorArg& x, bool approximate) {
  return call(Op::k_gelu, {&x}, attributes(bool(approximate)));
}

Tensor softplus(const TensorArg& x) {
  return call(Op::k_softplus, {&x});
}

Tensor logaddexp(const Operand& x, const Operand& y) {
  return call(Op::k_logaddexp, {&x, &y});
}

Tensor reshape(const TensorArg& x, const Dims& shape) {
  return call(Op::k_reshape, {&x}, attributes(shape));
}

Tensor broadcast_to(const TensorArg& x, const Dims& shape) {
  return call(Op::k_broadcast_to, {&x}, attributes(shape));
}

Tensor squeeze(const TensorArg& x, const Axes& axes) {
  return call(Op::k_squeeze, {&x}, attributes(axes_of(Op::k_squeeze, x, axes)));
}

Tensor flip(const TensorArg& x, const Axes& axes) {
  return call(Op::k_flip, {&x}, attributes(axes_of(Op::k_flip, x, axes)));
}

Tensor transpose(const TensorArg& x) {
  return call(Op::k_transpose, {&x});
}

Tensor tile(const TensorArg& x, const Dims& repetitions) {
  return call(Op::k_tile, {&x}, attributes(repetitions));
}

Tensor concat(const std::vector<Tensor>& tensors, std::int64_t axis, const std::source_location& call_site) {
  return call(Op::k_concat, tensors, attributes(axis_of(Op::k_concat, tensors, call_site, axis)), call_site);
}

Tensor stack(const std::vector<Tensor>& tensors, std::int64_t axis, const std::source_location& call_site) {
  return call(Op::k_stack, tensors, attributes(axis_of(Op::k_stack, tensors, call_site, axis)), call_site);
}

Tensor take(const TensorArg& x, const TensorArg& indices, std::int64_t axis) {
  return call(Op::k_take, {&x, &indices}, attributes(axis_of(Op::k_take, x, axis)));
}

Tensor take_along_axis(const TensorArg& x, const TensorArg& indices, std::int64_t axis) {
  return call(Op::k_take_along_axis, {&x, &indices}, attributes(axis_of(Op::k_take_along_axis, x, axis)));
}

Tensor one_hot(const TensorArg& x, std::int64_t classes, DType dtype) {
  return call(Op::k_one_hot, {&x}, attributes(classes, dtype));
}

Tensor tril(const TensorArg& x, std::int64_t k) {
  return call(Op::k_tril, {&x}, attributes(k));
}

Tensor triu(const TensorArg& x, std::int64_t k) {
  return call(Op::k_triu, {&x}, attributes(k));
}

Tensor sum(const TensorArg& x, const Axes& axis, KeepDims keepdims, std::optional<DType> dtype) {
  return call(Op::k_sum, {&x}, attributes(axes_of(Op::k_sum, x, axis), bool(keepdims), accumulator_dtype(x, dtype)));
}

Tensor prod(const TensorArg& x, const Axes& axis, KeepDims keepdims, std::optional<DType> dtype) {
  return call(Op::k_prod, {&x}, attributes(axes_of(Op::k_prod, x, axis), bool(keepdims), accumulator_dtype(x, dtype)));
}

Tensor max(const TensorArg& x, const Axes& axis, KeepDims keepdims) {
  return call(Op::k_max, {&x}, attributes(axes_of(Op::k_max, x, axis), bool(keepdims)));
}

Tensor min(const TensorArg& x, const Axes& axis, KeepDims keepdims) {
  return call(Op::k_min, {&x}, attributes(axes_of(Op::k_min, x, axis), bool(keepdims)));
}

Tensor mean(const TensorArg& x, const Axes& axis, KeepDims keepdims) {
  return call(Op::k_mean, {&x}, attributes(axes_of(Op::k_mean, x, axis), bool(keepdims)));
}

Tensor var(const TensorArg& x, const Axes& axis, KeepDims keepdims, std::int64_t correction) {
  return call(Op::k_var, {&x}, attributes(axes_of(Op::k_var, x, axis), bool(keepdims), correction));
}

Tensor std(const TensorArg& x, const Axes& axis, KeepDims keepdims, std::int64_t correction) {
  return call(Op::k_std, {&x}, attributes(axes_of(Op::k_std, x, axis), bool(keepdims), correction));
}

Tensor any(const TensorArg& x, const Axes& axis, KeepDims keepdims) {
  return call(Op::k_any, {&x}, attributes(axes_of(Op::k_any, x, axis), bool(keepdims)));
}

Tensor argmax(const TensorArg& x, const Axes& axis, KeepDims keepdims) {
  return call(Op::k_argmax, {&x}, attributes(axes_of(Op::k_argmax, x, axis), bool(keepdims)));
}

Tensor argmin(const TensorArg& x, const Axes& axis, KeepDims keepdims) {
  return call(Op::k_argmin, {&x}, attributes(axes_of(Op::k_argmin, x, axis), bool(keepdims)));
}

Tensor count_nonzero(const TensorArg& x, const Axes& axis, KeepDims keepdims) {
  return call(Op::k_count_nonzero, {&x}, attributes(axes_of(Op::k_count_nonzero, x, axis), bool(keepdims)));
}

Tensor logsumexp(const TensorArg& x, const Axes& axis, KeepDims keepdims) {
  return call(Op::k_logsumexp, {&x}, attributes(axes_of(Op::k_logsumexp, x, axis), bool(keepdims)));
}

Tensor cumsum(const TensorArg& x, std::int64_t axis, std::optional<DType> dtype) {
  return call(Op::k_cumsum, {&x}, attributes(axis_of(Op::k_cumsum, x, axis), accumulator_dtype(x, dtype)));
}

Tensor cumprod(const TensorArg& x, std::int64_t axis, std::optional<DType> dtype) {
  return call(Op::k_cumprod, {&x}, attributes(axis_of(Op::k_cumprod, x, axis), accumulator_dtype(x, dtype)));
}

Tensor matmul(const TensorArg& x, const TensorArg& y) {
  return call(Op::k_matmul, {&x, &y});
}

Tensor softmax(const TensorArg& x, std::int64_t axis) {
  return call(Op::k_softmax, {&x}, attributes(axis_of(Op::k_softmax, x, axis)));
}

Tensor log_softmax(const TensorArg& x, std::int64_t axis) {
  return call(Op::k_log_softmax, {&x}, attributes(axis_of(Op::k_log_softmax, x, axis)));
}

}  // namespace tenon
