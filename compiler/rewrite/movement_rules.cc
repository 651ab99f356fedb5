// SPDX-License-Identifier: MIT
// Rules on what only moves elements: views of views are one view, and parts of what was joined are the parts.
#include <algorithm>
#include <optional>

#include "compiler/rewrite/rule.h"

namespace tenon {
namespace {

bool is_plain(Op op) { return op == Op::k_reshape || op == Op::k_broadcast_to; }

NodeId same_view(const Site& s) { return is_plain(s.node.op) && s.has_type_of_operand() ? s.operands[0] : -1; }

NodeId view_of_view(const Site& s) {
  if (!is_plain(s.node.op) || s.operand(0).op != s.node.op) return -1;
  const NodeId source = s.operand(0).operands[0];
  if (s.graph().node(source).type == s.node.type) return source;
  return s.builder.append_copy(s.node, {source});
}

/// Only axes of length 1 are new.
NodeId broadcast_of_units(const Site& s) {
  if (!s.is(Op::k_broadcast_to) || numel(s.node.type.shape) != numel(s.operand(0).type.shape)) return -1;
  return s.has_type_of_operand() ? -1 : reshape(s.value(0), s.node.type.shape).id;
}

NodeId identity_permutation(const Site& s) {
  if (!s.is(Op::k_permute_dims)) return -1;
  const auto axes = s.node.ints("axes");
  return std::is_sorted(axes.begin(), axes.end()) ? s.operands[0] : -1;
}

NodeId permutation_of_permutation(const Site& s) {
  if (!s.is(Op::k_permute_dims) || s.operand(0).op != Op::k_permute_dims) return -1;
  const auto outer = s.node.ints("axes"), inner = s.operand(0).ints("axes");
  Shape axes;
  for (std::int64_t axis : outer) axes.push_back(inner[static_cast<std::size_t>(axis)]);
  const NodeId source = s.operand(0).operands[0];
  if (std::is_sorted(axes.begin(), axes.end())) return source;
  return s.builder.append(Op::k_permute_dims, {source}, Attrs{axes});
}

/// Only axes of length 1 move past others.
NodeId permutation_of_units(const Site& s) {
  if (!s.is(Op::k_permute_dims)) return -1;
  std::int64_t last = -1;
  for (std::int64_t axis : s.node.ints("axes")) {
    if (s.operand(0).type.shape[static_cast<std::size_t>(axis)] == 1) continue;
    if (axis < last) return -1;
    last = axis;
  }
  return reshape(s.value(0), s.node.type.shape).id;
}

// ---- slices ----

struct Slice {
  Shape starts, lengths, steps;

  explicit Slice(const Node& node) {
    const auto copy = [&](std::string_view name) {
      const auto list = node.ints(name);
      return Shape(list.begin(), list.end());
    };
    starts = copy("starts"), lengths = copy("lengths"), steps = copy("steps");
    for (std::size_t i = 0; i < lengths.size(); ++i) {  // where nothing is stepped over, any step will do
      if (lengths[i] <= 1) steps[i] = 1;
      if (lengths[i] == 0) starts[i] = 0;
    }
  }

