// SPDX-License-Identifier: MIT
// The canonical order of reductions: a function of the extent alone. It is what makes bits independent of fusion,
// threads, vector width and device, so every implementation follows this file.
//
// Inner order, extent n. P partials, P = 8 if n <= 128, else 256. Chunks of kChunk elements (n <= 128: one chunk). In a
//   chunk partial p is the identity, then + x[p], + x[p+P], ... in ascending order. Chunks merge elementwise by the
//   dyadic tree; then the P partials merge halves first: a[p] += a[p + P/2], P /= 2, until one is left.
// Outer order: blocks of 64 elements, each added in ascending order from the identity; blocks merge by the dyadic tree.
// Dyadic tree over blocks 0, 1, 2, ...: the tree of aligned powers of two, left operand first, missing leaves skipped.
//   A binary counter makes it: after block b, while bit l of b is set, value = stack[l] + value.
// Scan order (inclusive): blocks of 64; inside, in ascending order from the block's first element; the carry of block b
//   is the merge, left to right, of the stack of the dyadic tree over blocks 0 .. b-1 (highest level first); the result
//   is carry + inside (block 0: inside).
// The identity of a sum is -0.0 (x + -0.0 is x, bit for bit, also for -0.0), of a product 1, so a missing element may
// be added as the identity. The sum over no elements is nevertheless +0. Integer, max, min, all, any, arg reductions
// give the same value in any order.
#pragma once

#include <cstdint>

#include "compiler/ir/op.h"
#include "tenon/dtype.h"

namespace tenon {

inline constexpr std::int64_t kInnerPartials = 256;
inline constexpr std::int64_t kInnerChunk = 2048;
inline constexpr std::int64_t kShortInnerExtent = 128;
inline constexpr std::int64_t kShortInnerPartials = 8;
inline constexpr std::int64_t kOuterBlock = 64;
inline constexpr std::int64_t kScanBlock = 64;

inline bool is_arg(ReduceKind kind) { return kind == ReduceKind::argmax || kind == ReduceKind::argmin; }
/// Whether any order gives the same bits.
inline bool is_free_of_order(ReduceKind kind, DType dtype) {
  return !is_float(dtype) || (kind != ReduceKind::sum && kind != ReduceKind::prod);
}
/// Dtype of a reduction's result: int64 for argmax and argmin, else the operand's.
inline DType reduced_dtype(ReduceKind kind, DType operand) { return is_arg(kind) ? DType::kInt64 : operand; }

inline std::int64_t inner_partials(std::int64_t extent) {
  return extent <= kShortInnerExtent ? kShortInnerPartials : kInnerPartials;
}

}  // namespace tenon
