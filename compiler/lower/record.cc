// SPDX-License-Identifier: MIT
// See record.h.
#include "compiler/lower/record.h"

#include <algorithm>

#include "compiler/explain/record_graph.h"

namespace tenon {
namespace {

/// Realized nodes in which each value is computed, outputs backwards; at most eight are kept.
std::vector<std::vector<int>> computed_in(const Graph& graph, const std::vector<RealizeDecision>& decisions) {
  constexpr std::size_t kMost = 8;
  std::vector<std::vector<int>> into(graph.size());
  for (std::size_t i = graph.size(); i-- > 0;) {
    const std::vector<int> through = decisions[i].realized ? std::vector<int>{static_cast<int>(i)} : into[i];
    for (NodeId operand : graph.nodes[i].operands) {
      auto& list = into[static_cast<std::size_t>(operand)];
      for (int r : through) {
        if (list.size() < kMost && std::find(list.begin(), list.end(), r) == list.end()) list.push_back(r);
      }
    }
  }
  for (auto& list : into) std::sort(list.begin(), list.end());
  return into;
}

}  // namespace

void record_lowering(const Graph& graph, const LoweredGraph& lowered, DecisionLog& log) {
  log.stages.push_back({"lower", static_cast<int>(graph.size()), static_cast<int>(lowered.nodes.size()), {}, -1});
  const auto into = computed_in(graph, lowered.decisions);
  for (const RealizeDecision& d : lowered.decisions) {
    if (d.node < 0 || row_of(graph.node(d.node).op).kind == OpKind::leaf) continue;
    RealizeRecord record;
    record.node = d.node;
    record.text = node_text(graph, d.node);
    record.realized = d.realized;
    record.rule = std::string(d.rule);
    if (!d.realized) record.into = into[static_cast<std::size_t>(d.node)];
    record.reads = d.reads;
    record.ops = d.ops;
    record.users = d.users;
    record.bytes_in = d.bytes_in;
    record.bytes_out = d.bytes_out;
    record.inline_cost = d.inline_cost;
    record.store_cost = d.store_cost;
    log.realize.push_back(std::move(record));
  }
}

}  // namespace tenon
