// SPDX-License-Identifier: MIT
// The canonical form of what was traced: one iterative walk from the wanted nodes renumbers everything by first visit
// and yields the canonical bytes, which are all that the compiler ever sees.
//
// Handles, addresses, names and the values of scalars are not in the bytes; dtypes, shapes, attributes, layouts of the
// inputs and the choice of outputs are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/types/span.h"
#include "compiler/ir/serialize.h"
#include "runtime/trace/node.h"

namespace tenon::session {

/// A traced program, ready to be looked up and run. Pointers are borrowed from the wanted nodes.
struct TracedProgram {
  absl::Span<const std::byte> key_bytes;   ///< valid until the canonicaliser's next use
  std::vector<trace::TraceNode*> inputs;   ///< ready nodes, in argument order
  std::vector<std::uint64_t> scalars;      ///< 8 bytes each, in argument order
  std::vector<trace::TraceNode*> outputs;  ///< lazy nodes to be made ready
  trace::TraceNode* waits_for = nullptr;   ///< a node inside that another program is making ready: walk again then
};

/// Reusable scratch of the walk. All calls under the session's lock.
class Canonicaliser {
 public:
  /// The program that makes `wanted` (lazy nodes, each once) ready. A value inside that an earlier program has already
  /// computed in passing, and that somebody still holds, becomes an output as well, so that it is not computed a third
  /// time.
  TracedProgram run(std::span<trace::TraceNode* const> wanted);
  /// Says that the program of the last run is going to be computed: its inner values will have been, in passing. A
  /// program that is only looked at leaves no trace.
  void mark_computed();

 private:
  struct Frame {
    trace::TraceNode* node;
    std::size_t next_operand;
  };
  void visit(trace::TraceNode* root);
  void number(trace::TraceNode* node);
  void add_recomputed_outputs();

  GraphEncoder encoder_;
  TracedProgram program_;
  std::vector<Frame> stack_;
  std::vector<trace::TraceNode*> lazy_;    ///< in order of their numbers
  std::vector<trace::TraceNode*> passed_;  ///< those of them that are not wanted
  std::vector<NodeId> operand_ids_;
  std::uint32_t epoch_ = 0;
  std::int32_t next_ = 0;
};

}  // namespace tenon::session
