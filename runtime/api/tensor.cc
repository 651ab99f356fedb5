// SPDX-License-Identifier: MIT
// Tensor: the handle, typed reads, operators.
#include "tenon/tensor.h"

#include <cstring>

#include "compiler/ir/text.h"
#include "runtime/api/call.h"

namespace tenon {

using api::call;
using trace::TraceNode;

namespace {

const TraceNode& checked(const TraceNode* node, std::string_view op, const std::source_location& call_site) {
  if (!node) trace::fail(op, "the tensor is an empty handle", call_site);
  return *node;
}

std::int64_t count_of(const TraceNode& node) { return numel(node.type.shape); }

/// Row-major elements of a ready node. (Nothing makes nodes of other strides yet.)
const std::byte* elements_of(const TraceNode& node) {
  return static_cast<const std::byte*>(node.storage->data) + node.byte_offset;
}

}  // namespace

Operand::Operand(const Tensor& tensor, const std::source_location& call_site)
    : node_(internal::Access::node(tensor)), call_site_(call_site) {
  if (!node_) trace::fail("operand", "the tensor is an empty handle", call_site);
}

Tensor::Tensor(const Tensor& other) : node_(other.node_) {
  if (node_) trace::retain(node_);
}

Tensor& Tensor::operator=(const Tensor& other) & {
  Tensor copy(other);
  std::swap(node_, copy.node_);
  return *this;
}

Tensor::~Tensor() {
  if (node_) trace::release(node_);
}

Dims Tensor::shape(const Location& call_site) const {
  const Shape& shape = checked(node_, "shape", call_site).type.shape;
  return Dims(shape.begin(), shape.end());
}

DType Tensor::dtype(const Location& call_site) const { return checked(node_, "dtype", call_site).type.dtype; }

int Tensor::ndim(const Location& call_site) const {
  return static_cast<int>(checked(node_, "ndim", call_site).type.shape.size());
}

std::int64_t Tensor::size(const Location& call_site) const { return count_of(checked(node_, "size", call_site)); }

std::int64_t Tensor::length(std::int64_t axis, const Location& call_site) const {
  const Shape& shape = checked(node_, "length", call_site).type.shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  return shape[static_cast<std::size_t>(api::normalize_axis("length", axis, rank, call_site))];
}

Tensor Tensor::astype(DType dtype, const Location& call_site) const {
  checked(node_, "astype", call_site);
  return api::finish(trace::cast(node_, dtype, call_site), call_site);
}

const Tensor& Tensor::eval(const Location& call_site) const {
  checked(node_, "eval", call_site);
  if (!is_evaluated()) api::evaluate({&node_, 1}, "eval", call_site);
  return *this;
}

bool Tensor::is_evaluated() const {
  return node_ && node_->state.load(std::memory_order_acquire) == trace::NodeState::kReady;
}

void Tensor::copy_out(void* out, std::size_t count, DType dtype, const char* op, const Location& call_site) const {
  const TraceNode& node = checked(node_, op, call_site);
  if (count_of(node) != static_cast<std::int64_t>(count)) {
    trace::fail(op, cat("takes a tensor of one element, not ", to_string(node.type)), call_site);
  }
  const void* values = elements(dtype, op, call_site);
  if (count > 0) std::memcpy(out, values, count * size_of(dtype));
}

const void* Tensor::elements(DType dtype, const char* op, const Location& call_site) const {
  const TraceNode& node = checked(node_, op, call_site);
  if (node.type.dtype != dtype) {
    trace::fail(op, cat(to_string(node.type), " is not read as ", name_of(dtype), "; use astype"), call_site);
  }
  if (!is_evaluated()) api::evaluate({&node_, 1}, op, call_site);
  return elements_of(node);
}

Tensor operator+(const Operand& x, const Operand& y) { return call(Op::k_add, {&x, &y}); }
Tensor operator-(const Operand& x, const Operand& y) { return call(Op::k_subtract, {&x, &y}); }
Tensor operator*(const Operand& x, const Operand& y) { return call(Op::k_multiply, {&x, &y}); }
Tensor operator/(const Operand& x, const Operand& y) { return call(Op::k_divide, {&x, &y}); }
Tensor operator%(const Operand& x, const Operand& y) { return call(Op::k_remainder, {&x, &y}); }
Tensor operator&(const Operand& x, const Operand& y) { return call(Op::k_bitwise_and, {&x, &y}); }
Tensor operator|(const Operand& x, const Operand& y) { return call(Op::k_bitwise_or, {&x, &y}); }
Tensor operator^(const Operand& x, const Operand& y) { return call(Op::k_bitwise_xor, {&x, &y}); }
Tensor operator==(const Operand& x, const Operand& y) { return call(Op::k_equal, {&x, &y}); }
Tensor operator!=(const Operand& x, const Operand& y) { return call(Op::k_not_equal, {&x, &y}); }
Tensor operator<(const Operand& x, const Operand& y) { return call(Op::k_less, {&x, &y}); }
Tensor operator<=(const Operand& x, const Operand& y) { return call(Op::k_less_equal, {&x, &y}); }
Tensor operator>(const Operand& x, const Operand& y) { return call(Op::k_greater, {&x, &y}); }
Tensor operator>=(const Operand& x, const Operand& y) { return call(Op::k_greater_equal, {&x, &y}); }
Tensor operator-(const TensorArg& x) { return call(Op::k_negative, {&x}); }
Tensor operator~(const TensorArg& x) {
  return call(api::dtype_of(x) == DType::kBool ? Op::k_logical_not : Op::k_bitwise_invert, {&x});
}
Tensor operator!(const TensorArg& x) { return call(Op::k_logical_not, {&x}); }

Tensor All::operator()(const TensorArg& x, const Axes& axis, KeepDims keep) const {
  return call(Op::k_all, {&x}, api::attributes(api::axes_of(Op::k_all, x, axis), bool(keep)));
}

void eval(const std::vector<Tensor>& tensors, const std::source_location& call_site) {
  std::vector<TraceNode*> nodes;
  for (const Tensor& tensor : tensors) nodes.push_back(Operand(tensor, call_site).node());
  api::evaluate(nodes, "eval", call_site);
}

}  // namespace tenon
