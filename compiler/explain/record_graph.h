// SPDX-License-Identifier: MIT
// Puts graphs, and what became of their nodes, into the decision log.
#pragma once

#include <string>

#include "compiler/explain/decision_log.h"
#include "compiler/ir/graph.h"

namespace tenon {

/// "%3 = sum(%1): float32[2048]"; constants with their value.
std::string node_text(const Graph& graph, NodeId id);

/// Adds the stage with every node of `graph`, which it has made of `nodes_in` nodes.
void record_graph(const Graph& graph, std::string_view stage, std::size_t nodes_in, DecisionLog& log);

/// Adds one record for each node of `traced` that became others: `primitives` is its decomposition.
void record_decompositions(const Graph& traced, const Graph& primitives, DecisionLog& log);

}  // namespace tenon
