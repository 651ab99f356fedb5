// SPDX-License-Identifier: MIT
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

/// -x; integers wrap, unsigned too.
TENON_API Tensor negative(const TensorArg& x);

/// Absolute value; the most negative integer stays itself.
TENON_API Tensor abs(const TensorArg& x);

/// -1, 0 or 1; NaN for NaN.
TENON_API Tensor sign(const TensorArg& x);

/// Square root, correctly rounded. Integers and bool are cast to float32 first.
TENON_API Tensor sqrt(const TensorArg& x);

/// 1/sqrt(x); -inf at -0.0. Integers and bool are cast to float32 first.
TENON_API Tensor rsqrt(const TensorArg& x);

/// Cube root, also of negative values. Integers and bool are cast to float32 first.
TENON_API Tensor cbrt(const TensorArg& x);

/// e**x. Integers and bool are cast to float32 first.
TENON_API Tensor exp(const TensorArg& x);

/// 2**x. Integers and bool are cast to float32 first.
TENON_API Tensor exp2(const TensorArg& x);

/// e**x - 1, accurate near 0. Integers and bool are cast to float32 first.
TENON_API Tensor expm1(const TensorArg& x);

/// Natural logarithm. Integers and bool are cast to float32 first.
TENON_API Tensor log(const TensorArg& x);

/// Binary logarithm. Integers and bool are cast to float32 first.
TENON_API Tensor log2(const TensorArg& x);

/// Decimal logarithm. Integers and bool are cast to float32 first.
TENON_API Tensor log10(const TensorArg& x);

/// log(1 + x), accurate near 0. Integers and bool are cast to float32 first.
TENON_API Tensor log1p(const TensorArg& x);

/// Sine of radians. Integers and bool are cast to float32 first.
TENON_API Tensor sin(const TensorArg& x);

/// Cosine of radians. Integers and bool are cast to float32 first.
TENON_API Tensor cos(const TensorArg& x);

/// Tangent of radians. Integers and bool are cast to float32 first.
TENON_API Tensor tan(const TensorArg& x);

/// Arc sine, in radians. Integers and bool are cast to float32 first.
TENON_API Tensor asin(const TensorArg& x);

/// Arc cosine, in radians. Integers and bool are cast to float32 first.
TENON_API Tensor acos(const TensorArg& x);

/// Arc tangent, in radians. Integers and bool are cast to float32 first.
TENON_API Tensor atan(const TensorArg& x);

/// Hyperbolic sine. Integers and bool are cast to float32 first.
TENON_API Tensor sinh(const TensorArg& x);

/// Hyperbolic cosine. Integers and bool are cast to float32 first.
TENON_API Tensor cosh(const TensorArg& x);

/// Hyperbolic tangent. Integers and bool are cast to float32 first.
TENON_API Tensor tanh(const TensorArg& x);

/// Inverse hyperbolic sine. Integers and bool are cast to float32 first.
TENON_API Tensor asinh(const TensorArg& x);

/// Inverse hyperbolic cosine. Integers and bool are cast to float32 first.
TENON_API Tensor acosh(const TensorArg& x);

/// Inverse hyperbolic tangent. Integers and bool are cast to float32 first.
TENON_API Tensor atanh(const TensorArg& x);

/// Error function. Integers and bool are cast to float32 first.
TENON_API Tensor erf(const TensorArg& x);

/// 1 - erf(x), without cancellation. Integers and bool are cast to float32 first.
TENON_API Tensor erfc(const TensorArg& x);

/// Round down; unchanged for integers.
TENON_API Tensor floor(const TensorArg& x);

/// Round up; unchanged for integers.
TENON_API Tensor ceil(const TensorArg& x);

/// Round towards zero; unchanged for integers.
TENON_API Tensor trunc(const TensorArg& x);

/// to nearest integer, ties to even; unchanged for integers.
TENON_API Tensor round(const TensorArg& x);

/// NaN; result bool.
TENON_API Tensor isnan(const TensorArg& x);

/// Infinite; result bool.
TENON_API Tensor isinf(const TensorArg& x);

/// Neither infinite nor NaN; result bool.
TENON_API Tensor isfinite(const TensorArg& x);

/// The sign bit, also of zeros; false for NaN and unsigned; result bool.
TENON_API Tensor signbit(const TensorArg& x);

/// Not; result bool. Other dtypes are taken as x != 0.
TENON_API Tensor logical_not(const TensorArg& x);

/// All bits flipped; not for bool.
TENON_API Tensor bitwise_invert(const TensorArg& x);

/// Sum; integers wrap; of bools: or. Operands are brought to one dtype.
TENON_API Tensor add(const Operand& x, const Operand& y);

/// Difference; integers wrap. Operands are brought to one dtype.
TENON_API Tensor subtract(const Operand& x, const Operand& y);

