// SPDX-License-Identifier: MIT
// Rules on casts, constants and products.
#include <bit>
#include <cmath>

#include "compiler/ops/scalar_eval.h"
#include "compiler/rewrite/rule.h"

namespace tenon {
namespace {

NodeId same_cast(const Site& s) { return s.is(Op::k_cast) && s.has_type_of_operand() ? s.operands[0] : -1; }

/// Bits of the significand, the hidden one included; of integers, those of the magnitude.
int precision_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return 1;
    case DType::kFloat16:
      return 11;
    case DType::kBFloat16:
      return 8;
    case DType::kFloat32:
      return 24;
    case DType::kFloat64:
      return 53;
    default:
      return static_cast<int>(8 * size_of(dtype)) - (is_signed_int(dtype) ? 1 : 0);
  }
}

/// Every value of `from` is one of `to`.
bool is_lossless(DType from, DType to) {
  if (from == to || from == DType::kBool) return true;
  if (to == DType::kBool) return false;
  if (is_float(from)) return is_float(to) && to > from && !(from == DType::kFloat16 && to == DType::kBFloat16);
  if (is_signed_int(from) && is_unsigned_int(to)) return false;
  return precision_of(from) <= precision_of(to);
}

/// An exact cast on the way changes nothing, unless integers would wrap where floats saturate.
NodeId cast_of_exact_cast(const Site& s) {
  if (!s.is(Op::k_cast) || s.operand(0).op != Op::k_cast) return -1;
  const NodeId source = s.operand(0).operands[0];
  const DType from = s.graph().node(source).type.dtype, through = s.operand(0).type.dtype, to = s.node.type.dtype;
  if (!is_lossless(from, through)) return -1;
  const bool saturates = is_float(through) && !is_float(from) && !is_float(to) && to != DType::kBool;
  if (saturates && !is_lossless(from, to)) return -1;
  return cast(Value{&s.builder, source}, to).id;
}

NodeId append_constant(const Site& s, const TensorType& type, std::uint64_t bits) {
  Node constant;
  constant.op = Op::k_constant;
  constant.type = type;
  constant.attrs.append(static_cast<std::int64_t>(bits));
  return s.builder.append_copy(constant, {});
}

/// Both are the one exact quotient, rounded once.
NodeId divide_by_power_of_two(const Site& s) {
  if (!s.is(Op::k_divide) || s.operand(1).op != Op::k_constant) return -1;
  const DType dtype = s.node.type.dtype;
  const auto divisor = static_cast<std::uint64_t>(s.operand(1).value("bits"));
  const std::uint64_t wide = eval_scalar(Op::k_cast, DType::kFloat64, dtype, &divisor);
  int exponent = 0;
  if (std::abs(std::frexp(std::bit_cast<double>(wide), &exponent)) != 0.5) return -1;
  const std::uint64_t one = bits_of(dtype, 1.0), quotient[] = {one, divisor};
  const std::uint64_t inverse = eval_scalar(Op::k_divide, dtype, dtype, quotient), product[] = {inverse, divisor};
  if (eval_scalar(Op::k_multiply, dtype, dtype, product) != one) return -1;  // the inverse is out of range
  const NodeId factor = append_constant(s, s.operand(1).type, inverse);
  return s.builder.append(Op::k_multiply, {s.operands[0], factor});
}

/// An elementwise op of constants is a constant.
NodeId fold_constants(const Site& s) {
  if (row_of(s.node.op).kind != OpKind::elementwise || !s.node.type.shape.empty()) return -1;
  std::uint64_t bits[3] = {};
  for (std::size_t i = 0; i < s.operands.size(); ++i) {
    if (s.operand(i).op != Op::k_constant) return -1;
    bits[i] = static_cast<std::uint64_t>(s.operand(i).value("bits"));
  }
  const DType operand = s.operand(s.operands.size() - 1).type.dtype;
  return append_constant(s, s.node.type, eval_scalar(s.node.op, s.node.type.dtype, operand, bits));
}

/// The last two axes swapped, and no others moved.
bool is_transposition(const Site& s) {
  if (!s.is(Op::k_permute_dims)) return false;
  const auto axes = s.node.ints("axes");
  const auto rank = static_cast<std::int64_t>(axes.size());
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t want = i < rank - 2 ? i : 2 * rank - 3 - i;
    if (axes[static_cast<std::size_t>(i)] != want) return false;
  }
  return rank >= 2;
}

Value transposed(const Value& x) {
  Shape axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i < x.rank() - 2 ? i : 2 * x.rank() - 3 - i);
  return apply(Op::k_permute_dims, {x}, Attrs{axes});
}

/// transpose(a @ b) = transpose(b) @ transpose(a): the same products in the same order, and no copy after them.
NodeId transposed_product(const Site& s) {
  if (!is_transposition(s) || s.operand(0).op != Op::k_matmul || !s.is_only_reader) return -1;
  const Value a{&s.builder, s.operand(0).operands[0]}, b{&s.builder, s.operand(0).operands[1]};
  if (a.rank() < 2 || b.rank() < 2) return -1;
  return apply(Op::k_matmul, {transposed(b), transposed(a)}).id;
}

constexpr Rule kRules[] = {
    {"cast(x, own dtype) = x", same_cast, "input x: A[64]\n%1: A[64] = cast(x, dtype=A)"},
    {"cast(exact cast(x)) = cast(x)", cast_of_exact_cast,
     "input x: A[64]\n%1: B[64] = cast(x, dtype=B)\n%2: C[64] = cast(%1, dtype=C)"},
    {"x / 2^k = x * 2^-k", divide_by_power_of_two, "input x: A[64, 8]\n%1: A[64] = mean(x, axis=[1], keepdims=false)"},
    {"op(constants) = constant", fold_constants,
     "input x: A[64]\nc: A = constant(3)\n%1: A = add(c, c)\n%2: A = multiply(%1, c)\n%3: A[64] = add(x, %2)"},
    {"transpose(a @ b) = transpose(b) @ transpose(a)", transposed_product,
     "input x: A[2, 5, 7]\ninput y: A[7, 3]\n%1: A[2, 5, 3] = matmul(x, y)\n%2: A[2, 3, 5] = transpose(%1)"},
};

}  // namespace

absl::Span<const Rule> arithmetic_rules() { return kRules; }

}  // namespace tenon
