// SPDX-License-Identifier: MIT
// See build_kernel.h.
//
// Members of one time are one phase, so they share loads and pass values in registers; what crosses phases goes through
// a local buffer. The readers of a matmul's product are all of time 0, one phase: its epilogue.
#include "compiler/schedule/build_kernel.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "compiler/ir/reduction_order.h"
#include "compiler/lower/body_builder.h"
#include "compiler/schedule/grain.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/phases.h"

namespace tenon {
namespace {

class KernelBuilder {
 public:
  KernelBuilder(const LoweredGraph& lowered, const Group& group, const IsStored& is_stored)
      : lowered_(lowered),
        group_(group),
        is_stored_(is_stored),
        pool_(*lowered.pool),
        times_(phase_times(lowered, group)) {}

  Kernel run() {
    kernel_.kernel_class = group_.kernel_class;
    kernel_.outer = group_.outer;
    kernel_.lanes = kernel_.lane_chunk = group_.lanes;
    const std::int64_t tile = has_passes(lowered_, group_) ? column_tile(lowered_, group_) : 0;
    if (tile > 0) kernel_.lane_chunk = std::min(kernel_.lanes, tile);
    add_passed_on();
    find_locals();
    for (std::size_t m = 0; m < group_.members.size(); ++m) place(m);
    for (auto& [time, phase] : phases_) {
      phase.phase.body = phase.body.take();
      kernel_.phases.push_back(std::move(phase.phase));
    }
    return std::move(kernel_);
  }

 private:
  struct OpenPhase {
    OpenPhase(IndexPool& pool, int at) : body(pool), time(at) {}
    Phase phase;
    BodyBuilder body;
    int time;
    absl::flat_hash_map<BufferId, InstrId> values;  ///< what members of this phase have computed
  };

  const LoopNode& node_of(const Member& m) const { return lowered_.nodes[static_cast<std::size_t>(m.node)]; }
  bool is_reduce(const Member& m) const { return node_of(m).kind == LoopNode::kReduce; }
  int writer_index(BufferId buffer) const {
    auto it = writers_.find(buffer);
    return it == writers_.end() ? -1 : it->second;
  }

  /// What a first pass over the sequence leaves for later ones.
  struct Tile {
    PassedOn use;
    std::int32_t local = -1;
    bool is_filled = false;
  };

  void add_passed_on() {
    for (const PassedOn& use : passed_on(lowered_, group_)) {
      tiles_.push_back({use, static_cast<std::int32_t>(kernel_.locals.size()), false});
      kernel_.locals.push_back({dtype_of(use.access.buffer), true, -1, group_.sequence});
    }
  }

  Tile* find_tile(BufferId buffer, IndexExpr index) {
    const auto it = std::find_if(tiles_.begin(), tiles_.end(), [&](const Tile& t) {
      return t.use.access.buffer == buffer && t.use.access.index == index;
    });
    return it == tiles_.end() ? nullptr : &*it;
  }

  /// The element of a tile at hand: in the first pass it is `value()`, and goes into the tile.
  template <class MakeValue>
  InstrId through_tile(Tile& tile, OpenPhase& open, const MakeValue& value) {
    if (open.time != tile.use.first) return open.body.load_local(tile.local, dtype_of(tile.use.access.buffer));
    const InstrId element = value();
    if (!tile.is_filled) open.body.store_local(tile.local, dtype_of(tile.use.access.buffer), element);
    tile.is_filled = true;
    return element;
  }

  DType dtype_of(BufferId buffer) const { return lowered_.buffers[static_cast<std::size_t>(buffer)].dtype; }

