// SPDX-License-Identifier: MIT
// Index lists: x[...], slice, dynamic_slice, slice_update, split, roll.
//
// A part of a computed tensor that is one run of memory is an offset of the handle. Else integers become the run-time
// starts of a dynamic_slice, and slices its compile-time companion.
#include <algorithm>

#include "compiler/ir/text.h"
#include "runtime/api/call.h"
#include "tenon/functions.h"
#include "tenon/ops.h"

namespace tenon {
namespace {

using api::attributes;
using api::call;
using api::Location;
using trace::NodeRef;

/// What an index list takes of each axis, with everything resolved against the shape.
struct Part {
  Dims starts, lengths, steps;
  Dims shape;  ///< lengths without the axes that integers drop
  std::vector<bool> is_position;

  std::size_t rank() const { return starts.size(); }
};

struct Range {
  std::int64_t start, length, step;
};

/// Python's rule: negative bounds count from the end, then they are cut to the axis.
Range resolve(const Slice& slice, std::int64_t extent) {
  const bool is_forward = slice.step > 0;
  const std::int64_t lowest = is_forward ? 0 : -1, highest = is_forward ? extent : extent - 1;
  const auto bound = [&](Bound given, std::int64_t absent) {
    if (!given.value()) return absent;
    const std::int64_t at = *given.value() < 0 ? *given.value() + extent : *given.value();
    return std::clamp(at, lowest, highest);
  };
  const std::int64_t start = bound(slice.start, is_forward ? lowest : highest);
  const std::int64_t stop = bound(slice.stop, is_forward ? highest : lowest);
  const std::int64_t distance = is_forward ? stop - start : start - stop;
  if (distance <= 0) return {0, 0, 1};
  // Steps beyond the axis all mean: the first element only.
  const std::int64_t step = std::clamp(slice.step, -extent, extent);
  const std::int64_t length = (distance - 1) / std::abs(step) + 1;
  return {start, length, length == 1 ? 1 : step};
}

std::int64_t resolve_position(std::string_view op, const Operand& x, std::size_t axis, std::int64_t position,
                              const Location& call_site) {
  const std::int64_t extent = api::shape_of(x)[axis];
  if (position < -extent || position >= extent) {
    trace::fail(op, cat("index ", position, " is out of range for axis ", axis, " of ", to_string(x.node()->type)),
                call_site);
  }
  return position < 0 ? position + extent : position;
}

Part resolve(std::string_view op, const Operand& x, const std::vector<Index>& list, const Location& call_site) {
  const Shape& shape = api::shape_of(x);
  if (list.size() > shape.size()) {
    trace::fail(op, cat(list.size(), " indices are too many for ", to_string(x.node()->type)), call_site);
  }
  Part part;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const Index index = axis < list.size() ? list[axis] : Index(all);
    if (!index.is_position() && index.part().step == 0) trace::fail(op, "the step of a slice is 0", call_site);
    const Range range = index.is_position() ? Range{resolve_position(op, x, axis, index.position(), call_site), 1, 1}
                                            : resolve(index.part(), shape[axis]);
    part.starts.push_back(range.start);
    part.lengths.push_back(range.length);
    part.steps.push_back(range.step);
    part.is_position.push_back(index.is_position());
    if (!index.is_position()) part.shape.push_back(range.length);
  }
  return part;
}

bool is_whole(const Shape& shape, const Part& part, std::size_t axis) {
  return part.lengths[axis] == shape[axis] && part.steps[axis] == 1;
}

/// One run of memory: single elements of the first axes, a range of the next, the whole of the rest.
bool is_run(const Shape& shape, const Part& part) {
  std::size_t axis = 0;
  while (axis < part.rank() && part.lengths[axis] == 1) ++axis;
  if (axis < part.rank() && part.steps[axis] != 1) return false;
  for (++axis; axis < part.rank(); ++axis) {
    if (!is_whole(shape, part, axis)) return false;
  }
  return true;
}

/// A handle into the storage of a ready, row-major node.
Tensor offset(const trace::TraceNode& node, const Part& part) {
  const Shape strides = row_major_strides(node.type.shape);
  std::int64_t elements = 0;
  for (std::size_t axis = 0; axis < part.rank(); ++axis) elements += part.starts[axis] * strides[axis];
  const auto width = static_cast<std::int64_t>(size_of(node.type.dtype));
  TensorType type{node.type.dtype, Shape(part.shape.begin(), part.shape.end())};
  NodeRef part_of = trace::make_ready(std::move(type), node.storage, {}, node.byte_offset + elements * width);
  part_of->computed_by = node.computed_by;
  return internal::Access::wrap(std::move(part_of));
}

Tensor dynamic_block(const TensorArg& x, const Dims& starts, const Dims& lengths, const Location& call_site) {
  absl::InlinedVector<NodeRef, 4> held;
  std::vector<trace::Argument> arguments = {{x.node(), 0}};
  for (const std::int64_t start : starts) {
    held.push_back(trace::scalar_argument(DType::kInt64, start, Op::k_dynamic_slice, call_site));
    arguments.push_back({held.back().get(), 0});
  }
  return api::finish(trace::apply(Op::k_dynamic_slice, arguments, attributes(lengths), call_site), call_site);
}

/// The single elements that integers pick; other axes whole.
Tensor pick_positions(const TensorArg& x, const Part& part, const Location& call_site) {
  Dims starts(part.rank(), 0), lengths(api::shape_of(x).begin(), api::shape_of(x).end());
  for (std::size_t axis = 0; axis < part.rank(); ++axis) {
    if (!part.is_position[axis]) continue;
    starts[axis] = part.starts[axis];
    lengths[axis] = 1;
  }
  return dynamic_block(x, starts, lengths, call_site);
}

Tensor take_slices(const TensorArg& x, Part part) {
  bool is_all = true;
  for (std::size_t axis = 0; axis < part.rank(); ++axis) {
    if (part.is_position[axis]) part.starts[axis] = 0;
    is_all = is_all && is_whole(api::shape_of(x), part, axis);
  }
  if (is_all) return x.tensor();
  return call(Op::k_slice, {&x}, attributes(part.starts, part.lengths, part.steps));
}

Tensor lazy_part(const TensorArg& x, const Part& part, const Location& call_site) {
  const bool has_position = part.shape.size() < part.rank();
  const Tensor picked = has_position ? pick_positions(x, part, call_site) : x.tensor();
  const Tensor sliced = take_slices({picked, call_site}, part);
  return has_position ? reshape({sliced, call_site}, part.shape) : sliced;
}

std::vector<Index> ranges(const Dims& starts, const Dims& stops, const Dims& steps) {
  std::vector<Index> list;
  for (std::size_t i = 0; i < starts.size(); ++i) list.push_back(Slice{starts[i], stops[i], steps[i]});
  return list;
}

/// Whole axes but for a range of one.
std::vector<Index> along(std::int64_t axis, Slice range) {
  std::vector<Index> list(static_cast<std::size_t>(axis), Index(all));
  list.push_back(range);
  return list;
}

}  // namespace

