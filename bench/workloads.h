// SPDX-License-Identifier: MIT
// The 21 workloads of peers.py, at its CPU sizes, through the public API: the same inputs bit for bit, and no op that
// the peers' version does not have.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tenon/tenon.h"

namespace tenon::bench {

/// One input: uniform float32 in [low, high), rounded to bfloat16 if asked, or integers in [0, high).
struct InputSpec {
  enum class Kind : std::uint8_t { kFloat32, kBFloat16, kUInt8, kInt64 };
  Kind kind;
  Dims shape;
  std::uint32_t seed;
  double low = -1, high = 1;
};

/// The elements are a 32-bit finaliser of index and seed, as `fill` and `ints` of peers.py.
Tensor make_input(const InputSpec& spec);

using Tensors = std::vector<Tensor>;

struct Workload {
  std::string_view name;
  /// Traces the outputs; evaluates nothing.
  Tensors (*trace)(const Tensors& inputs);
  std::vector<InputSpec> inputs;
};

/// All of them, in the order of peers.py.
const std::vector<Workload>& workloads();

/// Throws std::out_of_range if there is none of that name.
const Workload& workload(std::string_view name);

Tensors make_inputs(const Workload& workload);

/// Bytes of all inputs and outputs, each once: what a program must move at least.
std::int64_t bytes_moved(const Tensors& inputs, const Tensors& outputs);

}  // namespace tenon::bench
