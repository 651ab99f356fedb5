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

/// Adds the time that tracing took, for --stats.
Counters counters();

/// The canonical bytes of the program that would make `nodes` ready, without running it.
std::vector<std::byte> canonical_bytes(std::span<trace::TraceNode* const> nodes);

}  // namespace tenon::session
