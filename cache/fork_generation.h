// SPDX-License-Identifier: MIT
//
// Telling a forked child from its parent for about a nanosecond, without fork handlers. What holds locks or threads
// remembers the generation it was made in and starts afresh when the number has changed, because in a child those
// locks may be held, and those pending results awaited, by threads that no longer exist.
#pragma once

#include <cstdint>

namespace tenon::cache {

/// A number that stays the same within a process and differs from that of every ancestor. Any thread.
uint64_t fork_generation();

}  // namespace tenon::cache