  /// A value read in another phase than its own, or a reduction's result, needs a local buffer, unless it is stored
  /// anyway and can be read back.
  void find_locals() {
    for (std::size_t m = 0; m < group_.members.size(); ++m)
      writers_[group_.members[m].write.buffer] = static_cast<int>(m);
    for (std::size_t m = 0; m < group_.members.size(); ++m) {
      const Member& member = group_.members[m];
      if (is_reduce(member)) add_local(static_cast<int>(m));
      for (const Access& read : member.reads) {
        const int w = writer_index(read.buffer);
        if (w < 0 || times_[static_cast<std::size_t>(w)] == times_[m] || find_tile(read.buffer, read.index)) continue;
        const bool in_memory = is_stored_(read.buffer) && !group_.members[static_cast<std::size_t>(w)].is_row;
        if (!in_memory) add_local(w);
      }
    }
  }

  void add_local(int writer) {
    const Member& member = group_.members[static_cast<std::size_t>(writer)];
    if (locals_.contains(member.write.buffer)) return;
    const bool is_result = member.is_row || member.is_step || is_reduce(member);
    LocalBuffer local;
    local.dtype = dtype_of(member.write.buffer);
    local.per_lane = !is_result || group_.kernel_class == KernelClass::kOuterReduction;
    locals_[member.write.buffer] = static_cast<std::int32_t>(kernel_.locals.size());
    kernel_.locals.push_back(local);
  }

  OpenPhase& phase_at(int time) {
    auto it = phases_.find(time);
    if (it != phases_.end()) return it->second;
    OpenPhase& open = phases_.emplace(time, OpenPhase(pool_, time)).first->second;
    const bool is_nested = group_.kernel_class == KernelClass::kNestedReduction;
    const bool is_full = is_nested ? time == 0 : time % 2 == 0;
    open.phase.joined = is_nested && time == 1;
    open.phase.sequence = is_full || open.phase.joined ? group_.sequence : 1;
    open.phase.lanes = is_full || group_.kernel_class == KernelClass::kOuterReduction;
    return open;
  }

  void place(std::size_t index) {
    const Member& member = group_.members[index];
    const LoopNode& node = node_of(member);
    OpenPhase& open = phase_at(times_[index]);
    if (node.kind == LoopNode::kMatmul) return finish_value(member, open, place_product(node, open));
    const auto image = open.body.splice(
        node.body, member.vars, [&](const Instr& i) { return i.kind == Instr::kLoad ? redirect(open, i) : -1; });
    InstrId value = image[static_cast<std::size_t>(node.value)];
    if (node.kind == LoopNode::kReduce) return place_reduction(index, open, value);
    if (node.kind == LoopNode::kScan) value = place_scan(member, open, value);
    finish_value(member, open, value);
  }

  /// The template leaves its accumulators in a local; the product is what they round to.
  InstrId place_product(const LoopNode& node, OpenPhase& open) {
    kernel_.matmul = std::make_unique<MatmulNest>(node.matmul);
    kernel_.matmul->c.buffer = -1;
    const DType dtype = accumulator_dtype(node.matmul.dtype);
    const InstrId accumulators = open.body.load_local(static_cast<std::int32_t>(kernel_.locals.size()), dtype);
    kernel_.locals.push_back({dtype, true, -1});
    return open.body.cast(accumulators, node.matmul.dtype);
  }

  InstrId redirect(OpenPhase& open, const Instr& load) {
    if (auto it = open.values.find(load.buffer); it != open.values.end()) return it->second;
    if (auto it = locals_.find(load.buffer); it != locals_.end()) {
      return open.body.load_local(it->second, load.dtype);
    }
    Tile* tile = find_tile(load.buffer, load.index);
    return tile ? through_tile(*tile, open, [&] { return open.body.append(load); }) : -1;
  }

  void finish_value(const Member& member, OpenPhase& open, InstrId value) {
    const BufferId buffer = member.write.buffer;
    const DType dtype = dtype_of(buffer);
    open.values[buffer] = value;
    if (Tile* tile = find_tile(buffer, member.write.index)) through_tile(*tile, open, [&] { return value; });
    if (auto it = locals_.find(buffer); it != locals_.end() && !is_reduce(member)) {
      open.body.store_local(it->second, dtype, value);
    }
    if (is_stored_(buffer)) open.body.store(buffer, dtype, member.write.index, value);
  }

