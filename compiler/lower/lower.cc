// SPDX-License-Identifier: MIT
// See lower.h.
#include "compiler/lower/lower.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/lower/emit_value.h"

namespace tenon {
namespace {

class Lowering {
 public:
  Lowering(const Graph& graph, std::vector<RealizeDecision> decisions) : graph_(graph), memory_(graph.size()) {
    out_.decisions = std::move(decisions);
  }

  absl::StatusOr<LoweredGraph> run() {
    make_buffers();
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.size()); ++id) {
      if (!decision(id).realized || numel(graph_.node(id).type.shape) == 0) continue;
      if (absl::Status status = lower_node(id); !status.ok()) return status;
    }
    copy_repeated_outputs();
    return std::move(out_);
  }

 private:
  const RealizeDecision& decision(NodeId id) const { return out_.decisions[static_cast<std::size_t>(id)]; }
  IndexPool& pool() { return *out_.pool; }

  void add_buffer(NodeId id, Buffer::Space space, std::size_t argument) {
    const Node& node = graph_.node(id);
    MemoryOf& memory = memory_[static_cast<std::size_t>(id)];
    const bool is_own_input = space == Buffer::kInput;
    if (is_own_input || (node.op != Op::k_input && memory.buffer < 0)) {
      memory.buffer = static_cast<BufferId>(out_.buffers.size());
      memory.strides = row_major_strides(node.type.shape);
      if (is_own_input && !graph_.layouts[argument].strides.empty()) memory.strides = graph_.layouts[argument].strides;
    }
    Buffer buffer;
    buffer.dtype = node.type.dtype;
    buffer.shape = node.type.shape;
    buffer.space = space;
    buffer.argument = static_cast<std::int32_t>(argument);
    buffer.node = id;
    out_.buffers.push_back(std::move(buffer));
  }

