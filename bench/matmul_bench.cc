// SPDX-License-Identifier: MIT
// The generated matmul kernels beside OpenBLAS in one run: each benchmark times one after the other on the same data
// and reports the medians as GFLOP/s of each, their ratio, and the milliseconds that compiling the kernel took.
// OpenBLAS has no bfloat16 product here, so there its float32 product on the same sizes stands in.
#include <benchmark/benchmark.h>
#include <cblas.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/unit/matmul_harness.h"

namespace tenon::codegen {
namespace {

using std::int64_t;

constexpr int kMostThreads = 64;
constexpr int64_t kFlopsWorthAThread = 1 << 21;
// Idle workers of OpenBLAS keep spinning for some 2^26 cycles, on a core that the other pool needs.
constexpr std::chrono::milliseconds kPoolsFallAsleep{60};

template <class T>
class AlignedArray {
 public:
  explicit AlignedArray(int64_t count) : data_(static_cast<T*>(std::aligned_alloc(64, bytes(count)))) {}
  AlignedArray(const AlignedArray&) = delete;
  ~AlignedArray() { std::free(data_); }
  T* data() const { return data_; }

 private:
  static std::size_t bytes(int64_t count) { return (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64; }
  T* data_;
};

/// Runs a kernel as the runtime does: small ones here, others as ranges of tasks on the pool.
class Runner {
 public:
  explicit Runner(const MatmulHarness& kernel)
      : info_(kernel.info()), kernel_(kernel.kernel()), scratch_(kMostThreads * slot_bytes()) {}

  void operator()(void* const* buffers) {
    const int64_t grain = std::max<int64_t>(1, kFlopsWorthAThread / std::max<int64_t>(1, info_.flops_per_task));
    if (grain >= info_.tasks) return kernel_(buffers, nullptr, 0, info_.tasks, scratch_.data());
    tbb::parallel_for(tbb::blocked_range<int64_t>(0, info_.tasks, static_cast<std::size_t>(grain)),
                      [&](const auto& range) {
                        const int64_t worker = tbb::this_task_arena::current_thread_index() % kMostThreads;
                        kernel_(buffers, nullptr, range.begin(), range.end(), scratch_.data() + worker * slot_bytes());
                      });
  }

 private:
  int64_t slot_bytes() const { return info_.scratch_bytes_per_worker + 4096 + 64; }
  MatmulInfo info_;
  MatmulHarness::Kernel* kernel_;
  AlignedArray<char> scratch_;
};

void blas(const float* a, const float* b, float* c, const MatmulSpec& s, bool transposed_b) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed_b ? CblasTrans : CblasNoTrans, static_cast<int>(s.m),
              static_cast<int>(s.n), static_cast<int>(s.k), 1, a, static_cast<int>(s.k), b,
              static_cast<int>(transposed_b ? s.k : s.n), 0, c, static_cast<int>(s.n));
}
void blas(const double* a, const double* b, double* c, const MatmulSpec& s, bool transposed_b) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, transposed_b ? CblasTrans : CblasNoTrans, static_cast<int>(s.m),
              static_cast<int>(s.n), static_cast<int>(s.k), 1, a, static_cast<int>(s.k), b,
              static_cast<int>(transposed_b ? s.k : s.n), 0, c, static_cast<int>(s.n));
}

