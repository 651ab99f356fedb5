// SPDX-License-Identifier: MIT
// What the bodies of public functions are made of: a traced call, normalised axes, attributes, and evaluation.
//
// All throw tenon::Error.
#pragma once

#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compiler/ir/attrs.h"
#include "runtime/api/access.h"
#include "runtime/trace/trace.h"
#include "tenon/arguments.h"
#include "tenon/tensor.h"

namespace tenon::api {

using Location = std::source_location;

/// Traces an op on operands, called where the first of them was given.
Tensor call(Op op, std::initializer_list<const Operand*> operands, Attrs attrs = {});
/// Traces an op on tensors.
Tensor call(Op op, const std::vector<Tensor>& tensors, Attrs attrs, const Location& call_site);
/// Traces an op on scalars whose dtypes are settled (trace::scalar_argument), and on nodes.
Tensor call(Op op, std::initializer_list<trace::NodeRef> operands, Attrs attrs, const Location& call_site);

/// The handle of a new node. Evaluates it where a graph that nobody asks for would grow without bound, or when
/// TENON_EAGER is set.
Tensor finish(trace::NodeRef node, const Location& call_site);

/// Makes nodes ready; what the session cannot do is thrown as an error of `op`.
void evaluate(std::span<trace::TraceNode* const> nodes, std::string_view op, const Location& call_site);

/// axis counted from 0; throws when there is no such axis of `rank`.
std::int64_t normalize_axis(std::string_view op, std::int64_t axis, std::int64_t rank, const Location& call_site);
/// Sorted axes counted from 0; throws on one that does not exist or comes twice.
Dims normalize_axes(std::string_view op, const Axes& axes, std::int64_t rank, const Location& call_site);

/// The attribute `axis` of an op on x, or on tensors.
std::int64_t axis_of(Op op, const Operand& x, std::int64_t axis);
std::int64_t axis_of(Op op, const std::vector<Tensor>& tensors, const Location& call_site, std::int64_t axis);
/// The attribute `axes` of an op on x.
Dims axes_of(Op op, const Operand& x, const Axes& axes);

/// The dtype in which sum, prod and scans of x are made unless another is given: 64 bits for integers and bool.
DType accumulator_dtype(const Operand& x, std::optional<DType> dtype);

inline void append(Attrs* attrs, const Dims& list) { attrs->append(list); }
inline void append(Attrs* attrs, const Shape& list) { attrs->append(list); }
template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
void append(Attrs* attrs, T value) {
  attrs->append(static_cast<std::int64_t>(value));
}

/// Attributes in the row's order.
template <class... T>
Attrs attributes(const T&... values) {
  Attrs attrs;
  (append(&attrs, values), ...);
  return attrs;
}

inline const Shape& shape_of(const Operand& x) { return x.node()->type.shape; }
inline std::int64_t rank_of(const Operand& x) { return static_cast<std::int64_t>(shape_of(x).size()); }
inline DType dtype_of(const Operand& x) { return x.node()->type.dtype; }

}  // namespace tenon::api
