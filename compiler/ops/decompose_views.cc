// SPDX-License-Identifier: MIT
// Decompositions of composite views and structure ops into reshape, permute_dims, broadcast_to, slice and concat.
#include <algorithm>
#include <numeric>

#include "compiler/ops/decompose.h"

namespace tenon {
namespace {

using Values = absl::Span<const Value>;

struct SliceSpec {
  Shape starts, lengths, steps;
  explicit SliceSpec(const Shape& shape) : starts(shape.size(), 0), lengths(shape), steps(shape.size(), 1) {}
  void reverse(std::size_t axis) {
    starts[axis] = std::max<std::int64_t>(lengths[axis] - 1, 0);
    steps[axis] = -1;
  }
  Value of(const Value& x) const { return apply(Op::k_slice, {x}, Attrs{starts, lengths, steps}); }
};

Value concat(Values parts, std::int64_t axis) {
  Attrs attrs;
  attrs.append(axis);
  return apply(Op::k_concat, parts, std::move(attrs));
}

}  // namespace

// Axes only move or drop: the pass gives the result the node's shape.
Value decompose_expand_dims(const Node& node, Values x) { return reshape(x[0], node.type.shape); }
Value decompose_squeeze(const Node& node, Values x) { return reshape(x[0], node.type.shape); }

Value decompose_flip(const Node& node, Values x) {
  SliceSpec slice(x[0].shape());
  for (std::int64_t axis : node.ints("axes")) slice.reverse(static_cast<std::size_t>(axis));
  return slice.of(x[0]);
}

Value decompose_transpose(const Node&, Values x) {
  Shape axes(x[0].shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return apply(Op::k_permute_dims, {x[0]}, Attrs{axes});
}

Value decompose_tile(const Node& node, Values x) {
  const auto repetitions = node.ints("repetitions");
  const std::size_t rank = std::max(repetitions.size(), x[0].shape().size());
  Shape spread, tiled;  // (1, n) and (r, n) a axis
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t from_x = rank - x[0].shape().size(), from_r = rank - repetitions.size();
    const std::int64_t extent = i < from_x ? 1 : x[0].shape()[i - from_x];
    spread.insert(spread.end(), {1, extent});
    tiled.insert(tiled.end(), {i < from_r ? 1 : repetitions[i - from_r], extent});
  }
  return reshape(broadcast_to(reshape(x[0], spread), tiled), node.type.shape);
}

Value decompose_stack(const Node& node, Values x) {
  const std::int64_t axis = node.value("axis");
  Shape shape = node.type.shape;
  shape[static_cast<std::size_t>(axis)] = 1;
  std::vector<Value> parts;
  for (const Value& part : x) parts.push_back(reshape(part, shape));
  return concat(parts, axis);
}

Value decompose_pad_mode(const Node& node, Values x) {
  constexpr std::int64_t kReflect = 1;
  const auto before = node.ints("before"), after = node.ints("after");
  Value v = x[0];
  for (std::size_t axis = 0; axis < before.size(); ++axis) {
    const std::int64_t extent = v.shape()[axis];
    const auto border = [&](std::int64_t start, std::int64_t width) {  // elements start, start+1, ... before any flip
      SliceSpec slice(v.shape());
      slice.starts[axis] = start;
      slice.lengths[axis] = node.value("mode") == kReflect ? width : 1;
      if (node.value("mode") == kReflect) {
        slice.starts[axis] = start + width - 1;
        slice.steps[axis] = -1;
      }
      Shape shape = v.shape();
      shape[axis] = width;
      return broadcast_to(slice.of(v), shape);
    };
    const bool reflect = node.value("mode") == kReflect;
    std::vector<Value> parts;
    if (before[axis] > 0) parts.push_back(border(reflect ? 1 : 0, before[axis]));
    parts.push_back(v);
    if (after[axis] > 0) parts.push_back(border(reflect ? extent - 1 - after[axis] : extent - 1, after[axis]));
    if (parts.size() > 1) v = concat(parts, static_cast<std::int64_t>(axis));
  }
  return v;
}

}  // namespace tenon