template <class Fn>
double seconds_of(const Fn& fn) {
  const auto start = std::chrono::steady_clock::now();
  fn();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double>& times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

struct Shape {
  int64_t batch, m, n, k;
  bool transposed_b = false;
};

/// Stored is the dtype of the generated kernel, Peer that of OpenBLAS.
template <class Stored, class Peer>
void compare(benchmark::State& state, Shape shape, int vector_bytes) {
  const auto [batch, m, n, k, transposed_b] = shape;
  MatmulSpec spec = dense_matmul(dtype_of<Stored>, {batch}, m, n, k);
  if (transposed_b) spec.b.row_stride = 1, spec.b.col_stride = k;
  const MatmulHarness kernel(spec, vector_bytes);
  Runner run(kernel);
  AlignedArray<Stored> a(batch * m * k), b(batch * k * n), c(batch * m * n);
  AlignedArray<Peer> pa(batch * m * k), pb(batch * k * n), pc(batch * m * n);
  for (int64_t i = 0; i < batch * m * k; ++i) a.data()[i] = Stored(pa.data()[i] = static_cast<Peer>(i % 13) / 13);
  for (int64_t i = 0; i < batch * k * n; ++i) b.data()[i] = Stored(pb.data()[i] = static_cast<Peer>(i % 17) / 17);
  void* buffers[] = {a.data(), b.data(), c.data()};
  const auto call_peer = [&] {
    for (int64_t i = 0; i < batch; ++i)
      blas(pa.data() + i * m * k, pb.data() + i * k * n, pc.data() + i * m * n, spec, transposed_b);
  };
  std::this_thread::sleep_for(kPoolsFallAsleep);
  std::vector<double> own, peer;
  run(buffers);
  for (auto _ : state) {
    own.push_back(seconds_of([&] { run(buffers); }));
    state.SetIterationTime(own.back());
  }
  std::this_thread::sleep_for(kPoolsFallAsleep);
  call_peer();
  for (std::size_t i = 0; i < own.size(); ++i) peer.push_back(seconds_of(call_peer));
  const double gflop = 2e-9 * static_cast<double>(batch * m * n * k);
  state.counters["GFLOPs"] = gflop / median(own);
  state.counters["OpenBLAS"] = gflop / median(peer);
  state.counters["ratio"] = median(peer) / median(own);
  state.counters["compile_ms"] = kernel.compile_milliseconds();
}

template <class Stored, class Peer>
void add(const char* name, Shape shape) {
  benchmark::RegisterBenchmark(name, [shape](benchmark::State& state) {
    compare<Stored, Peer>(state, shape, host_vector_bytes());
  })->UseManualTime();
}

const bool registered = [] {
  add<float, float>("matmul/float32/1024x1024x1024", {1, 1024, 1024, 1024});
  add<float, float>("matmul/float32/1024x1024x1024/transposed_b", {1, 1024, 1024, 1024, true});
  add<float, float>("matmul/float32/2048x2048x2048", {1, 2048, 2048, 2048});
  add<float, float>("matmul/float32/1000x1000x1000", {1, 1000, 1000, 1000});
  add<double, double>("matmul/float64/1024x1024x1024", {1, 1024, 1024, 1024});
  add<float, float>("matmul/float32/16x16x16", {1, 16, 16, 16});
  add<float, float>("matmul/float32/64x64x64", {1, 64, 64, 64});
  add<float, float>("matmul/float32/128x128x128", {1, 128, 128, 128});
  add<float, float>("matmul/float32/256x256x256", {1, 256, 256, 256});
  add<bfloat16, float>("matmul/bfloat16/256x2048x512", {1, 256, 2048, 512});
  add<bfloat16, float>("matmul/bfloat16/256x512x2048", {1, 256, 512, 2048});
  add<float16, float>("matmul/float16/256x512x2048", {1, 256, 512, 2048});
  add<float, float>("matmul/float32/8x4096x1024", {1, 8, 4096, 1024});
  add<float, float>("matmul/float32/8x4096x1024/transposed_b", {1, 8, 4096, 1024, true});
  add<float, float>("matmul/float32/vector_matrix_4096", {1, 1, 4096, 4096});
  add<float, float>("matmul/float32/matrix_vector_4096", {1, 4096, 1, 4096});
  add<float, float>("matmul/float32/vector_matrix_512", {1, 1, 512, 512});
  add<float, float>("matmul/float32/matrix_vector_512", {1, 512, 1, 512});
  add<float, float>("matmul/float32/tall_1797x10x64", {1, 1797, 10, 64});
  add<float, float>("matmul/float32/batch_64_of_1024x1024x64", {64, 1024, 1024, 64});
  add<float, float>("matmul/float32/batch_64_of_1024x64x1024", {64, 1024, 64, 1024});
  return true;
}();

}  // namespace
}  // namespace tenon::codegen

BENCHMARK_MAIN();
