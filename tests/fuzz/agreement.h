// SPDX-License-Identifier: MIT
// One meaning of a program, four ways to run it: graph interpreter, loop-IR interpreter (in every mode of fusion and of
// realizing, and either order of tasks), and compiled code.
#pragma once

#include "tests/random_graph.h"

namespace tenon::testing {

/// Fails the current test unless all agree bit for bit, a NaN being equal to a NaN. `compiled` asks for compiled code
/// as well (where this processor has a target).
void expect_agreement(const RandomProgram& program, bool compiled);

}  // namespace tenon::testing