  void make_buffers() {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) add_buffer(graph_.inputs[i], Buffer::kInput, i);
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      output_buffers_.emplace_back(graph_.outputs[i], static_cast<BufferId>(out_.buffers.size()));
      add_buffer(graph_.outputs[i], Buffer::kOutput, i);
    }
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.size()); ++id) {
      if (decision(id).realized && memory_[static_cast<std::size_t>(id)].buffer < 0)
        add_buffer(id, Buffer::kTemporary, 0);
    }
    out_.num_inputs = static_cast<std::int32_t>(graph_.inputs.size());
    out_.num_outputs = static_cast<std::int32_t>(graph_.outputs.size());
    for (NodeId id : graph_.scalars) out_.scalars.push_back(graph_.node(id).type.dtype);
  }

  BufferId buffer_of(NodeId id) const {
    for (const auto& [node, buffer] : output_buffers_) {
      if (node == id) return buffer;
    }
    return memory_[static_cast<std::size_t>(id)].buffer;
  }

  /// A node that is an output more than once is copied: the copy fuses with what makes the node.
  void copy_repeated_outputs() {
    for (const auto& [id, buffer] : output_buffers_) {
      const Shape& shape = graph_.node(id).type.shape;
      const BufferId first = buffer_of(id);
      if (buffer == first || numel(shape) == 0) continue;
      const IndexTuple index = axis_variables(pool(), shape);
      LoopNode loop;
      loop.node = id;
      loop.buffer = buffer;
      loop.space.assign(shape.begin(), shape.end());
      loop.element = pool().linearize(index, shape);
      BodyBuilder body(pool());
      loop.value = body.load(first, graph_.node(id).type.dtype, loop.element);
      loop.body = body.take();
      push(std::move(loop));
    }
  }

  absl::Status lower_node(NodeId id) {
    const Node& node = graph_.node(id);
    LoopNode loop;
    loop.node = id;
    loop.buffer = buffer_of(id);
    if (node.op == Op::k_matmul) return lower_matmul(node, std::move(loop));
    if (is_reduction_loop(node)) {
      lower_reduction(node, std::move(loop));
    } else {
      loop.space.assign(node.type.shape.begin(), node.type.shape.end());
      finish(std::move(loop), id, axis_variables(pool(), node.type.shape), node.type.shape);
    }
    return absl::OkStatus();
  }

  /// A reduction over nothing is a constant, which a pointwise loop stores.
  bool is_reduction_loop(const Node& node) const {
    if (node.op == Op::k_scan) return true;
    if (node.op != Op::k_reduce) return false;
    return graph_.node(node.operands[0]).type.shape[static_cast<std::size_t>(node.value("axis"))] > 0;
  }

  void lower_reduction(const Node& node, LoopNode loop) {
    const NodeId source = node.operands[0];
    const Shape& shape = graph_.node(source).type.shape;
    const auto axis = static_cast<std::size_t>(node.value("axis"));
    loop.kind = node.op == Op::k_reduce ? LoopNode::kReduce : LoopNode::kScan;
    loop.reduced = static_cast<int>(axis);
    loop.reduce_kind = static_cast<ReduceKind>(node.value("kind"));
    if (loop.kind == LoopNode::kReduce) loop.reduce_order = static_cast<ReduceOrder>(node.value("order"));
    loop.space.assign(shape.begin(), shape.end());
    IndexTuple index = axis_variables(pool(), shape), result = index;
    if (loop.kind == LoopNode::kReduce) result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
    loop.element = pool().linearize(result, node.type.shape);
    BodyBuilder body(pool());
    loop.value = ValueEmitter(graph_, memory_, body).emit(source, index);
    loop.body = body.take();
    push(std::move(loop));
  }

  void finish(LoopNode loop, NodeId id, const IndexTuple& index, const Shape& shape) {
    loop.element = pool().linearize(index, shape);
    BodyBuilder body(pool());
    loop.value = ValueEmitter(graph_, memory_, body).compute(id, index);
    loop.body = body.take();
    push(std::move(loop));
  }

  void push(LoopNode loop) {
    collapse_loops(pool(), loop);
    out_.nodes.push_back(std::move(loop));
  }

  // ---- matmul ----

  /// Index tuples for [batch..., row, column] or, for a 1-d operand, the contracted axis alone.
  absl::Status bind_operand(MatmulNest::Operand& operand, NodeId id, const IndexTuple& index, int row, int column,
                            const std::vector<std::int64_t>& batch) {
    const ViewSource source = resolve_views(pool(), graph_, id, index);
    const MemoryOf* memory = &memory_[static_cast<std::size_t>(id)];
    IndexTuple at = index;
    if (memory->buffer < 0) {
      memory = &memory_[static_cast<std::size_t>(source.node)];
      at = source.index;
    }
    if (memory->buffer < 0) return absl::InternalError("matmul operand has no memory");
    IndexExpr position = pool().constant(0);
    for (std::size_t i = 0; i < at.size(); ++i) {
      position = pool().add(position, pool().multiply(at[i], memory->strides[i]));
    }
    operand.buffer = memory->buffer;
    operand.offset = position->constant;
    bool affine = division_count(position) == 0, unused = true;
    operand.row_stride = coefficient_of(position, row, &unused);
    operand.column_stride = coefficient_of(position, column, &unused);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      operand.batch_strides.push_back(coefficient_of(position, static_cast<int>(b), &unused));
    }
    return affine ? absl::OkStatus() : absl::InternalError("matmul operand is not strided");
  }

  absl::Status lower_matmul(const Node& node, LoopNode loop) {
    const NodeId left = node.operands[0], right = node.operands[1];
    const Shape& a = graph_.node(left).type.shape;
    const Shape& b = graph_.node(right).type.shape;
    const bool is_row = a.size() == 1, is_column = b.size() == 1;
    MatmulNest& nest = loop.matmul;
    nest.dtype = node.type.dtype;
    nest.m = is_row ? 1 : a[a.size() - 2];
    nest.k = a.back();
    nest.n = is_column ? 1 : b.back();
    const std::size_t batch_rank = node.type.shape.size() - (is_row ? 0 : 1) - (is_column ? 0 : 1);
    nest.batch.assign(node.type.shape.begin(), node.type.shape.begin() + static_cast<std::ptrdiff_t>(batch_rank));
    const int i = static_cast<int>(batch_rank), j = i + 1, k = i + 2;
    const IndexExpr vi = pool().var(i, nest.m), vj = pool().var(j, nest.n), vk = pool().var(k, nest.k);
    IndexTuple batch_index;
    for (std::size_t d = 0; d < batch_rank; ++d) batch_index.push_back(pool().var(static_cast<int>(d), nest.batch[d]));
    const auto with = [&](const Shape& shape, std::initializer_list<IndexExpr> tail) {
      IndexTuple full = batch_index;
      full.insert(full.end(), tail);
      return full.size() < shape.size() ? full : broadcast_axes(full, shape, tail.size());
    };
    absl::Status status = bind_operand(nest.a, left, is_row ? IndexTuple{vk} : with(a, {vi, vk}), i, k, nest.batch);
    status.Update(bind_operand(nest.b, right, is_column ? IndexTuple{vk} : with(b, {vk, vj}), k, j, nest.batch));
    nest.c.buffer = loop.buffer;
    IndexTuple result = batch_index;
    if (!is_row) result.push_back(vi);
    if (!is_column) result.push_back(vj);
    const IndexExpr position = pool().linearize(result, node.type.shape);
    bool unused = true;
    nest.c.row_stride = coefficient_of(position, i, &unused);
    nest.c.column_stride = coefficient_of(position, j, &unused);
    for (std::size_t d = 0; d < batch_rank; ++d) {
      nest.c.batch_strides.push_back(coefficient_of(position, static_cast<int>(d), &unused));
    }
    loop.kind = LoopNode::kMatmul;
    loop.element = position;
    out_.nodes.push_back(std::move(loop));
    return status;
  }

  /// Batch axes broadcast, the last `fixed` axes do not (a length of 1 there is a loop of one pass anyway).
  IndexTuple broadcast_axes(const IndexTuple& index, const Shape& shape, std::size_t fixed) {
    IndexTuple out(index.end() - static_cast<std::ptrdiff_t>(shape.size()), index.end());
    for (std::size_t i = 0; i + fixed < shape.size(); ++i) {
      if (shape[i] == 1) out[i] = pool().constant(0);
    }
    return out;
  }

  const Graph& graph_;
  LoweredGraph out_;
  std::vector<MemoryOf> memory_;
  std::vector<std::pair<NodeId, BufferId>> output_buffers_;
};

