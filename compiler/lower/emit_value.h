// SPDX-License-Identifier: MIT
// Emits the computation of one element of a value into a body, down to what lies in memory.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "compiler/ir/graph.h"
#include "compiler/lower/body_builder.h"
#include "compiler/lower/views.h"

namespace tenon {

/// Where a node's value lies, if it lies in memory: a buffer and the strides that its elements have there.
struct MemoryOf {
  BufferId buffer = -1;
  Shape strides;
};

class ValueEmitter {
 public:
  /// `memory[id].buffer` is -1 for nodes that are computed in place.
  ValueEmitter(const Graph& graph, const std::vector<MemoryOf>& memory, BodyBuilder& body)
      : graph_(graph), memory_(memory), body_(body), pool_(body.pool()) {}

  /// Element `index` of node `id`. Where `mask` (a bool instruction, -1: none) is false nothing is read and the result
  /// is unspecified.
  InstrId emit(NodeId id, const IndexTuple& index, InstrId mask = -1);
  /// The computation itself, although the node may have memory: what its own loop node stores.
  InstrId compute(NodeId id, const IndexTuple& index, InstrId mask = -1);

 private:
  struct Key {
    NodeId node;
    IndexTuple index;
    InstrId mask;
    friend bool operator==(const Key&, const Key&) = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.node, k.index, k.mask);
    }
  };
  InstrId emit_leaf(const Node& node);
  InstrId emit_elementwise(const Node& node, const IndexTuple& index, InstrId mask);
  InstrId emit_index_op(const Node& node, const IndexTuple& index, InstrId mask);
  InstrId emit_concat(const Node& node, const IndexTuple& index, InstrId mask);
  InstrId emit_pad(const Node& node, const IndexTuple& index, InstrId mask);
  InstrId emit_take(const Node& node, const IndexTuple& index, InstrId mask);
  InstrId emit_take_along_axis(const Node& node, const IndexTuple& index, InstrId mask);
  InstrId emit_slice_update(const Node& node, const IndexTuple& index, InstrId mask);
  InstrId emit_dynamic_slice(const Node& node, const IndexTuple& index, InstrId mask);
  InstrId emit_iota(const Node& node, const IndexTuple& index);
  InstrId emit_random(const Node& node, const IndexTuple& index);
  InstrId emit_unrolled_reduction(const Node& node, const IndexTuple& index, InstrId mask);

  const Shape& shape_of(NodeId id) const { return graph_.node(id).type.shape; }
  /// Large positions as values of the body.
  IndexTuple named(IndexTuple index);
  InstrId both(InstrId a, InstrId b);
  InstrId inside(IndexExpr e, std::int64_t lo, std::int64_t hi);
  /// A run-time position as an index in [0, extent): negative counts from the end (if asked), beyond the range clamps.
  IndexExpr clamped(InstrId position, std::int64_t extent, bool wrap_negative);

  const Graph& graph_;
  const std::vector<MemoryOf>& memory_;
  BodyBuilder& body_;
  IndexPool& pool_;
  absl::flat_hash_map<Key, InstrId> memo_;
};

}  // namespace tenon
