// SPDX-License-Identifier: MIT
// Runs the tasks of a CPU kernel, on the calling thread or on the library's own oneTBB arena.
//
// Kernels run with round-to-nearest and without flush-to-zero, whatever the host program set; its mode is restored.
// Work is isolated: a thread that waits here runs nothing of the host's. In a forked child the calling thread works
// alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler/codegen/runtime_table.h"

namespace tenon::device {

/// All tasks, in any order, at least `grain` at a time. Returns when all are done.
void parallel_for(KernelFunction* kernel, void* const* buffers, const void* scalars, std::int64_t tasks,
                  std::int64_t grain, std::int64_t scratch_bytes);

/// This thread's scratch block of at least `bytes`; valid until its next use on this thread. Null when there is no
/// memory.
void* scratch_block(std::int64_t bytes);

/// Threads of the arena: set before the first kernel runs (0: as many as the process's affinity allows, which is
/// also the most), else no effect.
void set_num_threads(int threads);
int num_threads();

/// Sets the default floating-point mode while it lives.
class DefaultFloatMode {
 public:
  DefaultFloatMode();
  ~DefaultFloatMode();
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
  unsigned saved_;
};

}  // namespace tenon::device
