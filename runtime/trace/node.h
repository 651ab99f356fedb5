// SPDX-License-Identifier: MIT
// Trace nodes: what a tensor handle points to. A node is one traced op (lazy), a scalar argument, or a value in memory.
//
// Nodes come from a slab, are counted, and are freed iteratively, so a chain of any length is released without deep
// recursion. A node's op, type, operands, attrs and call site never change after it is made. What changes is `state`
// and, with it, `storage`: the session, under its lock, turns a lazy node into a ready one and drops its operands.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "compiler/ir/attrs.h"
#include "compiler/ir/op.h"
#include "compiler/ir/tensor_type.h"
#include "runtime/device/storage.h"

namespace tenon::trace {

class TraceNode;
inline void retain(TraceNode* node);
/// Drops one reference; at the last one frees the node and, iteratively, what only it held.
void release(TraceNode* node);

/// Owning pointer to a node.
class NodeRef {
 public:
  NodeRef() = default;
  NodeRef(TraceNode* node, bool adopt) : node_(node) {
    if (!adopt && node_) retain(node_);
  }
  NodeRef(const NodeRef& other) : node_(other.node_) {
    if (node_) retain(node_);
  }
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef() {
    if (node_) release(node_);
  }
  TraceNode* get() const { return node_; }
  /// Gives the reference to the caller.
  TraceNode* detach() { return std::exchange(node_, nullptr); }
  TraceNode* operator->() const { return node_; }
  TraceNode& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }

 private:
  TraceNode* node_ = nullptr;
};

/// What names a program, and all that it was compiled from; shared by the program and what it has computed.
using CanonicalBytes = std::shared_ptr<const std::vector<std::byte>>;

enum class NodeState : std::uint8_t {
  kLazy,    ///< an op whose operands are `operands`
  kScalar,  ///< a 0-d run-time argument: `scalar_bits`
  kReady,   ///< a value in memory: `storage`, `strides`, `byte_offset`
};

class TraceNode {
 public:
  std::atomic<std::uint32_t> references{1};
  std::atomic<NodeState> state{NodeState::kLazy};
  Op op = Op::k_input;
  // Of a lazy node when it was made; both saturate. They bound graphs that nobody evaluates.
  std::uint32_t depth = 0;      ///< longest chain of lazy nodes, with this one
  std::int64_t held_bytes = 0;  ///< of values in memory that the heaviest chain reads
  TensorType type;
  absl::InlinedVector<NodeRef, 2> operands;
  Attrs attrs;
  std::source_location call_site;

  std::uint64_t scalar_bits = 0;  ///< kScalar: the value in its dtype, in the low bytes

  // kReady. Strides in elements from the element [0, ..., 0], which lies at storage data + byte_offset; empty strides
  // mean row-major.
  device::StorageRef storage;
  Shape strides;
  std::int64_t byte_offset = 0;
  CanonicalBytes computed_by;  ///< of the program that made the value; null for data that was given

  // Scratch of the session's canonical walk, valid under the session's lock only.
  std::uint32_t walk_epoch = 0;
  std::int32_t walk_index = -1;
  std::uint32_t walk_uses = 0;       ///< operand slots of the walked program that hold this node
  bool computed_in_passing = false;  ///< a program has computed it without keeping it
  bool in_flight = false;            ///< a program that will make it ready is running
};

inline void retain(TraceNode* node) { node->references.fetch_add(1, std::memory_order_relaxed); }

/// A lazy node of `op` in the making: the caller adds promoted operands, attrs and the checked type, then calls settle.
/// Nodes may be made and released by any thread.
NodeRef make_node(Op op, const std::source_location& call_site);
/// Ends the making of a lazy node: sets depth and held_bytes.
void settle(TraceNode* node);
NodeRef make_scalar(DType dtype, std::uint64_t bits);
NodeRef make_ready(TensorType type, device::StorageRef storage, Shape strides, std::int64_t byte_offset);

/// Live nodes of the process, for tests and for the bound on unevaluated graphs.
std::int64_t live_nodes();

}  // namespace tenon::trace
