// SPDX-License-Identifier: MIT
// See pair_query.h.
#include "compiler/explain/pair_query.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/explain/units.h"

namespace tenon {
namespace {

bool contains(const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); }
bool meet(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int x) { return contains(b, x); });
}

const RealizeRecord* realize_record(const DecisionLog& log, int node) {
  for (const RealizeRecord& r : log.realize) {
    if (r.node == node) return &r;
  }
  return nullptr;
}

/// What a name stands for: realized nodes and kernels, or why it stands for nothing.
struct Subject {
  std::string name;
  std::vector<int> realized;
  std::vector<int> kernels;
  std::string remark;  ///< how an inlined node came to stand for others; with an error, what is wrong
  const char* error = nullptr;
};

Subject unknown(const DecisionLog& log, std::string_view name) {
  Subject s{std::string(name), {}, {}, "", "NO_SUCH_NODE"};
  std::vector<std::string> kernels, nodes;
  for (std::size_t k = 0; k < log.kernels.size(); ++k) kernels.push_back(absl::StrCat("k", k));
  for (const RealizeRecord& r : log.realize) nodes.push_back(absl::StrCat("%", r.node));
  s.remark = absl::StrCat("there is no node or kernel ", s.name, "; kernels are ", absl::StrJoin(kernels, " "),
                          ", nodes ", absl::StrJoin(nodes, " "));
  return s;
}

Subject of_kernel(const DecisionLog& log, std::size_t kernel) {
  return {absl::StrCat("k", kernel), log.kernels[kernel].members, {static_cast<int>(kernel)}, "", nullptr};
}

Subject of_node(const DecisionLog& log, int id, std::string_view name) {
  const auto& nodes = lowered_nodes(log);
  if (id < 0 || id >= static_cast<int>(nodes.size())) return unknown(log, name);
  Subject s{absl::StrCat("%", id), {id}, {}, "", nullptr};
  const RealizeRecord* record = realize_record(log, id);
  if (!record) {
    s.error = "NO_KERNEL";
    s.remark = absl::StrCat(s.name, " is an input, a scalar or a constant: no kernel computes it");
    return s;
  }
  if (!record->realized) {
    s.realized = record->into;
    const std::string into = absl::StrJoin(s.realized, " ", [](auto* out, int n) { absl::StrAppend(out, "%", n); });
    s.remark = absl::StrCat(s.name, " has no memory: it is inlined into ", into, " (", record->rule, "). ");
  }
  s.kernels = kernels_of(log, id);
  if (s.kernels.empty()) {
    s.error = "NO_KERNEL";
    s.remark = absl::StrCat(s.name, " has no elements: no kernel computes it");
  }
  return s;
}

Subject subject_of(const DecisionLog& log, std::string_view name) {
  for (std::size_t k = 0; k < log.kernels.size(); ++k) {
    if (name == log.kernels[k].name || name == absl::StrCat("k", k)) return of_kernel(log, k);
  }
  int id = -1;
  const std::string_view digits = name.starts_with('%') ? name.substr(1) : name;
  return absl::SimpleAtoi(std::string(digits), &id) ? of_node(log, id, name) : unknown(log, name);
}

/// The last test of a pair that has one of `a` on one side and one of `b` on the other.
const CandidateRecord* last_test(const DecisionLog& log, const std::vector<int>& a, const std::vector<int>& b) {
  const CandidateRecord* found = nullptr;
  for (const CandidateRecord& c : log.candidates) {
    const std::vector<int> left = members_of(c.a), right = members_of(c.b);
    if ((meet(left, a) && meet(right, b)) || (meet(left, b) && meet(right, a))) found = &c;
  }
  return found;
}

/// Inputs and realized nodes that the realized node reads, through what is inlined in it.
std::vector<int> reads_of(const DecisionLog& log, int node) {
  const auto& nodes = lowered_nodes(log);
  std::vector<int> reads, seen, work = nodes[static_cast<std::size_t>(node)].operands;
  while (!work.empty()) {
    const int id = work.back();
    work.pop_back();
    if (contains(seen, id)) continue;
    seen.push_back(id);
    const NodeRecord& n = nodes[static_cast<std::size_t>(id)];
    const RealizeRecord* record = realize_record(log, id);
    if (n.op == "input" || (record && record->realized)) {
      reads.push_back(id);
    } else {
      work.insert(work.end(), n.operands.begin(), n.operands.end());
    }
  }
  return reads;
}

