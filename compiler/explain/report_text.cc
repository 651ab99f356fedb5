// SPDX-License-Identifier: MIT
// The text form of the decision log: one table a subject, columns aligned.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/explain/report.h"
#include "compiler/explain/units.h"

namespace tenon {
namespace {

/// Rows of cells, printed with each column as wide as its widest cell.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string text() const {
    std::vector<std::size_t> widths(rows_[0].size(), 0);
    for (const auto& row : rows_) {
      for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
    std::string out;
    for (const auto& row : rows_) {
      std::string line = " ";
      for (std::size_t c = 0; c < row.size(); ++c)
        absl::StrAppendFormat(&line, " %-*s ", static_cast<int>(widths[c]), row[c]);
      line.erase(line.find_last_not_of(' ') + 1);
      absl::StrAppend(&out, line, "\n");
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string node_list(const std::vector<int>& nodes) {
  return absl::StrJoin(nodes, " ", [](std::string* out, int n) { absl::StrAppend(out, "%", n); });
}

std::string known_time(std::int64_t picoseconds) { return picoseconds < 0 ? "" : time_text(picoseconds); }

std::string stages_text(const DecisionLog& log) {
  Table table({"stage", "in", "out", "time"});
  for (const StageRecord& s : log.stages) {
    table.row({s.name, absl::StrCat(s.nodes_in), absl::StrCat(s.nodes_out), known_time(s.time)});
  }
  return table.text();
}

std::string rewrites_text(const DecisionLog& log) {
  if (log.rewrites.empty()) return "  none: every op is a primitive, and no rule matched\n";
  Table table({"stage", "rule", "node", "became", "from traced ops"});
  for (const RewriteRecord& r : log.rewrites) {
    table.row({r.stage, r.rule, r.before, r.after.empty() ? "nothing" : node_list(r.after), node_list(r.sources)});
  }
  return table.text();
}

std::string realize_text(const DecisionLog& log) {
  Table table({"value", "decision", "rule", "reads", "ops", "users", "inline", "store"});
  for (const RealizeRecord& r : log.realize) {
    const std::string decision = r.realized ? "realized" : absl::StrCat("inlined into ", node_list(r.into));
    table.row({r.text, decision, r.rule, absl::StrCat(r.reads), absl::StrCat(r.ops), absl::StrCat(r.users),
               time_text(r.inline_cost), time_text(r.store_cost)});
  }
  return table.text();
}

std::string candidates_text(const DecisionLog& log) {
  if (log.candidates.empty()) return "  no two kernels share a buffer\n";
  Table table({"round", "a", "b", "kind", "shared", "score", "same", "distance", "verdict", "reason"});
  for (const CandidateRecord& c : log.candidates) {
    // A pair that may not fuse is not scored.
    const bool is_scored = c.score != 0 || c.shared_bytes != 0;
    table.row({absl::StrCat(c.round), c.a, c.b, c.kind, is_scored ? size_text(c.shared_bytes) : "",
               is_scored ? time_text(c.score) : "", c.same_kind ? "yes" : "no", absl::StrCat(c.distance), c.verdict,
               c.reason});
  }
  return table.text();
}

/// How the kernels of each component were found, and what that was worth.
std::string searches_text(const DecisionLog& log) {
  std::string out;
  for (const SearchRecord& s : log.searches) {
    absl::StrAppend(&out, "  ", s.method, " search of ", s.nodes.empty() ? "all" : node_list(s.nodes));
    if (!s.reason.empty()) absl::StrAppend(&out, " (", s.reason, ")");
    if (s.cost > 0) {
      absl::StrAppend(&out, ": ", s.evaluations, " groups tried, ", time_text(s.cost), ", by greedy ",
                      time_text(s.greedy_cost));
    }
    absl::StrAppend(&out, "\n");
  }
  return out;
}

/// By how much the prediction missed what was measured: "+12 %".
std::string error_text(const KernelRecord& k) {
  if (k.predicted < 0 || k.measured <= 0) return "";
  return absl::StrFormat("%+.0f %%",
                         100.0 * static_cast<double>(k.predicted - k.measured) / static_cast<double>(k.measured));
}

std::string total_text(const DecisionLog& log) {
  std::int64_t predicted = 0, measured = 0, bytes = 0;
  for (const KernelRecord& k : log.kernels) {
    predicted += k.predicted;
    measured += k.measured;
    bytes += k.read_bytes + k.write_bytes;
  }
  const std::string times = measured > 0 ? absl::StrCat(", measured ", time_text(measured)) : "";
  return absl::StrCat("  in all: ", size_text(bytes), " moved, predicted ", time_text(predicted), times, "\n");
}

std::string kernels_text(const DecisionLog& log) {
  const bool is_measured = std::ranges::any_of(log.kernels, [](const KernelRecord& k) { return k.measured >= 0; });
  std::vector<std::string> head = {"kernel", "class", "members", "read", "write", "phases", "tasks", "predicted"};
  if (is_measured) head.insert(head.end(), {"measured", "error"});
  Table table(std::move(head));
  for (const KernelRecord& k : log.kernels) {
    std::vector<std::string> row = {k.name,
                                    k.kernel_class,
                                    node_list(k.members),
                                    size_text(k.read_bytes),
                                    size_text(k.write_bytes),
                                    absl::StrCat(k.phases),
                                    absl::StrCat(k.tasks),
                                    known_time(k.predicted)};
    if (is_measured) row.insert(row.end(), {known_time(k.measured), error_text(k)});
    table.row(std::move(row));
  }
  return absl::StrCat(table.text(), total_text(log));
}

std::string memory_text(const DecisionLog& log) {
  if (log.memory.empty()) return "  no temporaries: every value between kernels is virtual\n";
  Table table({"value", "offset", "bytes", "kernels"});
  for (const MemoryRecord& m : log.memory) {
    table.row({absl::StrCat("%", m.node), absl::StrCat(m.offset), size_text(m.bytes),
               absl::StrCat(m.first_kernel, "..", m.last_kernel)});
  }
  return absl::StrCat(table.text(), "  arena: ", size_text(log.arena_bytes), "\n");
}

std::string key_text(const ProgramIdentity& identity) {
  constexpr std::size_t kMost = 60;
  Table table({"ingredient", "hash", "value"});
  for (const KeyRecord& f : identity.fields) {
    table.row({f.name, f.hash, f.value.size() <= kMost ? f.value : absl::StrCat(f.value.substr(0, kMost), "...")});
  }
  return table.text();
}

}  // namespace

std::string report_text(const DecisionLog& log, const ProgramIdentity& identity) {
  return absl::StrCat("stages\n", stages_text(log), "rewrites\n", rewrites_text(log), "realize or inline\n",
                      realize_text(log), "fusion candidates\n", candidates_text(log), searches_text(log), "kernels\n",
                      kernels_text(log), "memory\n", memory_text(log), "key ", identity.key, "\n", key_text(identity));
}

}  // namespace tenon
