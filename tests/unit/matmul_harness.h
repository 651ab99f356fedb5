// SPDX-License-Identifier: MIT
// Compiles one matmul kernel and runs it, for the tests and benchmarks of the matmul emitter alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/cpu/matmul.h"
#include "runtime/device/cpu/image_loader.h"

namespace tenon::codegen {

class MatmulHarness {
 public:
  using Kernel = void(void* const*, const void*, std::int64_t, std::int64_t, void*);

  /// Emits, verifies, optimises, links and loads the kernel of `spec`; throws std::runtime_error on failure.
  MatmulHarness(const MatmulSpec& spec, int vector_bytes);

  const MatmulInfo& info() const { return info_; }
  Kernel* kernel() const { return kernel_; }
  /// What the constructor took.
  double compile_milliseconds() const { return compile_milliseconds_; }

  /// Does tasks [begin, end) here, with scratch all of whose bits are set (NaN as floats).
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const;

 private:
  double compile_milliseconds_;
  MatmulInfo info_;
  device::LoadedImage image_;
  Kernel* kernel_ = nullptr;
};

/// A spec of dense row-major operands in buffers 0 (a), 1 (b), 2 (c), each batch a matrix of its own.
MatmulSpec dense_matmul(DType dtype, std::vector<std::int64_t> batch, std::int64_t m, std::int64_t n, std::int64_t k);

/// 64 if this machine runs the AVX-512 kernels, else 32.
int host_vector_bytes();

}  // namespace tenon::codegen