  void place_reduction(std::size_t index, OpenPhase& open, InstrId value) {
    const Member& member = group_.members[index];
    const std::int32_t local = locals_.at(member.write.buffer);
    append_reduction(member, open, value, local, Instr::kReduce);
    if (!is_stored_(member.write.buffer)) return;
    OpenPhase& after = phase_at(times_[index] + 1);
    const DType dtype = lowered_.buffers[static_cast<std::size_t>(member.write.buffer)].dtype;
    const InstrId result = after.body.load_local(local, dtype);
    after.values[member.write.buffer] = result;
    after.body.store(member.write.buffer, dtype, member.write.index, result);
  }

  InstrId place_scan(const Member& member, OpenPhase& open, InstrId value) {
    return append_reduction(member, open, value, -1, Instr::kScan);
  }

  InstrId append_reduction(const Member& member, OpenPhase& open, InstrId value, std::int32_t local, Instr::Kind kind) {
    Reduction reduction;
    reduction.kind = node_of(member).reduce_kind;
    reduction.dtype = open.body.dtype_of(value);
    const bool over_sequence =
        member.is_step || (group_.kernel_class != KernelClass::kNestedReduction &&
                           std::any_of(group_.axes.begin(), group_.axes.end(), [&](const SpaceAxis& axis) {
                             return axis.reduced && axis.var == group_.sequence_var();
                           }));
    reduction.over = over_sequence ? Reduction::kSequence : Reduction::kLanes;
    reduction.order = over_sequence ? ReduceOrder::outer : ReduceOrder::inner;
    Instr i;
    i.kind = kind;
    i.dtype = reduction.dtype;
    i.operands[0] = value;
    i.buffer = local;
    i.reduction = static_cast<std::int32_t>(open.phase.reductions.size());
    open.phase.reductions.push_back(reduction);
    return open.body.append(i);
  }

