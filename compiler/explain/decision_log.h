// SPDX-License-Identifier: MIT
// The decision log: what each stage decided and why, as data. Append-only; made only when somebody asks.
//
// Its records are public (include/tenon/decisions.h): an explanation hands them out as they are.
#pragma once

#include "tenon/decisions.h"

namespace tenon {

struct DecisionLog {
  std::vector<StageRecord> stages;
  std::vector<RewriteRecord> rewrites;
  std::vector<RealizeRecord> realize;
  std::vector<CandidateRecord> candidates;
  std::vector<SearchRecord> searches;
  std::vector<KernelRecord> kernels;
  std::vector<MemoryRecord> memory;
  std::int64_t arena_bytes = 0;
};

}  // namespace tenon
