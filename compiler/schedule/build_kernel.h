// SPDX-License-Identifier: MIT
// From a group to kernels: phases, local values, lane chunks and grain; long reductions become partials and a finish.
#pragma once

#include <functional>
#include <vector>

#include "compiler/schedule/group.h"

namespace tenon {

/// What the surroundings of a group decide: which of its values other kernels or the caller read.
using IsStored = std::function<bool(BufferId)>;

/// The kernels of one group, in order. May append temporaries (stored partials) to `buffers`.
std::vector<Kernel> build_kernels(const LoweredGraph& lowered, const Group& group, const IsStored& is_stored,
                                  std::vector<Buffer>& buffers);

}  // namespace tenon
