// SPDX-License-Identifier: MIT
// The loop IR: what lowering and fusion make, what the loop-IR interpreter runs and code generation reads.
//
// A LoopProgram is a list of kernels over a table of buffers. A kernel is one fused loop nest with this shape, whatever
// its class:
//
//   for each task = (outer index tuple, range [lane_begin, lane_end) of the lane axis):     in parallel, any order
//     for each phase, in order:
//       for s in [0, sequence):                     ("sequence" loop, one pass when the phase has none)
//         for v in [lane_begin, lane_end):          ("lanes", the vector axis; one pass when the phase has none)
//           body
//
// A phase that is *joined* shares the sequence loop of the phase before it: at each step the one runs, then the other.
//
// Loop variables: 0 .. outer.size()-1 are the outer indices, then sequence_var(), then lane_var(). A task's lane range
// is the whole axis when lane_chunk == lanes, else an aligned chunk of it. Values that pass from phase to phase, or out
// of a reduction, live in local buffers of the task. Nothing else is shared, so tasks never depend on one another.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "compiler/ir/index_expr.h"
#include "compiler/ir/op.h"
#include "compiler/ir/tensor_type.h"

namespace tenon {

using BufferId = std::int32_t;
using InstrId = std::int32_t;

/// Memory that a kernel reads or writes. Ids: position in LoopProgram::buffers.
struct Buffer {
  enum Space : std::uint8_t { kInput, kOutput, kTemporary };
  DType dtype = DType::kFloat32;
  Shape shape;  ///< of the value, for people and for sizes; kInput: what the strides address
  Space space = kTemporary;
  std::int32_t argument = 0;  ///< kInput, kOutput: position among the inputs or outputs; outputs are 64-byte aligned
  std::int64_t offset = 0;    ///< kTemporary: byte offset in the arena, 64-byte aligned
  std::int32_t node = -1;     ///< graph node whose value it holds, for explanations
};

/// One task's own memory: a value a lane of its range (that of v lies at v - lane_begin), a value a lane and step of
/// the sequence (that of s, v at s * lane_chunk + v - lane_begin), or a single value.
struct LocalBuffer {
  DType dtype = DType::kFloat32;
  bool per_lane = false;             ///< false: one value a task
  std::int64_t scratch_offset = -1;  ///< per_lane: byte offset in the worker's scratch block, 64-byte aligned
  std::int64_t sequence = 1;         ///< per_lane: > 1 where it has a value for each step of a sequence of this extent
};

struct Instr {
  enum Kind : std::uint8_t {
    kConst,       ///< `bits` as a value of `dtype`
    kScalar,      ///< scalar argument `buffer` of the program (8-byte slot, value in its low bytes)
    kIndex,       ///< `index` as int64
    kInRange,     ///< bool: lo <= index < hi
    kLoad,        ///< element `index` of buffer `buffer`; with operand 0 a bool: where false nothing is read, result 0
    kLoadLocal,   ///< the element at the current loop variables (or the single value) of local `buffer`
    kApply,       ///< elementwise primitive `op` of operands (cast: to `dtype`)
    kRandom,      ///< uint32: Philox4x32-10 word `lo` of counter operand 1 (int64 value) under key operand 0 (uint64)
    kStore,       ///< operand 0 to element `index` of buffer `buffer`; with operand 1 a bool: only where true
    kStoreLocal,  ///< operand 0 to local `buffer`
    kReduce,      ///< operand 0 into local `buffer`, by reduction `reduction` of the phase; has no result itself
    kScan,  ///< running reduction (inclusive) of operand 0 by `reduction`, along its loop; result is usable at once
  };
  Kind kind = kConst;
  Op op = Op::k_constant;
  DType dtype = DType::kFloat32;  ///< of the result; kStore: of the buffer
  std::array<InstrId, 3> operands = {-1, -1, -1};
  std::int32_t buffer = -1;
  std::int32_t reduction = -1;
  IndexExpr index = nullptr;
  std::int64_t lo = 0, hi = 0;
  std::uint64_t bits = 0;
  friend bool operator==(const Instr&, const Instr&) = default;
};

/// The scalar SSA of one phase; operands precede their users.
using Body = std::vector<Instr>;

/// How a kReduce or kScan combines. Over the lane loop (order inner) or the sequence loop (order outer or tree); where
/// the next phase is joined, over the lane loop means anew at each step. A joined phase has no lanes and reduces over
/// the sequence what may be combined in any order; the phase it joins has lanes and reduces over these. The orders are
/// those of compiler/ir/reduction_order.h.
struct Reduction {
  enum Over : std::uint8_t { kLanes, kSequence };
  enum Result : std::uint8_t {
    kValue,     ///< kLanes: one value into a single local; kSequence: one value a lane into a per-lane local
    kPartials,  ///< kLanes only: the 256 merged partials of this task's range, to elements [256*task, 256*task+256) of
                ///< `buffer`
  };
  ReduceKind kind = ReduceKind::sum;
  ReduceOrder order = ReduceOrder::inner;  ///< inner for kLanes, outer for kSequence
  bool tree_only = false;                  ///< kSequence: every element is a block of its own (merges stored partials)
  Over over = kLanes;
  Result result = kValue;
  DType dtype = DType::kFloat32;  ///< of operand and accumulator; argmax, argmin: of the operand, result is int64
  BufferId partials = -1;         ///< kPartials: the global buffer
};

struct Phase {
  std::int64_t sequence = 1;           ///< extent of the sequence loop; 1: none
  IndexExpr sequence_limit = nullptr;  ///< if set: the loop also ends at this value (of the outer variables)
  bool joined = false;                 ///< runs in the sequence loop of the phase before, whose lane results it reads
  bool lanes = true;                   ///< whether it loops over the lane range
  std::vector<Reduction> reductions;
  Body body;
};

/// A matrix product as a template: c[b..., i, j] = sum over k of a[b..., i, k] * y[b..., k, j], ascending k.
///
/// Without phases the kernel stores c. With one phase, the epilogue, it stores what that phase says: outer is (b...,
/// i), the lanes are j, and local 0 holds the accumulators of the row at hand in accumulator_dtype, not yet rounded to
/// dtype. Then c has no buffer; its strides say how an array of c's shape would lie.
struct MatmulNest {
  struct Operand {
    BufferId buffer = -1;
    std::int64_t offset = 0, row_stride = 0, column_stride = 0;  ///< elements
    std::vector<std::int64_t> batch_strides;
  };
  DType dtype = DType::kFloat32;
  std::int64_t m = 0, n = 0, k = 0;
  std::vector<std::int64_t> batch;
  Operand a, b, c;
};

enum class KernelClass : std::uint8_t {
  kPointwise,
  kInnerReduction,
  kOuterReduction,
  kNestedReduction,
  kScan,
  kMatmul
};
std::string_view name_of(KernelClass kernel_class);

/// What a product of matrices of `dtype` is summed in: float32 for halves; integers in 32 or 64 bits that wrap.
DType accumulator_dtype(DType dtype);

struct Kernel {
  std::string name;  ///< symbol: tenon_<first ops>_<number>
  KernelClass kernel_class = KernelClass::kPointwise;
  std::vector<std::int64_t> outer;
  std::int64_t lanes = 1;
  std::int64_t lane_chunk =
      1;  ///< lanes a task does; == lanes where a phase reduces or scans over lanes (but kPartials)
  std::int64_t row_block = 1;  ///< > 1: a task does this many values of the last outer index, tile by tile (transposes)
  std::vector<LocalBuffer> locals;
  std::vector<Phase> phases;
  std::unique_ptr<MatmulNest> matmul;  ///< set for kMatmul, which has at most one phase
  std::int64_t scratch_bytes = 0;      ///< a worker's scratch block: per-lane locals
  std::int64_t grain = 1;              ///< tasks below this number are not worth a thread; see schedule

  std::int32_t sequence_var() const { return static_cast<std::int32_t>(outer.size()); }
  std::int32_t lane_var() const { return static_cast<std::int32_t>(outer.size()) + 1; }
  std::int64_t outer_count() const { return numel(outer); }
  std::int64_t chunks() const { return lane_chunk > 0 ? (lanes + lane_chunk - 1) / lane_chunk : 1; }
  /// Number of tasks of a nest with phases: outer tuples (in blocks of row_block along the last) times lane chunks;
  /// task t is outer position t / chunks(), lane chunk t % chunks().
  std::int64_t tasks() const;
};

struct LoopProgram {
  std::shared_ptr<IndexPool> pool = std::make_shared<IndexPool>();
  std::vector<Buffer> buffers;
  std::vector<DType> scalars;  ///< dtype of each 8-byte scalar slot
  std::vector<Kernel> kernels;
  std::int32_t num_inputs = 0;
  std::int32_t num_outputs = 0;
  std::int64_t arena_bytes = 0;
};

}  // namespace tenon
