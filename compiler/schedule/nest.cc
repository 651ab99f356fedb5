// SPDX-License-Identifier: MIT
// See nest.h.
#include "compiler/schedule/nest.h"

#include <algorithm>

#include "compiler/ir/reduction_order.h"
#include "compiler/schedule/phases.h"

namespace tenon {
namespace {

bool is_in_one_pass(const LoweredGraph& lowered, const Group& group) {
  const std::vector<int> times = phase_times(lowered, group);
  return std::all_of(times.begin(), times.end(), [](int time) { return time <= 1; });
}

bool is_free_of_order(const LoweredGraph& lowered, const Group& group) {
  return std::all_of(group.members.begin(), group.members.end(), [&](const Member& m) {
    const LoopNode& node = lowered.nodes[static_cast<std::size_t>(m.node)];
    const DType dtype = lowered.buffers[static_cast<std::size_t>(node.buffer)].dtype;
    return node.kind != LoopNode::kReduce || tenon::is_free_of_order(node.reduce_kind, dtype);
  });
}

bool reads_from(const Group& reader, const Group& writer) {
  return std::any_of(reader.members.begin(), reader.members.end(), [&](const Member& m) {
    return std::any_of(m.reads.begin(), m.reads.end(), [&](const Access& read) {
      return std::any_of(writer.members.begin(), writer.members.end(),
                         [&](const Member& w) { return w.write.buffer == read.buffer; });
    });
  });
}

bool can_nest(const LoweredGraph& lowered, const Group& a, const Group& b) {
  const bool are_inner = a.kernel_class == KernelClass::kInnerReduction && b.kernel_class == a.kernel_class;
  if (!are_inner || b.lanes <= 1 || numel(a.outer) != numel(b.outer) * b.lanes || !b.axes.back().reduced) return false;
  return reads_from(b, a) && is_free_of_order(lowered, b) && is_in_one_pass(lowered, a) && is_in_one_pass(lowered, b);
}

/// The axes of `space` that are walked by outer variables and the sequence, which `positions` of a.outer follow.
std::vector<IndexExpr> variables_of_inner(IndexPool& pool, const Group& a, const Group& space) {
  std::vector<IndexExpr> from;
  std::vector<std::int64_t> shape;
  for (const SpaceAxis& axis : space.axes) {
    if (axis.var == space.lane_var()) continue;
    from.push_back(pool.var(axis.var, axis.extent));
    shape.push_back(axis.extent);
  }
  std::vector<IndexExpr> vars = pool.delinearize(pool.linearize(from, shape), a.outer);
  vars.push_back(pool.constant(0));
  vars.push_back(pool.var(space.lane_var(), space.lanes));
  return vars;
}

}  // namespace

std::optional<Nest> nest(const LoweredGraph& lowered, const Group& a, const Group& b) {
  if (!can_nest(lowered, a, b)) return std::nullopt;
  IndexPool& pool = *lowered.pool;
  Group space = b;
  space.kernel_class = KernelClass::kNestedReduction;
  space.sequence = b.lanes;
  space.lanes = a.lanes;
  space.axes.back().var = space.sequence_var();
  space.axes.push_back({space.lane_var(), a.lanes, true});
  space.members.clear();
  std::vector<IndexExpr> vars;
  for (std::size_t v = 0; v < b.outer.size(); ++v) vars.push_back(pool.var(static_cast<int>(v), b.outer[v]));
  vars.push_back(pool.constant(0));
  vars.push_back(pool.var(space.sequence_var(), space.sequence));
  Nest out{space, space};
  for (const Member& m : a.members) out.inner.members.push_back(moved(lowered, m, variables_of_inner(pool, a, space)));
  for (const Member& m : b.members) out.outer.members.push_back(moved(lowered, m, vars));
  for (Member& m : out.inner.members) m.is_step = m.is_row, m.is_row = false;
  for (Member& m : out.outer.members) m.is_step = !m.is_row;
  return out;
}

}  // namespace tenon
