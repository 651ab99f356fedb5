// SPDX-License-Identifier: MIT
// The build puts TENON_BUILD_ID in front of this file alone, so that a change of sources recompiles nothing else.
#include "compiler/build_id.h"

#ifndef TENON_BUILD_ID
#define TENON_BUILD_ID "unknown"
#endif

namespace tenon {

const char* build_id() { return TENON_BUILD_ID; }

}  // namespace tenon
