// SPDX-License-Identifier: MIT
// What a compilation returns, and the byte form of all but the image (which is a section of its own in an entry).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tenon {

/// A compiled program for one target. The image exports the host stub
/// (kProgramSymbol of compiler/codegen/runtime_table.h).
struct Artifact {
  std::vector<std::byte> image;  ///< a stored flat image (compiler/flat_image.h)
  std::int64_t arena_bytes = 0;  ///< scratch block that each run needs, 64-byte aligned
  std::int32_t num_kernels = 0;
  std::int32_t num_inputs = 0;
  std::int32_t num_outputs = 0;
};

/// Everything but the image; persisted in entries.
std::vector<std::byte> encode_meta(const Artifact& artifact);
/// Sets everything but the image. Any malformed bytes are an error.
absl::StatusOr<Artifact> decode_meta(absl::Span<const std::byte> bytes);

}  // namespace tenon
