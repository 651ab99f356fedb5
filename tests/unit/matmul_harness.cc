// SPDX-License-Identifier: MIT
// The path a kernel takes in the library, in small: emit, optimise, link, load. Errors become exceptions.
#include "tests/unit/matmul_harness.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "compiler/codegen/link_image.h"
#include "compiler/codegen/optimize.h"
#include "compiler/codegen/target.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tenon::codegen {
namespace {

void check(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

template <class T>
T take(absl::StatusOr<T> value) {
  check(value.status());
  return *std::move(value);
}

device::LoadedImage compile(const MatmulSpec& spec, int vector_bytes, MatmulInfo& info) {
  TargetSpec target;
  target.cpu = vector_bytes == 64 ? "x86-64-v4" : "x86-64-v3";
  const auto machine = take(make_target_machine(target));
  llvm::LLVMContext context;
  llvm::Module module("matmul", context);
  info = emit_matmul(module, spec, vector_bytes, "matmul");
  check(optimize(module, *machine));
  return take(device::LoadedImage::load(take(link_image(module, *machine))));
}

double milliseconds_now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

MatmulHarness::MatmulHarness(const MatmulSpec& spec, int vector_bytes)
    : compile_milliseconds_(-milliseconds_now()), image_(compile(spec, vector_bytes, info_)) {
  compile_milliseconds_ += milliseconds_now();
  kernel_ = image_.find_as<Kernel>(info_.function);
}

void MatmulHarness::run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
  const std::size_t bytes = static_cast<std::size_t>(info_.scratch_bytes_per_worker) + 64;
  std::unique_ptr<void, decltype(&std::free)> scratch(std::aligned_alloc(64, bytes), &std::free);
  std::memset(scratch.get(), 0xff, bytes);
  kernel_(buffers, nullptr, begin, end, scratch.get());
}

MatmulSpec dense_matmul(DType dtype, std::vector<std::int64_t> batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  MatmulSpec s{dtype, dtype, m, n, k, batch, {0, 0, k, 1, {}}, {1, 0, n, 1, {}}, {2, 0, n, 1, {}}};
  std::int64_t matrices = 1;
  for (std::size_t d = batch.size(); d-- > 0; matrices *= batch[d]) {
    s.a.batch_strides.insert(s.a.batch_strides.begin(), matrices * m * k);
    s.b.batch_strides.insert(s.b.batch_strides.begin(), matrices * k * n);
    s.c.batch_strides.insert(s.c.batch_strides.begin(), matrices * m * n);
  }
  return s;
}

int host_vector_bytes() {
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? 64 : 32;
}

}  // namespace tenon::codegen