Tensor Tensor::operator[](const IndexList& index) const {
  const TensorArg x(*this, index.call_site());
  const Part part = resolve("index", x, index.list(), index.call_site());
  const bool is_row_major = node_->strides.empty();
  if (is_evaluated() && is_row_major && is_run(api::shape_of(x), part)) return offset(*node_, part);
  return lazy_part(x, part, index.call_site());
}

Tensor slice(const TensorArg& x, const Dims& starts, const Dims& stops, const Dims& steps) {
  if (stops.size() != starts.size() || (!steps.empty() && steps.size() != starts.size())) {
    trace::fail("slice", "starts, stops and steps differ in length", x.call_site());
  }
  const std::vector<Index> list = ranges(starts, stops, steps.empty() ? Dims(starts.size(), 1) : steps);
  return take_slices(x, resolve("slice", x, list, x.call_site()));
}

Tensor dynamic_slice(const TensorArg& x, const Dims& starts, const Dims& lengths) {
  return dynamic_block(x, starts, lengths, x.call_site());
}

Tensor slice_update(const TensorArg& x, const IndexList& index, const Operand& v) {
  const Part part = resolve("slice_update", x, index.list(), x.call_site());
  // v broadcasts to the part without the axes that integers drop; with them it has length 1 there.
  if (part.shape.size() == part.rank() || !v.node()) {
    return call(Op::k_slice_update, {&x, &v}, attributes(part.starts, part.lengths, part.steps));
  }
  const Tensor spread = broadcast_to({internal::Access::wrap(NodeRef(v.node(), false)), x.call_site()}, part.shape);
  const Tensor shaped = reshape({spread, x.call_site()}, part.lengths);
  const Operand value(shaped, x.call_site());
  return call(Op::k_slice_update, {&x, &value}, attributes(part.starts, part.lengths, part.steps));
}

std::vector<Tensor> split(const TensorArg& x, std::int64_t sections, std::int64_t axis) {
  const std::int64_t at = api::normalize_axis("split", axis, api::rank_of(x), x.call_site());
  const std::int64_t extent = api::shape_of(x)[static_cast<std::size_t>(at)];
  if (sections < 1 || extent % sections != 0) {
    trace::fail("split", cat("axis ", at, " of ", to_string(x.node()->type), " has no ", sections, " equal parts"),
                x.call_site());
  }
  Dims starts;
  for (std::int64_t i = 1; i < sections; ++i) starts.push_back(i * (extent / sections));
  return split(x, starts, at);
}

std::vector<Tensor> split(const TensorArg& x, const Dims& starts, std::int64_t axis) {
  const std::int64_t at = api::normalize_axis("split", axis, api::rank_of(x), x.call_site());
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i <= starts.size(); ++i) {
    const Slice range{i == 0 ? Bound(0) : Bound(starts[i - 1]), i == starts.size() ? Bound(none) : Bound(starts[i])};
    parts.push_back(x.tensor()[{along(at, range), x.call_site()}]);
  }
  return parts;
}

Tensor roll(const TensorArg& x, std::int64_t shift, std::int64_t axis) {
  const std::int64_t at = api::normalize_axis("roll", axis, api::rank_of(x), x.call_site());
  const std::int64_t extent = api::shape_of(x)[static_cast<std::size_t>(at)];
  const std::int64_t from_end = extent == 0 ? 0 : ((shift % extent) + extent) % extent;
  if (from_end == 0) return x.tensor();
  const std::vector<Tensor> parts = split(x, Dims{extent - from_end}, at);
  return concat({parts[1], parts[0]}, at, x.call_site());
}

}  // namespace tenon
