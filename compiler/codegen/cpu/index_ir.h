// SPDX-License-Identifier: MIT
// Index expressions as IR.
#pragma once

#include <functional>
#include <vector>

#include "compiler/codegen/cpu/kernel_ir.h"
#include "compiler/ir/index_expr.h"

namespace tenon::codegen {

/// Where an index expression is evaluated: at one point of the loops, or at `lanes` adjacent ones of the lane loop.
struct IndexPoint {
  std::vector<llvm::Value*> vars;  ///< i64 of each loop variable; of the lane variable, that of the first lane
  int lane_var = -1;               ///< -1: none
  int lanes = 1;
  std::function<llvm::Value*(int)> value;  ///< int64 result of a body instruction, a scalar or lanes of them
  std::function<bool(int)> value_has_lanes;
};

/// An expression split for addressing: base + (lane * coefficient if contiguous, else offsets).
struct SplitIndex {
  llvm::Value* uniform = nullptr;  ///< i64: all terms that are the same in every lane
  llvm::Value* lanes = nullptr;  ///< scalar i64 of the first lane (affine), or lanes of i32 or i64; null: no such term
  std::int64_t coefficient = 0;  ///< of the lane variable; 0 with non-null `lanes`: not affine
};

/// Splits e at the point. With one lane, everything is uniform but the terms of the lane variable.
SplitIndex emit_split_index(KernelIr& ir, IndexExpr e, const IndexPoint& point);

/// The value of e as integers, a scalar i64 if the point has one lane or e is uniform, else lanes of i32 (if `narrow`
/// and e and all its parts fit) or i64.
llvm::Value* emit_index(KernelIr& ir, IndexExpr e, const IndexPoint& point, bool narrow);

/// Whether e differs between lanes of the point.
bool has_lanes(IndexExpr e, const IndexPoint& point);

}  // namespace tenon::codegen
