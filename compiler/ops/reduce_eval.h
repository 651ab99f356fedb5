// SPDX-License-Identifier: MIT
// Reductions of one line of elements in the canonical orders of compiler/ir/reduction_order.h; both interpreters use
// it.
//
// A line is a contiguous array of elements as stored. sum and prod take float32, float64 and integers (which wrap); max
// and min any dtype (-0 below +0, NaN wins); argmax and argmin give the int64 position of the first extremum, where
// zeros are equal and the first NaN wins. max, min, argmax and argmin need an element.
#pragma once

#include <cstdint>
#include <memory>

#include "compiler/ir/op.h"
#include "compiler/ir/tensor_type.h"

namespace tenon {

/// The line reduced in the order of its class, to *out.
void reduce_line(ReduceKind kind, ReduceOrder order, DType dtype, const void* line, std::int64_t n, void* out);

/// The dyadic tree over the line, every element a block of its own. Not for argmax and argmin.
void reduce_tree(ReduceKind kind, DType dtype, const void* line, std::int64_t n, void* out);

/// The inner order up to the merge of chunks: the kInnerPartials partials of a line that is an aligned range of whole
/// chunks (the last may be short), to `out`. A partial without elements is the identity. Not for argmax and argmin.
void reduce_to_partials(ReduceKind kind, DType dtype, const void* line, std::int64_t n, void* out);

/// The running reduction (sum or prod, inclusive) in the scan order, one element after the other.
class RunningScan {
 public:
  RunningScan(ReduceKind kind, DType dtype);
  ~RunningScan();
  RunningScan(RunningScan&&) noexcept;
  /// Takes the next element and gives the reduction of all so far.
  void next(const void* element, void* out);

  class State;

 private:
  std::unique_ptr<State> state_;
};

/// The running reduction of a line, to n elements at `out`.
void scan_line(ReduceKind kind, DType dtype, const void* line, std::int64_t n, void* out);

}  // namespace tenon