/// The sum of f over all expressions of a node.
template <class F>
std::int64_t sum_over_indices(const Body& body, IndexExpr element, const F& f) {
  std::int64_t n = f(element);
  for (const Instr& i : body) n += i.index ? f(i.index) : 0;
  return n;
}

/// The node with variables `at` and `at + 1` as one, or nothing when that costs a division.
bool merge_pair(IndexPool& pool, LoopNode& node, int at) {
  const auto first = static_cast<std::size_t>(at);
  const std::int64_t inner = node.space[first + 1];
  const std::int64_t divisions = sum_over_indices(node.body, node.element, division_count);
  // Without divisions R11 says it at once; with some, merging may also join two of them.
  const auto is_told_apart = [&](IndexExpr e) { return can_merge(e, at, at + 1, inner) ? 0 : 1; };
  if (divisions == 0 && sum_over_indices(node.body, node.element, is_told_apart) > 0) return false;
  const IndexExpr merged = pool.var(at, node.space[first] * inner);
  std::vector<IndexExpr> vars;
  for (int v = 0; v < static_cast<int>(node.space.size()); ++v) {
    if (v == at) {
      vars.push_back(pool.floor_div(merged, inner));
    } else if (v == at + 1) {
      vars.push_back(pool.mod(merged, inner));
    } else {
      vars.push_back(pool.var(v > at ? v - 1 : v, node.space[static_cast<std::size_t>(v)]));
    }
  }
  const IndexExpr element = pool.substitute(node.element, vars);
  BodyBuilder builder(pool);
  const std::vector<InstrId> image = builder.splice(node.body, vars, nullptr);
  Body body = builder.take();
  if (sum_over_indices(body, element, division_count) > divisions) return false;
  node.value = image[static_cast<std::size_t>(node.value)];
  node.body = std::move(body);
  node.element = element;
  node.space[first] *= inner;
  node.space.erase(node.space.begin() + at + 1);
  if (node.reduced > at) --node.reduced;
  return true;
}

/// Drops variables of extent 1, which no expression mentions.
void drop_unit_loops(IndexPool& pool, LoopNode& node) {
  for (int v = static_cast<int>(node.space.size()) - 1; v >= 0; --v) {
    if (node.space[static_cast<std::size_t>(v)] != 1 || v == node.reduced) continue;
    std::vector<IndexExpr> vars;
    for (int w = 0; w < static_cast<int>(node.space.size()); ++w) {
      vars.push_back(pool.var(w > v ? w - 1 : w, node.space[static_cast<std::size_t>(w)]));
    }
    BodyBuilder builder(pool);
    node.value = builder.splice(node.body, vars, nullptr)[static_cast<std::size_t>(node.value)];
    node.body = builder.take();
    node.element = pool.substitute(node.element, vars);
    node.space.erase(node.space.begin() + v);
    if (node.reduced > v) --node.reduced;
  }
}

}  // namespace

void collapse_loops(IndexPool& pool, LoopNode& node) {
  drop_unit_loops(pool, node);
  for (int at = static_cast<int>(node.space.size()) - 2; at >= 0; --at) {
    if (at == node.reduced || at + 1 == node.reduced) continue;
    merge_pair(pool, node, at);
  }
}

absl::StatusOr<LoweredGraph> lower(const Graph& graph, RealizeMode mode, const CostTable& costs) {
  return Lowering(graph, decide_realize(graph, mode, costs)).run();
}

}  // namespace tenon
