// SPDX-License-Identifier: MIT
// Functions over rows of the op table whose arguments are friendlier than the row's, and short compositions of rows.
//
// As in ops.h nothing is computed at the call, and mistakes throw Error (kInvalidArgument) there. Axes count from 0, or
// from the end when negative.
#pragma once

#include <cstdint>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include "tenon/arguments.h"
#include "tenon/tensor.h"

namespace tenon {

/// A tensor, a number, or none.
class OptionalOperand {
 public:
  OptionalOperand(None) {}
  OptionalOperand(const Tensor& tensor, const std::source_location& call_site = std::source_location::current())
      : operand_(Operand(tensor, call_site)) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  OptionalOperand(T value) : operand_(Operand(value)) {}

  const Operand* get() const { return operand_ ? &*operand_ : nullptr; }

 private:
  std::optional<Operand> operand_;
};

// ---- elementwise ----

/// Tensor::astype as a function.
TENON_API Tensor astype(const TensorArg& x, DType dtype);

/// x**y, C99 special cases; integers wrap, negative integer exponents give 0 unless x is 1 or -1. Operands are brought
/// to one dtype. The integer 2 as exponent is square(x).
TENON_API Tensor pow(const Operand& x, const Operand& y);

/// minimum(maximum(x, min), max), either bound may be none; NaN stays; when min > max the result is max. Operands are
/// brought to one dtype.
TENON_API Tensor clip(const TensorArg& x, const OptionalOperand& min, const OptionalOperand& max);

// ---- axes ----

/// Axis i of the result is axis axes[i] of x.
TENON_API Tensor permute_dims(const TensorArg& x, const Dims& axes);
/// The last two axes swapped; x has two or more. As transpose.
TENON_API Tensor matrix_transpose(const TensorArg& x);
/// Two axes swapped.
TENON_API Tensor swapaxes(const TensorArg& x, std::int64_t a, std::int64_t b);
/// One axis moved to another place, the others in order.
TENON_API Tensor moveaxis(const TensorArg& x, std::int64_t from, std::int64_t to);
/// New axes of length 1; axis (one, or a list) counts in the result's shape.
TENON_API Tensor expand_dims(const TensorArg& x, const Axes& axis);
/// x as one axis, in row-major order.
TENON_API Tensor flatten(const TensorArg& x);

// ---- parts ----

/// x[start:stop:step] for each of the first axes, by Python's rules: negative values count from the end, bounds beyond
/// the axis are cut. Without steps they are 1. All of it is part of the program.
TENON_API Tensor slice(const TensorArg& x, const Dims& starts, const Dims& stops, const Dims& steps = {});
/// The block of `lengths` at `starts`, moved where needed so that it lies in x. Starts are arguments of the program.
TENON_API Tensor dynamic_slice(const TensorArg& x, const Dims& starts, const Dims& lengths);
/// A copy of x with x[index] replaced by v, which broadcasts to that part. The index is part of the program. Operands
/// are brought to one dtype.
TENON_API Tensor slice_update(const TensorArg& x, const IndexList& index, const Operand& v);
/// x in `sections` equal parts along axis; the length must be a multiple.
TENON_API std::vector<Tensor> split(const TensorArg& x, std::int64_t sections, std::int64_t axis = 0);
/// x in parts along axis that begin at 0 and at each of `starts` (ascending).
TENON_API std::vector<Tensor> split(const TensorArg& x, const Dims& starts, std::int64_t axis = 0);

// ---- larger tensors ----

/// For each axis the number of elements before and after.
using Widths = std::vector<std::pair<std::int64_t, std::int64_t>>;
enum class PadMode : std::uint8_t {
  kReflect = 1,  ///< x mirrored, without repeating the edge
  kEdge = 2,     ///< the edge repeated
};
/// x surrounded by value. Operands are brought to one dtype.
TENON_API Tensor pad(const TensorArg& x, const Widths& widths, const Operand& value = 0);
/// x surrounded by its own elements.
TENON_API Tensor pad(const TensorArg& x, const Widths& widths, PadMode mode);
/// Elements moved by `shift` along axis, those beyond the end coming in again at the start.
TENON_API Tensor roll(const TensorArg& x, std::int64_t shift, std::int64_t axis);
/// Every element `count` times in a row along axis.
TENON_API Tensor repeat(const TensorArg& x, std::int64_t count, std::int64_t axis);

// ---- layers ----

/// (x - mean)/sqrt(var + epsilon)*weight + bias; mean and (uncorrected) variance over axes axis..last, of whose shape
/// weight and bias are. bias, or both, may be none. x is of floats; all are
/// brought to the dtype that they meet in, which is the result's: float32 for a bfloat16 x with a float32 weight.
TENON_API Tensor layer_norm(const TensorArg& x, const OptionalOperand& weight = none,
                            const OptionalOperand& bias = none, double epsilon = 1e-5, std::int64_t axis = -1);
/// x*rsqrt(mean(x*x) + epsilon)*weight over axes axis..last, of whose shape weight is; it may be none. Dtypes as in
/// layer_norm.
TENON_API Tensor rms_norm(const TensorArg& x, const OptionalOperand& weight = none, double epsilon = 1e-6,
                          std::int64_t axis = -1);

}  // namespace tenon
