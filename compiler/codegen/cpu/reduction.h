// SPDX-License-Identifier: MIT
// Reductions on register values: identities, how two partial results combine, accumulators, and the dyadic tree.
#pragma once

#include <span>
#include <vector>

#include "compiler/codegen/cpu/kernel_ir.h"
#include "compiler/ir/loop_ir.h"

namespace tenon::codegen {

/// A partial result, scalar or lanes of them; `index` is the position of an arg kind's element (i32 or i64), else null.
struct Partial {
  llvm::Value* value = nullptr;
  llvm::Value* index = nullptr;
};

bool is_arg(const Reduction& reduction);
/// Whether the canonical order matters for the bits: sums and products of floats.
bool is_ordered(const Reduction& reduction);

/// What combines with any x to x; positions have `index_bits`, 32 or 64.
Partial identity(KernelIr& ir, const Reduction& reduction, int lanes, int index_bits = 64);
/// a before b in the canonical order.
Partial combine(KernelIr& ir, const Reduction& reduction, const Partial& a, const Partial& b);
/// The lanes of x combined, halves first: x[p] with x[p + lanes/2], and so on.
Partial combine_lanes(KernelIr& ir, const Reduction& reduction, Partial x);
/// The value that is stored: of arg kinds the index; halves rounded; 0 for a sum of which `is_empty` (i1) holds.
llvm::Value* result_of(KernelIr& ir, const Reduction& reduction, const Partial& x, llvm::Value* is_empty);

/// A partial result kept in a variable.
class Accumulator {
 public:
  Accumulator(KernelIr& ir, const Reduction& reduction, int lanes, int index_bits = 64);
  void reset();
  /// Combines with operands (as many lanes, or, not for arg kinds, a multiple of them that is taken piece by piece) at
  /// position `index` (i64, of the first lane where `lanes_differ`); lanes
  /// where `mask` (may be null) is false are left out.
  void add(llvm::Value* operand, llvm::Value* index, bool lanes_differ, llvm::Value* mask);
  Partial get() const;
  void set(const Partial& partial);

 private:
  KernelIr* ir_;
  const Reduction* reduction_;
  int lanes_;
  int index_bits_;
  llvm::AllocaInst* value_;
  llvm::AllocaInst* index_ = nullptr;
};

/// Partial results of a reduction in the function's stack memory. Not for arg kinds.
class PartialArray {
 public:
  PartialArray(KernelIr& ir, const Reduction& reduction, std::int64_t size);
  /// Adjacent elements from `first` (i64) on.
  llvm::Value* load(llvm::Value* first, int lanes);
  void store(llvm::Value* value, llvm::Value* first);

 private:
  KernelIr& ir_;
  const DType dtype_;
  llvm::AllocaInst* memory_;
};

/// The binary counter that makes the dyadic tree over blocks of `width` adjacent partials. Not for arg kinds.
class DyadicStack {
 public:
  /// For at most `max_blocks` blocks, of a reduction on `width` partials.
  DyadicStack(KernelIr& ir, const Reduction& reduction, int width, std::int64_t max_blocks);

  /// Adds vectors of block number `block` (i64), which lie at partials first, first + lanes, ...
  void push(llvm::Value* block, llvm::Value* first, std::span<llvm::Value* const> vectors);
  /// The merge of `blocks` > 0 blocks at partials first .. first + lanes - 1, as a reduction's final step.
  llvm::Value* total(llvm::Value* blocks, llvm::Value* first, int lanes);
  /// The merge of the blocks, left to right from the highest level: a scan's carry. Identity for no blocks.
  llvm::Value* carry(llvm::Value* blocks, llvm::Value* first, int lanes);

 private:
  llvm::Value* position(llvm::Value* level, llvm::Value* first);
  llvm::Value* has_level(llvm::Value* blocks, llvm::Value* level);
  llvm::Value* add(llvm::Value* a, llvm::Value* b);

  KernelIr& ir_;
  const Reduction& reduction_;
  const int width_;
  const int levels_;
  PartialArray memory_;
};

}  // namespace tenon::codegen
