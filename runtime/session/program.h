// SPDX-License-Identifier: MIT
// A program: a loaded artifact, or a graph for the interpreter where code cannot be made or run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "compiler/artifact.h"
#include "compiler/ir/graph.h"
#include "runtime/device/cpu/image_loader.h"
#include "runtime/trace/node.h"

namespace tenon::session {

/// Where a run finds its data. Outputs are row-major blocks, 64-byte aligned.
struct RunArguments {
  std::span<const void* const> inputs;  ///< element [0, ..., 0] of each
  std::span<const std::uint64_t> scalars;
  std::span<void* const> outputs;
};

/// Immutable after it is made; runs may overlap.
class Program {
 public:
  /// Loads an artifact's image. `canonical_bytes` are what it was compiled from, for whoever asks later.
  static absl::StatusOr<std::shared_ptr<const Program>> load(const Artifact& artifact,
                                                             trace::CanonicalBytes canonical_bytes = nullptr);
  /// Runs the graph of these bytes (as traced) by the interpreter.
  static absl::StatusOr<std::shared_ptr<const Program>> interpreted(trace::CanonicalBytes canonical_bytes);

  /// ResourceExhausted when there is no memory for the arena.
  absl::Status run(const RunArguments& arguments) const;
  /// The same in an arena of the caller's: arena_bytes() at least, 64-byte aligned. Compiled programs only.
  absl::Status run_in(const RunArguments& arguments, void* arena) const;

  const trace::CanonicalBytes& canonical_bytes() const { return canonical_bytes_; }
  std::int32_t num_kernels() const { return num_kernels_; }
  std::int64_t arena_bytes() const { return arena_bytes_; }
  /// Bytes that the program holds, for the bound on cached programs.
  std::size_t held_bytes() const;

 private:
  Program() = default;
  absl::Status run_compiled(const RunArguments& arguments) const;
  absl::Status run_interpreted(const RunArguments& arguments) const;

  std::optional<device::LoadedImage> image_;
  void* stub_ = nullptr;
  std::int64_t arena_bytes_ = 0;
  std::int32_t num_kernels_ = 0;
  trace::CanonicalBytes canonical_bytes_;
  Graph graph_;  ///< primitives, when there is no image
};

}  // namespace tenon::session
