// SPDX-License-Identifier: MIT
//
// The cache on disk: one immutable checked file an entry, under <root>/v1/<environment>/<graph>. Any trouble is a miss
// with a reason; nothing here fails, throws, or waits without a bound. Look-ups take no locks and may come from any
// thread; publishing is queued to one background thread, started by the first of them. After fork a child goes on with
// its own queue. The layer reads no environment variable and writes no log: the caller decides where, and says why not.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cache/entry.h"
#include "cache/file_system.h"
#include "cache/sweep.h"
#include "cache/work_queue.h"

namespace tenon::cache {

enum class Mode { kOff, kReadOnly, kReadWrite };

/// Counts since the store was opened (in a forked child: since the parent opened it).
struct Stats {
  uint64_t lookups = 0;
  uint64_t hits = 0;
  uint64_t hit_bytes = 0;
  std::array<uint64_t, kMissReasonCount> misses{};  // by MissReason
  uint64_t removed = 0;                             // files that were no entries
  uint64_t published = 0;
  uint64_t published_bytes = 0;
  uint64_t already_there = 0;   // another process was first
  uint64_t dropped = 0;         // queue full, disk nearly full, or not an entry
  uint64_t publish_errors = 0;  // the system failed
  uint64_t sweeps = 0;
  uint64_t evicted = 0;
  uint64_t evicted_bytes = 0;
};

class DiskStore {
 public:
  static constexpr uint64_t kDefaultMaxBytes = uint64_t{2} << 30;
  static constexpr std::chrono::milliseconds kExitLimit{200};

  /// Opens the store at `root`, which kReadWrite creates. Always gives a store: one that cannot be used, or is off,
  /// misses with kOff, and status() says why. `files` must outlive the process's last use of the store.
  static std::unique_ptr<DiskStore> open(FileSystem& files, const std::string& root, Mode mode,
                                         uint64_t max_bytes = kDefaultMaxBytes);

  DiskStore(const DiskStore&) = delete;
  DiskStore& operator=(const DiskStore&) = delete;

  /// Drains for at most kExitLimit, then leaves.
  ~DiskStore();

  bool is_on() const;

  /// One line to tell the user once when the store is off or has turned itself off or read-only; empty when all is
  /// well, and when it is off because it was asked to be.
  std::string status() const;

  /// The entry stored under `key`, all checks passed, or why there is none. In kReadWrite a file that is no such entry
  /// is removed, so that the next publish replaces it. Three look-ups in a row of over 100 ms turn the store off.
  std::variant<Entry, MissReason> lookup(const EntryKey& key);

  /// Tells that the caller could not use the entry it was given: counts kRejected and removes the file.
  void reject(const EntryKey& key);

  /// Queues an image made by encode_entry() under `key`. True when queued; false when the store does not write, the
  /// image is empty, or 64 are waiting. Costs about a microsecond.
  bool publish(const EntryKey& key, std::vector<std::byte> image);

  /// Waits at most `limit` for all that is queued to be written; true when it is. Cuts a sweep short
  /// when an entry waits behind it.
  bool drain(std::chrono::milliseconds limit);

  /// Sweeps now, on this thread. Nothing happens in a store that does not write.
  SweepResult sweep_now();

  Stats stats() const;

 private:
  struct Core;

  explicit DiskStore(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
  WorkQueue queue_;
};

}  // namespace tenon::cache
