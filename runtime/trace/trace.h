// SPDX-License-Identifier: MIT
// From a call to a node: operands are promoted by the op's row, checked by its rule, and become a lazy node.
//
// Every mistake of the caller is thrown from here as tenon::Error with the op, the operands' types and the call site.
// Nothing is computed. Thread-safe.
#pragma once

#include <source_location>
#include <string>

#include "absl/types/span.h"
#include "runtime/trace/node.h"
#include "tenon/scalar.h"

namespace tenon::trace {

/// An operand as a caller gives it: a node (borrowed), or a scalar where node is null.
struct Argument {
  TraceNode* node = nullptr;
  Scalar scalar = 0;
};

/// A lazy node of `op`. Attributes come as the row says (axes normalised). At least one of the operands must be a
/// tensor; where the two values of `where` are scalars, they stand for themselves (bool, int64, float32).
NodeRef apply(Op op, absl::Span<const Argument> arguments, Attrs attrs, const std::source_location& call_site);

/// A scalar as a run-time argument of the given dtype. Throws Error when an integer does not fit; `op` is named.
NodeRef scalar_argument(DType dtype, Scalar scalar, Op op, const std::source_location& call_site);

/// The node cast to dtype; the node itself when it has it.
NodeRef cast(TraceNode* node, DType dtype, const std::source_location& call_site);

/// Throws Error (kInvalidArgument) of `op` when the number is that of no dtype.
void check_dtype(std::string_view op, DType dtype, const std::source_location& call_site);

/// Throws Error (kInvalidArgument) of a public function.
[[noreturn]] void fail(std::string_view op, std::string message, const std::source_location& call_site);

}  // namespace tenon::trace
