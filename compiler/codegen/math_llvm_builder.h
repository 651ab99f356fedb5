// SPDX-License-Identifier: MIT
// The math::Builder that makes LLVM IR: formulas of compiler/ops/math over scalars or vectors of lanes.
//
// Every value is an llvm::Value of the element type, a scalar or a vector; constants are scalars that spread when they
// meet lanes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "compiler/codegen/cpu/kernel_ir.h"
#include "compiler/ops/math/builder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tenon::codegen {

/// Builds at the insertion point of `ir`, for `lanes` lanes. if_any makes a branch, so the insertion point may move to
/// another block.
class MathLlvmBuilder {
 public:
  template <class>
  using Value = llvm::Value*;
  using V = llvm::Value*;

  MathLlvmBuilder(KernelIr& ir, int lanes) : ir_(ir), b_(ir.b), lanes_(lanes) {}

  V f32(float x) { return real(b_.getFloatTy(), x); }
  V f64(double x) { return real(b_.getDoubleTy(), x); }
  V i32(std::int32_t x) { return ir_.integer(lanes(b_.getInt32Ty()), x); }
  V i64(std::int64_t x) { return ir_.integer(lanes(b_.getInt64Ty()), x); }

  V add(V x, V y) { return b_.CreateFAdd(x, y); }
  V sub(V x, V y) { return b_.CreateFSub(x, y); }
  V mul(V x, V y) { return b_.CreateFMul(x, y); }
  V div(V x, V y) { return b_.CreateFDiv(x, y); }
  V fmod(V x, V y) { return b_.CreateFRem(x, y); }
  V neg(V x) { return b_.CreateFNeg(x); }
  V fma(V x, V y, V z) { return b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z}); }
  V sqrt(V x) { return unary(llvm::Intrinsic::sqrt, x); }
  V abs(V x) { return unary(llvm::Intrinsic::fabs, x); }
  V floor(V x) { return unary(llvm::Intrinsic::floor, x); }
  V trunc(V x) { return unary(llvm::Intrinsic::trunc, x); }
  V round_even(V x) { return unary(llvm::Intrinsic::roundeven, x); }
  V to_bits(V x) { return b_.CreateBitCast(x, lanes(is_double(x) ? b_.getInt64Ty() : b_.getInt32Ty())); }
  V from_bits(V x) {
    const bool wide = x->getType()->getScalarSizeInBits() == 64;
    return b_.CreateBitCast(x, lanes(wide ? b_.getDoubleTy() : b_.getFloatTy()));
  }

  template <class Other>
  V scale(V x, V k, V is_zero, Other other) {
    llvm::Function* instruction = scale_instruction(x->getType());
    if (instruction == nullptr) return other();
    const bool is_whole = instruction->arg_size() == 5;  // 512 bits: with a rounding mode, 4 being the current one
    V zero = llvm::Constant::getNullValue(x->getType());
    V mask = mask_bits(b_.CreateNot(is_zero), instruction->getArg(3)->getType());
    if (is_whole) return b_.CreateCall(instruction, {x, k, zero, mask, b_.getInt32(4)});
    return b_.CreateCall(instruction, {x, k, zero, mask});
  }

  V iadd(V x, V y) { return b_.CreateAdd(x, y); }
  V isub(V x, V y) { return b_.CreateSub(x, y); }
  V imul(V x, V y) { return b_.CreateMul(x, y); }
  V iand(V x, V y) { return b_.CreateAnd(x, y); }
  V ior(V x, V y) { return b_.CreateOr(x, y); }
  V ixor(V x, V y) { return b_.CreateXor(x, y); }
  V shl(V x, V n) { return b_.CreateShl(x, n); }
  V lshr(V x, V n) { return b_.CreateLShr(x, n); }
  V ashr(V x, V n) { return b_.CreateAShr(x, n); }

  V lt(V x, V y) { return is_float(x) ? b_.CreateFCmpOLT(x, y) : b_.CreateICmpSLT(x, y); }
  V le(V x, V y) { return is_float(x) ? b_.CreateFCmpOLE(x, y) : b_.CreateICmpSLE(x, y); }
  V gt(V x, V y) { return is_float(x) ? b_.CreateFCmpOGT(x, y) : b_.CreateICmpSGT(x, y); }
  V ge(V x, V y) { return is_float(x) ? b_.CreateFCmpOGE(x, y) : b_.CreateICmpSGE(x, y); }
  V eq(V x, V y) { return is_float(x) ? b_.CreateFCmpOEQ(x, y) : b_.CreateICmpEQ(x, y); }
  V ne(V x, V y) { return is_float(x) ? b_.CreateFCmpUNE(x, y) : b_.CreateICmpNE(x, y); }
  V select(V c, V x, V y) { return b_.CreateSelect(c, x, y); }
  V logical_and(V x, V y) { return b_.CreateAnd(x, y); }
  V logical_or(V x, V y) { return b_.CreateOr(x, y); }
  V logical_not(V x) { return b_.CreateNot(x); }

  V to_f32(V x) { return is_float(x) ? b_.CreateFPTrunc(x, float_type()) : b_.CreateSIToFP(x, float_type()); }
  V to_f64(V x) {
    llvm::Type* wide = lanes(b_.getDoubleTy());
    return is_float(x) ? b_.CreateFPExt(x, wide) : b_.CreateSIToFP(x, wide);
  }
  V to_i32(V x) { return b_.CreateFPToSI(x, lanes(b_.getInt32Ty())); }
  V to_i64(V x) { return b_.CreateFPToSI(x, lanes(b_.getInt64Ty())); }

  template <std::size_t N, class Slow>
  std::array<V, N> if_any(V c, const std::array<V, N>& fast, Slow slow) {
    std::array<V, N> result = fast;
    std::array<llvm::AllocaInst*, N> chosen;
    for (std::size_t i = 0; i < N; ++i) {
      chosen[i] = ir_.local(fast[i]->getType());
      b_.CreateStore(fast[i], chosen[i]);
    }
    ir_.when(lanes_ == 1 ? c : b_.CreateOrReduce(c), [&] {
      const std::array<V, N> values = slow();
      for (std::size_t i = 0; i < N; ++i) b_.CreateStore(b_.CreateSelect(c, values[i], fast[i]), chosen[i]);
    });
    for (std::size_t i = 0; i < N; ++i) result[i] = b_.CreateLoad(fast[i]->getType(), chosen[i]);
    return result;
  }

 private:
  llvm::Type* lanes(llvm::Type* element) { return KernelIr::with_lanes(element, lanes_); }
  llvm::Type* float_type() { return lanes(b_.getFloatTy()); }
  V real(llvm::Type* element, double x) { return ir_.real(lanes(element), x); }
  V unary(llvm::Intrinsic::ID id, V x) { return b_.CreateUnaryIntrinsic(id, x); }
  /// A mask of lanes as the integer that AVX-512's intrinsics take, at least eight bits wide.
  V mask_bits(V mask, llvm::Type* integer) {
    V bits = b_.CreateBitCast(mask, b_.getIntNTy(static_cast<unsigned>(lanes_)));
    return b_.CreateZExt(bits, integer);
  }
  /// AVX-512's vscalef for vectors of that type, if the target has it.
  llvm::Function* scale_instruction(llvm::Type* type) {
    using namespace llvm;
    if (ir_.vector_bytes < 64 || !type->isVectorTy()) return nullptr;
    const bool wide = type->getScalarSizeInBits() == 64;
    Intrinsic::ID id = Intrinsic::not_intrinsic;
    switch (type->getPrimitiveSizeInBits().getFixedValue()) {
      case 128:
        id = wide ? Intrinsic::x86_avx512_mask_scalef_pd_128 : Intrinsic::x86_avx512_mask_scalef_ps_128;
        break;
      case 256:
        id = wide ? Intrinsic::x86_avx512_mask_scalef_pd_256 : Intrinsic::x86_avx512_mask_scalef_ps_256;
        break;
      case 512:
        id = wide ? Intrinsic::x86_avx512_mask_scalef_pd_512 : Intrinsic::x86_avx512_mask_scalef_ps_512;
        break;
      default:
        return nullptr;
    }
    return Intrinsic::getDeclaration(b_.GetInsertBlock()->getModule(), id);
  }
  static bool is_double(V x) { return x->getType()->getScalarType()->isDoubleTy(); }
  static bool is_float(V x) { return x->getType()->getScalarType()->isFloatingPointTy(); }

  KernelIr& ir_;
  llvm::IRBuilder<>& b_;
  const int lanes_;
};

static_assert(math::Builder<MathLlvmBuilder>);

}  // namespace tenon::codegen
