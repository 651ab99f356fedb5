// SPDX-License-Identifier: MIT
// Integer arithmetic: two's complement, wrapping, with the project's answers for zero divisors and wide shifts.
#include "compiler/codegen/cpu/ops.h"
#include "llvm/IR/Intrinsics.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

// Quotient and remainder rounded to zero, of a divisor that is neither 0 nor, for the least x, -1.
struct Division {
  Value* quotient;
  Value* remainder;
};

class IntOps {
 public:
  IntOps(KernelIr& ir, const OpCall& call)
      : ir_(ir),
        b_(ir.b),
        x_(call.x[0]),
        y_(call.x[1]),
        type_(x_->getType()),
        lanes_(call.lanes),
        signed_(is_signed_int(call.operand)),
        width_(static_cast<int>(type_->getScalarSizeInBits())) {}

  Value* sign() {
    Value* positive = b_.CreateSelect(b_.CreateICmpEQ(x_, zero()), zero(), constant(1));
    return signed_ ? b_.CreateSelect(is_negative(x_), constant(-1), positive) : positive;
  }

  Value* abs() { return signed_ ? b_.CreateSelect(is_negative(x_), b_.CreateNeg(x_), x_) : x_; }

  Value* left_shift() { return where_count_fits(b_.CreateShl(x_, bounded_count()), zero()); }

  Value* right_shift() {
    if (signed_) return b_.CreateAShr(x_, bounded_count());
    return where_count_fits(b_.CreateLShr(x_, bounded_count()), zero());
  }

  Value* floor_divide() {
    const Division d = divide();
    return unless_zero_divisor(b_.CreateSub(d.quotient, b_.CreateZExt(rounds_up(d), type_)));
  }

  Value* remainder() {
    const Division d = divide();
    return unless_zero_divisor(b_.CreateSelect(rounds_up(d), b_.CreateAdd(d.remainder, y_), d.remainder));
  }

  Value* fmod() { return unless_zero_divisor(divide().remainder); }

  Value* pow() {
    Value* power = power_by_squaring();
    if (!signed_) return power;
    Value* odd = b_.CreateTrunc(y_, flags());
    Value* minus_one = b_.CreateSelect(odd, constant(-1), constant(1));
    Value* inverse = b_.CreateSelect(b_.CreateICmpEQ(x_, constant(1)), constant(1),
                                     b_.CreateSelect(b_.CreateICmpEQ(x_, constant(-1)), minus_one, zero()));
    return b_.CreateSelect(is_negative(y_), inverse, power);
  }

 private:
  Value* constant(std::int64_t value) { return ir_.integer(type_, value); }
  Value* zero() { return constant(0); }
  llvm::Type* flags() { return KernelIr::with_lanes(b_.getInt1Ty(), lanes_); }
  Value* is_negative(Value* v) { return b_.CreateICmpSLT(v, zero()); }

