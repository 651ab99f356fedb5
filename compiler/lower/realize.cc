// SPDX-License-Identifier: MIT
// See realize.h. Uses are collected from the outputs backwards, then costs from the inputs forwards.
#include "compiler/lower/realize.h"

#include <algorithm>
#include <compare>

#include "compiler/lower/realize_rules.h"
#include "compiler/lower/views.h"

namespace tenon {
namespace {

constexpr std::size_t kMaxUses = 16;
constexpr std::int64_t kMaxWeight = 1 << 20;

bool is_leaf(const Node& node) { return row_of(node.op).kind == OpKind::leaf; }
bool is_elementwise(const Node& node) { return row_of(node.op).kind == OpKind::elementwise; }
bool is_gather(const Node& node) { return node.op == Op::k_take || node.op == Op::k_take_along_axis; }
std::int64_t bytes_of(const Node& node) {
  return numel(node.type.shape) * static_cast<std::int64_t>(size_of(node.type.dtype));
}

/// Sizes of values that are never stored may pass all bounds; costs of them need not tell them apart.
std::int64_t picoseconds(__int128 cost) {
  constexpr std::int64_t kMost = std::int64_t{1} << 56;
  return cost < kMost ? static_cast<std::int64_t>(cost) : kMost;
}

template <class T>
void merge_into(std::vector<T>& a, const std::vector<T>& b, std::size_t limit) {
  std::vector<T> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  if (out.size() > limit) out.resize(limit);
  a = std::move(out);
}

/// A way in which a kernel reads a value.
struct Use {
  NodeId reader = -1;        ///< the first of the values that are certainly made by that kernel
  std::uint64_t access = 0;  ///< of the index maps on the way
  std::int64_t weight = 1;   ///< how often an element of the value is asked for
  auto operator<=>(const Use&) const = default;
};

/// The same in every process, unlike absl::Hash: which uses are kept must not depend on it.
std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

class Realizer {
 public:
  Realizer(const Graph& graph, RealizeMode mode, const CostTable& costs)
      : graph_(graph),
        mode_(mode),
        costs_(costs),
        decisions_(graph.size()),
        leaders_(graph.size()),
        uses_(graph.size()) {}

  std::vector<RealizeDecision> run() {
    mark_must();
    find_leaders();
    find_only_readers();
    for (NodeId id = last(); id >= 0; --id) collect_uses(id);
    if (mode_ == RealizeMode::kInductor) count_readers();
    cones_.resize(graph_.size());
    loads_.resize(graph_.size());
    reads_in_place_.resize(graph_.size());
    for (NodeId id = 0; id <= last(); ++id) decide(id);
    return std::move(decisions_);
  }

 private:
  NodeId last() const { return static_cast<NodeId>(graph_.size()) - 1; }
  RealizeDecision& decision(NodeId id) { return decisions_[static_cast<std::size_t>(id)]; }
  template <class T>
  static decltype(auto) at(std::vector<T>& list, NodeId id) {
    return list[static_cast<std::size_t>(id)];
  }
  void realize(NodeId id, std::string_view rule) {
    decision(id).realized = true;
    decision(id).rule = rule;
  }
  void must(NodeId id, std::string_view rule) {
    if (!is_leaf(graph_.node(id)) && !decision(id).realized) realize(id, rule);
  }

  void mark_must() {
    for (NodeId id : graph_.outputs) realize(id, "must/output");
    for (NodeId id = 0; id <= last(); ++id) {
      const Node& node = graph_.node(id);
      if (node.op == Op::k_reduce && !is_small_reduction(node)) must(id, "must/reduction");
      if (node.op == Op::k_scan) must(id, "must/scan");
      if (node.op != Op::k_matmul) continue;
      must(id, "must/template");
      mark_matmul_operand(node.operands[0]);
      mark_matmul_operand(node.operands[1]);
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
      realize(id, "must/template operand");
    } else {
      must(source.node, "must/template operand");
    }
  }

  bool keeps_index(const Node& node, NodeId operand) const {
    return is_elementwise(node) && graph_.node(operand).type.shape == node.type.shape;
  }

