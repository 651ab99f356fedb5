// SPDX-License-Identifier: MIT
// What a compiled program calls and is called by: plain C, shared by code generation and the runtime.
//
// Persisted in cached images through kRuntimeTableAbi: a field is only ever appended, with a new number.
#pragma once

#include <cstdint>

namespace tenon {

/// Does the tasks [begin, end) of a kernel. `buffers` holds an address for each of the program's buffers; `scratch` is
/// a 64-byte aligned block that belongs to the call (null if the kernel needs none). Does not throw.
using KernelFunction = void(void* const* buffers, const void* scalars, std::int64_t begin, std::int64_t end,
                            void* scratch);

inline constexpr std::uint64_t kRuntimeTableAbi = 1;

struct RuntimeTable {
  std::uint64_t abi;
  /// Runs tasks 0 .. tasks-1 by calls on disjoint ranges of about `grain` tasks or more, on any threads, each with a
  /// scratch block of `scratch_bytes`; returns when all are done.
  void (*parallel_for)(KernelFunction* kernel, void* const* buffers, const void* scalars, std::int64_t tasks,
                       std::int64_t grain, std::int64_t scratch_bytes);
  /// The calling thread's scratch block, at least `bytes` long, until its next call; null when there is no memory.
  void* (*scratch)(std::int64_t bytes);
};

/// The program: runs its kernels in order. Inputs and outputs in the program's order, scalars as 8-byte slots, the
/// arena 64-byte aligned and of LoopProgram::arena_bytes. Returns 0, or 1 when there was no memory for scratch.
using ProgramFunction = std::int32_t(const RuntimeTable* runtime, void* const* inputs, void* const* outputs,
                                     const void* scalars, void* arena);

/// The symbol of the program's function.
inline constexpr char kProgramSymbol[] = "tenon_run";

}  // namespace tenon