/// Product; integers wrap; of bools: and. Operands are brought to one dtype.
TENON_API Tensor multiply(const Operand& x, const Operand& y);

/// Quotient of floats; integers are cast to float32 first. Operands are brought to one floating dtype.
TENON_API Tensor divide(const Operand& x, const Operand& y);

/// Quotient rounded down; x // 0 is 0 for integers; the most negative integer by -1 wraps; floats as NumPy, from the
/// exact remainder. Operands are brought to one dtype.
TENON_API Tensor floor_divide(const Operand& x, const Operand& y);

/// Python's %: sign of y; x % 0 is 0 for integers. Operands are brought to one dtype.
TENON_API Tensor remainder(const Operand& x, const Operand& y);

/// C remainder: exact, sign of x; integer x by 0 is 0. Operands are brought to one dtype.
TENON_API Tensor fmod(const Operand& x, const Operand& y);

/// Angle of the point (x, y) in radians, C99 special cases. Operands are brought to one floating dtype.
TENON_API Tensor atan2(const Operand& y, const Operand& x);

/// The next value of the dtype from x towards y. Operands are brought to one floating dtype.
TENON_API Tensor nextafter(const Operand& x, const Operand& y);

/// Larger operand; NaN when either is NaN; -0 < +0. Operands are brought to one dtype.
TENON_API Tensor maximum(const Operand& x, const Operand& y);

/// Smaller operand; NaN when either is NaN; -0 < +0. Operands are brought to one dtype.
TENON_API Tensor minimum(const Operand& x, const Operand& y);

/// x*y + z, rounded once. Operands are brought to one floating dtype.
TENON_API Tensor fma(const Operand& x, const Operand& y, const Operand& z);

/// x == y; result bool. Operands are brought to one dtype.
TENON_API Tensor equal(const Operand& x, const Operand& y);

/// x != y; result bool. Operands are brought to one dtype.
TENON_API Tensor not_equal(const Operand& x, const Operand& y);

/// x < y; result bool. Operands are brought to one dtype.
TENON_API Tensor less(const Operand& x, const Operand& y);

/// x <= y; result bool. Operands are brought to one dtype.
TENON_API Tensor less_equal(const Operand& x, const Operand& y);

/// x > y; result bool. Operands are brought to one dtype.
TENON_API Tensor greater(const Operand& x, const Operand& y);

/// x >= y; result bool. Operands are brought to one dtype.
TENON_API Tensor greater_equal(const Operand& x, const Operand& y);

/// Both; result bool. Other dtypes are taken as x != 0.
TENON_API Tensor logical_and(const Operand& x, const Operand& y);

/// Either; result bool. Other dtypes are taken as x != 0.
TENON_API Tensor logical_or(const Operand& x, const Operand& y);

/// Exactly one; result bool. Other dtypes are taken as x != 0.
TENON_API Tensor logical_xor(const Operand& x, const Operand& y);

/// Bits in both; integers and bool. Operands are brought to one dtype.
TENON_API Tensor bitwise_and(const Operand& x, const Operand& y);

/// Bits in either; integers and bool. Operands are brought to one dtype.
TENON_API Tensor bitwise_or(const Operand& x, const Operand& y);

/// Bits that differ; integers and bool. Operands are brought to one dtype.
TENON_API Tensor bitwise_xor(const Operand& x, const Operand& y);

/// x << y; a count of the bit width or more (or negative) gives 0. Operands are brought to one dtype.
TENON_API Tensor bitwise_left_shift(const Operand& x, const Operand& y);

/// x >> y, arithmetic for signed; a count of the bit width or more (or negative) gives 0, or -1 for negative x.
/// Operands are brought to one dtype.
TENON_API Tensor bitwise_right_shift(const Operand& x, const Operand& y);

/// x where condition is true, else y; the three broadcast. Operands are brought to one dtype.
TENON_API Tensor where(const TensorArg& condition, const Operand& x, const Operand& y);

/// x*x.
TENON_API Tensor square(const TensorArg& x);

/// 1/x. Integers and bool are cast to float32 first.
TENON_API Tensor reciprocal(const TensorArg& x);

/// maximum(x, 0).
TENON_API Tensor relu(const TensorArg& x);

/// 1/(1 + exp(-x)). Integers and bool are cast to float32 first.
TENON_API Tensor sigmoid(const TensorArg& x);

/// x/(1 + exp(-x)). Integers and bool are cast to float32 first.
TENON_API Tensor silu(const TensorArg& x);

/// x*(1 + erf(x/sqrt 2))/2; approximate (1): x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x**3)))/2. Integers and bool are cast
/// to float32 first.
TENON_API Tensor gelu(const TensorArg& x, bool approximate = false);

/// log(1 + exp(x)) without overflow. Integers and bool are cast to float32 first.
TENON_API Tensor softplus(const TensorArg& x);

