// SPDX-License-Identifier: MIT
// Optimisation of emitted modules: a short pass list for IR that is already vectorised.
//
// The list cleans up, moves invariant work out of loops and removes repeated work; it neither vectorises nor unrolls,
// which loop schedules have decided before. No pass changes what a floating-point operation rounds to.
#pragma once

#include "absl/status/status.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tenon::codegen {

/// Verifies the module, then optimises it in place and sets its data layout and triple to the machine's.
/// InternalError with the verifier's text, and the module as it was, if it is not valid IR. Deterministic.
absl::Status optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace tenon::codegen
