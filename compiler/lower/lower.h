// SPDX-License-Identifier: MIT
// Lowering: every realized value becomes one loop node; the values between are spliced into its body.
//
// This is the first fusion: a read of a value that has no memory is replaced by the computation of that element at the
// read's index. Bodies share equal instructions, so the size of what is made is linear in the graph.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/loop_ir.h"
#include "compiler/lower/realize.h"

namespace tenon {

/// One loop nest before fusion: `body` over the variables of `space`, giving `value`.
struct LoopNode {
  enum Kind : std::uint8_t { kPointwise, kReduce, kScan, kMatmul };
  Kind kind = kPointwise;
  NodeId node = -1;                 ///< the graph node whose value it computes
  std::vector<std::int64_t> space;  ///< extents of the loop variables 0, 1, ...
  int reduced = -1;                 ///< kReduce, kScan: the variable that is reduced or scanned
  Body body;                        ///< no effects: value is what to store, reduce or scan
  InstrId value = -1;
  BufferId buffer = -1;         ///< what it writes
  IndexExpr element = nullptr;  ///< the element it writes, without variable `reduced` for kReduce
  ReduceKind reduce_kind = ReduceKind::sum;
  ReduceOrder reduce_order = ReduceOrder::inner;
  MatmulNest matmul;
};

struct LoweredGraph {
  std::shared_ptr<IndexPool> pool = std::make_shared<IndexPool>();
  std::vector<Buffer> buffers;  ///< inputs, outputs, then temporaries
  std::vector<DType> scalars;
  std::vector<LoopNode> nodes;  ///< in topological order
  std::vector<RealizeDecision> decisions;
  std::int32_t num_inputs = 0, num_outputs = 0;
};

/// Lowers a graph of primitives.
absl::StatusOr<LoweredGraph> lower(const Graph& graph, RealizeMode mode = RealizeMode::kTenon,
                                   const CostTable& costs = {});

/// Merges neighbouring loop variables where no access tells them apart, so that a contiguous access is one loop.
void collapse_loops(IndexPool& pool, LoopNode& node);

}  // namespace tenon
