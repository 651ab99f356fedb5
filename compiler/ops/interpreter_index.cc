// SPDX-License-Identifier: MIT
// Ops that move elements by position or by index, in the graph interpreter.
#include <algorithm>
#include <cstring>

#include "compiler/ops/eval_loops.h"
#include "compiler/ops/interpreter_ops.h"

namespace tenon::interpreter {
namespace {

std::int64_t position_of(absl::Span<const std::int64_t> index, const Shape& strides) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) position += index[i] * strides[i];
  return position;
}

/// Places a row-major value into the node's elements from element `start` on.
void place(const Call& call, const HostTensor& value, std::int64_t start) {
  copy_box(value.type.shape, call.element_size(), {call.out_at(start), row_major_strides(call.node.type.shape)},
           {element_at(value, 0), row_major_strides(value.type.shape)});
}

void run_concat(const Call& call) {
  const auto axis = static_cast<std::size_t>(call.node.value("axis"));
  const std::int64_t stride = row_major_strides(call.node.type.shape)[axis];
  std::int64_t start = 0;
  for (const HostTensor* operand : call.operands) {
    place(call, *operand, start);
    start += operand->type.shape[axis] * stride;
  }
}

void run_pad(const Call& call) {
  const std::size_t size = call.element_size();
  const std::int64_t count = numel(call.node.type.shape);
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(call.out_at(i), call.y().data.data(), size);
  place(call, call.x(), position_of(call.node.ints("before"), row_major_strides(call.node.type.shape)));
}

void run_slice_update(const Call& call) {
  std::copy(call.x().data.begin(), call.x().data.end(), call.out);
  const auto lengths = call.node.ints("lengths"), steps = call.node.ints("steps");
  if (numel(lengths) == 0) return;
  Shape strides = row_major_strides(call.node.type.shape);
  const std::int64_t start = position_of(call.node.ints("starts"), strides);
  for (std::size_t i = 0; i < strides.size(); ++i) strides[i] *= steps[i];
  const HostTensor value = broadcast_value(call.y(), lengths);
  copy_box(lengths, call.element_size(), {call.out_at(start), strides},
           {element_at(value, 0), row_major_strides(lengths)});
}

void run_dynamic_slice(const Call& call) {
  const auto lengths = call.node.ints("lengths");
  const Shape& shape = call.x().type.shape;
  Shape starts;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t start = eval::load<std::int64_t>(call.operands[i + 1]->data.data(), 0);
    starts.push_back(std::clamp<std::int64_t>(start, 0, shape[i] - lengths[i]));
  }
  const Shape strides = row_major_strides(shape);
  copy_box(lengths, call.element_size(), {call.out, row_major_strides(lengths)},
           {element_at(call.x(), position_of(starts, strides)), strides});
}

/// Integer indices as positions 0 .. length-1: negative ones count from the end, the rest is clamped.
std::vector<std::int64_t> positions(const HostTensor& indices, std::int64_t length) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(numel(indices.type.shape)));
  eval::with_integer(indices.type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const T index = eval::load<T>(indices.data.data(), static_cast<std::int64_t>(i));
      const bool is_beyond = index > 0 && static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(length);
      const auto position = is_beyond ? length - 1 : static_cast<std::int64_t>(index);
      result[i] = std::max<std::int64_t>(position < 0 ? position + length : position, 0);
    }
  });
  return result;
}

void run_take(const Call& call) {
  const AroundAxis x(call.x().type.shape, call.node.value("axis"));
  const auto indices = positions(call.y(), x.length);
  const std::size_t row = static_cast<std::size_t>(x.after) * call.element_size();
  std::byte* out = call.out;
  for (std::int64_t before = 0; before < x.before && row > 0; ++before) {
    for (const std::int64_t index : indices) {
      std::memcpy(out, element_at(call.x(), (before * x.length + index) * x.after), row);
      out += row;
    }
  }
}

void run_take_along_axis(const Call& call) {
  const std::int64_t axis = call.node.value("axis");
  const Shape& shape = call.node.type.shape;
  Shape source = shape;
  source[static_cast<std::size_t>(axis)] = call.x().type.shape[static_cast<std::size_t>(axis)];
  const HostTensor x = broadcast_value(call.x(), source);
  const AroundAxis from(source, axis), to(shape, axis);
  const auto indices = positions(broadcast_value(call.y(), shape), from.length);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(indices.size()); ++i) {
    const std::int64_t before = i / (to.length * to.after), after = i % to.after;
    const std::int64_t position = (before * from.length + indices[static_cast<std::size_t>(i)]) * from.after + after;
    std::memcpy(call.out_at(i), element_at(x, position), call.element_size());
  }
}

}  // namespace

void run_index(const Call& call) {
  switch (call.node.op) {
    case Op::k_concat:
      return run_concat(call);
    case Op::k_pad:
      return run_pad(call);
    case Op::k_take:
      return run_take(call);
    case Op::k_take_along_axis:
      return run_take_along_axis(call);
    case Op::k_slice_update:
      return run_slice_update(call);
    default:
      return run_dynamic_slice(call);
  }
}

}  // namespace tenon::interpreter