  Value* bounded_count() { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, y_, constant(width_ - 1)); }
  Value* where_count_fits(Value* shifted, Value* otherwise) {
    return b_.CreateSelect(b_.CreateICmpULT(y_, constant(width_)), shifted, otherwise);
  }

  Value* unless_zero_divisor(Value* value) { return b_.CreateSelect(b_.CreateICmpEQ(y_, zero()), zero(), value); }

  Value* rounds_up(const Division& d) {
    if (!signed_) return ir_.spread(b_.getFalse(), lanes_);
    return b_.CreateAnd(b_.CreateICmpNE(d.remainder, zero()), is_negative(b_.CreateXor(d.remainder, y_)));
  }

  // By 1 the least integer stays itself, as its quotient by -1 must, and a quotient by zero is dropped.
  Value* safe_divisor() {
    Value* unsafe = b_.CreateICmpEQ(y_, zero());
    if (signed_) {
      Value* least = constant(static_cast<std::int64_t>(~std::uint64_t{0} << (width_ - 1)));
      Value* wraps = b_.CreateAnd(b_.CreateICmpEQ(x_, least), b_.CreateICmpEQ(y_, constant(-1)));
      unsafe = b_.CreateOr(unsafe, wraps);
    }
    return b_.CreateSelect(unsafe, constant(1), y_);
  }

  Division divide() {
    Value* divisor = safe_divisor();
    Value* quotient = lanes_ > 1 && width_ <= 32 ? divide_as_floats(divisor)
                      : signed_                  ? b_.CreateSDiv(x_, divisor)
                                                 : b_.CreateUDiv(x_, divisor);
    return {quotient, b_.CreateSub(x_, b_.CreateMul(quotient, divisor))};
  }

  // Exact: integers of at most 32 bits and how far their quotient is from the next integer fit a float64.
  Value* divide_as_floats(Value* divisor) {
    llvm::Type* real = KernelIr::with_lanes(b_.getDoubleTy(), lanes_);
    const auto widen = [&](Value* v) { return signed_ ? b_.CreateSIToFP(v, real) : b_.CreateUIToFP(v, real); };
    Value* quotient = b_.CreateFDiv(widen(x_), widen(divisor));
    return signed_ ? b_.CreateFPToSI(quotient, type_) : b_.CreateFPToUI(quotient, type_);
  }

  Value* power_by_squaring() {
    llvm::AllocaInst* result = ir_.local(type_);
    llvm::AllocaInst* base = ir_.local(type_);
    llvm::AllocaInst* exponent = ir_.local(type_);
    b_.CreateStore(constant(1), result);
    b_.CreateStore(x_, base);
    b_.CreateStore(y_, exponent);
    const auto get = [&](llvm::AllocaInst* from) { return b_.CreateLoad(type_, from); };
    ir_.loop_while(
        [&]() -> Value* {
          Value* more = b_.CreateICmpNE(get(exponent), zero());
          return lanes_ == 1 ? more : b_.CreateOrReduce(more);
        },
        [&] {
          Value* square = get(base);
          Value* odd = b_.CreateTrunc(get(exponent), flags());
          b_.CreateStore(b_.CreateSelect(odd, b_.CreateMul(get(result), square), get(result)), result);
          b_.CreateStore(b_.CreateMul(square, square), base);
          b_.CreateStore(b_.CreateLShr(get(exponent), 1), exponent);
        });
    return get(result);
  }

  KernelIr& ir_;
  llvm::IRBuilder<>& b_;
  Value* x_;
  Value* y_;
  llvm::Type* type_;
  const int lanes_;
  const bool signed_;
  const int width_;
};

}  // namespace

Value* emit_int_op(KernelIr& ir, const OpCall& call) {
  const auto [x, y, z] = call.x;
  IntOps ops(ir, call);
  switch (call.op) {
    case Op::k_floor:
    case Op::k_ceil:
    case Op::k_trunc:
    case Op::k_round:
      return x;
    case Op::k_negative:
      return ir.b.CreateNeg(x);
    case Op::k_abs:
      return ops.abs();
    case Op::k_sign:
      return ops.sign();
    case Op::k_bitwise_invert:
      return ir.b.CreateNot(x);
    case Op::k_add:
      return ir.b.CreateAdd(x, y);
    case Op::k_subtract:
      return ir.b.CreateSub(x, y);
    case Op::k_multiply:
      return ir.b.CreateMul(x, y);
    case Op::k_floor_divide:
      return ops.floor_divide();
    case Op::k_remainder:
      return ops.remainder();
    case Op::k_fmod:
      return ops.fmod();
    case Op::k_pow:
      return ops.pow();
    case Op::k_maximum:
      return emit_maximum(ir, call.operand, x, y);
    case Op::k_minimum:
      return emit_minimum(ir, call.operand, x, y);
    case Op::k_bitwise_and:
      return ir.b.CreateAnd(x, y);
    case Op::k_bitwise_or:
      return ir.b.CreateOr(x, y);
    case Op::k_bitwise_xor:
      return ir.b.CreateXor(x, y);
    case Op::k_bitwise_left_shift:
      return ops.left_shift();
    case Op::k_bitwise_right_shift:
      return ops.right_shift();
    default:
      return nullptr;
  }
}

}  // namespace tenon::codegen
