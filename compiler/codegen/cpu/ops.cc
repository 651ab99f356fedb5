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

Value* emit_maximum(KernelIr& ir, DType dtype, Value* x, Value* y) {
  if (dtype == DType::kBool) return ir.b.CreateOr(x, y);
  const auto id = is_float(dtype)        ? llvm::Intrinsic::maximum
                  : is_signed_int(dtype) ? llvm::Intrinsic::smax
                                         : llvm::Intrinsic::umax;
  return ir.b.CreateBinaryIntrinsic(id, x, y);
}

Value* emit_minimum(KernelIr& ir, DType dtype, Value* x, Value* y) {
  if (dtype == DType::kBool) return ir.b.CreateAnd(x, y);
  const auto id = is_float(dtype)        ? llvm::Intrinsic::minimum
                  : is_signed_int(dtype) ? llvm::Intrinsic::smin
                                         : llvm::Intrinsic::umin;
  return ir.b.CreateBinaryIntrinsic(id, x, y);
}

// ---- random ----

namespace {

struct Philox {
  KernelIr& ir;
  llvm::Type* word;
  llvm::Type* wide;

  // High and low half of x times a 32-bit constant.
  std::array<Value*, 2> multiply(Value* x, std::uint32_t factor) const {
    Value* product = ir.b.CreateMul(ir.b.CreateZExt(x, wide), ir.integer(wide, factor));
    return {ir.b.CreateTrunc(ir.b.CreateLShr(product, 32), word), ir.b.CreateTrunc(product, word)};
  }
  Value* add(Value* x, std::uint32_t constant) const {
    return ir.b.CreateAdd(x, ir.integer(word, static_cast<std::int32_t>(constant)));
  }
};

}  // namespace

// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011), with its multipliers and Weyl constants.
Value* emit_philox(KernelIr& ir, Value* key, Value* counter, int word) {
  const int lanes = KernelIr::lanes_of(counter);
  const Philox philox{ir, KernelIr::with_lanes(ir.b.getInt32Ty(), lanes),
                      KernelIr::with_lanes(ir.b.getInt64Ty(), lanes)};
  const auto low = [&](Value* x) { return ir.b.CreateTrunc(x, philox.word); };
  const auto high = [&](Value* x) { return ir.b.CreateTrunc(ir.b.CreateLShr(x, 32), philox.word); };
  Value* zero = ir.integer(philox.word, 0);
  std::array<Value*, 4> c = {low(counter), high(counter), zero, zero};
  std::array<Value*, 2> k = {low(key), high(key)};
  for (int round = 0; round < 10; ++round) {
    if (round > 0) k = {philox.add(k[0], 0x9E3779B9u), philox.add(k[1], 0xBB67AE85u)};
    const auto a = philox.multiply(c[0], 0xD2511F53u);
    const auto d = philox.multiply(c[2], 0xCD9E8D57u);
    c = {ir.b.CreateXor(ir.b.CreateXor(d[0], c[1]), k[0]), d[1], ir.b.CreateXor(ir.b.CreateXor(a[0], c[3]), k[1]),
         a[1]};
  }
  return c[static_cast<std::size_t>(word)];
}

}  // namespace tenon::codegen
