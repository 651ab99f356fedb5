// SPDX-License-Identifier: MIT
// The scalar emitter: elementwise primitives on register values, by family. Their meaning is that of op_table.def and
// agrees bit for bit with compiler/ops/scalar_eval.h. Branch-free but for rare paths.
#pragma once

#include <array>

#include "compiler/codegen/cpu/kernel_ir.h"
#include "compiler/ir/op.h"

namespace tenon::codegen {

/// One application. `operand` is the dtype of what the op computes with (cast: of its operand; where: of the result).
/// The operands have the same number of lanes.
struct OpCall {
  Op op;
  DType result;
  DType operand;
  std::array<llvm::Value*, 3> x;
  int lanes;
};

/// The result in its register type; null if the op is not an elementwise primitive of that dtype.
llvm::Value* emit_op(KernelIr& ir, const OpCall& call);

// The families; each gives null for an op that is not its own.
llvm::Value* emit_float_op(KernelIr& ir, const OpCall& call);
llvm::Value* emit_int_op(KernelIr& ir, const OpCall& call);
llvm::Value* emit_bool_op(KernelIr& ir, const OpCall& call);
llvm::Value* emit_compare_op(KernelIr& ir, const OpCall& call);
llvm::Value* emit_cast(KernelIr& ir, const OpCall& call);

/// The larger (or smaller) of two floats: NaN if either is, and -0 < +0. Of integers and bools: the larger.
llvm::Value* emit_maximum(KernelIr& ir, DType dtype, llvm::Value* x, llvm::Value* y);
llvm::Value* emit_minimum(KernelIr& ir, DType dtype, llvm::Value* x, llvm::Value* y);

/// x / y for lanes x of a float dtype and one scalar y, with the bits of a division but mostly without one.
llvm::Value* emit_divide_by_scalar(KernelIr& ir, DType dtype, llvm::Value* x, llvm::Value* y);

/// Philox4x32-10: word `word` of the counter (i64 lanes) under the key (i64), both in any number of lanes alike.
llvm::Value* emit_philox(KernelIr& ir, llvm::Value* key, llvm::Value* counter, int word);

}  // namespace tenon::codegen
