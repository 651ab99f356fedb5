// SPDX-License-Identifier: MIT
// The hot path of every call. Operands that need no promotion, the common case, are only counted.
#include "runtime/trace/trace.h"

#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/ir/text.h"
#include "runtime/trace/promote.h"
#include "tenon/error.h"

namespace tenon::trace {
namespace {

using Arguments = absl::Span<const Argument>;
using Operands = absl::InlinedVector<NodeRef, 2>;

/// One call under way.
struct Call {
  Op op;
  const std::source_location& call_site;

  [[noreturn]] void fail(std::string message) const { trace::fail(name_of(op), std::move(message), call_site); }
};

std::string types_of(Arguments arguments) {
  std::string text;
  for (const Argument& a : arguments) {
    if (!text.empty()) text += " and ";
    text += a.node ? to_string(a.node->type) : "a scalar";
  }
  return text;
}

std::optional<DType> common_of_tensors(const Call& call, Arguments arguments) {
  std::optional<DType> common;
  for (const Argument& a : arguments) {
    if (!a.node) continue;
    const DType dtype = a.node->type.dtype;
    const std::optional<DType> joined = common ? promote(*common, dtype) : dtype;
    if (!joined) call.fail(cat("no integer dtype holds both of ", types_of(arguments), "; cast one of them"));
    common = joined;
  }
  return common;
}

/// The dtype that all arguments are brought to.
DType common_dtype(const Call& call, Arguments arguments) {
  std::optional<DType> common = common_of_tensors(call, arguments);
  if (!common && call.op != Op::k_where) call.fail("takes at least one tensor");
  for (const Argument& a : arguments) {
    if (a.node) continue;
    common = common ? promote(*common, a.scalar) : a.scalar.default_dtype();
  }
  return *common;
}

DType operand_dtype(const Call& call, Promotion promotion, Arguments arguments) {
  if (promotion == Promotion::boolean) return DType::kBool;
  const DType common = common_dtype(call, arguments);
  return promotion == Promotion::floating && !is_float(common) ? DType::kFloat32 : common;
}

NodeRef bring(const Call& call, const Argument& argument, DType dtype) {
  if (!argument.node) return scalar_argument(dtype, argument.scalar, call.op, call.call_site);
  return cast(argument.node, dtype, call.call_site);
}

Operands operands_as_given(const Call& call, Arguments arguments) {
  Operands operands;
  for (const Argument& a : arguments) {
    operands.push_back(a.node ? NodeRef(a.node, false) : bring(call, a, a.scalar.default_dtype()));
  }
  return operands;
}

Operands promoted(const Call& call, Arguments arguments) {
  const Promotion promotion = row_of(call.op).promotion;
  if (promotion == Promotion::none || arguments.empty()) return operands_as_given(call, arguments);
  // The condition of where is not promoted with the values it picks from.
  const std::size_t first = call.op == Op::k_where ? 1 : 0;
  Operands operands = operands_as_given(call, arguments.first(first));
  const DType dtype = operand_dtype(call, promotion, arguments.subspan(first));
  for (const Argument& a : arguments.subspan(first)) operands.push_back(bring(call, a, dtype));
  return operands;
}

/// Throws what the rule says, without the op's name that Error puts before it.
[[noreturn]] void fail_with(const Call& call, const absl::Status& status) {
  const std::string prefix = cat(name_of(call.op), ": ");
  std::string message(status.message());
  if (message.starts_with(prefix)) message.erase(0, prefix.size());
  call.fail(std::move(message));
}

NodeRef checked_node(const Call& call, Operands operands, Attrs attrs) {
  absl::InlinedVector<const TensorType*, 4> types;
  for (const NodeRef& operand : operands) types.push_back(&operand->type);
  absl::StatusOr<TensorType> type = infer(call.op, types, attrs);
  if (!type.ok()) fail_with(call, type.status());
  return make_node(call.op, *std::move(type), std::move(operands), std::move(attrs), call.call_site);
}

}  // namespace

void fail(std::string_view op, std::string message, const std::source_location& call_site) {
  throw Error(ErrorCode::kInvalidArgument, std::string(op), std::move(message), call_site);
}

NodeRef scalar_argument(DType dtype, Scalar scalar, Op op, const std::source_location& call_site) {
  const std::optional<std::uint64_t> bits = element_bits(dtype, scalar);
  if (!bits) {
    const auto value = scalar.as_int();
    const bool is_huge = scalar.kind() == Scalar::Kind::kUInt && value < 0;
    fail(name_of(op),
         cat("the scalar ", is_huge ? cat(static_cast<std::uint64_t>(value)) : cat(value), " does not fit ",
             name_of(dtype)),
         call_site);
  }
  return make_scalar(dtype, *bits);
}

NodeRef cast(TraceNode* node, DType dtype, const std::source_location& call_site) {
  NodeRef operand(node, false);
  if (node->type.dtype == dtype) return operand;
  Operands operands;
  operands.push_back(std::move(operand));
  Attrs attrs;
  attrs.append(static_cast<std::int64_t>(dtype));
  return make_node(Op::k_cast, {dtype, node->type.shape}, std::move(operands), std::move(attrs), call_site);
}

NodeRef apply(Op op, absl::Span<const Argument> arguments, Attrs attrs, const std::source_location& call_site) {
  const Call call{op, call_site};
  return checked_node(call, promoted(call, arguments), std::move(attrs));
}

}  // namespace tenon::trace
