// SPDX-License-Identifier: MIT
// What memory alone asks of a workload: the time of reading its inputs and writing as many bytes as it has outputs, by
// loops that do nothing else, on the same memory and right beside it. On shared machines that is the only fair floor:
// bandwidth depends on how much is touched and on what the neighbours do.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tenon::bench {

using Block = std::span<const std::byte>;

/// Seconds, the best of several passes. Each of `threads` threads walks its part of all blocks side by side, with
/// ordinary vector loads and stores like those of kernels; what is written lies in huge pages, as tensors do, and was
/// touched before.
double memory_floor(const std::vector<Block>& reads, std::size_t bytes_written, int threads);

}  // namespace tenon::bench
