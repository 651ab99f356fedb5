// SPDX-License-Identifier: MIT
// The text form of the decision log: one table a stage, columns aligned.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/explain/report.h"

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

std::string size_text(std::int64_t bytes) {
  if (bytes >= 1 << 20) return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  if (bytes >= 1 << 10) return absl::StrFormat("%.1f KiB", static_cast<double>(bytes) / (1 << 10));
  return absl::StrCat(bytes, " B");
}

std::string time_text(std::int64_t picoseconds) {
  return absl::StrFormat("%.1f us", static_cast<double>(picoseconds) * 1e-6);
}

std::string node_list(const std::vector<int>& nodes) {
  return absl::StrJoin(nodes, " ", [](std::string* out, int n) { absl::StrAppend(out, "%", n); });
}

std::string stages_text(const DecisionLog& log) {
  Table table({"stage", "in", "out"});
  for (const StageRecord& s : log.stages) table.row({s.name, absl::StrCat(s.nodes_in), absl::StrCat(s.nodes_out)});
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
  Table table({"round", "a", "b", "kind", "shared", "saves", "verdict", "reason"});
  for (const CandidateRecord& c : log.candidates) {
    table.row(
        {absl::StrCat(c.round), c.a, c.b, c.kind, size_text(c.shared_bytes), time_text(c.score), c.verdict, c.reason});
  }
  return table.text();
}

std::string kernels_text(const DecisionLog& log) {
  Table table({"kernel", "class", "members", "read", "write", "phases", "tasks"});
  for (const KernelRecord& k : log.kernels) {
    table.row({k.name, k.kernel_class, node_list(k.members), size_text(k.read_bytes), size_text(k.write_bytes),
               absl::StrCat(k.phases), absl::StrCat(k.tasks)});
  }
  return table.text();
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

}  // namespace

std::string report_text(const DecisionLog& log, const ProgramIdentity& identity) {
  return absl::StrCat("stages\n", stages_text(log), "realize or inline\n", realize_text(log), "fusion candidates\n",
                      candidates_text(log), "kernels\n", kernels_text(log), "memory\n", memory_text(log), "key\n  ",
                      identity.key, "\n");
}

}  // namespace tenon
