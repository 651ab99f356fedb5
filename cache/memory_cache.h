// SPDX-License-Identifier: MIT
//
// Values computed once and kept within a byte cap, found by digest and full key bytes. Many threads that ask for one
// key compute it once: the first computes, outside every lock, and its value or its error reaches the others. Eviction
// is GreedyDual-Size: what is cheap to compute again, large and long unused goes first. Pending computations are not
// inherited by a forked child, which starts with an empty cache. Header-only; a hit costs well under 100 ns.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/digest.h"
#include "cache/fork_generation.h"

namespace tenon::cache {

struct MemoryStats {
  uint64_t hits = 0;
  uint64_t misses = 0;      // computations begun
  uint64_t waits = 0;       // calls that got another's computation
  uint64_t collisions = 0;  // calls whose digest belongs to other key bytes
  uint64_t evictions = 0;
  uint64_t entries = 0;
  uint64_t bytes = 0;
};

template <typename Value>
class MemoryCache {
 public:
  using Pointer = std::shared_ptr<const Value>;

  /// What a computation gives: the value, the memory it holds, and what computing it again would cost.
  struct Computed {
    Pointer value;
    uint64_t bytes = 0;
    uint64_t cost_us = 0;
  };

  explicit MemoryCache(uint64_t max_bytes) : max_bytes_(max_bytes) {}
  MemoryCache(const MemoryCache&) = delete;
  MemoryCache& operator=(const MemoryCache&) = delete;

  /// No call may be running. Values live on as long as they are held elsewhere.
  ~MemoryCache() {
    State* state = state_.load();
    if (state != nullptr && state->generation == fork_generation()) delete state;
  }

  /// The value under this key, or null. Never waits for a computation. Any thread.
  Pointer find(const Digest& digest, std::string_view key_bytes) {
    State& state = current();
    Shard& shard = state.shard_of(digest);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.slots.find(digest);
    if (found == shard.slots.end() || found->second.key_bytes != key_bytes) return nullptr;
    return hit(state, shard, found->second);
  }

  /// The value under this key, computed by `compute` (a callable giving absl::StatusOr<Computed>) when there is none.
  /// A failed computation is not kept: its status, or Internal for an exception, goes to all who wait, and the next
  /// call computes anew. A value beyond the cap is given out but not kept. `compute` must not ask for the same key.
  template <typename Compute>
  absl::StatusOr<Pointer> get_or_compute(const Digest& digest, std::string_view key_bytes, Compute&& compute) {
    State& state = current();
    Shard& shard = state.shard_of(digest);
    std::unique_lock lock(shard.mutex);
    const auto [found, is_new] = shard.slots.try_emplace(digest);
    Slot& slot = found->second;
    if (!is_new && slot.key_bytes != key_bytes) {
      shard.stats.collisions += 1;
      lock.unlock();
      return value_of(run(compute));
    }
    if (!is_new && slot.value != nullptr) return hit(state, shard, slot);
    if (!is_new) {
      shard.stats.waits += 1;
      const std::shared_ptr<Pending> pending = slot.pending;
      lock.unlock();
      return pending->wait();
    }
    shard.stats.misses += 1;
    slot.key_bytes = key_bytes;
    const std::shared_ptr<Pending> pending = slot.pending = std::make_shared<Pending>();
    lock.unlock();

    absl::StatusOr<Computed> computed = run(compute);
    absl::StatusOr<Pointer> result = value_of(computed);
    settle(state, shard, digest, computed);
    pending->complete(result);
    evict(state);
    return result;
  }

  /// Forgets every value that is not being computed.
  void clear() {
    State& state = current();
    for (const auto& [priority, digest] : priorities(state)) evict_one(state, digest);
  }

  MemoryStats stats() {
    State& state = current();
    MemoryStats total;
    for (Shard& shard : state.shards) {
      const std::lock_guard lock(shard.mutex);
      total.hits += shard.stats.hits;
      total.misses += shard.stats.misses;
      total.waits += shard.stats.waits;
      total.collisions += shard.stats.collisions;
      total.evictions += shard.stats.evictions;
      total.entries += shard.slots.size();
    }
    total.bytes = state.bytes;
    return total;
  }

 private:
  static constexpr size_t kShards = 32;

  class Pending {
   public:
    void complete(absl::StatusOr<Pointer> result) {
      const std::lock_guard lock(mutex_);
      result_ = std::move(result);
      is_done_.notify_all();
    }