  NodeId of(const Site& s, NodeId source) const {
    return s.builder.append(Op::k_slice, {source}, Attrs{starts, lengths, steps});
  }
  std::int64_t lowest(std::size_t axis) const { return std::min(starts[axis], last(axis)); }
  std::int64_t highest(std::size_t axis) const { return std::max(starts[axis], last(axis)); }
  std::int64_t last(std::size_t axis) const { return starts[axis] + (lengths[axis] - 1) * steps[axis]; }
};

NodeId whole_slice(const Site& s) {
  if (!s.is(Op::k_slice) || !s.has_type_of_operand()) return -1;
  const Slice slice(s.node);
  const bool is_forward = std::all_of(slice.steps.begin(), slice.steps.end(), [](auto step) { return step == 1; });
  return is_forward ? s.operands[0] : -1;
}

/// Starts add up through the inner steps, steps multiply.
NodeId slice_of_slice(const Site& s) {
  if (!s.is(Op::k_slice) || s.operand(0).op != Op::k_slice) return -1;
  const Slice inner(s.operand(0));
  Slice slice(s.node);
  for (std::size_t i = 0; i < slice.starts.size(); ++i) {
    if (slice.lengths[i] == 0) continue;
    slice.starts[i] = inner.starts[i] + slice.starts[i] * inner.steps[i];
    slice.steps[i] *= slice.lengths[i] == 1 ? 1 : inner.steps[i];
  }
  return slice.of(s, s.operand(0).operands[0]);
}

/// All elements come from one part.
NodeId slice_of_concat(const Site& s) {
  if (!s.is(Op::k_slice) || s.operand(0).op != Op::k_concat || numel(s.node.type.shape) == 0) return -1;
  const auto axis = static_cast<std::size_t>(s.operand(0).value("axis"));
  Slice slice(s.node);
  for (NodeId part : s.operand(0).operands) {
    const std::int64_t extent = s.graph().node(part).type.shape[axis];
    if (slice.lowest(axis) >= 0 && slice.highest(axis) < extent) return slice.of(s, part);
    slice.starts[axis] -= extent;
  }
  return -1;
}

/// No element comes from the border.
NodeId slice_of_pad(const Site& s) {
  if (!s.is(Op::k_slice) || s.operand(0).op != Op::k_pad || numel(s.node.type.shape) == 0) return -1;
  const NodeId source = s.operand(0).operands[0];
  const auto before = s.operand(0).ints("before");
  Slice slice(s.node);
  for (std::size_t i = 0; i < before.size(); ++i) {
    slice.starts[i] -= before[i];
    if (slice.lowest(i) < 0 || slice.highest(i) >= s.graph().node(source).type.shape[i]) return -1;
  }
  return slice.of(s, source);
}

// ---- concat, pad, take ----

NodeId empty_pad(const Site& s) { return s.is(Op::k_pad) && s.has_type_of_operand() ? s.operands[0] : -1; }

NodeId join(const Site& s, absl::Span<const NodeId> parts, std::int64_t axis) {
  if (parts.size() == 1) return parts[0];
  Attrs attrs;
  attrs.append(axis);
  return s.builder.append(Op::k_concat, parts, std::move(attrs));
}

/// Parts of no elements go, but for one if all have none.
NodeId concat_of_empty_parts(const Site& s) {
  if (!s.is(Op::k_concat)) return -1;
  const auto axis = static_cast<std::size_t>(s.node.value("axis"));
  std::vector<NodeId> parts;
  for (NodeId part : s.operands) {
    if (s.graph().node(part).type.shape[axis] > 0) parts.push_back(part);
  }
  if (parts.empty()) parts.push_back(s.operands[0]);
  return parts.size() < s.operands.size() || parts.size() == 1 ? join(s, parts, s.node.value("axis")) : -1;
}

NodeId concat_of_concat(const Site& s) {
  constexpr std::size_t kMostParts = 64;  // so that a chain of thousands stays linear
  if (!s.is(Op::k_concat)) return -1;
  std::vector<NodeId> parts;
  for (NodeId part : s.operands) {
    const Node& node = s.graph().node(part);
    const bool is_flat = node.op != Op::k_concat || node.value("axis") != s.node.value("axis");
    if (is_flat) parts.push_back(part);
    if (!is_flat) parts.insert(parts.end(), node.operands.begin(), node.operands.end());
  }
  return parts.size() > s.operands.size() && parts.size() <= kMostParts ? join(s, parts, s.node.value("axis")) : -1;
}

/// The slice that `a` and then `b` make along the axis, if they are neighbours in one value.
std::optional<Slice> joined_slices(const Node& a, const Node& b, std::size_t axis) {
  if (a.op != Op::k_slice || b.op != Op::k_slice || a.operands != b.operands) return std::nullopt;
  Slice first(a), second(b);
  const std::int64_t step = first.lengths[axis] > 1 ? first.steps[axis] : second.steps[axis];
  if (second.lengths[axis] > 1 && second.steps[axis] != step) return std::nullopt;
  first.steps[axis] = second.steps[axis] = step;
  if (second.starts[axis] != first.last(axis) + step) return std::nullopt;
  first.lengths[axis] += second.lengths[axis];
  second.starts[axis] = first.starts[axis];
  second.lengths[axis] = first.lengths[axis];
  const bool is_same = first.starts == second.starts && first.lengths == second.lengths && first.steps == second.steps;
  return is_same ? std::optional(first) : std::nullopt;
}

NodeId concat_of_slices(const Site& s) {
  if (!s.is(Op::k_concat)) return -1;
  const auto axis = static_cast<std::size_t>(s.node.value("axis"));
  for (std::size_t i = 0; i + 1 < s.operands.size(); ++i) {
    const auto slice = joined_slices(s.operand(i), s.operand(i + 1), axis);
    if (!slice) continue;
    std::vector<NodeId> parts(s.operands.begin(), s.operands.end());
    parts[i] = slice->of(s, s.operand(i).operands[0]);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return join(s, parts, s.node.value("axis"));
  }
  return -1;
}

/// Along a repeated axis all elements are one, whatever the indices.
NodeId take_of_broadcast(const Site& s) {
  if (!s.is(Op::k_take) || s.operand(0).op != Op::k_broadcast_to) return -1;
  const Value source{&s.builder, s.operand(0).operands[0]};
  const auto axis = static_cast<std::size_t>(s.node.value("axis"));
  const std::size_t rank = s.operand(0).type.shape.size(), index_rank = s.operand(1).type.shape.size();
  if (s.operand(0).type.shape[axis] == 0) return -1;
  Shape shape(rank, 1);
  std::copy_backward(source.shape().begin(), source.shape().end(), shape.end());
  if (shape[axis] != 1) return -1;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), index_rank, 1);
  return broadcast_to(reshape(source, shape), s.node.type.shape).id;
}

