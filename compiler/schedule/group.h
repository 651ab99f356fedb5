// SPDX-License-Identifier: MIT
// Groups: sets of loop nodes that will be one kernel, over one common space of loop variables.
//
// A space has the variables of a Kernel: outer 0, 1, ..., then sequence, then lanes. A member is a loop node with its
// variables replaced by expressions of the group's. It is *full* when it runs once a point of the whole space, *row*
// when it runs once a result of the group's reductions (inner class: an outer tuple; outer class: an outer tuple and a
// lane). The space of a matmul is that of the product: outer (batch..., row), lanes the columns; the members beside it
// are its epilogue.
#pragma once

#include <optional>
#include <vector>

#include "compiler/lower/lower.h"

namespace tenon {

struct Access {
  BufferId buffer = -1;
  IndexExpr index = nullptr;  ///< null: all of it, in the template's own order
};

struct Member {
  int node = -1;  ///< position in LoweredGraph::nodes
  bool is_row = false;
  bool is_step = false;         ///< nested reductions: it runs once a step of the sequence
  std::int64_t weight = 0;      ///< of the node's ops, for one element (a matmul: for one product)
  std::vector<IndexExpr> vars;  ///< images of the node's variables
  std::vector<Access> reads;    ///< distinct, in the group's variables
  Access write;
};

/// One axis of a space in row-major order of the traced tensors: which loop variable walks it.
struct SpaceAxis {
  std::int32_t var = 0;
  std::int64_t extent = 1;
  bool reduced = false;
};

struct Group {
  KernelClass kernel_class = KernelClass::kPointwise;
  std::vector<std::int64_t> outer;
  std::int64_t sequence = 1;
  std::int64_t lanes = 1;
  std::vector<SpaceAxis> axes;  ///< all axes, row-major; reduced ones marked
  std::vector<Member> members;  ///< in topological order

  std::int32_t sequence_var() const { return static_cast<std::int32_t>(outer.size()); }
  std::int32_t lane_var() const { return static_cast<std::int32_t>(outer.size()) + 1; }
  std::int64_t full_count() const;
  std::int64_t row_count() const;
  bool has_reduction() const { return kernel_class != KernelClass::kPointwise; }
};

/// The group of one node.
Group group_of(const LoweredGraph& lowered, int node);

/// `other` over the space of `target`: its full members at level full or row, reduction axis on reduction axis.
/// Nothing when the sizes do not fit. Two reductions have the same class and reduced extents. `level_row` asks for
/// level row (pointwise groups only).
std::optional<Group> reindex(const LoweredGraph& lowered, const Group& other, const Group& target, bool level_row);

/// A member with the group's variables replaced by vars[id].
Member moved(const LoweredGraph& lowered, const Member& member, absl::Span<const IndexExpr> vars);

/// floor_div and mod terms in all accesses: what a space costs.
int divisions_of(const Group& group);

}  // namespace tenon