    absl::StatusOr<Pointer> wait() {
      std::unique_lock lock(mutex_);
      is_done_.wait(lock, [this] { return result_.has_value(); });
      return *result_;
    }

   private:
    std::mutex mutex_;
    std::condition_variable is_done_;
    std::optional<absl::StatusOr<Pointer>> result_;
  };

  // Either a value or a pending computation.
  struct Slot {
    std::string key_bytes;
    Pointer value;
    std::shared_ptr<Pending> pending;
    uint64_t bytes = 0;
    double cost_per_byte = 0;
    double priority = 0;
  };

  struct alignas(64) Shard {
    std::mutex mutex;
    std::unordered_map<Digest, Slot, DigestHash> slots;
    MemoryStats stats;
  };

  struct State {
    const uint64_t generation = fork_generation();
    std::array<Shard, kShards> shards;
    std::atomic<uint64_t> bytes{0};
    std::atomic<double> inflation{0};  // the priority of what was evicted last: the age that newcomers start from
    std::mutex eviction;

    // By bits that the map inside does not use first.
    Shard& shard_of(const Digest& digest) { return shards[digest.hi % kShards]; }
  };

  // The state of a process that has forked since may hold locks of threads that are gone, so it is left alone.
  State& current() {
    State* state = state_.load(std::memory_order_acquire);
    if (state != nullptr && state->generation == fork_generation()) return *state;
    auto fresh = std::make_unique<State>();
    if (state_.compare_exchange_strong(state, fresh.get())) return *fresh.release();
    return *state;
  }

  // Called with the shard locked.
  static Pointer hit(State& state, Shard& shard, Slot& slot) {
    if (slot.value == nullptr) return nullptr;
    shard.stats.hits += 1;
    slot.priority = state.inflation.load(std::memory_order_relaxed) + slot.cost_per_byte;
    return slot.value;
  }

  template <typename Compute>
  static absl::StatusOr<Computed> run(Compute& compute) {
    try {
      return compute();
    } catch (const std::exception& error) {
      return absl::InternalError(error.what());
    } catch (...) {
      return absl::InternalError("the computation threw something");
    }
  }

  static absl::StatusOr<Pointer> value_of(const absl::StatusOr<Computed>& computed) {
    if (!computed.ok()) return computed.status();
    if (computed->value == nullptr) return absl::InternalError("the computation gave no value");
    return computed->value;
  }

  // Turns the pending slot into one with a value, or removes it.
  void settle(State& state, Shard& shard, const Digest& digest, const absl::StatusOr<Computed>& computed) {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.slots.find(digest);
    if (!computed.ok() || computed->value == nullptr || computed->bytes > max_bytes_) {
      shard.slots.erase(found);
      return;
    }
    Slot& slot = found->second;
    slot.value = computed->value;
    slot.pending = nullptr;
    slot.bytes = computed->bytes;
    slot.cost_per_byte = static_cast<double>(computed->cost_us) / static_cast<double>(computed->bytes + 1);
    slot.priority = state.inflation + slot.cost_per_byte;
    state.bytes += slot.bytes;
  }

  // Lowest priorities first, down to 7/8 of the cap, so that ranking all values is paid by many insertions.
  void evict(State& state) {
    if (state.bytes <= max_bytes_) return;
    const std::lock_guard lock(state.eviction);
    std::vector<std::pair<double, Digest>> ranked = priorities(state);
    std::sort(ranked.begin(), ranked.end());
    for (const auto& [priority, digest] : ranked) {
      if (state.bytes <= max_bytes_ / 8 * 7) return;
      state.inflation = std::max(state.inflation.load(), priority);
      evict_one(state, digest);
    }
  }

  static std::vector<std::pair<double, Digest>> priorities(State& state) {
    std::vector<std::pair<double, Digest>> all;
    for (Shard& shard : state.shards) {
      const std::lock_guard lock(shard.mutex);
      for (const auto& [digest, slot] : shard.slots) {
        if (slot.value != nullptr) all.emplace_back(slot.priority, digest);
      }
    }
    return all;
  }

  static void evict_one(State& state, const Digest& digest) {
    Pointer released;  // ends after the lock
    Shard& shard = state.shard_of(digest);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.slots.find(digest);
    if (found == shard.slots.end() || found->second.value == nullptr) return;
    released = std::move(found->second.value);
    state.bytes -= found->second.bytes;
    shard.stats.evictions += 1;
    shard.slots.erase(found);
  }

  const uint64_t max_bytes_;
  std::atomic<State*> state_{nullptr};
};

}  // namespace tenon::cache