  // ---- effective users ----

  /// The newest value with memory that a node reads, whether it reads that at its own element, and the newest but one.
  struct Reads {
    NodeId newest = -1, older = -1;
    bool in_place = true;

    void add(const Reads& r) {
      if (r.newest == newest) {
        in_place &= r.in_place;
        older = std::max(older, r.older);
      } else {
        older = std::max({older, r.older, std::min(newest, r.newest)});
        if (r.newest > newest) in_place = r.in_place;
        newest = std::max(newest, r.newest);
      }
    }
  };

  /// An elementwise value joins the kernel of the one that it reads in place, if all else that it reads is older than
  /// that kernel: then nothing can lie between the two.
  void find_leaders() {
    std::vector<Reads> reads(graph_.size());
    for (NodeId id = 0; id <= last(); ++id) {
      const Node& node = graph_.node(id);
      Reads& r = at(reads, id);
      for (NodeId operand : node.operands) {
        Reads from = decision(operand).realized ? Reads{operand, -1, true} : at(reads, operand);
        from.in_place &= keeps_index(node, operand);
        r.add(from);
      }
      at(leaders_, id) = id;
      if (r.newest < 0 || !r.in_place || !is_elementwise(node) || !is_elementwise(graph_.node(r.newest))) continue;
      if (r.older < at(leaders_, r.newest)) at(leaders_, id) = at(leaders_, r.newest);
    }
  }

  void collect_uses(NodeId id) {
    const Node& node = graph_.node(id);
    const std::vector<Use> through = decision(id).realized ? std::vector<Use>{{at(leaders_, id), 0, 1}} : at(uses_, id);
    for (std::size_t slot = 0; slot < node.operands.size(); ++slot) {
      const NodeId operand = node.operands[slot];
      std::vector<Use>& into = at(uses_, operand);
      if (keeps_index(node, operand)) {
        merge_into(into, through, kMaxUses);
        continue;
      }
      const std::uint64_t map = hash_of_map(node, slot);
      const std::int64_t weight = is_gather(node) && slot == 0 ? repetition(node, operand) : 1;
      merge_into(into, mapped(through, map, weight), kMaxUses);
      // An unrolled reduction reads its operand at several places.
      if (node.op == Op::k_reduce && !decision(id).realized) {
        merge_into(into, mapped(through, mix(map, 1), weight), kMaxUses);
      }
    }
  }

  /// How many elements of `node` there are to one of the operand, rounded up.
  std::int64_t repetition(const Node& node, NodeId operand) const {
    const std::int64_t elements = std::max<std::int64_t>(numel(graph_.node(operand).type.shape), 1);
    return std::clamp<std::int64_t>((numel(node.type.shape) + elements - 1) / elements, 1, kMaxWeight);
  }

  static std::vector<Use> mapped(std::vector<Use> uses, std::uint64_t map, std::int64_t weight) {
    for (Use& use : uses) {
      use.access = mix(use.access, map);
      use.weight = std::min(use.weight * weight, kMaxWeight);
    }
    std::sort(uses.begin(), uses.end());
    return uses;
  }

  static std::uint64_t hash_of_map(const Node& node, std::size_t slot) {
    std::uint64_t h = mix(static_cast<std::uint64_t>(node.op), row_of(node.op).kind == OpKind::index ? slot : 0);
    for (std::int64_t word : node.attrs.words()) h = mix(h, static_cast<std::uint64_t>(word));
    for (std::int64_t extent : node.type.shape) h = mix(h, static_cast<std::uint64_t>(extent));
    return h;
  }

  /// Inductor counts readers before it inlines anything, and what a broadcast repeats.
  void count_readers() {
    for (std::vector<Use>& uses : uses_) uses.clear();
    for (NodeId id = 0; id <= last(); ++id) {
      const Node& node = graph_.node(id);
      const bool repeats = is_elementwise(node) || node.op == Op::k_broadcast_to;
      for (NodeId operand : node.operands) {
        merge_into(at(uses_, operand), {{id, 0, repeats ? repetition(node, operand) : 1}}, kMaxUses);
      }
    }
  }

