// SPDX-License-Identifier: MIT
// See emit_value.h.
#include "compiler/lower/emit_value.h"

#include <algorithm>

namespace tenon {
namespace {

// Positions through views that do not undo each other hold each other twice; a named one is written once.
constexpr int kMaxDivisions = 16;

bool is_large(IndexExpr e) { return division_count(e) > kMaxDivisions; }

}  // namespace

InstrId ValueEmitter::emit(NodeId id, const IndexTuple& index, InstrId mask) {
  if (std::any_of(index.begin(), index.end(), is_large)) return emit(id, named(index), mask);
  const MemoryOf& memory = memory_[static_cast<std::size_t>(id)];
  if (memory.buffer >= 0) {
    IndexExpr position = pool_.constant(0);
    for (std::size_t i = 0; i < index.size(); ++i) {
      position = pool_.add(position, pool_.multiply(index[i], memory.strides[i]));
    }
    return body_.load(memory.buffer, graph_.node(id).type.dtype, position, mask);
  }
  const Key key{id, index, mask};
  if (auto it = memo_.find(key); it != memo_.end()) return it->second;
  const InstrId result = compute(id, index, mask);
  memo_.emplace(key, result);
  return result;
}

IndexTuple ValueEmitter::named(IndexTuple index) {
  for (IndexExpr& e : index) {
    if (is_large(e)) e = pool_.value(body_.index(e), e->lo, e->hi);
  }
  return index;
}

InstrId ValueEmitter::compute(NodeId id, const IndexTuple& index, InstrId mask) {
  const Node& node = graph_.node(id);
  switch (row_of(node.op).kind) {
    case OpKind::leaf:
      return node.op == Op::k_input ? emit(id, index, mask) : emit_leaf(node);
    case OpKind::elementwise:
      return emit_elementwise(node, index, mask);
    case OpKind::view:
      return emit(node.operands[0], map_view_index(pool_, node, shape_of(node.operands[0]), index), mask);
    case OpKind::create:
      return node.op == Op::k_iota ? emit_iota(node, index) : emit_random(node, index);
    case OpKind::reduce:
      return emit_unrolled_reduction(node, index, mask);
    default:
      return emit_index_op(node, index, mask);
  }
}

InstrId ValueEmitter::emit_leaf(const Node& node) {
  if (node.op == Op::k_constant) return body_.constant(node.type.dtype, static_cast<std::uint64_t>(node.value("bits")));
  Instr i;
  i.kind = Instr::kScalar;
  i.dtype = node.type.dtype;
  i.buffer = static_cast<std::int32_t>(node.value("index"));
  return body_.append(i);
}

InstrId ValueEmitter::emit_elementwise(const Node& node, const IndexTuple& index, InstrId mask) {
  InstrId operands[3] = {-1, -1, -1};
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const NodeId operand = node.operands[i];
    operands[i] = emit(operand, broadcast_index(pool_, index, shape_of(operand)), mask);
  }
  return body_.apply(node.op, node.type.dtype, operands[0], operands[1], operands[2]);
}

InstrId ValueEmitter::emit_index_op(const Node& node, const IndexTuple& index, InstrId mask) {
  switch (node.op) {
    case Op::k_concat:
      return emit_concat(node, index, mask);
    case Op::k_pad:
      return emit_pad(node, index, mask);
    case Op::k_take:
      return emit_take(node, index, mask);
    case Op::k_take_along_axis:
      return emit_take_along_axis(node, index, mask);
    case Op::k_slice_update:
      return emit_slice_update(node, index, mask);
    default:
      return emit_dynamic_slice(node, index, mask);
  }
}

InstrId ValueEmitter::both(InstrId a, InstrId b) {
  if (a < 0) return b;
  if (b < 0) return a;
  return body_.apply(Op::k_logical_and, DType::kBool, a, b);
}

InstrId ValueEmitter::inside(IndexExpr e, std::int64_t lo, std::int64_t hi) {
  return e->lo >= lo && e->hi < hi ? -1 : body_.in_range(e, lo, hi);
}

