// SPDX-License-Identifier: MIT
// Random graphs over the ops of the op table, with inputs for them: what oracles are compared on.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ops/interpreter.h"

namespace tenon::testing {

struct RandomProgram {
  Graph graph;  ///< as traced: composites included
  std::vector<HostTensor> inputs;
  std::vector<std::uint64_t> scalars;

  std::vector<HostView> views() const;
};

/// The program of a seed: up to `max_ops` ops on shapes with 0, 1, primes and sizes about a vector's length; values
/// include NaN, infinities, zeros of both signs, subnormals and integer extremes. Every op of the table occurs that a
/// user can call. Deterministic.
RandomProgram random_program(std::uint64_t seed, int max_ops);

/// Its graph alone, for what reads graphs and runs none: the inputs' layouts are drawn as well, and fit no data.
Graph random_graph(std::uint64_t seed, int max_ops);

/// A program with random values for the inputs and scalars of `graph`.
RandomProgram with_random_inputs(const Graph& graph, std::uint64_t seed);

}  // namespace tenon::testing
