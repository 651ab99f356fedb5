// SPDX-License-Identifier: MIT
// See parallel.h.
#include "runtime/device/cpu/parallel.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace tenon::device {
namespace {

constexpr unsigned kDefaultMode = 0x1f80;  // all exceptions masked, nearest, subnormals kept
constexpr std::int64_t kKeptScratch = std::int64_t{64} << 20;

std::atomic<int> wanted_threads{0};

struct Workers {
  tbb::task_arena arena;
  pid_t owner = getpid();
  explicit Workers(int threads) : arena(threads) {}
};

// Leaked: destroying an arena while other threads exit is not safe.
Workers& workers() {
  static Workers* const instance = [] {
    const int wanted = wanted_threads.load();
    return new Workers(wanted > 0 ? std::min(wanted, tbb::info::default_concurrency())
                                  : tbb::this_task_arena::max_concurrency());
  }();
  return *instance;
}

struct Scratch {
  void* data = nullptr;
  std::int64_t bytes = 0;
};

// Apart from what frees it: statics may evaluate after the main thread's own variables are gone.
constinit thread_local Scratch scratch;

struct ScratchOwner {
  ~ScratchOwner() {
    std::free(scratch.data);
    scratch = {};
  }
};

}  // namespace

DefaultFloatMode::DefaultFloatMode() : saved_(_mm_getcsr()) {
  if (saved_ != kDefaultMode) _mm_setcsr(kDefaultMode);
}
DefaultFloatMode::~DefaultFloatMode() {
  if (saved_ != kDefaultMode) _mm_setcsr(saved_);
}

void* scratch_block(std::int64_t bytes) {
  thread_local const ScratchOwner owner;
  if (bytes <= scratch.bytes && scratch.bytes <= std::max(bytes, kKeptScratch)) return scratch.data;
  std::free(scratch.data);
  scratch.bytes = (std::max<std::int64_t>(bytes, 4096) + 63) / 64 * 64;
  scratch.data = std::aligned_alloc(64, static_cast<std::size_t>(scratch.bytes));
  if (!scratch.data) scratch.bytes = 0;
  return scratch.data;
}

void set_num_threads(int threads) { wanted_threads = threads; }
int num_threads() { return workers().arena.max_concurrency(); }

void parallel_for(KernelFunction* kernel, void* const* buffers, const void* scalars, std::int64_t tasks,
                  std::int64_t grain, std::int64_t scratch_bytes) {
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    const DefaultFloatMode mode;
    kernel(buffers, scalars, begin, end, scratch_bytes > 0 ? scratch_block(scratch_bytes) : nullptr);
  };
  Workers& w = workers();
  if (tasks <= grain || w.arena.max_concurrency() == 1 || w.owner != getpid()) return run(0, tasks);
  w.arena.execute([&] {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, tasks, static_cast<std::size_t>(grain)),
                        [&](const tbb::blocked_range<std::int64_t>& r) { run(r.begin(), r.end()); });
    });
  });
}

}  // namespace tenon::device