InstrId ValueEmitter::emit_concat(const Node& node, const IndexTuple& index, InstrId mask) {
  const auto axis = static_cast<std::size_t>(node.value("axis"));
  InstrId result = -1;
  std::int64_t offset = 0;
  for (NodeId part : node.operands) {
    const std::int64_t extent = shape_of(part)[axis];
    const IndexExpr at = index[axis];
    const bool can_occur = extent > 0 && at->hi >= offset && at->lo < offset + extent;
    if (can_occur) {
      const InstrId here = inside(at, offset, offset + extent);
      IndexTuple moved = index;
      moved[axis] = pool_.add(at, -offset);
      const InstrId value = emit(part, moved, both(mask, here));
      result = result < 0 || here < 0 ? value : body_.apply(Op::k_where, node.type.dtype, here, value, result);
    }
    offset += extent;
  }
  // An index that no part has occurs only where the mask is false.
  return result < 0 ? body_.constant(node.type.dtype, 0) : result;
}

InstrId ValueEmitter::emit_pad(const Node& node, const IndexTuple& index, InstrId mask) {
  const auto before = node.ints("before");
  const Shape& shape = shape_of(node.operands[0]);
  IndexTuple moved = index;
  InstrId here = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    moved[i] = pool_.add(index[i], -before[i]);
    here = both(here, inside(moved[i], 0, shape[i]));
  }
  const InstrId fill = emit(node.operands[1], {}, mask);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (moved[i]->hi < 0 || moved[i]->lo >= shape[i]) return fill;
  }
  const InstrId value = emit(node.operands[0], moved, both(mask, here));
  return here < 0 ? value : body_.apply(Op::k_where, node.type.dtype, here, value, fill);
}

IndexExpr ValueEmitter::clamped(InstrId position, std::int64_t extent, bool wrap_negative) {
  const auto number = [&](std::int64_t v) { return body_.constant(DType::kInt64, static_cast<std::uint64_t>(v)); };
  const std::int64_t last = std::max<std::int64_t>(extent - 1, 0);
  if (body_.dtype_of(position) == DType::kUInt64) {  // the upper half of the range is not negative
    const InstrId top = body_.constant(DType::kUInt64, static_cast<std::uint64_t>(last));
    position = body_.apply(Op::k_minimum, DType::kUInt64, position, top);
  }
  InstrId p = body_.cast(position, DType::kInt64);
  if (wrap_negative) {
    const InstrId is_negative = body_.apply(Op::k_less, DType::kBool, p, number(0));
    p = body_.apply(Op::k_where, DType::kInt64, is_negative, body_.apply(Op::k_add, DType::kInt64, p, number(extent)),
                    p);
  }
  p = body_.apply(Op::k_maximum, DType::kInt64, p, number(0));
  p = body_.apply(Op::k_minimum, DType::kInt64, p, number(last));
  return pool_.value(p, 0, last);
}

InstrId ValueEmitter::emit_take(const Node& node, const IndexTuple& index, InstrId mask) {
  const auto axis = static_cast<std::size_t>(node.value("axis"));
  const std::size_t rank = shape_of(node.operands[1]).size();
  const auto first = index.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto last = first + static_cast<std::ptrdiff_t>(rank);
  const InstrId position = emit(node.operands[1], IndexTuple(first, last), mask);
  IndexTuple source(index.begin(), first);
  source.push_back(clamped(position, shape_of(node.operands[0])[axis], true));
  source.insert(source.end(), last, index.end());
  return emit(node.operands[0], source, mask);
}

InstrId ValueEmitter::emit_take_along_axis(const Node& node, const IndexTuple& index, InstrId mask) {
  const auto axis = static_cast<std::size_t>(node.value("axis"));
  const InstrId position = emit(node.operands[1], broadcast_index(pool_, index, shape_of(node.operands[1])), mask);
  IndexTuple source = index;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (shape_of(node.operands[0])[i] == 1) source[i] = pool_.constant(0);
  }
  source[axis] = clamped(position, shape_of(node.operands[0])[axis], true);
  return emit(node.operands[0], source, mask);
}

