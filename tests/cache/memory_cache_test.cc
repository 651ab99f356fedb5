// SPDX-License-Identifier: MIT
//
// The memory cache computes a key once however many ask, tells a failure to all and keeps none, never gives the value
// of another key, stays below its cap, and lets no forked child wait for a thread that is gone.
#include "cache/memory_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tenon::cache {
namespace {

using Cache = MemoryCache<std::string>;

Cache::Computed make(const std::string& text, uint64_t bytes = 100, uint64_t cost_us = 1000) {
  return {std::make_shared<const std::string>(text), bytes, cost_us};
}

Digest name(const std::string& key) { return digest(key, Seed::kGraph); }

absl::StatusOr<Cache::Pointer> put(Cache& cache, const std::string& key, uint64_t bytes, uint64_t cost_us) {
  return cache.get_or_compute(name(key), key,
                              [&]() -> absl::StatusOr<Cache::Computed> { return make(key, bytes, cost_us); });
}

TEST(MemoryCache, FindsWhatWasComputed) {
  Cache cache(1 << 20);
  EXPECT_EQ(cache.find(name("k"), "k"), nullptr);
  ASSERT_TRUE(put(cache, "k", 100, 1).ok());
  ASSERT_NE(cache.find(name("k"), "k"), nullptr);
  EXPECT_EQ(*cache.find(name("k"), "k"), "k");
  const auto again = cache.get_or_compute(name("k"), "k", []() -> absl::StatusOr<Cache::Computed> {
    ADD_FAILURE() << "computed twice";
    return make("other");
  });
  EXPECT_EQ(**again, "k");
  EXPECT_EQ(cache.stats().entries, 1u);
  EXPECT_EQ(cache.stats().bytes, 100u);
}

// Starts `count` threads that all ask for one key while it is being computed, and gives their results.
template <typename Compute>
std::vector<absl::StatusOr<Cache::Pointer>> ask_from_threads(Cache& cache, int count, const Compute& compute) {
  std::vector<absl::StatusOr<Cache::Pointer>> results(static_cast<size_t>(count), absl::UnknownError("not run"));
  const auto begun = cache.stats();
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      result = cache.get_or_compute(name("k"), "k", [&]() -> absl::StatusOr<Cache::Computed> {
        while (cache.stats().waits - begun.waits + 1 < static_cast<uint64_t>(count)) std::this_thread::yield();
        return compute();
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

TEST(MemoryCache, ThirtyTwoThreadsComputeOneKeyOnce) {
  Cache cache(1 << 20);
  std::atomic<int> computed{0};
  const auto results = ask_from_threads(cache, 32, [&]() -> absl::StatusOr<Cache::Computed> {
    ++computed;
    return make("shared");
  });
  EXPECT_EQ(computed, 1);
  for (const auto& result : results) {
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->get(), results[0]->get());
  }
}

TEST(MemoryCache, AFailureReachesAllWaitersAndIsNotKept) {
  Cache cache(1 << 20);
  const auto results = ask_from_threads(
      cache, 8, []() -> absl::StatusOr<Cache::Computed> { return absl::ResourceExhaustedError("no memory"); });
  for (const auto& result : results) EXPECT_EQ(result.status(), absl::ResourceExhaustedError("no memory"));
  EXPECT_EQ(cache.stats().entries, 0u);
  EXPECT_TRUE(put(cache, "k", 1, 1).ok());
}

TEST(MemoryCache, AnExceptionReachesAllWaitersAsAStatus) {
  Cache cache(1 << 20);
  const auto results =
      ask_from_threads(cache, 8, []() -> absl::StatusOr<Cache::Computed> { throw std::runtime_error("broken"); });
  for (const auto& result : results) EXPECT_EQ(result.status(), absl::InternalError("broken"));
  EXPECT_TRUE(put(cache, "k", 1, 1).ok());
}

TEST(MemoryCache, NoValueIsAFailure) {
  Cache cache(1 << 20);
  const auto result =
      cache.get_or_compute(name("k"), "k", []() -> absl::StatusOr<Cache::Computed> { return Cache::Computed{}; });
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(cache.stats().entries, 0u);
}

TEST(MemoryCache, AnotherKeyUnderTheSameDigestIsComputedAndNotKept) {
  Cache cache(1 << 20);
  ASSERT_TRUE(put(cache, "k", 1, 1).ok());
  EXPECT_EQ(cache.find(name("k"), "other"), nullptr);
  const auto other =
      cache.get_or_compute(name("k"), "other", []() -> absl::StatusOr<Cache::Computed> { return make("other"); });
  EXPECT_EQ(**other, "other");
  EXPECT_EQ(*cache.find(name("k"), "k"), "k");
  EXPECT_EQ(cache.stats().collisions, 1u);
}

TEST(MemoryCache, StaysBelowItsCap) {
  Cache cache(10'000);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(put(cache, std::to_string(i), 100 + static_cast<uint64_t>(i % 7) * 50, 1000).ok());
    ASSERT_LE(cache.stats().bytes, 10'000u);
  }
  EXPECT_GT(cache.stats().entries, 10u);
}

TEST(MemoryCache, AValueBeyondTheCapIsGivenOutButNotKept) {
  Cache cache(1000);
  ASSERT_TRUE(put(cache, "small", 500, 1).ok());
  EXPECT_EQ(**put(cache, "large", 1001, 1), "large");
  EXPECT_EQ(cache.find(name("large"), "large"), nullptr);
  EXPECT_NE(cache.find(name("small"), "small"), nullptr);
}

TEST(MemoryCache, KeepsWhatIsDearToCompute) {
  Cache cache(100 * 100);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(put(cache, "dear " + std::to_string(i), 100, 1'000'000).ok());
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(put(cache, "cheap " + std::to_string(i), 100, 10).ok());
  for (int i = 0; i < 20; ++i) {
    const std::string key = "dear " + std::to_string(i);
    EXPECT_NE(cache.find(name(key), key), nullptr) << key;
  }
}

TEST(MemoryCache, AHeldValueOutlivesItsEviction) {
  Cache cache(1000);
  const auto held = put(cache, "held", 100, 1);
  cache.clear();
  EXPECT_EQ(cache.find(name("held"), "held"), nullptr);
  EXPECT_EQ(**held, "held");
  EXPECT_EQ(cache.stats().bytes, 0u);
}

TEST(MemoryCache, ManyThreadsOnManyKeysGetTheirOwnValues) {
  Cache cache(5'000);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3000; ++i) {
        const std::string key = std::to_string((i * 31 + t) % 97);
        const auto value = put(cache, key, 100, 1000);
        wrong += !value.ok() || **value != key;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(cache.stats().bytes, 5'000u);
}

TEST(MemoryCache, AForkedChildDoesNotWaitForItsParentsComputation) {
  Cache cache(1 << 20);
  std::latch computing(1);
  std::latch forked(1);
  std::thread computer([&] {
    (void)cache.get_or_compute(name("k"), "k", [&]() -> absl::StatusOr<Cache::Computed> {
      computing.count_down();
      forked.wait();
      return make("parent");
    });
  });
  computing.wait();
  const pid_t child = fork();
  if (child == 0) {
    const auto value =
        cache.get_or_compute(name("k"), "k", []() -> absl::StatusOr<Cache::Computed> { return make("child"); });
    _exit(value.ok() && **value == "child" ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  forked.count_down();
  computer.join();
  EXPECT_EQ(*cache.find(name("k"), "k"), "parent");
}

}  // namespace
}  // namespace tenon::cache
