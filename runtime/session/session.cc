// SPDX-License-Identifier: MIT
// What happens on a call: the straight line from wanted nodes to values, one named step and one sentence each.
//
// One lock covers the walk over nodes and the change of their state, never compiling or running, so independent
// programs of several threads run at once.
#include "runtime/session/session.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <new>

#include "absl/strings/str_cat.h"
#include "runtime/device/cpu/allocator.h"
#include "runtime/device/cpu/parallel.h"
#include "runtime/options.h"
#include "runtime/session/canonical.h"

namespace tenon::session {
namespace {

using trace::NodeRef;
using trace::NodeState;
using trace::TraceNode;

struct Session {
  std::mutex mutex;
  std::condition_variable changed;  ///< some in_flight node has become ready, or its program has failed
  Canonicaliser canonicaliser;
  ProgramStore store;
  double key_us = 0, run_us = 0;
  Session() { device::set_num_threads(static_cast<int>(options().num_threads)); }
};

Session& session() {
  static Session* const instance = [] {
    auto* s = new Session;
    // Leaked, so that tensors in statics may still be evaluated; what is queued is written out at exit.
    std::atexit([] { session().store.drain(); });
    return s;
  }();
  return *instance;
}

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// The nodes that are still lazy, each once; waits for those that another thread is making ready.
std::vector<TraceNode*> pending(Session& s, std::unique_lock<std::mutex>& lock, std::span<TraceNode* const> nodes) {
  s.changed.wait(lock,
                 [&] { return std::none_of(nodes.begin(), nodes.end(), [](TraceNode* n) { return n->in_flight; }); });
  std::vector<TraceNode*> wanted;
  for (TraceNode* node : nodes) {
    const bool is_lazy = node->state.load(std::memory_order_acquire) == NodeState::kLazy;
    if (is_lazy && std::find(wanted.begin(), wanted.end(), node) == wanted.end()) wanted.push_back(node);
  }
  return wanted;
}

/// The program of the nodes that are still lazy (none: no outputs). What another thread is making ready is waited for,
/// so that it is computed once.
TracedProgram walk(Session& s, std::unique_lock<std::mutex>& lock, std::span<TraceNode* const> nodes) {
  for (;;) {
    TracedProgram traced = s.canonicaliser.run(pending(s, lock, nodes));
    if (!traced.waits_for) return traced;
    const NodeRef busy(traced.waits_for, false);
    s.changed.wait(lock, [&] { return !busy->in_flight; });
  }
}

/// A program about to run: what it reads is held, so that nothing it needs can go away meanwhile.
struct Run {
  std::vector<std::byte> key_bytes;
  std::vector<NodeRef> inputs, outputs;
  std::vector<std::uint64_t> scalars;
  std::vector<device::StorageRef> results;
  trace::CanonicalBytes computed_by;
  double run_us = 0;
};

Run start(TracedProgram traced) {
  Run run;
  run.key_bytes.assign(traced.key_bytes.begin(), traced.key_bytes.end());
  for (TraceNode* node : traced.inputs) run.inputs.emplace_back(node, false);
  for (TraceNode* node : traced.outputs) {
    run.outputs.emplace_back(node, false);
    node->in_flight = true;
  }
  run.scalars = std::move(traced.scalars);
  return run;
}

std::int64_t bytes_of(const TensorType& type) {
  return numel(type.shape) * static_cast<std::int64_t>(size_of(type.dtype));
}

absl::Status allocate_results(Run& run) {
  for (const NodeRef& node : run.outputs) {
    run.results.push_back(device::allocate(static_cast<std::size_t>(bytes_of(node->type))));
    if (run.results.back()) continue;
    const device::AllocatorStats stats = device::allocator_stats();
    return absl::ResourceExhaustedError(absl::StrCat("no memory for a result of ", bytes_of(node->type), " bytes, ",
                                                     to_string(node->type), "; ", stats.live_bytes,
                                                     " bytes are in use by tensors"));
  }
  return absl::OkStatus();
}

absl::Status execute(const Program& program, Run& run) {
  const Clock::time_point start = Clock::now();
  std::vector<const void*> inputs;
  for (const NodeRef& node : run.inputs)
    inputs.push_back(static_cast<const std::byte*>(node->storage->data) + node->byte_offset);
  std::vector<void*> outputs;
  for (const device::StorageRef& result : run.results) outputs.push_back(result->data);
  const absl::Status status = program.run({inputs, run.scalars, outputs});
  run.run_us = microseconds_since(start);
  return status;
}

/// What the interpreter and the compiler keep outside tensors may find no memory either.
absl::Status compute(Session& s, Run& run) try {
  absl::StatusOr<std::shared_ptr<const Program>> program = s.store.find_or_make(key_of(run.key_bytes));
  if (!program.ok()) return program.status();
  run.computed_by = (*program)->canonical_bytes();
  if (absl::Status status = allocate_results(run); !status.ok()) return status;
  return execute(**program, run);
} catch (const std::bad_alloc&) {
  return absl::ResourceExhaustedError("no memory for the program's own data");
}

/// Turns the outputs into values; returns what they no longer need, to be released without the lock.
std::vector<absl::InlinedVector<NodeRef, 2>> publish(Run& run, const absl::Status& status) {
  std::vector<absl::InlinedVector<NodeRef, 2>> dropped;
  for (std::size_t i = 0; i < run.outputs.size(); ++i) {
    TraceNode& node = *run.outputs[i];
    node.in_flight = false;
    if (!status.ok()) continue;
    node.storage = std::move(run.results[i]);
    node.computed_by = run.computed_by;
    dropped.push_back(std::move(node.operands));
    node.operands.clear();
    node.state.store(NodeState::kReady, std::memory_order_release);
  }
  return dropped;
}

}  // namespace

absl::Status evaluate(std::span<TraceNode* const> nodes) {
  Session& s = session();
  std::unique_lock lock(s.mutex);
  const Clock::time_point key_start = Clock::now();

  // The walk over what is still lazy gives the program's name and its arguments; from here on nodes are not needed.
  TracedProgram traced = walk(s, lock, nodes);
  if (traced.outputs.empty()) return absl::OkStatus();
  s.canonicaliser.mark_computed();
  Run run = start(std::move(traced));
  s.key_us += microseconds_since(key_start);
  lock.unlock();

  // Find the program in memory, on disk, or compile it; then run it into fresh results.
  const absl::Status status = compute(s, run);

  // The nodes become values, and their operands go.
  lock.lock();
  s.run_us += run.run_us;
  const auto dropped = publish(run, status);
  s.changed.notify_all();
  lock.unlock();
  return status;
}

ProgramStore& store() { return session().store; }

Counters counters() {
  Counters c = session().store.counters();
  const std::lock_guard lock(session().mutex);
  c.key_us = session().key_us;
  c.run_us = session().run_us;
  return c;
}

CapturedProgram capture(std::span<TraceNode* const> nodes) {
  Session& s = session();
  std::unique_lock lock(s.mutex);
  const TracedProgram traced = walk(s, lock, nodes);
  CapturedProgram captured;
  if (traced.outputs.empty()) return captured;
  captured.key_bytes.assign(traced.key_bytes.begin(), traced.key_bytes.end());
  for (const TraceNode* node : traced.inputs) {
    captured.inputs.push_back(node->storage);
    captured.input_offsets.push_back(node->byte_offset);
  }
  captured.scalars = traced.scalars;
  for (const TraceNode* node : traced.outputs) captured.outputs.push_back(node->type);
  return captured;
}

}  // namespace tenon::session
