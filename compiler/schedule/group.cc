// SPDX-License-Identifier: MIT
// See group.h.
#include "compiler/schedule/group.h"

#include <algorithm>

#include "compiler/schedule/group_size.h"

namespace tenon {
namespace {

void add_read(std::vector<Access>& reads, Access read) {
  const bool known = std::any_of(reads.begin(), reads.end(),
                                 [&](const Access& r) { return r.buffer == read.buffer && r.index == read.index; });
  if (!known) reads.push_back(read);
}

/// Fills reads and write from the node and the images of its variables.
void bind_accesses(const LoweredGraph& lowered, Member& member) {
  const LoopNode& node = lowered.nodes[static_cast<std::size_t>(member.node)];
  member.reads.clear();
  for (const Instr& i : node.body) {
    if (i.kind == Instr::kLoad) add_read(member.reads, {i.buffer, lowered.pool->substitute(i.index, member.vars)});
  }
  member.write = {node.buffer, lowered.pool->substitute(node.element, member.vars)};
}

/// The product's space is (batch..., i) and the lanes j; the operands are read as wholes.
Group matmul_group(const LoweredGraph& lowered, int index) {
  const LoopNode& node = lowered.nodes[static_cast<std::size_t>(index)];
  IndexPool& pool = *lowered.pool;
  Group group;
  group.kernel_class = KernelClass::kMatmul;
  group.outer = node.matmul.batch;
  group.outer.push_back(node.matmul.m);
  group.lanes = node.matmul.n;
  Member member;
  member.node = index;
  member.weight = 1;
  for (std::size_t v = 0; v < group.outer.size(); ++v) {
    group.axes.push_back({static_cast<std::int32_t>(v), group.outer[v], false});
  }
  group.axes.push_back({group.lane_var(), group.lanes, false});
  for (const SpaceAxis& axis : group.axes) member.vars.push_back(pool.var(axis.var, axis.extent));
  member.reads = {{node.matmul.a.buffer, nullptr}, {node.matmul.b.buffer, nullptr}};
  member.write = {node.buffer, pool.substitute(node.element, member.vars)};
  group.members.push_back(std::move(member));
  return group;
}

KernelClass class_of(const LoopNode& node) {
  switch (node.kind) {
    case LoopNode::kPointwise:
      return KernelClass::kPointwise;
    case LoopNode::kScan:
      return KernelClass::kScan;
    case LoopNode::kMatmul:
      return KernelClass::kMatmul;
    default:
      return node.reduce_order == ReduceOrder::inner ? KernelClass::kInnerReduction : KernelClass::kOuterReduction;
  }
}

/// Which variable of the node becomes the lane axis, and which the sequence axis (-1: none).
void choose_axes(const LoopNode& node, KernelClass kernel_class, int* lane, int* sequence) {
  const int last = static_cast<int>(node.space.size()) - 1;
  *lane = last;
  *sequence = -1;
  if (node.reduced < 0) return;
  const bool along_lanes = kernel_class == KernelClass::kInnerReduction || node.reduced == last;
  if (along_lanes && kernel_class != KernelClass::kOuterReduction) {
    *lane = node.reduced;
    return;
  }
  *sequence = node.reduced;
  *lane = node.reduced == last ? last - 1 : last;
}

std::int64_t weight_of(const LoopNode& node) {
  return weight_of(node.body) + (node.kind == LoopNode::kPointwise ? 0 : 1);
}

}  // namespace

std::int64_t Group::full_count() const { return numel(outer) * sequence * lanes; }

std::int64_t Group::row_count() const {
  std::int64_t n = 1;
  for (const SpaceAxis& axis : axes) n *= axis.reduced ? 1 : axis.extent;
  return n;
}

Group group_of(const LoweredGraph& lowered, int index) {
  const LoopNode& node = lowered.nodes[static_cast<std::size_t>(index)];
  IndexPool& pool = *lowered.pool;
  if (node.kind == LoopNode::kMatmul) return matmul_group(lowered, index);
  Group group;
  group.kernel_class = class_of(node);
  Member member;
  member.node = index;
  member.weight = weight_of(node);
  int lane = -1, sequence = -1;
  choose_axes(node, group.kernel_class, &lane, &sequence);
  const int rank = static_cast<int>(node.space.size());
  for (int v = 0; v < rank; ++v) {
    if (v != lane && v != sequence) group.outer.push_back(node.space[static_cast<std::size_t>(v)]);
  }
  std::int32_t next_outer = 0;
  for (int v = 0; v < rank; ++v) {
    const std::int64_t extent = node.space[static_cast<std::size_t>(v)];
    SpaceAxis axis;
    axis.extent = extent;
    axis.reduced = v == node.reduced;
    axis.var = v == lane ? group.lane_var() : v == sequence ? group.sequence_var() : next_outer++;
    if (v == lane) group.lanes = extent;
    if (v == sequence) group.sequence = extent;
    group.axes.push_back(axis);
    member.vars.push_back(pool.var(axis.var, extent));
  }
  bind_accesses(lowered, member);
  group.members.push_back(std::move(member));
  return group;
}

Member moved(const LoweredGraph& lowered, const Member& member, absl::Span<const IndexExpr> vars) {
  Member out = member;
  for (IndexExpr& v : out.vars) v = lowered.pool->substitute(v, vars);
  bind_accesses(lowered, out);
  return out;
}

std::optional<Group> reindex(const LoweredGraph& lowered, const Group& other, const Group& target, bool level_row) {
  IndexPool& pool = *lowered.pool;
  const bool same_kind = other.has_reduction() && target.has_reduction();
  if (other.has_reduction() && !target.has_reduction()) return std::nullopt;
  // The axes that are matched by position; reduction axes are matched with each other.
  const bool rows_only = same_kind || level_row;
  std::vector<IndexExpr> from;
  std::vector<std::int64_t> from_shape, to_shape;
  IndexExpr reduction = nullptr;
  for (const SpaceAxis& axis : target.axes) {
    const IndexExpr v = pool.var(axis.var, axis.extent);
    if (axis.reduced) reduction = v;
    if (rows_only && axis.reduced) continue;
    from.push_back(v);
    from_shape.push_back(axis.extent);
  }
  for (const SpaceAxis& axis : other.axes) {
    if (!axis.reduced) to_shape.push_back(axis.extent);
  }
  if (numel(from_shape) != numel(to_shape)) return std::nullopt;
  const std::vector<IndexExpr> images = pool.delinearize(pool.linearize(from, from_shape), to_shape);
  std::vector<IndexExpr> vars(other.outer.size() + 2, pool.constant(0));
  std::size_t next = 0;
  for (const SpaceAxis& axis : other.axes) {
    vars[static_cast<std::size_t>(axis.var)] = axis.reduced ? reduction : images[next++];
  }
  Group result = target;
  result.members.clear();
  for (const Member& member : other.members) {
    result.members.push_back(moved(lowered, member, vars));
    result.members.back().is_row = member.is_row || level_row;
  }
  return result;
}

int divisions_of(const Group& group) {
  int n = 0;
  for (const Member& member : group.members) {
    for (const Access& read : member.reads) n += read.index ? division_count(read.index) : 0;
    n += division_count(member.write.index);
  }
  return n;
}

}  // namespace tenon
