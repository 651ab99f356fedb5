// SPDX-License-Identifier: MIT
// Floating-point arithmetic and functions. Halves compute in float32, in which they live, and round once an op.
#include <optional>

#include "compiler/codegen/cpu/ops.h"
#include "compiler/codegen/math_llvm_builder.h"
#include "compiler/ops/math/math.h"
#include "llvm/IR/Intrinsics.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

std::optional<math::MathFn> function_of(Op op) {
  for (std::size_t i = 0; i < math::kNumMathFns; ++i) {
    const auto fn = static_cast<math::MathFn>(i);
    if (math::name_of(fn) == name_of(op)) return fn;
  }
  return std::nullopt;
}

Value* emit_function(KernelIr& ir, const OpCall& call) {
  const std::optional<math::MathFn> fn = function_of(call.op);
  if (!fn.has_value()) return nullptr;
  MathLlvmBuilder builder(ir, call.lanes);
  if (call.operand == DType::kFloat64) return math::apply_math<double>(builder, *fn, call.x[0], call.x[1]);
  return math::apply_math<float>(builder, *fn, call.x[0], call.x[1]);
}

Value* emit_sign(KernelIr& ir, Value* x) {
  llvm::Type* type = x->getType();
  Value* zero = ir.real(type, 0.0);
  Value* of_zero = ir.b.CreateSelect(ir.b.CreateFCmpOEQ(x, zero), zero, x);
  Value* of_negative = ir.b.CreateSelect(ir.b.CreateFCmpOLT(x, zero), ir.real(type, -1.0), of_zero);
  return ir.b.CreateSelect(ir.b.CreateFCmpOGT(x, zero), ir.real(type, 1.0), of_negative);
}

// The next value of a half dtype: one up or down in its bits, which order like the magnitudes.
Value* emit_half_nextafter(KernelIr& ir, const OpCall& call) {
  const auto [x, y, z] = call.x;
  Value* bits = ir.to_memory(call.operand, x);
  llvm::Type* type = bits->getType();
  Value* zero = ir.real(x->getType(), 0.0);
  Value* away = ir.b.CreateICmpEQ(ir.b.CreateFCmpOLT(x, y), ir.b.CreateFCmpOGT(x, zero));
  Value* stepped = ir.b.CreateAdd(bits, ir.b.CreateSelect(away, ir.integer(type, 1), ir.integer(type, -1)));
  Value* sign = ir.b.CreateAnd(ir.to_memory(call.operand, y), ir.integer(type, -0x8000));
  Value* least = ir.b.CreateOr(sign, ir.integer(type, 1));
  Value* moved = ir.from_memory(call.operand, ir.b.CreateSelect(ir.b.CreateFCmpOEQ(x, zero), least, stepped));
  Value* next = ir.b.CreateSelect(ir.b.CreateFCmpOEQ(x, y), y, moved);
  return ir.b.CreateSelect(ir.b.CreateFCmpUNO(x, y), ir.b.CreateFAdd(x, y), next);
}

// Ops whose result is a value of the dtype without rounding.
Value* emit_exact_op(KernelIr& ir, const OpCall& call) {
  const auto [x, y, z] = call.x;
  const auto unary = [&, x = x](llvm::Intrinsic::ID id) { return ir.b.CreateUnaryIntrinsic(id, x); };
  switch (call.op) {
    case Op::k_negative:
      return ir.b.CreateFNeg(x);
    case Op::k_abs:
      return unary(llvm::Intrinsic::fabs);
    case Op::k_sign:
      return emit_sign(ir, x);
    case Op::k_floor:
      return unary(llvm::Intrinsic::floor);
    case Op::k_ceil:
      return unary(llvm::Intrinsic::ceil);
    case Op::k_trunc:
      return unary(llvm::Intrinsic::trunc);
    case Op::k_round:
      return unary(llvm::Intrinsic::roundeven);
    case Op::k_maximum:
      return emit_maximum(ir, call.operand, x, y);
    case Op::k_minimum:
      return emit_minimum(ir, call.operand, x, y);
    case Op::k_nextafter:
      return is_half(call.operand) ? emit_half_nextafter(ir, call) : nullptr;
    default:
      return nullptr;
  }
}

Value* emit_rounded_op(KernelIr& ir, const OpCall& call) {
  const auto [x, y, z] = call.x;
  switch (call.op) {
    case Op::k_add:
      return ir.b.CreateFAdd(x, y);
    case Op::k_subtract:
      return ir.b.CreateFSub(x, y);
    case Op::k_multiply:
      return ir.b.CreateFMul(x, y);
    case Op::k_divide:
      return ir.b.CreateFDiv(x, y);
    case Op::k_sqrt:
      return ir.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case Op::k_fma:
      return ir.b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
    default:
      return emit_function(ir, call);
  }
}

}  // namespace

Value* emit_float_op(KernelIr& ir, const OpCall& call) {
  if (Value* exact = emit_exact_op(ir, call)) return exact;
  Value* value = emit_rounded_op(ir, call);
  return value == nullptr ? nullptr : ir.round_to(call.result, value);
}

}  // namespace tenon::codegen
