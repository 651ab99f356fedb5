// SPDX-License-Identifier: MIT
// See realize.h. Two passes: uses from the outputs backwards, then costs from the inputs forwards.
#include "compiler/lower/realize.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "compiler/lower/views.h"

namespace tenon {
namespace {

constexpr int kMaxBodyOps = 100;
constexpr int kMaxBodyWeight = 400;
constexpr int kMaxLoads = 16;
constexpr int kMaxRecompute = 8;
constexpr std::int64_t kSmallReduction = 8;       // shorter ones are unrolled inside their readers
constexpr std::int64_t kPicosecondsPerByte = 83;  // 12 GB/s a core
constexpr std::int64_t kPicosecondsPerFlop = 15;
constexpr std::int64_t kLaunchCost = 300'000;
constexpr std::size_t kMaxPaths = 16;

bool is_leaf(const Node& node) { return row_of(node.op).kind == OpKind::leaf; }
std::int64_t bytes_of(const Node& node) {
  return numel(node.type.shape) * static_cast<std::int64_t>(size_of(node.type.dtype));
}

template <class T>
void merge_into(std::vector<T>& a, const std::vector<T>& b, std::size_t limit) {
  std::vector<T> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  if (out.size() > limit) out.resize(limit);
  a = std::move(out);
}

/// A way in which a realized value reads another: the reader, and a hash of the index maps on the way.
using Path = std::pair<NodeId, std::size_t>;

class Realizer {
 public:
  explicit Realizer(const Graph& graph) : graph_(graph), decisions_(graph.size()), paths_(graph.size()) {}

  std::vector<RealizeDecision> run() {
    mark_must();
    for (NodeId id = last(); id >= 0; --id) collect_paths(id);
    cones_.resize(graph_.size());
    loads_.resize(graph_.size());
    for (NodeId id = 0; id <= last(); ++id) decide(id);
    return std::move(decisions_);
  }

 private:
  NodeId last() const { return static_cast<NodeId>(graph_.size()) - 1; }
  RealizeDecision& decision(NodeId id) { return decisions_[static_cast<std::size_t>(id)]; }
  void must(NodeId id, std::string_view rule) {
    if (is_leaf(graph_.node(id)) || decision(id).realized) return;
    decision(id).realized = true;
    decision(id).rule = rule;
  }

  void mark_must() {
    for (NodeId id : graph_.outputs) {
      decision(id).realized = true;
      decision(id).rule = "must/output";
    }
    for (NodeId id = 0; id <= last(); ++id) {
      const Node& node = graph_.node(id);
      if (node.op == Op::k_reduce && !is_small_reduction(node)) must(id, "must/reduction");
      if (node.op == Op::k_scan) must(id, "must/scan");
      if (node.op == Op::k_matmul) {
        must(id, "must/template");
        mark_matmul_operand(node.operands[0]);
        mark_matmul_operand(node.operands[1]);
      }
      if (node.op == Op::k_take || node.op == Op::k_take_along_axis) mark_table(node);
    }
  }

  bool is_small_reduction(const Node& node) const {
    const auto kind = static_cast<ReduceKind>(node.value("kind"));
    const Shape& shape = graph_.node(node.operands[0]).type.shape;
    return kind <= ReduceKind::min && shape[static_cast<std::size_t>(node.value("axis"))] < kSmallReduction;
  }

  /// A template reads memory with strides: views of a realized value are free, anything else gets memory first.
  void mark_matmul_operand(NodeId id) {
    IndexPool pool;
    ViewSource source = resolve_views(pool, graph_, id, axis_variables(pool, graph_.node(id).type.shape));
    const Node& base = graph_.node(source.node);
    const bool is_strided =
        std::all_of(source.index.begin(), source.index.end(), [](IndexExpr e) { return division_count(e) == 0; });
    if (!is_strided || base.op == Op::k_scalar || base.op == Op::k_constant) {
      decision(id).realized = true;
      decision(id).rule = "must/template operand";
    } else {
      must(source.node, "must/template operand");
    }
  }

  /// A table of which more elements are gathered than it has is computed once; of others the gathered elements are
  /// computed where they are needed.
  void mark_table(const Node& gather) {
    NodeId id = gather.operands[0];
    if (numel(gather.type.shape) <= numel(graph_.node(id).type.shape)) return;
    while (is_view(graph_.node(id).op)) id = graph_.node(id).operands[0];
    must(id, "must/gather table");
  }

  void collect_paths(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<Path> through;
    if (decision(id).realized) {
      through = {{id, 0}};
    } else {
      through = paths_[static_cast<std::size_t>(id)];
    }
    for (std::size_t slot = 0; slot < node.operands.size(); ++slot) {
      const NodeId operand = node.operands[slot];
      std::vector<Path> mapped = through;
      if (!keeps_index(node, operand)) {
        for (Path& p : mapped)
          p.second = absl::HashOf(p.second, node.op, node.attrs.words(), node.type.shape, slot_tag(node, slot));
        std::sort(mapped.begin(), mapped.end());
      }
      auto& into = paths_[static_cast<std::size_t>(operand)];
      const std::size_t copies = node.op == Op::k_reduce && !decision(id).realized ? 2 : 1;
      merge_into(into, mapped, kMaxPaths);
      if (copies == 2) {  // an unrolled reduction reads its operand at several places
        for (Path& p : mapped) p.second = absl::HashOf(p.second, 1);
        std::sort(mapped.begin(), mapped.end());
        merge_into(into, mapped, kMaxPaths);
      }
    }
  }

