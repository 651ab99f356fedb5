// SPDX-License-Identifier: MIT
// The inner kernel of matmul: one tile of c in registers, one pass over a block of k.
#pragma once

#include "compiler/codegen/cpu/matmul_ir.h"

namespace tenon::codegen {

/// Emits `void tile(a, b, c, int64_t k_count, i1 first)` for a tile of rows x cols, cols at most plan.tile_cols(): the
/// accumulators start from zero (first) or from c, take k_count >= 0 multiply-adds in order, and go to c. a and b are
/// panels or parts of the operands, c is a part of the output or of the accumulators in scratch, as the plan says.
/// Touches no element outside the rows x cols but, in scratch, the rest of the last vector.
llvm::Function* emit_tile(MatmulIr& ir, int rows, std::int64_t cols);

}  // namespace tenon::codegen
