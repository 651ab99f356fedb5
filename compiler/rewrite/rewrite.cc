// SPDX-License-Identifier: MIT
// See rewrite.h.
#include "compiler/rewrite/rewrite.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "compiler/explain/record_graph.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/scalar_eval.h"

namespace tenon {
namespace {

/// What a rule sees: the node to be, with its rewritten operands. It returns the node's replacement, or -1.
struct Site {
  GraphBuilder& builder;
  const Node& node;
  absl::Span<const NodeId> operands;

  const Node& operand(int i) const { return builder.graph().node(operands[static_cast<std::size_t>(i)]); }
  bool has_type_of_operand() const { return node.type == operand(0).type; }
};

NodeId same_view(const Site& s) {
  const bool is_plain = s.node.op == Op::k_reshape || s.node.op == Op::k_broadcast_to;
  return is_plain && s.has_type_of_operand() ? s.operands[0] : -1;
}

NodeId same_cast(const Site& s) { return s.node.op == Op::k_cast && s.has_type_of_operand() ? s.operands[0] : -1; }

NodeId identity_permutation(const Site& s) {
  if (s.node.op != Op::k_permute_dims) return -1;
  const auto axes = s.node.ints("axes");
  return std::is_sorted(axes.begin(), axes.end()) ? s.operands[0] : -1;
}

NodeId whole_slice(const Site& s) {
  if (s.node.op != Op::k_slice || !s.has_type_of_operand()) return -1;
  const auto steps = s.node.ints("steps"), lengths = s.node.ints("lengths");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] != 1 && lengths[i] > 1) return -1;
  }
  return s.operands[0];
}

/// reshape(reshape(x)) = reshape(x), broadcast(broadcast(x)) = broadcast(x).
NodeId view_of_view(const Site& s) {
  const bool is_plain = s.node.op == Op::k_reshape || s.node.op == Op::k_broadcast_to;
  if (!is_plain || s.operand(0).op != s.node.op) return -1;
  const NodeId source = s.operand(0).operands[0];
  if (s.builder.graph().node(source).type == s.node.type) return source;
  return s.builder.append_copy(s.node, {source});
}

/// permute(permute(x, p), q) = permute(x, p[q]).
NodeId permutation_of_permutation(const Site& s) {
  if (s.node.op != Op::k_permute_dims || s.operand(0).op != Op::k_permute_dims) return -1;
  const auto outer = s.node.ints("axes"), inner = s.operand(0).ints("axes");
  Shape axes;
  for (std::int64_t axis : outer) axes.push_back(inner[static_cast<std::size_t>(axis)]);
  const NodeId source = s.operand(0).operands[0];
  if (std::is_sorted(axes.begin(), axes.end())) return source;
  Attrs attrs{axes};
  return s.builder.append(Op::k_permute_dims, {source}, std::move(attrs));
}

/// slice(slice(x)) = slice(x): starts add up through the inner steps, steps multiply.
NodeId slice_of_slice(const Site& s) {
  if (s.node.op != Op::k_slice || s.operand(0).op != Op::k_slice) return -1;
  const Node& inner = s.operand(0);
  Shape starts, lengths, steps;
  for (std::size_t i = 0; i < s.node.type.shape.size(); ++i) {
    starts.push_back(inner.ints("starts")[i] + s.node.ints("starts")[i] * inner.ints("steps")[i]);
    steps.push_back(inner.ints("steps")[i] * s.node.ints("steps")[i]);
    lengths.push_back(s.node.ints("lengths")[i]);
  }
  const NodeId source = inner.operands[0];
  return s.builder.append(Op::k_slice, {source}, Attrs{starts, lengths, steps});
}

/// An elementwise op of constants is a constant.
NodeId fold_constants(const Site& s) {
  if (row_of(s.node.op).kind != OpKind::elementwise || !s.node.type.shape.empty()) return -1;
  std::uint64_t bits[3] = {};
  for (std::size_t i = 0; i < s.operands.size(); ++i) {
    if (s.operand(static_cast<int>(i)).op != Op::k_constant) return -1;
    bits[i] = static_cast<std::uint64_t>(s.operand(static_cast<int>(i)).value("bits"));
  }
  const DType operand = s.operand(static_cast<int>(s.operands.size()) - 1).type.dtype;
  Node constant;
  constant.op = Op::k_constant;
  constant.type = s.node.type;
  constant.attrs.append(static_cast<std::int64_t>(eval_scalar(s.node.op, s.node.type.dtype, operand, bits)));
  return s.builder.append_copy(constant, {});
}

struct Rule {
  const char* name;
  NodeId (*apply)(const Site&);
};

