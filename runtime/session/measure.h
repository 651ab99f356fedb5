// SPDX-License-Identifier: MIT
// How long each kernel takes: the program's kernels are compiled as programs of their own over the same buffers and the
// same arena, and run one after the other. Nothing of it is in what a program runs otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/device/storage.h"
#include "tenon/decisions.h"

namespace tenon::session {

/// Sets `measured` of each record, which are those of the program's explanation: the median of a number of passes over
/// all kernels in order, so that each finds the caches as its forerunner leaves them. Returns the program's outputs.
/// Compiles as many programs as there are kernels, and runs for about half a second.
/// FailedPrecondition where programs are interpreted; ResourceExhausted when there is no memory.
absl::StatusOr<std::vector<device::StorageRef>> measure_kernels(absl::Span<const std::byte> key_bytes,
                                                                std::span<const void* const> inputs,
                                                                std::span<const std::uint64_t> scalars,
                                                                std::vector<KernelRecord>& kernels);

}  // namespace tenon::session
