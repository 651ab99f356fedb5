// SPDX-License-Identifier: MIT
// Where nodes come from and go to: each thread keeps a bounded number of freed nodes, so that tracing allocates nothing
// in the long run, and counts its own nodes without a shared cache line.
#include "runtime/trace/node.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace tenon::trace {
namespace {

/// Freed nodes that a thread keeps for reuse, about 1.5 MB.
constexpr std::size_t kMaxKept = 4096;

struct ThreadNodes;

/// Counts of all threads.
struct Registry {
  std::mutex mutex;
  std::vector<ThreadNodes*> threads;
  std::int64_t live_of_ended_threads = 0;
};

Registry& registry() {
  static Registry* const instance = new Registry;  // leaked: nodes in statics are freed after other statics
  return *instance;
}

struct ThreadNodes {
  std::vector<void*> kept;
  std::atomic<std::int64_t> live{0};  ///< made less freed by this thread; only this thread writes

  ThreadNodes();
  ~ThreadNodes();
  void count(std::int64_t change) {
    live.store(live.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
};

/// This thread's nodes; null before the first and once the thread's own variables are gone. A plain pointer in the
/// static block costs one load, where a variable with a constructor costs two calls.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadNodes* this_thread_nodes = nullptr;
constinit thread_local bool thread_has_ended = false;

ThreadNodes::ThreadNodes() {
  const std::lock_guard lock(registry().mutex);
  registry().threads.push_back(this);
}

ThreadNodes::~ThreadNodes() {
  this_thread_nodes = nullptr;
  thread_has_ended = true;
  for (void* memory : kept) ::operator delete(memory);
  const std::lock_guard lock(registry().mutex);
  registry().live_of_ended_threads += live.load(std::memory_order_relaxed);
  std::erase(registry().threads, this);
}

[[gnu::noinline]] ThreadNodes* first_use() {
  if (thread_has_ended) return nullptr;
  static thread_local ThreadNodes nodes;
  return this_thread_nodes = &nodes;
}

/// Null when statics are being destroyed after the thread's own variables.
ThreadNodes* this_thread() { return this_thread_nodes ? this_thread_nodes : first_use(); }

void count_after_end(std::int64_t change) {
  const std::lock_guard lock(registry().mutex);
  registry().live_of_ended_threads += change;
}

TraceNode* new_node() {
  ThreadNodes* thread = this_thread();
  if (!thread) {
    count_after_end(1);
    return new TraceNode;
  }
  thread->count(1);
  if (thread->kept.empty()) return new TraceNode;
  void* memory = thread->kept.back();
  thread->kept.pop_back();
  return new (memory) TraceNode;
}

void delete_node(TraceNode* node) {
  ThreadNodes* thread = this_thread();
  if (!thread || thread->kept.size() >= kMaxKept) {
    delete node;
  } else {
    node->~TraceNode();
    thread->kept.push_back(node);
  }
  thread ? thread->count(-1) : count_after_end(-1);
}

/// Drops one reference; true when it was the last.
bool drop(TraceNode* node) {
  // A single owner needs no read-modify-write: nobody else can get at the node.
  if (node->references.load(std::memory_order_acquire) == 1) return true;
  return node->references.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

std::int64_t bytes_of(const TensorType& type) {
  return numel(type.shape) * static_cast<std::int64_t>(size_of(type.dtype));
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace

void release(TraceNode* node) {
  if (!drop(node)) return;
  absl::InlinedVector<TraceNode*, 32> dying = {node};
  while (!dying.empty()) {
    TraceNode* last = dying.back();
    dying.pop_back();
    for (NodeRef& operand : last->operands) {
      TraceNode* held = operand.detach();
      if (held && drop(held)) dying.push_back(held);
    }
    delete_node(last);
  }
}

NodeRef make_node(Op op, const std::source_location& call_site) {
  TraceNode* node = new_node();
  node->op = op;
  node->call_site = call_site;
  return NodeRef(node, true);
}

void settle(TraceNode* node) {
  std::uint32_t depth = 0;
  std::int64_t below = 0, own = 0;
  for (const NodeRef& operand : node->operands) {
    switch (operand->state.load(std::memory_order_relaxed)) {
      case NodeState::kLazy:
        depth = std::max(depth, operand->depth);
        below = std::max(below, operand->held_bytes);
        break;
      case NodeState::kReady:
        own = saturating_add(own, bytes_of(operand->type));
        break;
      case NodeState::kScalar:
        break;
    }
  }
  node->depth = depth == std::numeric_limits<std::uint32_t>::max() ? depth : depth + 1;
  node->held_bytes = saturating_add(below, own);
}

NodeRef make_scalar(DType dtype, std::uint64_t bits) {
  TraceNode* node = new_node();
  node->state.store(NodeState::kScalar, std::memory_order_relaxed);
  node->op = Op::k_scalar;
  node->type.dtype = dtype;
  node->scalar_bits = bits;
  return NodeRef(node, true);
}

NodeRef make_ready(TensorType type, device::StorageRef storage, Shape strides, std::int64_t byte_offset) {
  TraceNode* node = new_node();
  node->state.store(NodeState::kReady, std::memory_order_relaxed);
  node->op = Op::k_input;
  node->type = std::move(type);
  node->storage = std::move(storage);
  node->strides = std::move(strides);
  node->byte_offset = byte_offset;
  return NodeRef(node, true);
}

std::int64_t live_nodes() {
  const std::lock_guard lock(registry().mutex);
  std::int64_t live = registry().live_of_ended_threads;
  for (const ThreadNodes* thread : registry().threads) live += thread->live.load(std::memory_order_relaxed);
  return live;
}

}  // namespace tenon::trace
