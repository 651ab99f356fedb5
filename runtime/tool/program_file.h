// SPDX-License-Identifier: MIT
// A program from a file: a .tir text, or one case of a case file (FILE.json#ID), with the values of its inputs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph_text.h"
#include "runtime/device/storage.h"
#include "tenon/tensor.h"

namespace tenon::tool {

struct LoadedProgram {
  std::vector<std::byte> key_bytes;         ///< its canonical bytes
  std::vector<device::StorageRef> inputs;   ///< row-major unless the layout has strides
  std::vector<std::int64_t> input_offsets;  ///< bytes from the block to element [0, ..., 0]
  std::vector<std::uint64_t> scalars;
  std::vector<TensorType> outputs;
  std::vector<std::string> output_names;
};

/// Reads and checks the program. One clear sentence, with line and column for .tir, when it cannot be.
absl::StatusOr<LoadedProgram> load_program(const std::string& prog);

/// The array of a .npy file; the library's own message when it cannot be read.
absl::StatusOr<Tensor> read_npy(const std::string& path);

/// The whole of a regular file or of a pipe, at most 256 MiB, or why not.
absl::StatusOr<std::string> read_text(const std::string& path);

}  // namespace tenon::tool
