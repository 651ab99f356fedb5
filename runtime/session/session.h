// SPDX-License-Identifier: MIT
// Evaluation: from traced nodes to values in memory.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "absl/status/status.h"
#include "runtime/session/store.h"
#include "runtime/trace/node.h"

namespace tenon::session {

/// Makes every node ready, all by one program. Nodes that are ready are left alone; a node that another thread is
/// making ready is waited for. Thread-safe. On error (ResourceExhausted with sizes, FailedPrecondition under
/// TENON_COMPILE=forbid, Internal) no node has changed.
absl::Status evaluate(std::span<trace::TraceNode* const> nodes);

/// The process's programs and counts.
ProgramStore& store();

/// Counts and times of the process so far.
Counters counters();

/// A traced program with what it would be run on.
struct CapturedProgram {
  std::vector<std::byte> key_bytes;  ///< empty when every node is ready
  std::vector<device::StorageRef> inputs;
  std::vector<std::int64_t> input_offsets;  ///< bytes to element [0, ..., 0]
  std::vector<std::uint64_t> scalars;
  std::vector<TensorType> outputs;  ///< of the nodes that are not ready, in their order
};

/// The program that would make `nodes` ready, without running it.
CapturedProgram capture(std::span<trace::TraceNode* const> nodes);

}  // namespace tenon::session
