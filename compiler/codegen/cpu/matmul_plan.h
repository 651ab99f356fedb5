// SPDX-License-Identifier: MIT
// The plan of a matmul kernel: operands brought to a normal form, tile and block sizes, what is packed, scratch layout.
//
// A pure function of the spec and the vector width, without LLVM. No choice made here changes a bit of the result.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/codegen/cpu/matmul.h"

namespace tenon::codegen {

/// Words: a *tile* is what the accumulators in registers hold, `tile_rows` x `tile_cols` of c; a *panel* is the part of
/// a (b) that a row (column) of tiles reads over one block of k; a *block* is what one task computes.
struct MatmulPlan {
  /// The problem with unit batch extents dropped, batches folded into rows where the strides allow, and rows and
  /// columns exchanged where that fills vectors better. The lanes of a vector are columns.
  MatmulSpec problem;

  /// How the axes (batch..., rows, columns) of the spec became those of the problem, in order.
  struct Step {
    enum Kind : std::uint8_t { kDropBatch, kFoldBatch, kExchange };
    Kind kind;
    std::size_t axis = 0;   ///< kDropBatch: which
    std::int64_t rows = 0;  ///< kFoldBatch: m until then; row r is now row r % rows of the last batch axis' r / rows
  };
  std::vector<Step> steps;

  DType compute = DType::kFloat32;  ///< float32, float64, int32 or int64: dtype of the accumulators
  int lanes = 0;                    ///< of one vector of `compute`

  int tile_rows = 0;
  int tile_vectors = 0;
  std::int64_t tile_cols() const { return static_cast<std::int64_t>(tile_vectors) * lanes; }

  /// k is cut in k_blocks parts of k_part elements, the first k_longer of them one longer.
  std::int64_t k_blocks = 1;
  std::int64_t k_part = 0;
  std::int64_t k_longer = 0;
  std::int64_t k_most() const { return k_part + (k_longer > 0 ? 1 : 0); }

  /// A task is row_block x col_block of c, multiples of the tile; a call works on at most max_rows rows at a time.
  std::int64_t row_block = 0;
  std::int64_t col_block = 0;
  std::int64_t max_rows = 0;
  std::int64_t row_blocks = 0;
  std::int64_t col_blocks = 0;
  std::int64_t batches = 0;
  std::int64_t tasks() const { return batches * col_blocks * row_blocks; }

  /// Packed panels are k-major, lanes contiguous; a's are padded to packed_rows.
  bool pack_a = false;
  bool pack_b = false;
  /// b, contiguous along k and used once, is transposed in registers as it is read; then k_blocks is 1.
  bool transpose_b = false;
  std::int64_t packed_rows = 0;

  /// Accumulators pass between blocks of k through scratch, not through c; a row of tiles is written when it is done.
  bool through_scratch = false;

  /// Byte offsets into the scratch block of a worker; b's panels begin at 0.
  std::int64_t a_panel_at = 0;
  std::int64_t accumulators_at = 0;
  std::int64_t scratch_bytes = 0;
};

/// The plan for `spec` on vectors of `vector_bytes` bytes. Extents must not be negative.
MatmulPlan plan_matmul(const MatmulSpec& spec, int vector_bytes);

}  // namespace tenon::codegen
