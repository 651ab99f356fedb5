// SPDX-License-Identifier: MIT
// Emission of one kernel: the loop over its tasks and, within, its phases in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/loop_ir.h"

namespace llvm {
class Module;
class Value;
}  // namespace llvm

namespace tenon::codegen {

class KernelIr;

/// How the host stub launches a kernel.
struct KernelLaunch {
  std::string function;
  std::int64_t tasks = 0;
  std::int64_t grain = 1;
  std::int64_t scratch_bytes = 0;
};

/// Adds `void kernel.name(void* const* buffers, const void* scalars, int64_t begin, int64_t end, void* scratch)`, which
/// does the tasks [begin, end); buffers holds an address for each of the program's buffers, in order, and scratch is a
/// block of scratch_bytes, 64-byte aligned, that belongs to the call. vector_bytes: 64 (AVX-512 F, BW, DQ, VL) or 32
/// (AVX2, FMA, F16C). Unimplemented, naming the kernel, for what there is no code for.
absl::StatusOr<KernelLaunch> emit_kernel(llvm::Module& module, const LoopProgram& program, const Kernel& kernel,
                                         int vector_bytes);

/// The addresses of the buffers that the kernel's phases use, by BufferId out of `count`; null for the others.
std::vector<llvm::Value*> load_buffers(KernelIr& ir, const Kernel& kernel, std::size_t count, llvm::Value* addresses);

}  // namespace tenon::codegen
