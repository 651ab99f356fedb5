// SPDX-License-Identifier: MIT
// The generated matmul kernel for x86.
//
// One kernel per (dtypes, shape, strides): everything but the base pointers is a constant of the code. c[i, j] is the
// chain of fused multiply-adds in ascending k that starts from +0.0 (float16 and bfloat16: of the exactly widened
// operands in float32, rounded once at the end; integers: sums of products that wrap). That chain is never split or
// reordered, so the bits depend neither on tile sizes nor on the vector width nor on how tasks are shared out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tenon/dtype.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace tenon::codegen {

/// Where one operand lies: element (batch..., i, j) is at buffers[buffer] + offset + sum(batch * batch_strides) +
/// i * row_stride + j * col_stride, all in elements. Strides may be zero (broadcast) or negative for a and b.
struct MatmulOperand {
  int buffer = 0;
  std::int64_t offset = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
  std::vector<std::int64_t> batch_strides;
};

/// c[batch..., m, n] = a[batch..., m, k] . b[batch..., k, n]. `dtype` is that of a and b, any but bool; `out` is the
/// same, or float32 for a half dtype. Extents may be 0; k = 0 gives zeros. Elements of c are distinct and overlap
/// neither a nor b; every batch_strides has as many entries as `batch`.
struct MatmulSpec {
  DType dtype = DType::kFloat32;
  DType out = DType::kFloat32;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::vector<std::int64_t> batch;
  MatmulOperand a, b, c;
  bool has_epilogue =
      false;  ///< c is not stored but handed to an epilogue; its strides say how that is likely to store
};

struct MatmulPlan;
/// Makes, for a plan, the function that takes finished accumulators: `void(void* const* buffers, const void* scalars,
/// accumulators, int64_t batch, row_begin, row_end, col_begin, col_end)`, all in the axes of the plan's problem. The
/// accumulators are plan.compute, lie plan.col_block apart from row to row, and begin at (row_begin, col_begin).
using EpilogueMaker = std::function<llvm::Function*(const MatmulPlan&)>;

/// How to launch the kernel. Tasks are disjoint parts of c that may run in any order on any thread; adjacent tasks
/// share packed operands when one call does them, so longer ranges are cheaper. The last task of a row of blocks may be
/// smaller than flops_per_task (two per multiply-add) says.
struct MatmulInfo {
  std::string function;
  std::int64_t tasks = 0;
  std::int64_t scratch_bytes_per_worker = 0;
  std::int64_t flops_per_task = 0;
  std::int64_t elements_per_task = 0;  ///< of c
};

/// Adds `void name(void* const* buffers, const void* scalars, int64_t begin, int64_t end, void* scratch)` to the
/// module: does tasks [begin, end), 0 <= begin <= end <= tasks. `scratch` is 64-byte aligned, belongs to the call, and
/// carries nothing from call to call. The function neither throws nor calls anything outside the module. vector_bytes
/// is 64 (needs AVX-512 F, BW, DQ and VL) or 32 (needs AVX2, FMA and F16C). make_epilogue is called where the spec has
/// an epilogue and some task exists.
MatmulInfo emit_matmul(llvm::Module& module, const MatmulSpec& spec, int vector_bytes, const std::string& name,
                       const EpilogueMaker& make_epilogue = nullptr);

}  // namespace tenon::codegen
