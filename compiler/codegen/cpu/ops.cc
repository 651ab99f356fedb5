// SPDX-License-Identifier: MIT
#include "compiler/codegen/cpu/ops.h"

#include "llvm/IR/Intrinsics.h"

namespace tenon::codegen {

using llvm::Value;

llvm::Value* emit_op(KernelIr& ir, const OpCall& call) {
  if (call.op == Op::k_where) return ir.b.CreateSelect(call.x[0], call.x[1], call.x[2]);
  if (call.op == Op::k_cast) return emit_cast(ir, call);
  if (Value* value = emit_compare_op(ir, call)) return value;
  if (call.operand == DType::kBool) return emit_bool_op(ir, call);
  return is_float(call.operand) ? emit_float_op(ir, call) : emit_int_op(ir, call);
}

llvm::Value* emit_bool_op(KernelIr& ir, const OpCall& call) {
  const auto [x, y, z] = call.x;
  switch (call.op) {
    case Op::k_add:
    case Op::k_maximum:
    case Op::k_bitwise_or:
      return ir.b.CreateOr(x, y);
    case Op::k_multiply:
    case Op::k_minimum:
    case Op::k_bitwise_and:
      return ir.b.CreateAnd(x, y);
    case Op::k_bitwise_xor:
      return ir.b.CreateXor(x, y);
    case Op::k_abs:
    case Op::k_sign:
    case Op::k_floor:
    case Op::k_ceil:
    case Op::k_trunc:
    case Op::k_round:
      return x;
    default:
      return nullptr;
  }
}

namespace {

// llvm.maximum and llvm.minimum of widened halves are narrowed by LLVM 19, which then loses NaNs, so these are spelled
// out: equal operands differ in the sign of zero at most, and a second operand that is NaN is what a comparison leaves.
Value* emit_half_extreme(KernelIr& ir, bool largest, Value* x, Value* y) {
  llvm::Type* bits = KernelIr::with_lanes(ir.b.getInt32Ty(), KernelIr::lanes_of(x));
  Value* x_bits = ir.b.CreateBitCast(x, bits);
  Value* y_bits = ir.b.CreateBitCast(y, bits);
  Value* of_equals = largest ? ir.b.CreateAnd(x_bits, y_bits) : ir.b.CreateOr(x_bits, y_bits);
  Value* beyond = largest ? ir.b.CreateFCmpOGT(x, y) : ir.b.CreateFCmpOLT(x, y);
  Value* keeps_x = ir.b.CreateOr(beyond, ir.b.CreateFCmpUNO(x, x));
  Value* chosen = ir.b.CreateSelect(keeps_x, x, y);
  return ir.b.CreateSelect(ir.b.CreateFCmpOEQ(x, y), ir.b.CreateBitCast(of_equals, x->getType()), chosen);
}

Value* emit_extreme(KernelIr& ir, DType dtype, bool largest, Value* x, Value* y) {
  using namespace llvm::Intrinsic;
  if (is_half(dtype)) return emit_half_extreme(ir, largest, x, y);
  if (is_float(dtype)) return ir.b.CreateBinaryIntrinsic(largest ? maximum : minimum, x, y);
  if (is_signed_int(dtype)) return ir.b.CreateBinaryIntrinsic(largest ? smax : smin, x, y);
  return ir.b.CreateBinaryIntrinsic(largest ? umax : umin, x, y);
}

}  // namespace

Value* emit_maximum(KernelIr& ir, DType dtype, Value* x, Value* y) {
  return dtype == DType::kBool ? ir.b.CreateOr(x, y) : emit_extreme(ir, dtype, true, x, y);
}

Value* emit_minimum(KernelIr& ir, DType dtype, Value* x, Value* y) {
  return dtype == DType::kBool ? ir.b.CreateAnd(x, y) : emit_extreme(ir, dtype, false, x, y);
}

}  // namespace tenon::codegen
