// SPDX-License-Identifier: MIT
// The loop schedule of a kernel: how its space is cut into tasks, and how many tasks are worth a thread.
#pragma once

#include <cstdint>

#include "compiler/ir/loop_ir.h"

namespace tenon {

/// Lanes of a task of an outer reduction.
inline constexpr std::int64_t kColumnChunk = 128;

/// Lowers lane_chunk (where the class leaves it free), sets row_block, grain, and the layout of the scratch block.
void choose_loops(Kernel& kernel);

}  // namespace tenon