  static std::size_t slot_tag(const Node& node, std::size_t slot) {
    return row_of(node.op).kind == OpKind::index ? slot : 0;
  }
  bool keeps_index(const Node& node, NodeId operand) const {
    return row_of(node.op).kind == OpKind::elementwise && graph_.node(operand).type.shape == node.type.shape;
  }

  void decide(NodeId id) {
    const Node& node = graph_.node(id);
    auto& cone = cones_[static_cast<std::size_t>(id)];
    auto& loads = loads_[static_cast<std::size_t>(id)];
    RealizeDecision& d = decision(id);
    d.node = id;
    if (is_leaf(node) && !d.realized) {
      d.rule = "leaf";
      if (node.op == Op::k_input) loads = {id};
      return;
    }
    if (!is_view(node.op)) cone = {id};
    for (NodeId operand : node.operands) {
      merge_into(cone, cones_[static_cast<std::size_t>(operand)], kMaxBodyOps + 1);
      merge_into(loads, loads_[static_cast<std::size_t>(operand)], kMaxLoads + 1);
    }
    measure(node, cone, loads, d);
    if (!d.realized) apply_rules(node, cone, d);
    if (d.realized) {
      cone.clear();
      loads = {id};
    }
  }

  void measure(const Node& node, const std::vector<NodeId>& cone, const std::vector<NodeId>& loads,
               RealizeDecision& d) {
    const bool is_reduction = node.op == Op::k_reduce || node.op == Op::k_scan;
    const std::int64_t elements = numel(is_reduction ? graph_.node(node.operands[0]).type.shape : node.type.shape);
    d.reads = static_cast<int>(loads.size());
    d.users = static_cast<int>(paths_[static_cast<std::size_t>(d.node)].size());
    std::int64_t flops = 0;
    for (NodeId id : cone) {
      const Node& member = graph_.node(id);
      ++d.ops;
      d.weight += op_weight(member.op);
      flops += op_weight(member.op) * std::min(elements, numel(member.type.shape));
    }
    for (NodeId id : loads) d.bytes_in += std::min(bytes_of(graph_.node(id)), elements * 8);
    d.bytes_out = bytes_of(node);
    const std::int64_t once = d.bytes_in * kPicosecondsPerByte + flops * kPicosecondsPerFlop;
    d.inline_cost = d.users * once;
    d.store_cost = once + d.bytes_out * kPicosecondsPerByte * (1 + d.users) + kLaunchCost;
  }

  void apply_rules(const Node& node, const std::vector<NodeId>& cone, RealizeDecision& d) {
    const auto realize = [&](std::string_view rule) {
      d.realized = true;
      d.rule = rule;
    };
    if (static_cast<int>(cone.size()) > kMaxBodyOps) return realize("cap/ops > 100");
    if (d.weight > kMaxBodyWeight) return realize("cap/weight > 400");
    if (d.reads > kMaxLoads) return realize("cap/loads > 16");
    const bool is_number = row_of(node.op).kind == OpKind::elementwise && numel(node.type.shape) == 1;
    if (is_view(node.op)) {
      d.rule = "exempt/view";
    } else if (d.reads == 0 && (d.ops <= 1 || is_number)) {
      d.rule = "exempt/no read";
    } else if (d.users > kMaxRecompute) {
      realize("cap/recompute > 8");
    } else if (d.users > 1 && has_transcendental(cone)) {
      realize("cap/transcendental used twice");
    } else if (d.reads == 0) {
      d.rule = "exempt/no read";
    } else if (d.reads == 1 && d.ops <= 2 && !has_transcendental(cone)) {
      d.rule = "exempt/one load";
    } else if (d.users > 1 && d.store_cost * 100 < d.inline_cost * 95) {
      realize("cost/store is cheaper");
    } else {
      d.rule = d.users > 1 ? "cost/recompute is cheaper" : "chain below caps";
    }
  }

  bool has_transcendental(const std::vector<NodeId>& cone) const {
    return std::any_of(cone.begin(), cone.end(), [&](NodeId id) { return is_transcendental(graph_.node(id).op); });
  }

  const Graph& graph_;
  std::vector<RealizeDecision> decisions_;
  std::vector<std::vector<Path>> paths_;
  std::vector<std::vector<NodeId>> cones_;
  std::vector<std::vector<NodeId>> loads_;
};

}  // namespace

std::vector<RealizeDecision> decide_realize(const Graph& graph) { return Realizer(graph).run(); }

}  // namespace tenon
