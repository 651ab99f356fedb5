// SPDX-License-Identifier: MIT
// Arena offsets of temporaries: two live at once never overlap; a virtual value gets none.
#pragma once

#include "compiler/explain/decision_log.h"
#include "compiler/ir/loop_ir.h"

namespace tenon {

/// Removes the temporaries that no kernel touches: virtual values, which live in registers and local buffers.
void drop_virtual_buffers(LoopProgram& program);

/// Sets Buffer::offset of the temporaries that kernels touch, and arena_bytes. `log` may be null.
void plan_memory(LoopProgram& program, DecisionLog* log);

/// Buffers that a kernel reads and writes, each once, ascending.
std::vector<BufferId> buffers_of(const Kernel& kernel);

}  // namespace tenon
