// SPDX-License-Identifier: MIT
// The families of the graph interpreter. Each computes one node from its operands' values, all row-major; the node has
// passed `infer`, and `out` has room for its elements.
#pragma once

#include "compiler/ops/interpreter.h"

namespace tenon::interpreter {

/// A node at work: its operands' values in order, and where its own goes.
struct Call {
  const Node& node;
  absl::Span<const HostTensor* const> operands;
  std::byte* out;

  const HostTensor& x() const { return *operands[0]; }
  const HostTensor& y() const { return *operands[1]; }
  std::size_t element_size() const { return size_of(node.type.dtype); }
  std::byte* out_at(std::int64_t position) const {
    return out ? out + position * static_cast<std::int64_t>(element_size()) : nullptr;
  }
};

/// A shape seen around one axis: `before` lines of `length` rows of `after` elements.
struct AroundAxis {
  std::int64_t before, length, after;
  AroundAxis(absl::Span<const std::int64_t> shape, std::int64_t axis)
      : before(numel(shape.first(static_cast<std::size_t>(axis)))),
        length(shape[static_cast<std::size_t>(axis)]),
        after(numel(shape.subspan(static_cast<std::size_t>(axis) + 1))) {}
};

/// A box of elements in memory: byte address of its first element, strides in elements.
struct Place {
  std::byte* data;
  Shape strides;
};

/// Copies a box of `shape` with elements of `size` bytes; source strides may be 0 or negative. A box without elements
/// touches nothing.
void copy_box(absl::Span<const std::int64_t> shape, std::size_t size, const Place& to, const Place& from);
/// The address of element `position` of a row-major array; null when it has none.
std::byte* element_at(const HostTensor& tensor, std::int64_t position);

/// `x` broadcast to `shape` in row-major order.
HostTensor broadcast_value(const HostTensor& x, absl::Span<const std::int64_t> shape);

/// c = a * b for row-major m x k and k x n matrices: acc = fma(a, b, acc) from 0 in ascending k; half types accumulate
/// in float32 and round once; integers wrap.
void multiply_matrices(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const std::byte* a,
                       const std::byte* b, std::byte* c);

void run_elementwise(const Call& call);
void run_view(const Call& call);    ///< permute_dims, broadcast_to, slice; reshape
void run_index(const Call& call);   ///< concat, pad, take, take_along_axis, slice_update, dynamic_slice
void run_create(const Call& call);  ///< iota, random_bits
void run_reduce(const Call& call);  ///< reduce, scan
void run_matmul(const Call& call);

}  // namespace tenon::interpreter
