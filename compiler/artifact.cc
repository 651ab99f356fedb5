// SPDX-License-Identifier: MIT
// See artifact.h.
#include "compiler/artifact.h"

#include <cstring>

namespace tenon {
namespace {

/// Persisted: only appended to, with a new version.
struct Meta {
  std::uint32_t version = 1;
  std::int32_t num_kernels = 0;
  std::int32_t num_inputs = 0;
  std::int32_t num_outputs = 0;
  std::int64_t arena_bytes = 0;
};

}  // namespace

std::vector<std::byte> encode_meta(const Artifact& artifact) {
  const Meta meta{1, artifact.num_kernels, artifact.num_inputs, artifact.num_outputs, artifact.arena_bytes};
  std::vector<std::byte> bytes(sizeof(meta));
  std::memcpy(bytes.data(), &meta, sizeof(meta));
  return bytes;
}

absl::StatusOr<Artifact> decode_meta(absl::Span<const std::byte> bytes) {
  Meta meta;
  if (bytes.size() != sizeof(meta)) return absl::InvalidArgumentError("program description has a wrong size");
  std::memcpy(&meta, bytes.data(), sizeof(meta));
  if (meta.version != 1) return absl::InvalidArgumentError("program description of another version");
  if (meta.num_kernels < 0 || meta.num_inputs < 0 || meta.num_outputs < 0 || meta.arena_bytes < 0) {
    return absl::InvalidArgumentError("program description with negative counts");
  }
  Artifact artifact;
  artifact.num_kernels = meta.num_kernels;
  artifact.num_inputs = meta.num_inputs;
  artifact.num_outputs = meta.num_outputs;
  artifact.arena_bytes = meta.arena_bytes;
  return artifact;
}

}  // namespace tenon
