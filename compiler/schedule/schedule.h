// SPDX-License-Identifier: MIT
// From loop nodes to a loop program: fuse, build kernels, plan memory.
#pragma once

#include "compiler/explain/decision_log.h"
#include "compiler/ir/graph.h"
#include "compiler/schedule/fusion_options.h"
#include "compiler/schedule/group.h"

namespace tenon {

/// The program that computes `lowered`. `graph` names its kernels. `log` may be null.
absl::StatusOr<LoopProgram> schedule(const Graph& graph, const LoweredGraph& lowered, const FusionOptions& options,
                                     DecisionLog* log);

}  // namespace tenon
