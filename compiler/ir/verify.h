// SPDX-License-Identifier: MIT
// Verifiers: the invariants that every stage may rely on. InternalError names the first node or kernel that breaks one.
#pragma once

#include "absl/status/status.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/loop_ir.h"

namespace tenon {

/// Operands come before their users; each node has the type that `infer` gives; leaves are listed once and in order
/// under inputs and scalars; layouts fit; outputs exist.
absl::Status verify(const Graph& graph);

/// Ids of buffers, locals, instructions, reductions and loop variables exist and fit their use; operand dtypes are
/// those that the op takes; variables in index expressions have the extents of their loops; reductions stand where
/// their order allows; offsets are aligned and inside the arena and the scratch block. Whether indices stay inside
/// buffers is checked where they run (compiler/ops/loop_interpreter.h).
absl::Status verify(const LoopProgram& program);

}  // namespace tenon
