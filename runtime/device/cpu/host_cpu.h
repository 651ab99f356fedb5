// SPDX-License-Identifier: MIT
// What this machine's processor runs, found without LLVM so that a warm process can name its targets.
#pragma once

#include <vector>

#include "compiler/codegen/target.h"

namespace tenon::device {

/// The targets whose code runs here, best first: the native one (its level and the extras that code generation can
/// use), then the plain levels x86-64-v4 and x86-64-v3 as far as the processor and the operating system's register
/// saving allow. Empty below x86-64-v3, where fma is missing: such machines interpret. Found once; thread-safe.
const std::vector<codegen::TargetSpec>& runnable_targets();

}  // namespace tenon::device
