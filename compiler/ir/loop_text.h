// SPDX-License-Identifier: MIT
// Text form of loop programs, for people and golden tests.
#pragma once

#include <string>

#include "compiler/ir/loop_ir.h"

namespace tenon {

std::string print_loops(const LoopProgram& program);

}  // namespace tenon
