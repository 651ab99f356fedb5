// SPDX-License-Identifier: MIT
// Random words: compiler/ops/philox.h over lanes.
#include "compiler/codegen/cpu/ops.h"
#include "compiler/ops/philox.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

// The Ops of philox4x32: words are i32, scalars or lanes.
struct LaneWords {
  using Word = Value*;

  Word constant(std::uint32_t value) { return ir.integer(word, static_cast<std::int32_t>(value)); }
  Word add(Word x, Word y) { return ir.b.CreateAdd(x, y); }
  Word exclusive_or(Word x, Word y) { return ir.b.CreateXor(x, y); }
  Word multiply_low(Word x, Word y) { return ir.b.CreateMul(x, y); }
  Word multiply_high(Word x, Word y) {
    return high(ir.b.CreateMul(ir.b.CreateZExt(x, wide), ir.b.CreateZExt(y, wide)));
  }
  Word low(Value* x) { return ir.b.CreateTrunc(x, word); }
  Word high(Value* x) { return low(ir.b.CreateLShr(x, 32)); }

  KernelIr& ir;
  llvm::Type* word;
  llvm::Type* wide;
};

}  // namespace

Value* emit_philox(KernelIr& ir, Value* key, Value* counter, int word) {
  const int lanes = KernelIr::lanes_of(counter);
  LaneWords ops{ir, KernelIr::with_lanes(ir.b.getInt32Ty(), lanes), KernelIr::with_lanes(ir.b.getInt64Ty(), lanes)};
  Value* zero = ops.constant(0);
  return philox4x32(ops, {ops.low(counter), ops.high(counter), zero, zero},
                    {ops.low(key), ops.high(key)})[static_cast<std::size_t>(word)];
}

}  // namespace tenon::codegen
