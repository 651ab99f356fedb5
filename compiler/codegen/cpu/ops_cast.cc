// SPDX-License-Identifier: MIT
// Conversions of values. Each rounds at most once: where a type in between would round too, it is rounded to odd,
// which keeps what the final rounding needs to know.
#include "compiler/codegen/cpu/ops.h"
#include "llvm/IR/Intrinsics.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

class Cast {
 public:
  Cast(KernelIr& ir, const OpCall& call)
      : ir_(ir),
        b_(ir.b),
        x_(call.x[0]),
        from_(call.operand),
        to_(call.result),
        lanes_(call.lanes),
        type_(ir.type(to_, lanes_)) {}

  Value* emit() {
    if (from_ == to_) return x_;
    if (to_ == DType::kBool) return is_not_zero();
    if (from_ == DType::kBool) return from_bool();
    if (!is_float(to_)) return is_float(from_) ? float_to_int() : int_to_int();
    if (is_half(to_)) return ir_.round_to(to_, is_float(from_) ? float_to_float32() : int_to_float32());
    return is_float(from_) ? float_to_float() : int_to_float(x_, type_);
  }

 private:
  Value* is_not_zero() {
    if (is_float(from_)) return b_.CreateFCmpUNE(x_, ir_.real(x_->getType(), 0.0));
    return b_.CreateICmpNE(x_, ir_.integer(x_->getType(), 0));
  }

  Value* from_bool() { return is_float(to_) ? b_.CreateUIToFP(x_, type_) : b_.CreateZExt(x_, type_); }

  Value* float_to_int() {
    const auto id = is_signed_int(to_) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(id, {type_, x_->getType()}, {x_});
  }

  Value* int_to_int() {
    return is_signed_int(from_) ? b_.CreateSExtOrTrunc(x_, type_) : b_.CreateZExtOrTrunc(x_, type_);
  }

  Value* float_to_float() { return to_ == DType::kFloat32 ? b_.CreateFPCast(x_, type_) : b_.CreateFPExt(x_, type_); }

  Value* int_to_float(Value* x, llvm::Type* type) {
    return is_signed_int(from_) ? b_.CreateSIToFP(x, type) : b_.CreateUIToFP(x, type);
  }

  // On the way to a half dtype.
  Value* float_to_float32() { return from_ == DType::kFloat64 ? float64_to_odd_float32(x_) : x_; }

  Value* int_to_float32() {
    if (size_of(from_) <= 2) return int_to_float(x_, type_);
    llvm::Type* wide = KernelIr::with_lanes(b_.getDoubleTy(), lanes_);
    if (size_of(from_) == 4) return float64_to_odd_float32(int_to_float(x_, wide));
    return float64_to_odd_float32(int64_to_odd_float64(wide));
  }

  // Beyond 2^52 in magnitude the last 11 bits are replaced by whether any is set, so that the rest is exact.
  Value* int64_to_odd_float64(llvm::Type* wide) {
    llvm::Type* type = x_->getType();
    Value* low = b_.CreateAnd(x_, ir_.integer(type, 0x7ff));
    Value* sticky = b_.CreateZExt(b_.CreateICmpNE(low, ir_.integer(type, 0)), type);
    Value* high = is_signed_int(from_) ? b_.CreateAShr(x_, 11) : b_.CreateLShr(x_, 11);
    Value* scaled = b_.CreateFMul(int_to_float(b_.CreateOr(high, sticky), wide), ir_.real(wide, 2048.0));
    Value* offset = b_.CreateAdd(x_, ir_.integer(type, std::int64_t{1} << 52));
    Value* small = b_.CreateICmpULE(is_signed_int(from_) ? offset : x_, ir_.integer(type, std::int64_t{1} << 53));
    return b_.CreateSelect(small, int_to_float(x_, wide), scaled);
  }

  // The float32 next to x whose last bit is set, unless x is a float32.
  Value* float64_to_odd_float32(Value* x) {
    llvm::Type* narrow = KernelIr::with_lanes(b_.getFloatTy(), lanes_);
    llvm::Type* bits_type = KernelIr::with_lanes(b_.getInt32Ty(), lanes_);
    Value* nearest = b_.CreateFPTrunc(x, narrow);
    Value* back = b_.CreateFPExt(nearest, x->getType());
    Value* bits = b_.CreateBitCast(nearest, bits_type);
    Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, ir_.integer(bits_type, 1)), ir_.integer(bits_type, 0));
    Value* adjust = b_.CreateAnd(b_.CreateFCmpONE(back, x), even);
    const auto magnitude = [&](Value* v) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
    Value* was_lowered = b_.CreateFCmpOGT(magnitude(x), magnitude(back));
    Value* step = b_.CreateSelect(was_lowered, ir_.integer(bits_type, 1), ir_.integer(bits_type, -1));
    Value* odd = b_.CreateSelect(adjust, b_.CreateAdd(bits, step), bits);
    return b_.CreateBitCast(odd, narrow);
  }

  KernelIr& ir_;
  llvm::IRBuilder<>& b_;
  Value* x_;
  const DType from_;
  const DType to_;
  const int lanes_;
  llvm::Type* type_;
};

}  // namespace

Value* emit_cast(KernelIr& ir, const OpCall& call) { return Cast(ir, call).emit(); }

}  // namespace tenon::codegen