  // ---- decisions ----

  void find_only_readers() {
    constexpr NodeId kSeveral = -2;
    only_reader_.assign(graph_.size(), -1);
    for (NodeId id = 0; id <= last(); ++id) {
      for (NodeId operand : graph_.node(id).operands) {
        NodeId& reader = at(only_reader_, operand);
        reader = reader == -1 || reader == id ? id : kSeveral;
      }
    }
  }

  /// To store the reader's value instead saves at least as much.
  bool has_one_reader(NodeId id) const {
    const NodeId reader = only_reader_[static_cast<std::size_t>(id)];
    if (reader < 0) return false;
    const Node& node = graph_.node(reader);
    return keeps_index(node, id) && bytes_of(node) <= bytes_of(graph_.node(id));
  }

  void decide(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<NodeId>& cone = at(cones_, id);
    std::vector<NodeId>& loads = at(loads_, id);
    RealizeDecision& d = decision(id);
    d.node = id;
    if (is_leaf(node) && !d.realized) {
      d.rule = "leaf";
      if (node.op == Op::k_input) loads = {id};
      return;
    }
    if (!is_view(node.op)) cone = {id};
    for (NodeId operand : node.operands) {
      merge_into(cone, at(cones_, operand), kMaxBodyOps + 1);
      merge_into(loads, at(loads_, operand), kMaxLoads + 1);
      const bool has_memory = decision(operand).realized || reads_in_place_[static_cast<std::size_t>(operand)];
      if (has_memory && keeps_index(node, operand)) reads_in_place_[static_cast<std::size_t>(id)] = true;
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
    for (const Use& use : at(uses_, d.node)) d.users += static_cast<int>(use.weight);
    __int128 flops = 0;
    for (NodeId id : cone) {
      const Node& member = graph_.node(id);
      ++d.ops;
      d.weight += op_weight(member.op);
      flops += static_cast<__int128>(op_weight(member.op)) * std::min(elements, numel(member.type.shape));
    }
    for (NodeId id : loads) d.bytes_in += std::min(bytes_of(graph_.node(id)), elements * 8);
    d.bytes_out = bytes_of(node);
    const auto memory = [&](std::int64_t bytes) {
      return static_cast<__int128>(bytes) * costs_.core_ps_per_kib / 1024;
    };
    const __int128 once = memory(d.bytes_in) + flops * costs_.op_ps;
    const bool joins_its_producer = reads_in_place_[static_cast<std::size_t>(d.node)];
    d.inline_cost = picoseconds(d.users * once);
    d.store_cost =
        picoseconds(once + memory(d.bytes_out) * (1 + d.users) + (joins_its_producer ? 0 : costs_.kernel_ps));
  }

  void apply_rules(const Node& node, const std::vector<NodeId>& cone, RealizeDecision& d) {
    RealizeCandidate candidate{node, d};
    candidate.has_one_reader = has_one_reader(d.node);
    for (NodeId id : cone) {
      candidate.has_transcendental |= is_transcendental(graph_.node(id).op);
      candidate.has_exp |= graph_.node(id).op == Op::k_exp;
    }
    for (const RealizeRule& rule : realize_rules(mode_)) {
      if (!rule.applies(candidate)) continue;
      d.rule = rule.name;
      d.realized = rule.realizes;
      return;
    }
  }

  const Graph& graph_;
  const RealizeMode mode_;
  const CostTable& costs_;
  std::vector<RealizeDecision> decisions_;
  std::vector<NodeId> only_reader_;
  std::vector<NodeId> leaders_;  ///< by value: the first of its kernel, as far as that is certain
  std::vector<std::vector<Use>> uses_;
  std::vector<std::vector<NodeId>> cones_;
  std::vector<std::vector<NodeId>> loads_;
  std::vector<bool> reads_in_place_;  ///< reads a value with memory, not a leaf, at its own element
};

}  // namespace

std::vector<RealizeDecision> decide_realize(const Graph& graph, RealizeMode mode, const CostTable& costs) {
  return Realizer(graph, mode, costs).run();
}

}  // namespace tenon