/// All that the kernels of a subject read or compute.
std::vector<int> buffers_of(const DecisionLog& log, const Subject& s) {
  std::vector<int> out;
  for (int k : s.kernels) {
    for (int member : log.kernels[static_cast<std::size_t>(k)].members) {
      const std::vector<int> reads = reads_of(log, member);
      out.insert(out.end(), reads.begin(), reads.end());
      out.push_back(member);
    }
  }
  return out;
}

PairAnswer fused(const DecisionLog& log, const Subject& a, const Subject& b, const CandidateRecord* test) {
  const auto kernel = std::find_if(a.kernels.begin(), a.kernels.end(), [&](int k) { return contains(b.kernels, k); });
  PairAnswer answer{true, "FUSED", "", std::nullopt};
  answer.text = absl::StrCat(a.remark, b.remark, a.name, " and ", b.name, " are both computed in ",
                             log.kernels[static_cast<std::size_t>(*kernel)].name);
  if (test && test->verdict == "fused") {
    answer.candidate = *test;
    absl::StrAppend(&answer.text, "; ", test->a, " and ", test->b, " were fused in round ", test->round,
                    " by a score of ", time_text(test->score));
  }
  return answer;
}

PairAnswer tested(const Subject& a, const Subject& b, const CandidateRecord& test) {
  PairAnswer answer{false, test.reason.substr(0, test.reason.find_first_of("( ")), "", test};
  answer.text = absl::StrCat(a.remark, b.remark, test.a, " and ", test.b, " were last tested in round ", test.round,
                             " (", test.kind, "): ", test.verdict, ", ", test.reason);
  return answer;
}

PairAnswer untested(const DecisionLog& log, const Subject& a, const Subject& b) {
  const bool shares = meet(buffers_of(log, a), buffers_of(log, b));
  PairAnswer answer{false, shares ? "WINDOW" : "NO_SHARED_DATA", "", std::nullopt};
  answer.text = absl::StrCat(a.remark, b.remark, a.name, " and ", b.name, " were never tested: ",
                             shares ? "both use a buffer, but too many of its readers lie between them"
                                    : "neither reads what the other reads or writes, so that fusing saves no traffic");
  return answer;
}

}  // namespace

std::vector<int> members_of(std::string_view group) {
  std::vector<int> out;
  for (absl::string_view part : absl::StrSplit(absl::string_view(group.data(), group.size()), '+', absl::SkipEmpty())) {
    int id = -1;
    if (absl::SimpleAtoi(part.substr(1), &id)) out.push_back(id);
  }
  return out;
}

std::vector<int> kernels_of(const DecisionLog& log, int node) {
  const RealizeRecord* record = realize_record(log, node);
  const std::vector<int> in = record && !record->realized ? record->into : std::vector<int>{node};
  std::vector<int> out;
  for (std::size_t k = 0; k < log.kernels.size(); ++k) {
    if (meet(log.kernels[k].members, in)) out.push_back(static_cast<int>(k));
  }
  return out;
}

const std::vector<NodeRecord>& lowered_nodes(const DecisionLog& log) {
  static const std::vector<NodeRecord> none;
  for (const StageRecord& stage : log.stages) {
    if (stage.name == "rewrite") return stage.nodes;
  }
  return none;
}

PairAnswer why_not(const DecisionLog& log, std::string_view a_name, std::string_view b_name) {
  const Subject a = subject_of(log, a_name), b = subject_of(log, b_name);
  for (const Subject* s : {&a, &b}) {
    if (s->error) return {false, s->error, s->remark, std::nullopt};
  }
  const CandidateRecord* test = last_test(log, a.realized, b.realized);
  if (meet(a.kernels, b.kernels)) return fused(log, a, b, test);
  return test ? tested(a, b, *test) : untested(log, a, b);
}

std::optional<std::int64_t> score_of(const DecisionLog& log, std::string_view a_name, std::string_view b_name) {
  const Subject a = subject_of(log, a_name), b = subject_of(log, b_name);
  const CandidateRecord* test = a.error || b.error ? nullptr : last_test(log, a.realized, b.realized);
  return test ? std::optional(test->score) : std::nullopt;
}

}  // namespace tenon
