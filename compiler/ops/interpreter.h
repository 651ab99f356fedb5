// SPDX-License-Identifier: MIT
// The graph interpreter: the meaning of a graph of primitives, op by op, on host memory. It predicts the bits of
// compiled programs: oracle of the tests, constant folder, and the way to run where code cannot be made executable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/ir/graph.h"

namespace tenon {

/// A tensor's elements as they lie in memory, not owned: strides in elements from element [0, ..., 0] at `data`; empty
/// strides mean row-major.
struct HostView {
  const void* data = nullptr;
  Shape strides;
};

/// A value, row-major.
struct HostTensor {
  TensorType type;
  std::vector<std::byte> data;

  HostView view() const { return {data.data(), {}}; }
  template <class T>
  absl::Span<const T> elements() const {
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
};

/// Values of the outputs, in order; with `keep_all` the values of all nodes instead, by id.
/// `inputs` and `scalars` run parallel to those of the graph (scalars: bits in the low bytes). The strides of a view
/// win over the graph's layouts. InvalidArgument when counts differ or the graph holds a composite op (decompose
/// first). Values are freed after their last use. One thread.
absl::StatusOr<std::vector<HostTensor>> interpret(const Graph& graph, absl::Span<const HostView> inputs,
                                                  absl::Span<const std::uint64_t> scalars, bool keep_all = false);

}  // namespace tenon
