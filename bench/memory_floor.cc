// SPDX-License-Identifier: MIT
// See memory_floor.h. Vectors are GCC's, so that no loop becomes memcpy or memset, which use other stores.
#include "bench/memory_floor.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

namespace tenon::bench {
namespace {

using Vector [[gnu::vector_size(32)]] = long long;
using Clock = std::chrono::steady_clock;
constexpr std::size_t kLine = 64, kStepBytes = std::size_t{16} << 10;
constexpr int kPasses = 20;

struct Free {
  void operator()(std::byte* data) const { std::free(data); }
};
using Memory = std::unique_ptr<std::byte[], Free>;

Memory touched_memory(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t size = (bytes / kHugePage + 1) * kHugePage;
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(kHugePage, size)));
  madvise(memory.get(), size, MADV_HUGEPAGE);
  std::fill_n(memory.get(), size, std::byte{});
  return memory;
}

/// Part number `step` of `steps`, in whole lines.
Block part(Block block, std::size_t step, std::size_t steps) {
  const std::size_t lines = block.size() / kLine;
  const std::size_t begin = lines * step / steps, end = lines * (step + 1) / steps;
  return block.subspan(begin * kLine, (end - begin) * kLine);
}

[[gnu::target("avx2")]] Vector read(Block block) {
  Vector even = {}, odd = {};
  const auto* data = reinterpret_cast<const Vector*>(block.data());
  for (std::size_t i = 0; i < block.size() / sizeof(Vector); i += 2) {
    even ^= data[i];
    odd ^= data[i + 1];
  }
  return even ^ odd;
}

[[gnu::target("avx2")]] void write(Block block, Vector value) {
  auto* data = reinterpret_cast<Vector*>(const_cast<std::byte*>(block.data()));
  for (std::size_t i = 0; i < block.size() / sizeof(Vector); ++i) data[i] = value;
}

struct Movement {
  std::vector<Block> reads;
  Block written;
  std::size_t steps;

  [[gnu::target("avx2")]] long long run(std::size_t begin, std::size_t end) const {
    Vector value = {};
    for (std::size_t step = begin; step < end; ++step) {
      for (const Block block : reads) value ^= read(part(block, step, steps));
      write(part(written, step, steps), value);
    }
    return value[0];
  }
};

double best_seconds(const Movement& movement, std::size_t threads) {
  double best = 1e9;
  Clock::time_point start;
  bool is_start = true;
  std::barrier together(static_cast<std::ptrdiff_t>(threads), [&]() noexcept {
    const Clock::time_point now = Clock::now();
    if (!is_start) best = std::min(best, std::chrono::duration<double>(now - start).count());
    start = now;
    is_start = !is_start;
  });
  std::atomic<long long> sink;
  const auto work = [&](std::size_t index) {
    for (int i = 0; i < kPasses; ++i) {
      together.arrive_and_wait();
      sink = movement.run(movement.steps * index / threads, movement.steps * (index + 1) / threads);
      together.arrive_and_wait();
    }
  };
  {
    std::vector<std::jthread> workers;
    for (std::size_t t = 0; t < threads; ++t) workers.emplace_back(work, t);
  }
  return best;
}

}  // namespace

double memory_floor(const std::vector<Block>& reads, std::size_t bytes_written, int threads) {
  const Memory out = touched_memory(bytes_written);
  std::size_t bytes = bytes_written;
  for (const Block block : reads) bytes += block.size();
  return best_seconds({reads, {out.get(), bytes_written}, bytes / kStepBytes + 1}, static_cast<std::size_t>(threads));
}

}  // namespace tenon::bench
