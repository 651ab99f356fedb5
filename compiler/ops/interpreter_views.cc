// SPDX-License-Identifier: MIT
// Elementwise ops, views and creation in the graph interpreter. A view is a copy with other strides.
#include <cstring>

#include "compiler/ops/interpreter_ops.h"
#include "compiler/ops/philox.h"
#include "compiler/ops/scalar_eval.h"

namespace tenon::interpreter {
namespace {

template <std::size_t size>
void copy_line(std::int64_t n, std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * to_step, from + i * from_step, size);
  }
}

/// n elements, steps in bytes.
void copy_line(std::size_t size, std::int64_t n, std::byte* to, std::int64_t to_step, const std::byte* from,
               std::int64_t from_step) {
  const auto wide = static_cast<std::int64_t>(size);
  if (to_step == wide && from_step == wide) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * size);
  } else if (size == 1) {
    copy_line<1>(n, to, to_step, from, from_step);
  } else if (size == 2) {
    copy_line<2>(n, to, to_step, from, from_step);
  } else if (size == 4) {
    copy_line<4>(n, to, to_step, from, from_step);
  } else {
    copy_line<8>(n, to, to_step, from, from_step);
  }
}

void copy_axes(absl::Span<const std::int64_t> shape, std::size_t size, std::byte* to, const std::int64_t* to_strides,
               const std::byte* from, const std::int64_t* from_strides) {
  const auto wide = static_cast<std::int64_t>(size);
  if (shape.empty()) return std::memcpy(to, from, size), void();
  if (shape.size() == 1) return copy_line(size, shape[0], to, to_strides[0] * wide, from, from_strides[0] * wide);
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    copy_axes(shape.subspan(1), size, to + i * to_strides[0] * wide, to_strides + 1, from + i * from_strides[0] * wide,
              from_strides + 1);
  }
}

/// Strides of an operand of shape `from` read at the indices of the shape `to` that it broadcasts to.
Shape broadcast_strides(absl::Span<const std::int64_t> from, absl::Span<const std::int64_t> to) {
  const Shape own = row_major_strides(from);
  Shape strides(to.size(), 0);
  const std::size_t lead = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) strides[lead + i] = from[i] == 1 ? 0 : own[i];
  return strides;
}

/// Copies elements of x at `start` and `strides` to the node's elements in order.
void copy_strided(const Call& call, std::int64_t start, const Shape& strides) {
  const Shape& shape = call.node.type.shape;
  copy_box(shape, call.element_size(), {call.out, row_major_strides(shape)}, {element_at(call.x(), start), strides});
}

void run_slice(const Call& call) {
  const auto starts = call.node.ints("starts"), steps = call.node.ints("steps");
  const Shape own = row_major_strides(call.x().type.shape);
  Shape strides(own.size());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    start += starts[i] * own[i];
    strides[i] = steps[i] * own[i];
  }
  if (numel(call.node.type.shape) != 0) copy_strided(call, start, strides);
}

void run_permute(const Call& call) {
  const Shape own = row_major_strides(call.x().type.shape);
  Shape strides;
  for (const std::int64_t axis : call.node.ints("axes")) strides.push_back(own[static_cast<std::size_t>(axis)]);
  copy_strided(call, 0, strides);
}

void run_iota(const Call& call) {
  const Shape& shape = call.node.type.shape;
  const auto axis = static_cast<std::size_t>(call.node.value("axis"));
  std::vector<std::int64_t> indices(static_cast<std::size_t>(shape[axis]));
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(i);
  std::vector<std::byte> line(indices.size() * call.element_size());
  eval_elements(Op::k_cast, call.node.type.dtype, DType::kInt64, {indices.data()}, line.data(), shape[axis]);
  Shape strides(shape.size(), 0);
  strides[axis] = 1;
  copy_box(shape, call.element_size(), {call.out, row_major_strides(shape)}, {line.data(), strides});
}

void run_random_bits(const Call& call) {
  std::uint64_t seed = 0;
  std::memcpy(&seed, call.x().data.data(), sizeof seed);
  const auto stream = static_cast<int>(call.node.value("stream"));
  const auto count = static_cast<std::uint64_t>(numel(call.node.type.shape));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t word = random_word(seed, i, stream);
    std::memcpy(call.out + 4 * i, &word, 4);
  }
}

}  // namespace

void copy_box(absl::Span<const std::int64_t> shape, std::size_t size, const Place& to, const Place& from) {
  if (numel(shape) == 0) return;
  copy_axes(shape, size, to.data, to.strides.data(), from.data, from.strides.data());
}

std::byte* element_at(const HostTensor& tensor, std::int64_t position) {
  if (tensor.data.empty()) return nullptr;
  return const_cast<std::byte*>(tensor.data.data()) + position * static_cast<std::int64_t>(size_of(tensor.type.dtype));
}

HostTensor broadcast_value(const HostTensor& x, absl::Span<const std::int64_t> shape) {
  const std::size_t size = size_of(x.type.dtype);
  HostTensor wide{{x.type.dtype, Shape(shape.begin(), shape.end())}, {}};
  wide.data.resize(static_cast<std::size_t>(numel(shape)) * size);
  copy_box(shape, size, {wide.data.data(), row_major_strides(shape)},
           {element_at(x, 0), broadcast_strides(x.type.shape, shape)});
  return wide;
}

void run_elementwise(const Call& call) {
  const Shape& shape = call.node.type.shape;
  std::vector<HostTensor> wide;
  wide.reserve(call.operands.size());
  absl::InlinedVector<const void*, 3> addresses;
  for (const HostTensor* operand : call.operands) {
    if (operand->type.shape != shape) {
      wide.push_back(broadcast_value(*operand, shape));
      operand = &wide.back();
    }
    addresses.push_back(operand->data.data());
  }
  const DType dtype = call.operands.back()->type.dtype;
  eval_elements(call.node.op, call.node.type.dtype, dtype, addresses, call.out, numel(shape));
}

void run_view(const Call& call) {
  switch (call.node.op) {
    case Op::k_slice:
      return run_slice(call);
    case Op::k_permute_dims:
      return run_permute(call);
    case Op::k_broadcast_to:
      return copy_strided(call, 0, broadcast_strides(call.x().type.shape, call.node.type.shape));
    default:  // reshape
      std::copy(call.x().data.begin(), call.x().data.end(), call.out);
  }
}

void run_create(const Call& call) {
  if (call.node.op == Op::k_iota) return run_iota(call);
  run_random_bits(call);
}

}  // namespace tenon::interpreter
