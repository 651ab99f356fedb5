// SPDX-License-Identifier: MIT
// Emission of one phase of a kernel for one task: the choice of the loops around its body, and the loops.
//
// Three schedules. Stream: the sequence loop outside, lanes inside; partial results of lanes, if any, are free in their
// order or as wide as the canonical ones. Chunks: the canonical inner order beyond 128 elements. Columns: for a tile of
// lanes, the sequence loop inside, for reductions and scans over it. All follow compiler/ir/reduction_order.h.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "compiler/codegen/cpu/body.h"
#include "compiler/codegen/cpu/reduction.h"

namespace tenon::codegen {

/// What a phase needs of its task beyond what instructions refer to.
struct PhaseTask {
  TaskContext context;
  llvm::Value* task = nullptr;        ///< number of the task
  llvm::Value* lane_count = nullptr;  ///< lanes of the task; a constant where all tasks have as many
};

class PhaseEmitter {
 public:
  /// All references must outlive the emitter.
  PhaseEmitter(KernelIr& ir, const Kernel& kernel, const Phase& phase, PhaseTask& task);

  /// Emits the phase at the insertion point. Unimplemented, naming the kernel, for what no schedule covers.
  absl::Status emit();
  /// The same for a joined phase: emit_step(s) emits, at each step, what the phase before does there.
  absl::Status emit_joined(const std::function<void(llvm::Value*)>& emit_step);
  /// The phase for the rows [first, end) of the last outer variable, tile by tile. Only where can_tile_rows.
  absl::Status emit_rows(llvm::Value* first, llvm::Value* end);
  bool can_tile_rows() const;

 private:
  using Points = std::span<const BodyPoint>;
  using Values = BodyEmitter::Values;

  absl::Status check() const;
  absl::Status finished() const;
  bool has(Reduction::Over over, bool scan) const;
  bool needs_chunks() const;
  bool is_later_pass() const;

  const Reduction& reduction(int number) const { return phase_.reductions[static_cast<std::size_t>(number)]; }
  int num_reductions() const { return static_cast<int>(phase_.reductions.size()); }
  bool is_scan(int number) const;
  // Whether its partials pass through the tree: of ordered reductions, stored partials and scans.
  bool is_blocked(int number) const;
  void for_blocked(const std::function<void(int)>& body) const;

  // Covers the task's lanes by groups of `unroll` vectors, then by single ones, then by a tail.
  void for_lanes(int unroll, const std::function<void(Points)>& body);
  // Fewer lanes than a vector: a masked vector, or one by one where masks are dear.
  void for_tail(llvm::Value* lane, llvm::Value* count, const std::function<void(Points)>& body);
  BodyPoint point(llvm::Value* lane, llvm::Value* mask = nullptr) const;
  int unroll_factor(int most) const;
  llvm::Value* sequence_count();

  void make_accumulators(int vectors, int ordered_lanes);
  void reset_accumulators(int vectors, bool blocked);
  Accumulator& accumulator(int number, int vector);
  DyadicStack& stack(int number, int vector);
  ReductionHooks hooks(const BodyPoint& at, int vector);
  void store_result(int number, llvm::Value* value, const BodyPoint& at);

  void emit_stream();
  void emit_stream_vectors(const Values& outer, llvm::Value* sequence, Points points);
  void finish_stream(int number, int vectors);

  // The loads of the first phase that the next row will do, where this phase is the last over the lanes.
  std::vector<const Instr*> next_row_loads() const;
  void emit_prefetches(Points points);
  void emit_prefetch(const Instr& load, std::int64_t elements, Points points);

  int row_var() const { return kernel_.sequence_var() - 1; }
  void make_tiles(const std::vector<InstrId>& loads);
  void emit_row(llvm::Value* row, Points points, Values values);
  void emit_square(const std::vector<InstrId>& loads, llvm::Value* first, Points points);

  void emit_chunks();
  void emit_chunk(const Values& outer, llvm::Value* chunk);
  void emit_chunk_rows(const Values& outer, llvm::Value* base, llvm::Value* rows, llvm::Value* chunk);
  void emit_chunk_rest(const Values& outer, llvm::Value* base, llvm::Value* count);
  void push_chunk(llvm::Value* chunk);
  void finish_chunks(int number, llvm::Value* chunks);
  void store_partials(int number, llvm::Value* chunks);
  bool ends_within_row() const;
  PartialArray& row(int number) { return rows_[static_cast<std::size_t>(number)][0]; }

  void emit_columns();
  void emit_column_tile(const Values& outer, llvm::Value* count, Points points);
  void emit_column_row(const std::vector<Values>& columns, llvm::Value* row, Points points);
  void finish_column(int number, int vector, llvm::Value* count, llvm::Value* blocks, const BodyPoint& at);
  void emit_lane_scans();
  void make_stacks(int vectors, std::int64_t extent);
  void reset_carries(int vectors);
  void end_block(llvm::Value* block, int vectors);
  llvm::Value* for_blocks(llvm::Value* count, int vectors, const std::function<void(llvm::Value*, llvm::Value*)>& rows);
  std::int64_t block_length() const;

  KernelIr& ir_;
  const Kernel& kernel_;
  const Phase& phase_;
  PhaseTask& task_;
  BodyEmitter body_;
  int lanes_ = 1;
  std::vector<std::vector<Accumulator>> accumulators_;  ///< by reduction, then by vector of the unrolled group
  std::vector<std::vector<DyadicStack>> stacks_;        ///< the same for blocked ones; chunks: one a reduction
  std::vector<std::vector<Accumulator>> carries_;       ///< the same; of scans, what the blocks before add up to
  std::function<void(llvm::Value*)> emit_step_;         ///< joined: emits the step of the phase before
  std::vector<llvm::AllocaInst*> tiles_;                ///< rows: a square of each transposed load
  std::vector<std::vector<PartialArray>> rows_;         ///< chunks: the current chunk's partials, one a reduction
};

}  // namespace tenon::codegen
