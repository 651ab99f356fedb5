// SPDX-License-Identifier: MIT
// What the library has done in this process.
#pragma once

#include <cstdint>

#include "tenon/export.h"

namespace tenon {

/// Counts and times since the process began. Times are sums over all programs, in milliseconds.
struct Statistics {
  std::uint64_t compiled = 0;      ///< programs compiled
  std::uint64_t memory_hits = 0;   ///< programs found in the process
  std::uint64_t disk_hits = 0;     ///< programs loaded from the disk cache
  std::uint64_t kernels = 0;       ///< kernels in the compiled programs
  bool compiler_opened = false;    ///< whether LLVM has been loaded
  double key_ms = 0, lookup_ms = 0, compile_ms = 0, load_ms = 0, run_ms = 0;
};

/// A snapshot. Any thread.
TENON_API Statistics statistics();

/// Waits, at most 200 ms, until what was compiled is written to the disk cache. The process does so at its end anyway.
TENON_API void flush_cache();

}  // namespace tenon
