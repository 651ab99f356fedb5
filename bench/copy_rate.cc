// SPDX-License-Identifier: MIT
// See copy_rate.h. Vectors are GCC's, so that the loop is neither turned into memcpy nor given streaming stores. Arrays
// lie in huge pages, as those of tensors do.
#include "bench/copy_rate.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace tenon::bench {
namespace {

using Vector [[gnu::vector_size(32)]] = float;
constexpr std::size_t kVectors = (std::size_t{32} << 20) / sizeof(Vector);
constexpr int kPasses = 30;

struct Free {
  void operator()(Vector* data) const { std::free(data); }
};
using Array = std::unique_ptr<Vector[], Free>;

Array make_array() {
  constexpr std::size_t kHugePage = std::size_t{2} << 20, kBytes = kVectors * sizeof(Vector);
  Array array(static_cast<Vector*>(std::aligned_alloc(kHugePage, kBytes)));
  madvise(array.get(), kBytes, MADV_HUGEPAGE);
  std::fill_n(array.get(), kVectors, Vector{});
  return array;
}

struct Range {
  std::size_t begin, end;
};

/// Sums the arrays elementwise into `out`; without `out` into the result, so that nothing is left out.
template <int arrays>
[[gnu::target("avx2")]] float pass(const Vector* const* in, Vector* out, Range range) {
  Vector sums[4] = {};
  for (std::size_t i = range.begin; i < range.end; i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) {
      Vector value = in[0][i + lane];
      for (int a = 1; a < arrays; ++a) value += in[a][i + lane];
      if (out)
        out[i + lane] = value;
      else
        sums[lane] += value;
    }
  const Vector sum = sums[0] + sums[1] + sums[2] + sums[3];
  return sum[0];
}

float run_pass(int arrays, const Vector* const* in, Vector* out, Range range) {
  return arrays == 1 ? pass<1>(in, out, range) : arrays == 2 ? pass<2>(in, out, range) : pass<3>(in, out, range);
}

using Clock = std::chrono::steady_clock;

}  // namespace

double copy_rate(int threads, int arrays_read, bool writes) {
  std::vector<Array> arrays;
  std::vector<const Vector*> in;
  for (int i = 0; i < arrays_read; ++i) in.push_back(arrays.emplace_back(make_array()).get());
  const Array out = writes ? make_array() : nullptr;

  double best = 1e9;
  Clock::time_point start;
  bool is_start = true;
  std::barrier together(threads, [&]() noexcept {
    const Clock::time_point now = Clock::now();
    if (!is_start) best = std::min(best, std::chrono::duration<double>(now - start).count());
    start = now;
    is_start = !is_start;
  });
  std::atomic<float> sink;
  const auto work = [&](std::size_t index) {
    const std::size_t share = kVectors / static_cast<std::size_t>(threads) / 4 * 4;
    for (int i = 0; i < kPasses; ++i) {
      together.arrive_and_wait();
      sink = run_pass(arrays_read, in.data(), out.get(), {index * share, (index + 1) * share});
      together.arrive_and_wait();
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) workers.emplace_back(work, static_cast<std::size_t>(t));
  }
  return static_cast<double>((arrays_read + (writes ? 1 : 0)) * kVectors * sizeof(Vector)) / best;
}

}  // namespace tenon::bench
