// SPDX-License-Identifier: MIT
// See call.h.
#include "runtime/api/call.h"

#include <algorithm>
#include <array>
#include <string>

#include "compiler/ir/text.h"
#include "runtime/options.h"
#include "runtime/session/session.h"

namespace tenon::api {
namespace {

/// Bounds on graphs that nobody evaluates: a chain this long, or a shorter one that keeps this much memory, is run.
constexpr std::uint32_t kMaxDepth = 4096;
constexpr std::uint32_t kMinDepthToFree = 64;
constexpr std::int64_t kMaxHeldBytes = std::int64_t{2} << 30;

/// No row has more operands, but those that take any number.
constexpr std::size_t kMaxFixedOperands = 4;

bool has_grown_too_large(const trace::TraceNode& node) {
  return node.depth >= kMaxDepth || (node.depth >= kMinDepthToFree && node.held_bytes >= kMaxHeldBytes);
}

ErrorCode code_of(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return ErrorCode::kInvalidArgument;
    case absl::StatusCode::kResourceExhausted:
      return ErrorCode::kOutOfMemory;
    case absl::StatusCode::kFailedPrecondition:
      return ErrorCode::kNotCached;
    default:
      return ErrorCode::kInternal;
  }
}

}  // namespace

void evaluate(std::span<trace::TraceNode* const> nodes, std::string_view op, const Location& call_site) {
  const absl::Status status = session::evaluate(nodes);
  if (status.ok()) return;
  throw Error(code_of(status.code()), std::string(op), std::string(status.message()), call_site);
}

Tensor finish(trace::NodeRef node, const Location& call_site) {
  if (has_grown_too_large(*node) || options().eager) {
    trace::TraceNode* const wanted = node.get();
    evaluate({&wanted, 1}, name_of(node->op), call_site);
  }
  return internal::Access::wrap(std::move(node));
}

Tensor call(Op op, std::initializer_list<const Operand*> operands, Attrs attrs) {
  std::array<trace::Argument, kMaxFixedOperands> arguments;
  std::size_t count = 0;
  for (const Operand* operand : operands) arguments[count++] = {operand->node(), operand->scalar()};
  const Location& call_site = (*operands.begin())->call_site();
  return finish(trace::apply(op, {arguments.data(), count}, std::move(attrs), call_site), call_site);
}

Tensor call(Op op, const std::vector<Tensor>& tensors, Attrs attrs, const Location& call_site) {
  absl::InlinedVector<trace::Argument, 4> arguments;
  for (const Tensor& tensor : tensors) arguments.push_back({Operand(tensor, call_site).node(), 0});
  return finish(trace::apply(op, arguments, std::move(attrs), call_site), call_site);
}

Tensor call(Op op, std::initializer_list<trace::NodeRef> operands, Attrs attrs, const Location& call_site) {
  absl::InlinedVector<trace::Argument, 4> arguments;
  for (const trace::NodeRef& operand : operands) arguments.push_back({operand.get(), 0});
  return finish(trace::apply(op, arguments, std::move(attrs), call_site), call_site);
}

std::int64_t normalize_axis(std::string_view op, std::int64_t axis, std::int64_t rank, const Location& call_site) {
  if (axis < -rank || axis >= rank) {
    trace::fail(op, cat("axis ", axis, " is out of range for ", rank, rank == 1 ? " axis" : " axes"), call_site);
  }
  return axis < 0 ? axis + rank : axis;
}

Dims normalize_axes(std::string_view op, const Axes& axes, std::int64_t rank, const Location& call_site) {
  Dims list = axes.list();
  if (axes.is_all()) {
    for (std::int64_t axis = 0; axis < rank; ++axis) list.push_back(axis);
    return list;
  }
  for (std::int64_t& axis : list) axis = normalize_axis(op, axis, rank, call_site);
  std::sort(list.begin(), list.end());
  const auto twice = std::adjacent_find(list.begin(), list.end());
  if (twice != list.end()) trace::fail(op, cat("axis ", *twice, " is given twice"), call_site);
  return list;
}

std::int64_t axis_of(Op op, const Operand& x, std::int64_t axis) {
  return normalize_axis(name_of(op), axis, rank_of(x), x.call_site());
}

std::int64_t axis_of(Op op, const std::vector<Tensor>& tensors, const Location& call_site, std::int64_t axis) {
  if (tensors.empty()) trace::fail(name_of(op), "takes at least one tensor", call_site);
  const std::int64_t rank = rank_of(Operand(tensors[0], call_site));
  return normalize_axis(name_of(op), axis, op == Op::k_stack ? rank + 1 : rank, call_site);
}

Dims axes_of(Op op, const Operand& x, const Axes& axes) {
  return normalize_axes(name_of(op), axes, rank_of(x), x.call_site());
}

DType accumulator_dtype(const Operand& x, std::optional<DType> dtype) {
  if (dtype) return *dtype;
  if (is_float(dtype_of(x))) return dtype_of(x);
  return is_unsigned_int(dtype_of(x)) ? DType::kUInt64 : DType::kInt64;
}

}  // namespace tenon::api
