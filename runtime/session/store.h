// SPDX-License-Identifier: MIT
// Where programs come from: memory, disk, or the compiler, in that order; and what was counted on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/digest.h"
#include "cache/disk_store.h"
#include "cache/memory_cache.h"
#include "compiler/pipeline.h"
#include "runtime/session/program.h"

namespace tenon::session {

/// Counts and times of the process, as `tenon run --stats` prints them. Times in microseconds.
struct Counters {
  std::uint64_t memory_hits = 0, disk_hits = 0, compiled = 0, interpreted = 0, kernels = 0;
  double trace_us = 0, key_us = 0, lookup_us = 0, compile_us = 0, load_us = 0, run_us = 0;
};

/// What a program is looked up by. Borrows the bytes.
struct ProgramKey {
  absl::Span<const std::byte> bytes;  ///< canonical
  cache::Digest digest;               ///< of them
};

/// Hashes the bytes; nothing after it does so again.
ProgramKey key_of(absl::Span<const std::byte> canonical_bytes);

class ProgramStore {
 public:
  /// Opens the disk cache as options() say; a cache that cannot be used is one warning.
  ProgramStore();

  /// The program of this key. Concurrent misses of one key compile once. FailedPrecondition when it would have to be
  /// compiled and TENON_COMPILE=forbid.
  absl::StatusOr<std::shared_ptr<const Program>> find_or_make(const ProgramKey& key);

  Counters counters() const;
  cache::Stats disk_stats() const { return disk_->stats(); }
  cache::MemoryStats memory_stats() { return memory_.stats(); }
  const std::string& root() const { return root_; }
  std::string disk_status() const { return disk_->status(); }
  /// Waits until what was published is written, at most 200 ms.
  void drain();
  /// Forgets the programs in memory (tests of the disk cache).
  void clear_memory() { memory_.clear(); }

 private:
  absl::StatusOr<cache::MemoryCache<Program>::Computed> make(const ProgramKey& key);
  std::shared_ptr<const Program> load_from_disk(const cache::EntryKey& key, const trace::CanonicalBytes& bytes);
  absl::StatusOr<std::shared_ptr<const Program>> compile_and_publish(const cache::EntryKey& key,
                                                                     const trace::CanonicalBytes& bytes);
  absl::StatusOr<std::shared_ptr<const Program>> interpret_instead(const trace::CanonicalBytes& bytes);

  std::string root_;
  std::unique_ptr<cache::DiskStore> disk_;
  cache::MemoryCache<Program> memory_;
  mutable std::mutex mutex_;
  Counters counters_;
};

/// What is written beside the canonical bytes: everything outside the graph on which code depends, a line a field.
std::string environment_text();

/// The folder of the disk cache by TENON_CACHE_DIR, XDG_CACHE_HOME, HOME; empty when there is none.
std::string cache_root();

}  // namespace tenon::session
