// SPDX-License-Identifier: MIT
// The caching CPU allocator: freed blocks are kept by size, since page faults otherwise decide bandwidth.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device/storage.h"

namespace tenon::device {

/// At least `bytes` of uninitialised memory, 64-byte aligned; null when the system has none. Thread-safe. A block that
/// was freed before costs well under 0.2 us. Kept blocks are bounded to a quarter of the machine's memory.
StorageRef allocate(std::size_t bytes);

/// Memory of the user's: `free_data(context)` runs when the last reference goes.
StorageRef wrap(void* data, std::size_t bytes, void (*free_data)(void* context), void* context);

struct AllocatorStats {
  std::int64_t live_bytes = 0;  ///< handed out
  std::int64_t kept_bytes = 0;  ///< freed and kept for reuse
  std::int64_t peak_bytes = 0;  ///< largest live_bytes
};
AllocatorStats allocator_stats();

/// Gives kept blocks back to the system.
void release_kept_memory();

}  // namespace tenon::device