constexpr Rule kRules[] = {
    {"same view", same_view},           {"same cast", same_cast},
    {"whole slice", whole_slice},       {"identity permutation", identity_permutation},
    {"view of view", view_of_view},     {"permutation of permutation", permutation_of_permutation},
    {"slice of slice", slice_of_slice}, {"fold constants", fold_constants}};

struct NodeKey {
  Op op;
  DType dtype;
  Shape shape;
  absl::InlinedVector<NodeId, 3> operands;
  Attrs attrs;
  friend bool operator==(const NodeKey&, const NodeKey&) = default;
  template <class H>
  friend H AbslHashValue(H h, const NodeKey& k) {
    return H::combine(std::move(h), k.op, k.dtype, k.shape, k.operands, k.attrs.words());
  }
};

class Rewriter {
 public:
  Rewriter(const Graph& graph, DecisionLog* log) : graph_(graph), log_(log) {}

  absl::StatusOr<Graph> run() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      builder_.set_origin(graph_.nodes[i].origin);
      image_.push_back(rewritten(static_cast<NodeId>(i)));
    }
    if (!builder_.status().ok()) return builder_.status();
    map_signature(graph_, image_, builder_.graph());
    std::vector<NodeId> kept;
    Graph out = without_dead_nodes(builder_.graph(), kept);
    if (log_) record_matches(kept);
    return out;
  }

 private:
  NodeId rewritten(NodeId id) {
    const Node& node = graph_.node(id);
    absl::InlinedVector<NodeId, 3> operands;
    for (NodeId operand : node.operands) operands.push_back(image_[static_cast<std::size_t>(operand)]);
    for (const Rule& rule : kRules) {
      const NodeId other = rule.apply(Site{builder_, node, operands});
      if (other < 0) continue;
      note(rule.name, id, other);
      return unique(other);
    }
    const NodeId copy = builder_.append_copy(node, operands);
    const NodeId first = unique(copy);
    if (first != copy) note("equal nodes are one", id, first);
    return first;
  }

  void note(const char* rule, NodeId before, NodeId after) {
    if (log_) matches_.push_back({rule, before, after});
  }

  /// The traced ops that took part in a match: those of the node, of what it reads, and of what it became.
  std::vector<int> sources_of(NodeId before, NodeId after) const {
    std::vector<int> sources = {graph_.node(before).origin, builder_.graph().node(after).origin};
    for (NodeId operand : graph_.node(before).operands) sources.push_back(graph_.node(operand).origin);
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    return sources;
  }

  void record_matches(const std::vector<NodeId>& kept) {
    for (const Match& m : matches_) {
      const NodeId after = kept[static_cast<std::size_t>(m.after)];
      log_->rewrites.push_back({"rewrite", m.rule, node_text(graph_, m.before),
                                after < 0 ? std::vector<int>() : std::vector<int>{after},
                                sources_of(m.before, m.after)});
    }
  }

  /// An equal node made before, else this one. Inputs and scalars are never equal.
  NodeId unique(NodeId id) {
    const Node& node = builder_.graph().node(id);
    if (node.op == Op::k_input || node.op == Op::k_scalar) return id;
    NodeKey key{node.op, node.type.dtype, node.type.shape, node.operands, node.attrs};
    return seen_.try_emplace(std::move(key), id).first->second;
  }

  /// `image` takes the new id of each node, -1 for those that go.
  static Graph without_dead_nodes(const Graph& graph, std::vector<NodeId>& image) {
    std::vector<bool> live(graph.size(), false);
    for (const auto* ids : {&graph.inputs, &graph.scalars, &graph.outputs}) {
      for (NodeId id : *ids) live[static_cast<std::size_t>(id)] = true;
    }
    for (std::size_t i = graph.size(); i-- > 0;) {
      if (!live[i]) continue;
      for (NodeId id : graph.nodes[i].operands) live[static_cast<std::size_t>(id)] = true;
    }
    Graph out;
    image.assign(graph.size(), -1);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (!live[i]) continue;
      Node node = graph.nodes[i];
      for (NodeId& id : node.operands) id = image[static_cast<std::size_t>(id)];
      image[i] = static_cast<NodeId>(out.nodes.size());
      out.nodes.push_back(std::move(node));
    }
    map_signature(graph, image, out);
    return out;
  }

  struct Match {
    const char* rule;
    NodeId before, after;  ///< in the graph given; in the builder's
  };

  const Graph& graph_;
  DecisionLog* log_;
  GraphBuilder builder_;
  std::vector<NodeId> image_;
  std::vector<Match> matches_;
  absl::flat_hash_map<NodeKey, NodeId> seen_;
};

}  // namespace

absl::StatusOr<Graph> rewrite(const Graph& graph, DecisionLog* log) { return Rewriter(graph, log).run(); }

}  // namespace tenon
