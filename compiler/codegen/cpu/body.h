// SPDX-License-Identifier: MIT
// Emission of a phase's body: its instructions sorted by the loops they depend on, so that each is built as far out as
// it can be, and once for as many lanes as the loop asks.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compiler/codegen/cpu/index_ir.h"
#include "compiler/codegen/cpu/kernel_ir.h"
#include "compiler/ir/loop_ir.h"

namespace tenon::codegen {

/// What the instructions of one task refer to.
struct TaskContext {
  std::vector<llvm::Value*> buffers;  ///< addresses by BufferId; null for buffers the kernel does not use
  llvm::Value* scalars = nullptr;     ///< the block of 8-byte slots
  std::vector<llvm::Value*> locals;   ///< per lane: address of the first element; single: an alloca of register type
  std::vector<llvm::Value*> vars;     ///< i64 of each outer variable, then of the sequence and the lane variable
  std::vector<std::int64_t> buffer_bytes;  ///< sizes of the values, by BufferId; empty where none is to be streamed
  llvm::Value* lane_begin = nullptr;
  llvm::Value* lane_end = nullptr;
};

/// One point of the sequence and lane loops, or `lanes` adjacent ones. `mask` (null: all) says which of them exist.
struct BodyPoint {
  llvm::Value* sequence = nullptr;
  llvm::Value* lane = nullptr;  ///< of the first lane
  int lanes = 1;
  llvm::Value* mask = nullptr;
  llvm::Value* accumulator_lane = nullptr;  ///< set for one lane at the end of a range: its place in a vector of lanes
};

/// The loops a value depends on, as a set of bits.
enum Dependence : unsigned { kOnTask = 0, kOnSequence = 1, kOnLane = 2, kOnBoth = 3 };
/// Sets of dependences, to say what is to be emitted at some place.
using DependenceSet = unsigned;
constexpr DependenceSet set_of(Dependence d) { return 1u << d; }
constexpr DependenceSet set_of(Dependence d, Dependence e) { return set_of(d) | set_of(e); }

/// Called for the kReduce and kScan of a body as they are met; the operand has the point's lanes.
struct ReductionHooks {
  std::function<void(int reduction, llvm::Value* operand)> reduce;
  std::function<llvm::Value*(int reduction, llvm::Value* operand)> scan;
};

/// Register values by instruction; null where not emitted yet.
using BodyValues = std::vector<llvm::Value*>;

/// One of the vectors of lanes that are emitted together.
struct BodyVector {
  BodyPoint point;
  BodyValues values;
  ReductionHooks hooks;
};

class BodyEmitter {
 public:
  using Values = BodyValues;

  /// All references must outlive the emitter.
  BodyEmitter(KernelIr& ir, const Kernel& kernel, const Phase& phase, const TaskContext& task);

  Values no_values() const { return Values(phase_.body.size(), nullptr); }

  /// Emits the instructions without effect whose dependence is in `set`, unless `values` has them. Those they use must
  /// be there already.
  void emit(DependenceSet set, const BodyPoint& point, Values& values);
  /// The same for several vectors, and with them, in the body's order, all stores, reductions and scans. An instruction
  /// is emitted for all vectors before the next, so that a processor finds work while one vector waits for a result.
  void emit_with_effects(DependenceSet set, std::span<BodyVector> vectors);

  /// The unmasked loads that are adjacent along the loop variable `row_var` and apart along the lanes.
  std::vector<InstrId> transposed_loads(int row_var) const;
  /// The stored elements of such a load for as many rows as the point has lanes, a vector of rows for each lane.
  std::vector<llvm::Value*> load_rows(InstrId load, const BodyPoint& point, const Values& values);

  /// The loads that walk along the lanes through buffers larger than a cache; of several at fixed distances, the first
  /// to reach a line.
  std::vector<const Instr*> streamed_loads() const;
  /// Brings the cache line of a load nearer that lies `elements` behind its element at the point. The load may be
  /// another phase's; its index has no body value.
  void prefetch(const Instr& load, std::int64_t elements, const BodyPoint& point);

  /// Lanes that fill the target's vectors with the widest of the values that differ between lanes, at most `limit`; a
  /// power of two, not beyond what the lane range needs.
  int natural_lanes(int limit) const;
  /// The least power of two that covers the lane range, at most `limit`.
  int lanes_up_to(int limit) const;
  /// Stores a value (as many lanes as the point, or one for a single local) to a local.
  void store_local(int local, llvm::Value* value, const BodyPoint& point);
  /// Whether the target masks every access of the body at no great cost.
  bool has_cheap_masks() const;
  /// Number of instructions that are emitted a lane vector, and the sum of what they cost beside an addition.
  int size() const;
  int weight() const;
  /// The first instruction that could not be emitted, or -1.
  int failed() const { return failed_; }

 private:
  Dependence index_dependence(IndexExpr e) const;
  Dependence dependence_of(const Instr& instr) const;
  IndexPoint index_point(const BodyPoint& point, const Values& values) const;

  llvm::Value* emit_pure(InstrId id, const BodyPoint& point, const Values& values);
  llvm::Value* emit_effect(InstrId id, const BodyPoint& point, const Values& values, const ReductionHooks& hooks);
  llvm::Value* operand(const Instr& instr, int number, const Values& values, int lanes);
  llvm::Value* optional_mask(const Instr& instr, int number, const BodyPoint& point, const Values& values, int lanes);
  llvm::Value* emit_apply(const Instr& instr, const Values& values, int lanes);
  llvm::Value* emit_scalar(const Instr& instr, llvm::Value* scalars);
  llvm::Value* emit_load(const Instr& instr, const BodyPoint& point, const Values& values, int lanes);
  void emit_store(const Instr& instr, const BodyPoint& point, const Values& values);
  bool can_stream(const Instr& store, int lanes) const;
  bool is_loaded(BufferId buffer) const;
  std::int64_t bytes_of(BufferId buffer) const;
  llvm::Value* emit_in_range(const Instr& instr, const BodyPoint& point, const Values& values);
  llvm::Value* emit_local_load(const Instr& instr, const BodyPoint& point);
  llvm::Value* lane_addresses(DType dtype, llvm::Value* base, const SplitIndex& index, int lanes);
  llvm::Value* local_address(int local, const BodyPoint& point);
  const LocalBuffer& local(int id) const { return kernel_.locals[static_cast<std::size_t>(id)]; }
  DType operand_dtype(const Instr& instr) const;

  KernelIr& ir_;
  const Kernel& kernel_;
  const Phase& phase_;
  const TaskContext& task_;
  std::vector<Dependence> dependence_;
  bool reloads_scalars_ = false;  ///< more of them than a loop can hold in registers
  int failed_ = -1;
};

}  // namespace tenon::codegen
