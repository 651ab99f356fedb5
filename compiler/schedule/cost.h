// SPDX-License-Identifier: MIT
// What a kernel does, what that costs by a table of the machine, and what fusing two saves: in integers (bytes,
// weighted ops, picoseconds), so that decisions are the same everywhere.
#pragma once

#include "absl/functional/function_ref.h"
#include "compiler/ir/cost_table.h"
#include "compiler/schedule/legality.h"

namespace tenon {

/// What the kernel of a group moves and computes.
struct Work {
  std::int64_t read_bytes = 0;     ///< each buffer of others that it reads, once
  std::int64_t write_bytes = 0;    ///< each value that must be stored, once
  std::int64_t near_bytes = 0;     ///< further reads of what it read before
  std::int64_t nearest_bytes = 0;  ///< the same of small buffers
  std::int64_t operations = 0;     ///< weighted, times elements
  std::int64_t tasks = 1;          ///< as many threads can share it
  std::int64_t bytes() const { return read_bytes + write_bytes; }
};

/// Whether a value must be stored: it is an output, or a group other than `self` and `other` reads it.
bool is_stored(const LoweredGraph& lowered, const Dependencies& dependencies, BufferId buffer, int self,
               int other = -1);

/// The work of `group`, of whose values those are stored that `is_stored` names.
Work work_of(const LoweredGraph& lowered, const Group& group, const CostTable& table,
             absl::FunctionRef<bool(BufferId)> is_stored);

/// The work of `group`, whose values are stored unless only groups `self` and `other` read them.
Work work_of(const LoweredGraph& lowered, const Dependencies& dependencies, const Group& group, const CostTable& table,
             int self, int other = -1);

/// Picoseconds: launch + max(compute, memory) + min(compute, memory) / 20, by one thread or by many, whichever is less.
std::int64_t kernel_cost(const Work& work, const CostTable& table);

/// What fusing a legal pair brings.
struct FusionScore {
  int template_rank = 1;          ///< 2: a template's epilogue, 0: its prologue; orders candidates before the value
  std::int64_t value = 0;         ///< the order of candidates: higher first; not above 0: not worth it
  std::int64_t saved = 0;         ///< picoseconds
  std::int64_t shared_bytes = 0;  ///< bytes that need not move any more
};

/// How pairs are ranked: by the time that they save, twice that for two of one class; or, for comparison, as Inductor
/// does: by the bytes that they share, 16 times that for two of one class.
enum class ScoreRule : std::uint8_t { kTime, kInductor };

/// `a` and `b`: the work of the two by themselves.
FusionScore score_fusion(const FusionPair& pair, const Work& a, const Work& b, const Group& both,
                         const CostTable& table, ScoreRule rule);

}  // namespace tenon
