// SPDX-License-Identifier: MIT
// Division by a value that all lanes share: one reciprocal, then a multiplication and two fused steps a vector.
//
// With z = 1/y rounded to nearest, q = x z, r = x - q y and q + r z, each rounded once, give the correctly rounded
// quotient, as long as nothing under- or overflows (Brisebarre, Muller, Raina, "Accelerating correctly rounded
// floating-point division when the divisor is known in advance", IEEE Trans. Computers 53(8), 2004). Vectors with a
// lane outside a range that makes sure of it are divided.
#include <cmath>

#include "compiler/codegen/cpu/ops.h"
#include "compiler/codegen/math_llvm_builder.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

// Operands of magnitudes from 1/kFar to kFar keep quotients and remainders normal.
double far(DType dtype) { return dtype == DType::kFloat64 ? 0x1p500 : 0x1p60; }

Value* is_within(KernelIr& ir, Value* x, double low, double high) {
  Value* magnitude = ir.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* above = ir.b.CreateFCmpOGE(magnitude, ir.real(x->getType(), low));
  return ir.b.CreateAnd(above, ir.b.CreateFCmpOLE(magnitude, ir.real(x->getType(), high)));
}

// Zeros need no care but for their sign, which is right for +0 only.
Value* is_positive_zero(KernelIr& ir, Value* x) {
  llvm::Type* bits = KernelIr::with_lanes(ir.b.getIntNTy(x->getType()->getScalarSizeInBits()), KernelIr::lanes_of(x));
  return ir.b.CreateICmpEQ(ir.b.CreateBitCast(x, bits), ir.integer(bits, 0));
}

}  // namespace

Value* emit_divide_by_scalar(KernelIr& ir, DType dtype, Value* x, Value* y) {
  const int lanes = KernelIr::lanes_of(x);
  const double high = far(dtype);
  MathLlvmBuilder builder(ir, lanes);
  Value* z = ir.spread(ir.b.CreateFDiv(ir.real(y->getType(), 1.0), y), lanes);
  Value* divisor = ir.spread(y, lanes);
  Value* q = builder.mul(x, z);
  Value* quotient = builder.fma(builder.fma(builder.neg(q), divisor, x), z, q);
  Value* easy = ir.b.CreateOr(is_within(ir, x, 1 / high, high), is_positive_zero(ir, x));
  Value* all_easy = ir.b.CreateAnd(easy, ir.spread(is_within(ir, y, 1 / high, high), lanes));
  const auto divide = [&] { return std::array<Value*, 1>{builder.div(x, divisor)}; };
  return builder.if_any(ir.b.CreateNot(all_easy), std::array<Value*, 1>{quotient}, divide)[0];
}

}  // namespace tenon::codegen
