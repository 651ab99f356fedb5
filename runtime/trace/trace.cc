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

void add_as_given(const Call& call, Arguments arguments, TraceNode* node) {
  for (const Argument& a : arguments) {
    node->operands.push_back(a.node ? NodeRef(a.node, false) : bring(call, a, a.scalar.default_dtype()));
  }
}

void add_promoted(const Call& call, Arguments arguments, TraceNode* node) {
  const Promotion promotion = row_of(call.op).promotion;
  if (promotion == Promotion::none || arguments.empty()) return add_as_given(call, arguments, node);
  // The condition of where is not promoted with the values it picks from.
  const std::size_t first = call.op == Op::k_where ? 1 : 0;
  add_as_given(call, arguments.first(first), node);
  const DType dtype = operand_dtype(call, promotion, arguments.subspan(first));
  for (const Argument& a : arguments.subspan(first)) node->operands.push_back(bring(call, a, dtype));
}

/// Throws what the rule says, without the op's name that Error puts before it.
[[noreturn]] void fail_with(const Call& call, const absl::Status& status) {
  const std::string prefix = cat(name_of(call.op), ": ");
  std::string message(status.message());
  if (message.starts_with(prefix)) message.erase(0, prefix.size());
  call.fail(std::move(message));
}

/// The type that the op's rule gives; throws what the rule finds wrong.
TensorType checked_type(const Call& call, const TraceNode& node) {
  absl::InlinedVector<const TensorType*, 4> types(node.operands.size());
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = &node.operands[i]->type;
  absl::StatusOr<TensorType> type = infer(call.op, types, node.attrs);
  if (!type.ok()) fail_with(call, type.status());
  return *std::move(type);
}

}  // namespace

void fail(std::string_view op, std::string message, const std::source_location& call_site) {
  throw Error(ErrorCode::kInvalidArgument, std::string(op), std::move(message), call_site);
}

void check_dtype(std::string_view op, DType dtype, const std::source_location& call_site) {
  const int number = static_cast<int>(dtype);
  if (number >= kNumDTypes) fail(op, cat("there is no dtype of number ", number), call_site);
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
  if (node->type.dtype == dtype) return NodeRef(node, false);
  check_dtype(name_of(Op::k_cast), dtype, call_site);
  NodeRef result = make_node(Op::k_cast, call_site);
  result->operands.emplace_back(node, false);
  result->attrs.append(static_cast<std::int64_t>(dtype));
  result->type = {dtype, node->type.shape};
  settle(result.get());
  return result;
}

NodeRef apply(Op op, absl::Span<const Argument> arguments, Attrs attrs, const std::source_location& call_site) {
  const Call call{op, call_site};
  NodeRef node = make_node(op, call_site);
  node->attrs = std::move(attrs);
  add_promoted(call, arguments, node.get());
  node->type = checked_type(call, *node);
  settle(node.get());
  return node;
}

}  // namespace tenon::trace
