// SPDX-License-Identifier: MIT
// The decision log: what each stage decided and why, as data. Append-only; made only when somebody asks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct StageRecord {
  std::string name;
  int nodes_in = 0, nodes_out = 0;
};

/// A value of the graph after rewriting: inlined into its readers, or realized, and by which rule.
struct RealizeRecord {
  int node = -1;
  std::string text;  ///< the node in text form
  bool realized = false;
  std::string rule;
  std::vector<int> into;  ///< realized nodes that it is computed in
  int reads = 0, ops = 0, users = 0;
  std::int64_t bytes_in = 0, bytes_out = 0;
  std::int64_t inline_cost = 0, store_cost = 0;  ///< picoseconds
};

/// One tested pair of a fusion round. a and b name groups by their members' graph nodes, "v3+v7".
struct CandidateRecord {
  int round = 0;
  std::string a, b;
  std::string kind;        ///< "vertical" or "horizontal"
  std::int64_t score = 0;  ///< picoseconds saved
  std::int64_t shared_bytes = 0;
  std::string verdict;  ///< "fused", "rejected", "stale"
  std::string reason;   ///< a stable code, with a detail where it has one
};

struct KernelRecord {
  std::string name, kernel_class;
  std::vector<int> members;  ///< graph nodes
  std::int64_t read_bytes = 0, write_bytes = 0, tasks = 0;
  int phases = 0;
};

struct MemoryRecord {
  int node = -1;
  std::int64_t offset = 0, bytes = 0;
  int first_kernel = 0, last_kernel = 0;
};

struct DecisionLog {
  std::vector<StageRecord> stages;
  std::vector<RealizeRecord> realize;
  std::vector<CandidateRecord> candidates;
  std::vector<KernelRecord> kernels;
  std::vector<MemoryRecord> memory;
  std::int64_t arena_bytes = 0;
};

}  // namespace tenon
