// SPDX-License-Identifier: MIT
// Chooses the family of an elementwise op.
#include "compiler/ops/scalar_eval.h"

#include <array>

#include "compiler/ops/eval_loops.h"

namespace tenon {

void eval_elements(Op op, DType result, DType operand, absl::Span<const void* const> operands, void* out,
                   std::int64_t n) {
  const eval::Elements e{op, result, operand, operands, out, n};
  const std::string_view rule = row_of(op).result;
  if (op == Op::k_cast) return eval::eval_cast(e);
  if (op == Op::k_where) return eval::eval_where(e);
  if (op == Op::k_logical_not || rule == "compare" || rule == "predicate") return eval::eval_test(e);
  if (is_float(operand)) return eval::eval_float(e);
  eval::eval_integer(e);
}

std::uint64_t eval_scalar(Op op, DType result, DType operand, const std::uint64_t* operands) {
  std::array<const void*, 3> addresses{};
  const auto count = static_cast<std::size_t>(min_operands(op));
  for (std::size_t i = 0; i < count; ++i) addresses[i] = operands + i;
  std::uint64_t bits = 0;  // elements are little-endian, so the low bytes of a word are the element
  eval_elements(op, result, operand, absl::MakeConstSpan(addresses.data(), count), &bits, 1);
  return bits;
}

}  // namespace tenon
