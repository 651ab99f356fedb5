// SPDX-License-Identifier: MIT
// Calls into LLVM that survive LLVM giving up.
#pragma once

#include <functional>

#include "absl/status/status.h"

namespace tenon::codegen {

/// Runs `work` on a thread of its own and returns its status. If LLVM reports a fatal error in it, the message is
/// returned as InternalError and that thread sleeps for the rest of the process, keeping what it held: LLVM would end
/// the process otherwise, and unwinding its frames is not allowed. So `work` must own all it touches, or share it.
/// Unavailable if no thread can be made, or if memory runs out in it: that thread sleeps too.
absl::Status guarded_call(std::function<absl::Status()> work);

}  // namespace tenon::codegen
