// SPDX-License-Identifier: MIT
// Byte forms: the canonical bytes of a graph, which are the body of a cache key, and the bytes of a loop program, which
// cross from libtenon to the compiler library.
//
// Persisted (the graph form). Fixed-width little endian. A graph's bytes hold no more than what decides its meaning:
// types are written for leaves only, since `infer` gives all others; values of scalars and origins are not in it.
// Equal graphs have equal bytes. Decoding checks every bound and every node, so malformed bytes are an error value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/loop_ir.h"

namespace tenon {

/// Raised when the layout of the bytes or the numbering of ops changes.
inline constexpr std::uint32_t kGraphFormat = 1;
/// Version of an op's meaning, written beside the op: raised when the bits that it gives change.
std::uint8_t op_semantics(Op op);

/// Writes canonical bytes node by node; the node of the n-th call (from 0) has id n. Reusable: clear() keeps the
/// memory. Checks nothing: the nodes have been checked when they were traced.
class GraphEncoder {
 public:
  GraphEncoder() { clear(); }
  void input(const TensorType& type, const InputLayout& layout);
  void scalar(DType dtype);
  void constant(DType dtype, std::uint64_t bits);
  /// Any other op.
  void node(Op op, absl::Span<const NodeId> operands, const Attrs& attrs);
  void output(NodeId id) { outputs_.push_back(id); }
  /// The bytes, valid until the next change; call once.
  absl::Span<const std::byte> finish();
  void clear();

 private:
  std::uint8_t* grow(std::size_t size);

  std::vector<std::uint8_t> bytes_;
  std::size_t used_ = 0;
  std::vector<NodeId> outputs_;
  std::uint32_t nodes_ = 0;
};

std::vector<std::byte> encode_graph(const Graph& graph);
/// The graph, verified; origins are the nodes' own ids. InvalidArgument for anything else than encode_graph's bytes.
absl::StatusOr<Graph> decode_graph(absl::Span<const std::byte> bytes);

std::vector<std::byte> encode_loop_program(const LoopProgram& program);
/// The program, verified (compiler/ir/verify.h), so that code generation may trust it. InvalidArgument otherwise.
absl::StatusOr<LoopProgram> parse_loop_program(absl::Span<const std::byte> bytes);

}  // namespace tenon
