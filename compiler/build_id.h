// SPDX-License-Identifier: MIT
// The identity of this build of the compiler: part of every cache key and of the handshake between the two libraries.
//
// Two builds have the same id exactly when the sources that decide compiled code are the same bytes.
#pragma once

namespace tenon {

/// 32 hexadecimal digits, static storage; "unknown" in a build by hand that gave none.
const char* build_id();

}  // namespace tenon
