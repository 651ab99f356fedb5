// SPDX-License-Identifier: MIT
// The meaning of every elementwise primitive, on elements as they are stored. The code generators give the same bits.
//
// Half types compute in float32 and round once. Casts round once whatever the types are (from 64-bit integers and
// float64 to a half type: by way of a float32 rounded to odd, compiler/ir/rounding.h). A NaN result is some NaN: its
// payload and sign are not specified.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "compiler/ir/op.h"
#include "compiler/ir/tensor_type.h"

namespace tenon {

/// Applies `op`, elementwise, to n elements of row-major arrays: out[i] = op(operands[0][i], ...).
/// `operand` is the dtype of all operands, for `where` of the last two (the first is bool); `result` is the dtype of
/// out. The types are ones that `infer` accepts. Arrays may be unaligned; out may be one of the operands when the
/// element sizes are equal.
void eval_elements(Op op, DType result, DType operand, absl::Span<const void* const> operands, void* out,
                   std::int64_t n);

/// One element: operands and result are stored bits in the low bytes of words.
std::uint64_t eval_scalar(Op op, DType result, DType operand, const std::uint64_t* operands);

}  // namespace tenon