  const LoweredGraph& lowered_;
  const Group& group_;
  const IsStored& is_stored_;
  IndexPool& pool_;
  Kernel kernel_;
  const std::vector<int> times_;
  std::vector<Tile> tiles_;
  absl::flat_hash_map<BufferId, int> writers_;
  absl::flat_hash_map<BufferId, std::int32_t> locals_;
  std::map<int, OpenPhase> phases_;
};

Kernel matmul_kernel(const LoopNode& node) {
  Kernel kernel;
  kernel.kernel_class = KernelClass::kMatmul;
  kernel.matmul = std::make_unique<MatmulNest>(node.matmul);
  return kernel;
}

BufferId add_partials(std::vector<Buffer>& buffers, DType dtype, std::initializer_list<std::int64_t> shape, int node) {
  Buffer buffer;
  buffer.dtype = dtype;
  buffer.shape = shape;
  buffer.node = node;
  buffers.push_back(std::move(buffer));
  return static_cast<BufferId>(buffers.size()) - 1;
}

/// A power-of-two number of blocks a part, for about `parts` parts.
std::int64_t blocks_a_part(std::int64_t blocks, std::int64_t parts) {
  std::int64_t n = 1;
  while (n * parts < blocks) n *= 2;
  return n;
}

Reduction tree_over_sequence(const Reduction& whole) {
  Reduction tree = whole;
  tree.over = Reduction::kSequence;
  tree.order = ReduceOrder::outer;
  tree.tree_only = true;
  return tree;
}

Instr reduce_into(InstrId value, std::int32_t local, DType dtype) {
  Instr i;
  i.kind = Instr::kReduce;
  i.dtype = dtype;
  i.operands[0] = value;
  i.buffer = local;
  i.reduction = 0;
  return i;
}

/// Splits an inner sum or product: parts of aligned chunks leave 256 partials each; the finish merges them by the tree
/// and then the partials of one row halves first.
std::vector<Kernel> split_inner(const LoweredGraph& lowered, Kernel whole, BufferId result,
                                std::vector<Buffer>& buffers) {
  constexpr std::int64_t kParts = 64;
  IndexPool& pool = *lowered.pool;
  Reduction& reduction = whole.phases[0].reductions[0];
  const std::int64_t chunk = kInnerChunk * blocks_a_part((whole.lanes + kInnerChunk - 1) / kInnerChunk, kParts);
  const std::int64_t parts = (whole.lanes + chunk - 1) / chunk;
  const std::int64_t rows = whole.outer_count();
  const BufferId partials = add_partials(buffers, reduction.dtype, {rows, parts, kInnerPartials},
                                         buffers[static_cast<std::size_t>(result)].node);
  Kernel finish;
  finish.kernel_class = KernelClass::kInnerReduction;
  finish.outer = {rows};
  finish.lanes = finish.lane_chunk = kInnerPartials;
  finish.locals = {{reduction.dtype, true, -1}, {reduction.dtype, false, -1}};
  const IndexExpr row = pool.var(0, rows), part = pool.var(1, parts), lane = pool.var(2, kInnerPartials);
  BodyBuilder merge(pool), halves(pool), store(pool);
  const IndexExpr element = pool.linearize({row, part, lane}, {rows, parts, kInnerPartials});
  merge.append(reduce_into(merge.load(partials, reduction.dtype, element), 0, reduction.dtype));
  halves.append(reduce_into(halves.load_local(0, reduction.dtype), 1, reduction.dtype));
  store.store(result, reduction.dtype, row, store.load_local(1, reduction.dtype));
  finish.phases.resize(3);
  finish.phases[0].sequence = parts;
  finish.phases[0].reductions = {tree_over_sequence(reduction)};
  finish.phases[0].body = merge.take();
  finish.phases[1].reductions = {reduction};
  finish.phases[1].body = halves.take();
  finish.phases[2].lanes = false;
  finish.phases[2].body = store.take();
  reduction.result = Reduction::kPartials;
  reduction.partials = partials;
  whole.lane_chunk = chunk;
  whole.locals.clear();
  whole.phases.resize(1);
  for (Instr& i : whole.phases[0].body) {
    if (i.kind == Instr::kReduce) i.buffer = -1;
  }
  std::vector<Kernel> kernels;
  kernels.push_back(std::move(whole));
  kernels.push_back(std::move(finish));
  return kernels;
}

/// Splits an outer sum or product along its rows into parts of aligned blocks of 64.
std::vector<Kernel> split_outer(const LoweredGraph& lowered, Kernel whole, BufferId result,
                                std::vector<Buffer>& buffers) {
  constexpr std::int64_t kParts = 64;
  IndexPool& pool = *lowered.pool;
  const Reduction reduction = whole.phases[0].reductions[0];
  const std::int64_t rows = whole.phases[0].sequence;
  const std::int64_t a_part = kOuterBlock * blocks_a_part((rows + kOuterBlock - 1) / kOuterBlock, kParts);
  const std::int64_t parts = (rows + a_part - 1) / a_part;
  const std::int64_t outer = whole.outer_count(), lanes = whole.lanes;
  const BufferId partials =
      add_partials(buffers, reduction.dtype, {outer, parts, lanes}, buffers[static_cast<std::size_t>(result)].node);
  const auto outer_rank = static_cast<std::int32_t>(whole.outer.size());
  // The part becomes the last outer variable; the sequence and lane variables move up by one.
  const IndexExpr part = pool.var(outer_rank, parts);
  std::vector<IndexExpr> vars;
  std::vector<IndexExpr> outer_vars;
  for (std::int32_t v = 0; v < outer_rank; ++v) vars.push_back(pool.var(v, whole.outer[static_cast<std::size_t>(v)]));
  outer_vars = vars;
  vars.push_back(pool.add(pool.multiply(part, a_part), pool.var(outer_rank + 1, a_part)));
  vars.push_back(pool.var(outer_rank + 2, lanes));
  BodyBuilder body(pool), store(pool);
  body.splice(whole.phases[0].body, vars, nullptr);
  Kernel first;
  first.kernel_class = KernelClass::kOuterReduction;
  first.outer = whole.outer;
  first.outer.push_back(parts);
  first.lanes = first.lane_chunk = lanes;
  first.locals = {{reduction.dtype, true, -1}};
  first.phases.resize(2);
  first.phases[0].sequence = std::min(a_part, rows);
  first.phases[0].sequence_limit = pool.add(pool.multiply(part, -a_part), rows);
  first.phases[0].reductions = {reduction};
  first.phases[0].body = body.take();
  const IndexExpr position = pool.linearize(outer_vars, whole.outer);
  const IndexExpr slot =
      pool.add(pool.multiply(pool.add(pool.multiply(position, parts), part), lanes), pool.var(outer_rank + 2, lanes));
  store.store(partials, reduction.dtype, slot, store.load_local(0, reduction.dtype));
  first.phases[1].body = store.take();
  Kernel finish;
  finish.kernel_class = KernelClass::kOuterReduction;
  finish.outer = {outer};
  finish.lanes = finish.lane_chunk = lanes;
  finish.locals = {{reduction.dtype, true, -1}};
  finish.phases.resize(2);
  BodyBuilder merge(pool), end(pool);
  const IndexExpr o = pool.var(0, outer), p = pool.var(1, parts), l = pool.var(2, lanes);
  merge.append(reduce_into(merge.load(partials, reduction.dtype, pool.linearize({o, p, l}, {outer, parts, lanes})), 0,
                           reduction.dtype));
  finish.phases[0].sequence = parts;
  finish.phases[0].reductions = {tree_over_sequence(reduction)};
  finish.phases[0].body = merge.take();
  // The result's elements are where the whole kernel would have stored them.
  const std::vector<IndexExpr> back = pool.delinearize(o, whole.outer);
  std::vector<IndexExpr> result_vars(back.begin(), back.end());
  result_vars.push_back(pool.constant(0));
  result_vars.push_back(l);
  IndexExpr element = nullptr;
  for (const Instr& i : whole.phases[1].body) {
    if (i.kind == Instr::kStore) element = pool.substitute(i.index, result_vars);
  }
  end.store(result, reduction.dtype, element, end.load_local(0, reduction.dtype));
  finish.phases[1].body = end.take();
  std::vector<Kernel> kernels;
  kernels.push_back(std::move(first));
  kernels.push_back(std::move(finish));
  return kernels;
}

/// Only sums and products have stored partials; extremes of few long rows stay whole.
bool can_split(const LoweredGraph& lowered, const Group& group) {
  if (!is_split_reduction(group) || group.members.size() != 1) return false;
  const LoopNode& node = lowered.nodes[static_cast<std::size_t>(group.members[0].node)];
  return node.kind == LoopNode::kReduce && node.reduce_kind <= ReduceKind::min;
}

}  // namespace

std::vector<Kernel> build_kernels(const LoweredGraph& lowered, const Group& group, const IsStored& is_stored,
                                  std::vector<Buffer>& buffers) {
  std::vector<Kernel> kernels;
  const LoopNode& first = lowered.nodes[static_cast<std::size_t>(group.members[0].node)];
  if (group.kernel_class == KernelClass::kMatmul) {
    const bool is_alone = group.members.size() == 1;
    kernels.push_back(is_alone ? matmul_kernel(first) : KernelBuilder(lowered, group, is_stored).run());
    return kernels;
  }
  Kernel whole = KernelBuilder(lowered, group, is_stored).run();
  if (can_split(lowered, group)) {
    const bool inner = group.kernel_class == KernelClass::kInnerReduction;
    kernels = inner ? split_inner(lowered, std::move(whole), first.buffer, buffers)
                    : split_outer(lowered, std::move(whole), first.buffer, buffers);
  } else {
    kernels.push_back(std::move(whole));
  }
  for (Kernel& kernel : kernels) choose_loops(kernel);
  return kernels;
}

}  // namespace tenon
