// SPDX-License-Identifier: MIT
// What the memory system gives, measured with the stores that kernels use: the floor of a workload that only moves
// data.
#pragma once

#include <cstdint>

namespace tenon::bench {

/// Bytes a second, the best of several passes in which `threads` threads, each on its part, read `arrays_read` (1 to 3)
/// arrays of 32 MiB and, if `writes`, write one by ordinary vector stores. Each byte read and each byte written counts
/// once; the line that an ordinary store fetches before it writes does not. All memory has been touched before.
double copy_rate(int threads, int arrays_read, bool writes);

}  // namespace tenon::bench