constexpr Rule kRules[] = {
    {"view(x), of x's shape = x", same_view, "input x: A[3, 4]\n%1: A[3, 4] = reshape(x, shape=[3, 4])"},
    {"view(view(x)) = view(x)", view_of_view,
     "input x: A[3, 4]\n%1: A[12] = reshape(x, shape=[12])\n%2: A[2, 6] = reshape(%1, shape=[2, 6])"},
    {"broadcast(x), by lengths of 1 = reshape(x)", broadcast_of_units,
     "input x: A[3, 4]\n%1: A[1, 3, 4] = broadcast_to(x, shape=[1, 3, 4])"},
    {"permute(x), in order = x", identity_permutation, "input x: A[3, 4]\n%1: A[3, 4] = permute_dims(x, axes=[0, 1])"},
    {"permute(permute(x)) = permute(x)", permutation_of_permutation,
     "input x: A[2, 3, 4]\n%1: A[4, 2, 3] = permute_dims(x, axes=[2, 0, 1])\n"
     "%2: A[2, 4, 3] = permute_dims(%1, axes=[1, 0, 2])"},
    {"permute(x), of lengths of 1 = reshape(x)", permutation_of_units,
     "input x: A[3, 1, 4]\n%1: A[1, 3, 4] = permute_dims(x, axes=[1, 0, 2])"},
    {"slice(x), all of it = x", whole_slice,
     "input x: A[3, 1]\n%1: A[3, 1] = slice(x, starts=[0, 0], lengths=[3, 1], steps=[1, -1])"},
    {"slice(slice(x)) = slice(x)", slice_of_slice,
     "input x: A[9, 8]\n%1: A[4, 3] = slice(x, starts=[8, 1], lengths=[4, 3], steps=[-2, 3])\n"
     "%2: A[2, 1] = slice(%1, starts=[3, 2], lengths=[2, 1], steps=[-2, 4611686018427387904])"},
    {"slice(concat(x, y)) = slice(x)", slice_of_concat,
     "input x: A[3, 4]\ninput y: A[3, 5]\n%1: A[3, 9] = concat(x, y, axis=1)\n"
     "%2: A[2, 2] = slice(%1, starts=[0, 8], lengths=[2, 2], steps=[1, -3])"},
    {"slice(pad(x)) = slice(x)", slice_of_pad,
     "input x: A[3, 4]\nscalar v: A\n%1: A[6, 7] = pad(x, v, before=[1, 3], after=[2, 0])\n"
     "%2: A[2, 4] = slice(%1, starts=[3, 3], lengths=[2, 4], steps=[-1, 1])"},
    {"pad(x), by nothing = x", empty_pad,
     "input x: A[3, 4]\nscalar v: A\n%1: A[3, 4] = pad(x, v, before=[0, 0], after=[0, 0])"},
    {"concat(x, nothing) = x", concat_of_empty_parts,
     "input x: A[3, 4]\ninput y: A[3, 0]\n%1: A[3, 4] = concat(y, x, axis=1)"},
    {"concat(concat(x, y), z) = concat(x, y, z)", concat_of_concat,
     "input x: A[3, 4]\ninput y: A[3, 2]\n%1: A[3, 6] = concat(x, y, axis=1)\n%2: A[3, 10] = concat(%1, x, axis=1)"},
    {"concat(neighbouring slices of x) = slice(x)", concat_of_slices,
     "input x: A[9, 4]\n%1: A[2, 3] = slice(x, starts=[1, 0], lengths=[2, 3], steps=[2, 1])\n"
     "%2: A[1, 3] = slice(x, starts=[5, 0], lengths=[1, 3], steps=[1, 1])\n%3: A[3, 3] = concat(%1, %2, axis=0)"},
    {"take(broadcast(x)) = broadcast(x)", take_of_broadcast,
     "input x: A[3, 1]\ninput i: int64[2, 2]\n%1: A[5, 3, 6] = broadcast_to(x, shape=[5, 3, 6])\n"
     "%2: A[2, 2, 3, 6] = take(%1, i, axis=0)\n%3: A[2, 2, 3, 2, 2] = take(%2, i, axis=3)"},
};

}  // namespace

absl::Span<const Rule> movement_rules() { return kRules; }

}  // namespace tenon
