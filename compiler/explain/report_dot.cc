// SPDX-License-Identifier: MIT
// The DOT form: the graph after rewriting, kernels as clusters. A node that is inlined into several kernels stands
// outside of them, with a label that says so.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "compiler/explain/pair_query.h"
#include "compiler/explain/report.h"
#include "compiler/explain/units.h"

namespace tenon {
namespace {

constexpr const char* kColours[] = {"#dbe7f6", "#e2f0d9", "#fbe5d6", "#efe2f4",
                                    "#fff2cc", "#d9f0ee", "#f6dbe1", "#e6e6e6"};

std::string dot_string(std::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(std::string(text), {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

/// Text of several lines in one label.
std::string label(std::initializer_list<std::string> lines) {
  return absl::StrReplaceAll(dot_string(absl::StrJoin(lines, "\n")), {{"\n", "\\n"}});
}

bool is_realized(const DecisionLog& log, int node) {
  for (const RealizeRecord& r : log.realize) {
    if (r.node == node) return r.realized;
  }
  return false;
}

std::string node_line(const DecisionLog& log, const NodeRecord& n, const std::vector<int>& kernels) {
  const bool realized = is_realized(log, n.id);
  std::string text = absl::StrCat("%", n.id, " ", n.op);
  if (kernels.size() > 1) absl::StrAppend(&text, " (in ", kernels.size(), " kernels)");
  const char* style = n.is_leaf ? "shape=ellipse, color=gray50" : realized ? "penwidth=2" : "style=\"rounded,dashed\"";
  return absl::StrCat("n", n.id, " [label=", label({text, n.type}), ", ", style, n.is_output ? ", peripheries=2" : "",
                      "];\n");
}

std::string cluster(const KernelRecord& k, std::size_t number, const std::string& nodes) {
  return absl::StrCat(
      "  subgraph cluster_k", number, " {\n    label=",
      label({k.name,
             absl::StrCat(k.kernel_class, ", reads ", size_text(k.read_bytes), ", writes ", size_text(k.write_bytes))}),
      "; style=\"rounded,filled\"; color=gray70; fillcolor=", dot_string(kColours[number % std::size(kColours)]), ";\n",
      nodes, "  }\n");
}

}  // namespace

std::string report_dot(const DecisionLog& log) {
  std::vector<std::string> inside(log.kernels.size());
  std::string outside, edges;
  for (const NodeRecord& n : lowered_nodes(log)) {
    const std::vector<int> kernels = n.is_leaf ? std::vector<int>() : kernels_of(log, n.id);
    const std::string line = node_line(log, n, kernels);
    if (kernels.size() == 1) {
      absl::StrAppend(&inside[static_cast<std::size_t>(kernels[0])], "    ", line);
    } else {
      absl::StrAppend(&outside, "  ", line);
    }
    for (int operand : n.operands) absl::StrAppend(&edges, "  n", operand, " -> n", n.id, ";\n");
  }
  std::string out =
      "digraph tenon {\n  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=10];\n"
      "  graph [fontname=\"Helvetica\", fontsize=11];\n  edge [color=gray40, arrowsize=0.6];\n";
  for (std::size_t k = 0; k < inside.size(); ++k) absl::StrAppend(&out, cluster(log.kernels[k], k, inside[k]));
  return absl::StrCat(out, outside, edges, "}\n");
}

}  // namespace tenon