/// log(exp(x) + exp(y)) without overflow. Operands are brought to one floating dtype.
TENON_API Tensor logaddexp(const Operand& x, const Operand& y);

/// Same elements in row-major order; one -1 is deduced.
TENON_API Tensor reshape(const TensorArg& x, const Dims& shape);

/// NumPy broadcasting to shape.
TENON_API Tensor broadcast_to(const TensorArg& x, const Dims& shape);

/// Drops axes of length 1.
TENON_API Tensor squeeze(const TensorArg& x, const Axes& axes);

/// Reversed along axes; all when none is given.
TENON_API Tensor flip(const TensorArg& x, const Axes& axes = {});

/// The last two axes swapped.
TENON_API Tensor transpose(const TensorArg& x);

/// x repeated per axis.
TENON_API Tensor tile(const TensorArg& x, const Dims& repetitions);

/// Joined along an existing axis. Operands are brought to one dtype.
TENON_API Tensor concat(const std::vector<Tensor>& tensors, std::int64_t axis = 0, const std::source_location& call_site
                        = std::source_location::current());

/// Joined along a new axis. Operands are brought to one dtype.
TENON_API Tensor stack(const std::vector<Tensor>& tensors, std::int64_t axis = 0, const std::source_location& call_site
                       = std::source_location::current());

/// x's slices along axis at integer indices of any shape, which replaces the axis; negative counts from the end, beyond
/// the range clamps.
TENON_API Tensor take(const TensorArg& x, const TensorArg& indices, std::int64_t axis = 0);

/// Element by element along axis; indices have x's rank, and its shape (lengths 1 broadcast) apart from axis.
TENON_API Tensor take_along_axis(const TensorArg& x, const TensorArg& indices, std::int64_t axis = -1);

/// a new last axis: 1 where its index equals x, else 0.
TENON_API Tensor one_hot(const TensorArg& x, std::int64_t classes, DType dtype = DType::kFloat32);

/// Last two axes: zero where column - row > k.
TENON_API Tensor tril(const TensorArg& x, std::int64_t k = 0);

/// Last two axes: zero where column - row < k.
TENON_API Tensor triu(const TensorArg& x, std::int64_t k = 0);

/// Sum in dtype; by default floats keep theirs, signed integers and bool give int64, unsigned give uint64; 0 when
/// nothing is reduced.
TENON_API Tensor sum(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false, std::optional<DType> dtype =
                     {});

/// Product; result dtype as for sum; 1 when nothing is reduced.
TENON_API Tensor prod(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false, std::optional<DType> dtype =
                      {});

/// Largest element; NaN when there is one.
TENON_API Tensor max(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false);

/// Smallest element; NaN when there is one.
TENON_API Tensor min(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false);

/// Sum divided once by the count; NaN when nothing is reduced. Integers and bool are cast to float32 first.
TENON_API Tensor mean(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false);

/// Mean squared distance from the mean, divisor max(n - correction, 0). Integers and bool are cast to float32 first.
TENON_API Tensor var(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false, std::int64_t correction = 0);

/// Square root of var. Integers and bool are cast to float32 first.
TENON_API Tensor std(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false, std::int64_t correction = 0);

/// Logical or along axis; false when nothing is reduced. Other dtypes are taken as x != 0.
TENON_API Tensor any(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false);

/// int64 index of the first maximum (the first NaN wins); without axis over the flattened tensor.
TENON_API Tensor argmax(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false);

/// int64 index of the first minimum (the first NaN wins).
TENON_API Tensor argmin(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false);

/// int64 number of elements that are not zero.
TENON_API Tensor count_nonzero(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false);

/// log(sum(exp(x))) without overflow. Integers and bool are cast to float32 first.
TENON_API Tensor logsumexp(const TensorArg& x, const Axes& axis = {}, KeepDims keepdims = false);

/// Running sum along axis (inclusive); result dtype as for sum.
TENON_API Tensor cumsum(const TensorArg& x, std::int64_t axis, std::optional<DType> dtype = {});

/// Running product along axis (inclusive); result dtype as for sum.
TENON_API Tensor cumprod(const TensorArg& x, std::int64_t axis, std::optional<DType> dtype = {});

/// Array API matmul: 1-d operands allowed, leading axes broadcast; integers wrap; floats by fma in ascending k, half
/// types in float32 rounded once. Operands are brought to one dtype.
TENON_API Tensor matmul(const TensorArg& x, const TensorArg& y);

/// exp(x - max)/sum(exp(x - max)) along axis. Integers and bool are cast to float32 first.
TENON_API Tensor softmax(const TensorArg& x, std::int64_t axis = -1);

/// x - logsumexp(x) along axis. Integers and bool are cast to float32 first.
TENON_API Tensor log_softmax(const TensorArg& x, std::int64_t axis = -1);

}  // namespace tenon
