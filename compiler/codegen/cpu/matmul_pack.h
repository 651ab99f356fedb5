// SPDX-License-Identifier: MIT
// Packing of an operand of matmul into panels: k-major, lanes contiguous, widened to the accumulator dtype.
#pragma once

#include "compiler/codegen/cpu/matmul_ir.h"

namespace tenon::codegen {

/// An operand as packing sees it: lanes are rows of a or columns of b.
struct PackSpec {
  std::string suffix;        ///< of the function's name
  std::int64_t lane_stride;  ///< in elements
  std::int64_t k_stride;
  std::int64_t used;   ///< lanes of a panel that a tile reads
  std::int64_t width;  ///< lanes of a panel in memory, a multiple of plan.lanes
};

/// Emits `void pack(source, panels, int64_t k_count, int64_t available, int64_t panel_count)`. For each panel,
/// plan.k_most()
/// * width elements behind the one before, panel[k * width + lane] = source[k * k_stride + (panel * used + lane) *
/// lane_stride] for k < k_count and lane < used; other lanes, and those that are not available, get any value.
/// `available` says how many lanes the operand still has from `source` on; nothing beyond them is read.
llvm::Function* emit_pack(MatmulIr& ir, const PackSpec& spec);

}  // namespace tenon::codegen
