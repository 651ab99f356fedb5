// SPDX-License-Identifier: MIT
// Compiles one matmul kernel with LLVM's own JIT and runs it, for the tests and benchmarks of the matmul emitter alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/cpu/matmul.h"

namespace llvm::orc {
class LLJIT;
}

namespace tenon::codegen {

class MatmulHarness {
 public:
  /// Emits, verifies, optimises and links the kernel of `spec`; throws std::runtime_error with LLVM's text on failure.
  MatmulHarness(const MatmulSpec& spec, int vector_bytes);
  ~MatmulHarness();

  const MatmulInfo& info() const { return info_; }
  /// Milliseconds that emission, passes and code generation took.
  double compile_milliseconds() const { return compile_milliseconds_; }

  /// Does tasks [begin, end) here, with scratch that was filled with ones (NaN as floats).
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const;

  using Kernel = void (*)(void* const*, const void*, std::int64_t, std::int64_t, void*);
  Kernel kernel() const { return kernel_; }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  MatmulInfo info_;
  Kernel kernel_ = nullptr;
  double compile_milliseconds_ = 0;
};

/// A spec of dense row-major operands in buffers 0 (a), 1 (b), 2 (c), each batch a matrix of its own.
MatmulSpec dense_matmul(DType dtype, std::vector<std::int64_t> batch, std::int64_t m, std::int64_t n, std::int64_t k);

/// 64 if this machine runs the AVX-512 kernels, else 32.
int host_vector_bytes();

}  // namespace tenon::codegen
