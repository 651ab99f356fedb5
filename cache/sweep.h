// SPDX-License-Identifier: MIT
//
// Keeping the store below its cap. A sweep looks at every file, and when they are too many bytes deletes the least
// useful down to 80 % of the cap: first those of environments unused for 30 days, then by age, size and what compiling
// again would cost. A clock that jumps costs at most good entries, never the bound; a crash only leaves fewer files.
#pragma once

#include <atomic>
#include <cstdint>

#include "cache/file_system.h"

namespace tenon::cache {

struct SweepResult {
  uint64_t entries = 0;  // left, as far as seen
  uint64_t bytes = 0;    // of them, each rounded up to 4 KiB
  uint64_t evicted = 0;
  uint64_t evicted_bytes = 0;
};

/// Sweeps the store in `directory`; stops early once `hurry` is set. What cannot be read or deleted is passed over.
SweepResult sweep(FileSystem& files, int directory, uint64_t max_bytes, const std::atomic<bool>& hurry);

/// Whether the last sweep is more than an hour away and this process is the one to do the next: of many that ask at
/// once, one is told so.
bool claim_sweep(FileSystem& files, int directory);

}  // namespace tenon::cache
