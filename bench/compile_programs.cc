// SPDX-License-Identifier: MIT
// See compile_programs.h.
#include "bench/compile_programs.h"

#include "bench/workloads.h"

namespace tenon::bench {
namespace {

Tensor rmsnorm(const Tensor& x) { return x * rsqrt(mean(x * x, {-1}, keepdims) + 1e-6) * x; }

Tensor softmax_by_hand(const Tensor& x) {
  const Tensor e = exp(x - max(x, {-1}, keepdims));
  return e / sum(e, {-1}, keepdims);
}

/// 20 ops, a quotient and a square root in every five.
Tensor pointwise20(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < 4; ++i) y = sqrt(y * y + x) / (y + 2.0);
  return y;
}

Tensor mandelbrot(const Tensor& x) { return workload("mandelbrot").trace({x, x}).front(); }

}  // namespace

const std::vector<CompileProgram>& compile_programs() {
  static const std::vector<CompileProgram> table = {
      {"rmsnorm", rmsnorm}, {"softmax", softmax_by_hand}, {"pointwise20", pointwise20}, {"mandelbrot", mandelbrot}};
  return table;
}

const CompileProgram* find_compile_program(std::string_view name) {
  for (const CompileProgram& program : compile_programs())
    if (program.name == name) return &program;
  return nullptr;
}

Tensor compile_input(std::int64_t rows) {
  constexpr std::int64_t kColumns = 1024;
  return asarray(std::vector<float>(static_cast<std::size_t>(rows * kColumns), 0.5f), {rows, kColumns});
}

}  // namespace tenon::bench