InstrId ValueEmitter::emit_slice_update(const Node& node, const IndexTuple& index, InstrId mask) {
  const auto starts = node.ints("starts"), lengths = node.ints("lengths"), steps = node.ints("steps");
  const InstrId old = emit(node.operands[0], index, mask);
  if (numel(lengths) == 0) return old;
  IndexTuple inner(index.size());
  InstrId here = -1;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::int64_t step = lengths[i] > 1 ? std::abs(steps[i]) : 1;  // of one element any step will do
    const std::int64_t lowest = steps[i] < 0 ? starts[i] + (lengths[i] - 1) * steps[i] : starts[i];
    const IndexExpr distance = pool_.add(index[i], -lowest);
    here = both(here, inside(distance, 0, (lengths[i] - 1) * step + 1));
    here = both(here, inside(pool_.mod(distance, step), 0, 1));
    const IndexExpr count = pool_.floor_div(distance, step);
    inner[i] = steps[i] < 0 ? pool_.add(pool_.multiply(count, -1), lengths[i] - 1) : count;
  }
  const InstrId fresh =
      emit(node.operands[1], broadcast_index(pool_, inner, shape_of(node.operands[1])), both(mask, here));
  return here < 0 ? fresh : body_.apply(Op::k_where, node.type.dtype, here, fresh, old);
}

InstrId ValueEmitter::emit_dynamic_slice(const Node& node, const IndexTuple& index, InstrId mask) {
  const Shape& shape = shape_of(node.operands[0]);
  const auto lengths = node.ints("lengths");
  IndexTuple source(index.size());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const InstrId start = emit(node.operands[i + 1], {}, mask);
    source[i] = pool_.add(index[i], clamped(start, shape[i] - lengths[i] + 1, false));
  }
  return emit(node.operands[0], source, mask);
}

InstrId ValueEmitter::emit_iota(const Node& node, const IndexTuple& index) {
  return body_.cast(body_.index(index[static_cast<std::size_t>(node.value("axis"))]), node.type.dtype);
}

InstrId ValueEmitter::emit_random(const Node& node, const IndexTuple& index) {
  Instr i;
  i.kind = Instr::kRandom;
  i.dtype = DType::kUInt32;
  i.operands[0] = emit(node.operands[0], {});
  i.operands[1] = body_.index(pool_.linearize(index, node.type.shape));
  i.lo = node.value("stream");
  return body_.append(i);
}

InstrId ValueEmitter::emit_unrolled_reduction(const Node& node, const IndexTuple& index, InstrId mask) {
  static constexpr Op kCombine[] = {Op::k_add, Op::k_multiply, Op::k_maximum, Op::k_minimum};
  const auto axis = static_cast<std::size_t>(node.value("axis"));
  const Op combine = kCombine[node.value("kind")];
  const bool halves_first = static_cast<ReduceOrder>(node.value("order")) == ReduceOrder::inner;
  const std::int64_t extent = shape_of(node.operands[0])[axis];
  if (extent == 0) {
    const bool is_product = static_cast<ReduceKind>(node.value("kind")) == ReduceKind::prod;
    return body_.constant(node.type.dtype, bits_of(node.type.dtype, is_product ? 1.0 : 0.0));
  }
  std::vector<InstrId> partials;
  for (std::int64_t r = 0; r < extent; ++r) {
    IndexTuple element = index;
    element.insert(element.begin() + static_cast<std::ptrdiff_t>(axis), pool_.constant(r));
    partials.push_back(emit(node.operands[0], element, mask));
  }
  const auto merge = [&](InstrId a, InstrId b) { return body_.apply(combine, node.type.dtype, a, b); };
  if (!halves_first) {
    InstrId sum = partials[0];
    for (std::size_t r = 1; r < partials.size(); ++r) sum = merge(sum, partials[r]);
    return sum;
  }
  for (std::size_t half = 4; half >= 1; half /= 2) {  // kShortInnerPartials = 8, missing ones skipped
    for (std::size_t p = 0; p < half && p + half < partials.size(); ++p) {
      partials[p] = merge(partials[p], partials[p + half]);
    }
    partials.resize(std::min(partials.size(), half));
  }
  return partials[0];
}

}  // namespace tenon
