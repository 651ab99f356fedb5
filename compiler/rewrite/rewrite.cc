// SPDX-License-Identifier: MIT
// See rewrite.h.
#include "compiler/rewrite/rewrite.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "compiler/explain/record_graph.h"
#include "compiler/rewrite/identities.h"
#include "compiler/rewrite/rule.h"

namespace tenon {
namespace {

/// What a node becomes by the table of identities.
NodeId apply_identity(const Site& s, const Identity** applied) {
  for (const ParsedIdentity* i : identities_of(s.node.op)) {
    Bindings bindings;
    if (!matches(s.graph(), s.node.op, s.operands, i->from, bindings)) continue;
    if (!includes(i->identity.dtypes, s.graph().node(bindings['x']).type.dtype)) continue;
    *applied = &i->identity;
    return broadcast_to(make(s.builder, i->to, bindings), s.node.type.shape).id;
  }
  return -1;
}

struct Replacement {
  NodeId node = -1;
  std::string_view rule;
};

/// By the first rule that matches.
Replacement replacement_of(const Site& s) {
  const Identity* identity = nullptr;
  if (const NodeId node = apply_identity(s, &identity); node >= 0) return {node, identity->text};
  for (const auto& rules : {arithmetic_rules(), movement_rules()}) {
    for (const Rule& rule : rules) {
      if (const NodeId node = rule.apply(s); node >= 0) return {node, rule.name};
    }
  }
  return {};
}

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
    count_readers();
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
    current_ = id;
    matched_ = 0;
    return placed({builder_, node, operands, is_only_reader(node)}, -1);
  }

  /// The node of the site, or what rules make of it. `existing` is that node if the builder has it already, else -1.
  NodeId placed(const Site& site, NodeId existing) {
    constexpr int kMostMatches = 16;
    const auto first = static_cast<NodeId>(builder_.graph().size());
    const Replacement r = matched_ < kMostMatches ? replacement_of(site) : Replacement();
    if (r.node < 0) return unique(existing < 0 ? builder_.append_copy(site.node, site.operands) : existing);
    ++matched_;
    const NodeId last = settled(first, r.node);
    note(r.rule, last);
    return last;
  }

  /// What a rule appended, from `first` on, is rewritten in its turn.
  NodeId settled(NodeId first, NodeId result) {
    std::vector<NodeId> image;
    for (NodeId id = first; id <= result; ++id) {
      const Node node = builder_.graph().node(id);  // a copy: rules append
      absl::InlinedVector<NodeId, 3> operands = node.operands;
      for (NodeId& operand : operands) {
        if (operand >= first) operand = image[static_cast<std::size_t>(operand - first)];
      }
      image.push_back(placed({builder_, node, operands}, operands == node.operands ? id : -1));
    }
    return image.empty() ? result : image.back();
  }

  /// Nothing else reads the node's first operand.
  bool is_only_reader(const Node& node) const {
    return !node.operands.empty() && readers_[static_cast<std::size_t>(node.operands[0])] == 1;
  }

  void count_readers() {
    readers_.assign(graph_.size(), 0);
    for (const Node& node : graph_.nodes) {
      for (NodeId operand : node.operands) ++readers_[static_cast<std::size_t>(operand)];
    }
    for (NodeId output : graph_.outputs) ++readers_[static_cast<std::size_t>(output)];
  }

  void note(std::string_view rule, NodeId after) {
    if (log_) matches_.push_back({rule, current_, after});
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
      log_->rewrites.push_back({"rewrite", std::string(m.rule), node_text(graph_, m.before),
                                after < 0 ? std::vector<int>() : std::vector<int>{after},
                                sources_of(m.before, m.after)});
    }
  }

  /// An equal node made before, else this one. Inputs and scalars are never equal.
  NodeId unique(NodeId id) {
    const Node& node = builder_.graph().node(id);
    if (node.op == Op::k_input || node.op == Op::k_scalar) return id;
    NodeKey key{node.op, node.type.dtype, node.type.shape, node.operands, node.attrs};
    if (is_commutative(node.op) && key.operands[0] > key.operands[1]) std::swap(key.operands[0], key.operands[1]);
    const NodeId first = seen_.try_emplace(std::move(key), id).first->second;
    if (first != id) note("equal nodes are one", first);
    return first;
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
    std::string_view rule;
    NodeId before, after;  ///< in the graph given; in the builder's
  };

  const Graph& graph_;
  DecisionLog* log_;
  GraphBuilder builder_;
  std::vector<NodeId> image_;
  std::vector<int> readers_;
  NodeId current_ = -1;  ///< the node of the graph that is being rewritten
  int matched_ = 0;      ///< rules that have matched for it
  std::vector<Match> matches_;
  absl::flat_hash_map<NodeKey, NodeId> seen_;
};

}  // namespace

absl::StatusOr<Graph> rewrite(const Graph& graph, DecisionLog* log) { return Rewriter(graph, log).run(); }

}  // namespace tenon
