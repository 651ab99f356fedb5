// SPDX-License-Identifier: MIT
// Ops whose result is bool.
#include <limits>

#include "compiler/codegen/cpu/ops.h"
#include "llvm/IR/Intrinsics.h"

namespace tenon::codegen {

using llvm::CmpInst;
using llvm::Value;

namespace {

CmpInst::Predicate predicate(Op op, DType dtype) {
  const bool real = is_float(dtype);
  const bool sign = is_signed_int(dtype);
  const auto pick = [&](CmpInst::Predicate f, CmpInst::Predicate s, CmpInst::Predicate u) {
    return real ? f : sign ? s : u;
  };
  switch (op) {
    case Op::k_equal:
      return pick(CmpInst::FCMP_OEQ, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ);
    case Op::k_not_equal:
      return pick(CmpInst::FCMP_UNE, CmpInst::ICMP_NE, CmpInst::ICMP_NE);
    case Op::k_less:
      return pick(CmpInst::FCMP_OLT, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT);
    case Op::k_less_equal:
      return pick(CmpInst::FCMP_OLE, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE);
    case Op::k_greater:
      return pick(CmpInst::FCMP_OGT, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT);
    case Op::k_greater_equal:
      return pick(CmpInst::FCMP_OGE, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE);
    default:
      return CmpInst::BAD_ICMP_PREDICATE;
  }
}

Value* emit_class_test(KernelIr& ir, const OpCall& call) {
  Value* x = call.x[0];
  Value* none = ir.spread(ir.b.getFalse(), call.lanes);
  if (!is_float(call.operand)) {
    if (call.op == Op::k_isfinite) return ir.spread(ir.b.getTrue(), call.lanes);
    if (call.op == Op::k_signbit && is_signed_int(call.operand))
      return ir.b.CreateICmpSLT(x, ir.integer(x->getType(), 0));
    return none;
  }
  Value* infinity = ir.real(x->getType(), std::numeric_limits<double>::infinity());
  Value* magnitude = ir.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  if (call.op == Op::k_isnan) return ir.b.CreateFCmpUNO(x, x);
  if (call.op == Op::k_isinf) return ir.b.CreateFCmpOEQ(magnitude, infinity);
  if (call.op == Op::k_isfinite) return ir.b.CreateFCmpOLT(magnitude, infinity);
  const auto width = static_cast<unsigned>(x->getType()->getScalarSizeInBits());
  llvm::Type* bits = KernelIr::with_lanes(ir.b.getIntNTy(width), call.lanes);
  Value* negative = ir.b.CreateICmpSLT(ir.b.CreateBitCast(x, bits), ir.integer(bits, 0));
  return ir.b.CreateAnd(negative, ir.b.CreateFCmpORD(x, x));
}

}  // namespace

Value* emit_compare_op(KernelIr& ir, const OpCall& call) {
  const auto [x, y, z] = call.x;
  switch (call.op) {
    case Op::k_logical_not:
      return ir.b.CreateNot(x);
    case Op::k_logical_and:
      return ir.b.CreateAnd(x, y);
    case Op::k_logical_or:
      return ir.b.CreateOr(x, y);
    case Op::k_logical_xor:
      return ir.b.CreateXor(x, y);
    case Op::k_isnan:
    case Op::k_isinf:
    case Op::k_isfinite:
    case Op::k_signbit:
      return emit_class_test(ir, call);
    default:
      break;
  }
  const CmpInst::Predicate p = predicate(call.op, call.operand);
  return p == CmpInst::BAD_ICMP_PREDICATE ? nullptr : ir.b.CreateCmp(p, x, y);
}

}  // namespace tenon::codegen
