// SPDX-License-Identifier: MIT
// See group_size.h.
#include "compiler/schedule/group_size.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "compiler/lower/body_builder.h"

namespace tenon {

std::int64_t weight_of(const Body& body) {
  std::int64_t weight = 0;
  for (const Instr& i : body) weight += i.kind == Instr::kApply ? op_weight(i.op) : 1;
  return weight;
}

std::int64_t loads_of(const Group& group) {
  absl::flat_hash_set<BufferId> written;
  for (const Member& m : group.members) written.insert(m.write.buffer);
  absl::flat_hash_set<std::pair<BufferId, IndexExpr>> loads;
  for (const Member& m : group.members) {
    for (const Access& read : m.reads) {
      if (!written.contains(read.buffer)) loads.emplace(read.buffer, read.index);
    }
  }
  return static_cast<std::int64_t>(loads.size());
}

std::int64_t weight_bound(const Group& group) {
  std::int64_t weight = 0;
  for (const Member& m : group.members) weight += m.weight;
  return weight;
}

std::int64_t joined_weight(const LoweredGraph& lowered, const Group& group) {
  BodyBuilder joined(*lowered.pool);
  absl::flat_hash_map<BufferId, InstrId> values;
  for (const Member& m : group.members) {
    const LoopNode& node = lowered.nodes[static_cast<std::size_t>(m.node)];
    if (node.body.empty()) continue;
    const std::vector<InstrId> image = joined.splice(node.body, m.vars, [&](const Instr& i) {
      if (i.kind != Instr::kLoad) return -1;
      const auto value = values.find(i.buffer);
      return value == values.end() ? -1 : value->second;
    });
    // A reduction's result is another value than what is reduced.
    if (node.kind == LoopNode::kPointwise) values[node.buffer] = image[static_cast<std::size_t>(node.value)];
  }
  return weight_of(joined.body());
}

}  // namespace tenon
