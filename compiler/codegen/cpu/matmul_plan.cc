// SPDX-License-Identifier: MIT
// Chooses tiles and blocks of the matmul kernel. The sizes are fitted to caches that every x86-64-v3 (v4) machine has:
// 32 KiB of L1 and 256 KiB (1 MiB) of L2.
#include "compiler/codegen/cpu/matmul_plan.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/loop_ir.h"

namespace tenon::codegen {
namespace {

constexpr std::int64_t kSmallOperandBytes = 32 << 10;  // stays in L1, so packing it gains nothing
constexpr std::int64_t kPageBytes = 4096;              // rows this far apart compete for the same L1 lines
constexpr std::int64_t kFewTasks = 16;                 // below that, smaller tasks balance better

std::int64_t ceil_div(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }
std::int64_t round_up(std::int64_t x, std::int64_t y) { return ceil_div(x, y) * y; }

void drop_unit_batches(MatmulPlan& p) {
  MatmulSpec& s = p.problem;
  for (std::size_t d = s.batch.size(); d-- > 0;) {
    if (s.batch[d] != 1) continue;
    p.steps.push_back({MatmulPlan::Step::kDropBatch, d, 0});
    s.batch.erase(s.batch.begin() + d);
    for (MatmulOperand* x : {&s.a, &s.b, &s.c}) x->batch_strides.erase(x->batch_strides.begin() + d);
  }
}

/// One product of a tall matrix instead of a batch of products with the same b.
void fold_batches_into_rows(MatmulPlan& p) {
  MatmulSpec& s = p.problem;
  while (!s.batch.empty() && s.b.batch_strides.back() == 0) {
    const std::int64_t step_a = s.a.batch_strides.back(), step_c = s.c.batch_strides.back();
    const bool adjacent = s.m * s.a.row_stride == step_a && s.m * s.c.row_stride == step_c;
    if (s.m != 1 && !adjacent) return;
    if (s.m == 1) s.a.row_stride = step_a, s.c.row_stride = step_c;
    p.steps.push_back({MatmulPlan::Step::kFoldBatch, 0, s.m});
    s.m *= s.batch.back();
    s.batch.pop_back();
    for (MatmulOperand* x : {&s.a, &s.b, &s.c}) x->batch_strides.pop_back();
  }
}

/// c = a . b read as transposed(c) = transposed(b) . transposed(a); products commute, so no bit changes.
void exchange_rows_and_columns(MatmulPlan& p) {
  MatmulSpec& s = p.problem;
  p.steps.push_back({MatmulPlan::Step::kExchange, 0, 0});
  std::swap(s.m, s.n);
  std::swap(s.a, s.b);
  for (MatmulOperand* x : {&s.a, &s.b, &s.c}) std::swap(x->row_stride, x->col_stride);
}

/// The part of vector lanes in use if lanes lie along an axis of this extent, halved if they cannot be stored at once.
double lane_use(std::int64_t extent, std::int64_t stride, int lanes) {
  const double used =
      static_cast<double>(extent) / static_cast<double>(round_up(std::max<std::int64_t>(extent, 1), lanes));
  return extent == 1 || stride == 1 ? used : used / 2;
}

void normalize(MatmulPlan& p) {
  MatmulSpec& s = p.problem;
  drop_unit_batches(p);
  fold_batches_into_rows(p);
  if (lane_use(s.m, s.c.row_stride, p.lanes) > lane_use(s.n, s.c.col_stride, p.lanes)) {
    exchange_rows_and_columns(p);
    fold_batches_into_rows(p);
  }
  if (s.n == 1) s.b.col_stride = s.c.col_stride = 1;
}

/// The most vectors, `vectors` or less, of a tile whose accumulators, operands and one broadcast fit in the registers.
int widest_tile(int rows, int vectors, int registers) {
  while (vectors > 1 && rows * vectors + std::min(rows, vectors) + 1 > registers) --vectors;
  return vectors;
}

/// Splits m and n evenly into as few tiles as registers allow.
void choose_tile(MatmulPlan& p, bool wide) {
  const std::int64_t most_rows = wide ? 14 : 6;
  const std::int64_t m = std::max<std::int64_t>(p.problem.m, 1), n = std::max<std::int64_t>(p.problem.n, 1);
  p.tile_rows = static_cast<int>(ceil_div(m, ceil_div(m, most_rows)));
  const std::int64_t vectors = ceil_div(n, p.lanes);
  // Where b is transposed, wide panels would be filled piecemeal over more lines than L1 holds.
  const int most_vectors = widest_tile(p.tile_rows, p.problem.b.col_stride == 1 ? 8 : 2, wide ? 32 : 16);
  p.tile_vectors = static_cast<int>(ceil_div(vectors, ceil_div(vectors, most_vectors)));
  p.packed_rows = round_up(p.tile_rows, p.lanes);
}

std::int64_t bytes(const MatmulPlan& p, std::int64_t elements) {
  return elements * static_cast<std::int64_t>(size_of(p.compute));
}

bool rows_collide(const MatmulPlan& p) {
  const std::int64_t step = p.problem.a.row_stride * static_cast<std::int64_t>(size_of(p.problem.dtype));
  return p.tile_rows > 4 && step != 0 && step % (kPageBytes / 4) == 0;
}

bool should_transpose_b(const MatmulPlan& p) {
  const MatmulSpec& s = p.problem;
  return s.m == 1 && s.b.col_stride != 1 && s.b.row_stride == 1 && s.k >= p.lanes;
}

/// b is packed unless it is read in place as fast: lanes contiguous, and used once or small enough to stay in L1.
bool should_pack_b(const MatmulPlan& p) {
  const MatmulSpec& s = p.problem;
  if (s.b.col_stride != 1) return !p.transpose_b;
  const bool used_once = s.m <= p.tile_rows;
  const bool small = bytes(p, s.k * s.n) <= kSmallOperandBytes && size_of(s.dtype) == size_of(p.compute);
  return !(used_once || small);
}

/// a is packed unless it is small or read by few tiles, and its rows do not drive each other out of L1.
bool should_pack_a(const MatmulPlan& p) {
  const MatmulSpec& s = p.problem;
  const std::int64_t readers = ceil_div(std::min(p.col_block, s.n), p.tile_cols());
  if (readers <= 1 || p.tile_rows == 1) return false;
  if (size_of(s.dtype) != size_of(p.compute)) return true;
  const bool small = bytes(p, s.m * s.k) <= kSmallOperandBytes || readers <= 2;
  return !small || rows_collide(p);
}

/// Long blocks where b is packed; short ones where b streams past, so that few rows of b are open at a time.
void choose_k_blocks(MatmulPlan& p) {
  const std::int64_t k = p.problem.k;
  const bool streams = !p.pack_b && bytes(p, k * p.problem.n) > kSmallOperandBytes;
  const std::int64_t most = p.transpose_b ? k : streams ? (p.tile_rows <= 4 ? 16 : 32) : 256;
  p.k_blocks = k == 0 ? 1 : ceil_div(k, most);
  p.k_part = k / p.k_blocks;
  p.k_longer = k % p.k_blocks;
}

/// `extent` cut evenly into blocks of whole tiles, none longer than `most` or one tile.
std::int64_t even_block(std::int64_t extent, std::int64_t most, std::int64_t tile) {
  const std::int64_t tiles = std::max<std::int64_t>(1, ceil_div(extent, tile));
  const std::int64_t blocks = ceil_div(tiles, std::max<std::int64_t>(1, most / tile));
  return ceil_div(tiles, blocks) * tile;
}

void count_blocks(MatmulPlan& p) {
  p.row_blocks = ceil_div(p.problem.m, p.row_block);
  p.col_blocks = ceil_div(p.problem.n, p.col_block);
}

/// Makes tasks smaller, as far as packing does not come to weigh; false if they are small already.
bool halve_blocks(MatmulPlan& p) {
  if (p.row_block >= 6 * p.tile_rows) {
    p.row_block = round_up(p.row_block / 2, p.tile_rows);
  } else if (p.col_block >= 2 * std::max<std::int64_t>(128, p.tile_cols())) {
    p.col_block = round_up(p.col_block / 2, p.tile_cols());
  } else {
    return false;
  }
  count_blocks(p);
  return true;
}

void choose_blocks(MatmulPlan& p) {
  const MatmulSpec& s = p.problem;
  p.batches = 1;
  for (std::int64_t extent : s.batch) p.batches *= extent;
  const std::int64_t most_cols = 2048 / static_cast<std::int64_t>(size_of(p.compute));
  p.col_block = even_block(s.n, most_cols, p.tile_cols());
  p.row_block = even_block(s.m, 140, p.tile_rows);
  count_blocks(p);
  while (p.tasks() < kFewTasks && halve_blocks(p)) {
  }
}

void lay_out_scratch(MatmulPlan& p) {
  const MatmulSpec& s = p.problem;
  p.through_scratch = s.has_epilogue || s.c.col_stride != 1 || size_of(s.out) != size_of(p.compute);
  p.max_rows =
      round_up(std::min<std::int64_t>(p.through_scratch ? 256 : 512, std::max<std::int64_t>(s.m, 1)), p.tile_rows);
  const std::int64_t b_bytes = p.pack_b ? bytes(p, p.k_most() * p.col_block) : 0;
  const std::int64_t a_bytes = p.pack_a ? bytes(p, p.k_most() * p.packed_rows) : 0;
  const std::int64_t c_bytes = p.through_scratch ? bytes(p, p.max_rows * p.col_block) : 0;
  p.a_panel_at = round_up(b_bytes, 64);
  p.accumulators_at = p.a_panel_at + round_up(a_bytes, 64);
  p.scratch_bytes = p.accumulators_at + round_up(c_bytes, 64);
}

}  // namespace

MatmulPlan plan_matmul(const MatmulSpec& spec, int vector_bytes) {
  MatmulPlan p;
  p.problem = spec;
  p.compute = accumulator_dtype(spec.dtype);
  p.lanes = vector_bytes / static_cast<int>(size_of(p.compute));
  normalize(p);
  const bool wide = vector_bytes == 64;
  choose_tile(p, wide);
  choose_blocks(p);
  p.transpose_b = should_transpose_b(p);
  p.pack_b = should_pack_b(p);
  p.pack_a = should_pack_a(p);
  choose_k_blocks(p);
  lay_out_scratch(p);
  return p;
}

}  // namespace tenon::codegen
