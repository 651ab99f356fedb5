// SPDX-License-Identifier: MIT
// See legality.h. Three kinds of checks: of the pair as it is, of each read that the merge would serve from a register,
// and of the merged group. The rows of a kind are tried in the order of the table.
#include "compiler/schedule/legality.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/group_size.h"
#include "compiler/schedule/nest.h"
#include "compiler/schedule/phases.h"

namespace tenon {
namespace {

constexpr std::int64_t kMaxMembers = 64;
constexpr std::int64_t kMaxWeight = 1000;  // of a body; compile time grows faster than the body
constexpr std::int64_t kMaxLoads = 48;
constexpr std::int64_t kMaxReductions = 8;

/// What breaks a rule, to be put into words where somebody reads it; nothing where it holds.
using Broken = std::optional<std::function<std::string()>>;
using Pair = FusionPair;

Broken says(const char* text) {
  return [text] { return std::string(text); };
}

/// A read of the consumer on what the producer writes, both in the variables of one space.
struct Match {
  const Member& writer;
  const Access& read;
};

/// Two groups that were brought to one space: `moved` is `other` there.
struct Merge {
  const LoweredGraph& lowered;
  const Group& other;
  const Group& moved;
  const Group& both;
};

Broken same_node(const Pair& p) { return p.a_id == p.b_id ? says("") : std::nullopt; }

/// The buffer of the product in a group of class matmul.
BufferId product_of(const LoweredGraph& lowered, const Group& group) {
  const auto it = std::find_if(group.members.begin(), group.members.end(), [&](const Member& m) {
    return lowered.nodes[static_cast<std::size_t>(m.node)].kind == LoopNode::kMatmul;
  });
  return it->write.buffer;
}

bool reads(const Group& group, BufferId buffer) {
  return std::any_of(group.members.begin(), group.members.end(), [&](const Member& m) {
    return std::any_of(m.reads.begin(), m.reads.end(), [&](const Access& r) { return r.buffer == buffer; });
  });
}

Broken template_role(const Pair& p) {
  if (p.a.kernel_class != KernelClass::kMatmul && p.b.kernel_class != KernelClass::kMatmul) return std::nullopt;
  if (p.b.kernel_class == KernelClass::kMatmul) return says("a matmul takes no prologue");
  if (p.b.kernel_class != KernelClass::kPointwise) return says("a matmul's epilogue is elementwise");
  if (reads(p.b, product_of(p.lowered, p.a))) return std::nullopt;
  return says("a matmul takes readers of its product only");
}

Broken path_between(const Pair& p) {
  switch (p.dependencies.path_between(p.a_id, p.b_id)) {
    case Dependencies::kNone:
      return std::nullopt;
    case Dependencies::kThrough:
      return says("a third kernel lies between");
    default:
      return says("unknown: too much lies between to look for a path");
  }
}

Broken class_takes_neighbours(const Pair& p) {
  for (const KernelClass alone : {KernelClass::kScan, KernelClass::kNestedReduction}) {
    if (p.a.kernel_class != alone && p.b.kernel_class != alone) continue;
    return [alone] { return absl::StrCat(std::string(name_of(alone)), ", it takes no neighbours"); };
  }
  return std::nullopt;
}

std::int64_t reduced_extent(const Group& group) {
  std::int64_t n = 1;
  for (const SpaceAxis& axis : group.axes) n *= axis.reduced ? axis.extent : 1;
  return n;
}

/// Two reductions share a kernel when they run along the same axis in the same order, or one reduces what the other
/// gives.
Broken reductions_fit(const Pair& p) {
  if (!p.a.has_reduction() || !p.b.has_reduction() || p.a.kernel_class == KernelClass::kMatmul) return std::nullopt;
  if (nest(p.lowered, p.a, p.b)) return std::nullopt;
  if (p.a.kernel_class != p.b.kernel_class)
    return [a = p.a.kernel_class, b = p.b.kernel_class] {
      return absl::StrCat(std::string(name_of(a)), ", ", std::string(name_of(b)));
    };
  const std::int64_t a = reduced_extent(p.a), b = reduced_extent(p.b);
  if (a != b || p.a.sequence != p.b.sequence) return [a, b] { return absl::StrCat("over ", a, ", over ", b); };
  return std::nullopt;
}

Broken no_split_reduction(const Pair& p) {
  if (!is_split_reduction(p.a) && !is_split_reduction(p.b)) return std::nullopt;
  return says("the reduction runs as partials and a finish");
}

Broken over(const char* name, std::int64_t have, std::int64_t max) {
  if (have <= max) return std::nullopt;
  return [name, have, max] { return absl::StrCat(name, ", ", have, ", ", max); };
}

Broken count_limits(const Pair& p) {
  const auto count_of = [](const Group& group) { return static_cast<std::int64_t>(group.members.size()); };
  std::int64_t reductions = 0;
  for (const Group* g : {&p.a, &p.b}) {
    for (const Member& m : g->members)
      reductions += p.lowered.nodes[static_cast<std::size_t>(m.node)].kind == LoopNode::kReduce ? 1 : 0;
  }
  if (auto broken = over("members", count_of(p.a) + count_of(p.b), kMaxMembers)) return broken;
  return over("reductions", reductions, kMaxReductions);
}

/// Of the merged body: what it loads and computes once values are passed on and equal ones are one.
Broken size_limits(const Merge& m) {
  std::int64_t reads = 0;
  for (const Member& member : m.both.members) reads += static_cast<std::int64_t>(member.reads.size());
  if (reads > kMaxLoads) {
    if (auto broken = over("loads", loads_of(m.both), kMaxLoads)) return broken;
  }
  if (weight_bound(m.both) <= kMaxWeight) return std::nullopt;
  return over("weight", joined_weight(m.lowered, m.both), kMaxWeight);
}

Broken not_whole(const Match& m) {
  if (m.read.index) return std::nullopt;
  return says("all of it is read");
}

Broken not_indirect(const Match& m) {
  if (!m.read.index || !is_indirect(m.read.index)) return std::nullopt;
  return [index = m.read.index] { return absl::StrCat("reads at ", to_string(index)); };
}

/// How a read differs from the write, in the terms of Inductor's analysis of fusions that fail.
const char* difference_of(IndexExpr write, IndexExpr read) {
  if (write->terms == read->terms) return "different offset";
  std::vector<std::int64_t> written, wanted;
  for (const auto& [coefficient, term] : write->terms) written.push_back(coefficient);
  for (const auto& [coefficient, term] : read->terms) wanted.push_back(coefficient);
  std::sort(written.begin(), written.end());
  std::sort(wanted.begin(), wanted.end());
  if (written == wanted) return "the loops' order differs";
  return read->terms.size() < write->terms.size() ? "broadcast" : "unknown";
}

/// The consumer must read the element that the producer has at hand.
Broken same_element(const Match& m) {
  if (!m.read.index || m.read.index == m.writer.write.index) return std::nullopt;
  return [write = m.writer.write.index, read = m.read.index] {
    return absl::StrCat(difference_of(write, read), ": written at ", to_string(write), ", read at ", to_string(read));
  };
}

/// An outer reduction's result is used along the reduced axis only where a task's columns stay in the cache meanwhile.
Broken columns_stay(const Merge& m) {
  if (!has_passes(m.lowered, m.both) || column_tile(m.lowered, m.both) > 0) return std::nullopt;
  return says("along the reduced axis, whose columns are too long to stay in the cache");
}

/// The shared space must not make one side's accesses divide.
Broken loops_agree(const Merge& m) {
  if (divisions_of(m.moved) <= divisions_of(m.other)) return std::nullopt;
  return says("the loops' order differs: the shared space would need divisions");
}

Broken indices_fit(const Merge& m) {
  const auto fits = [](IndexExpr e) { return !e || (e->lo > -kIndexBound && e->hi < kIndexBound); };
  const auto broken = [](const char* access, IndexExpr e) -> Broken {
    return [access, e] { return absl::StrCat(access, to_string(e)); };
  };
  for (const Member& member : m.both.members) {
    for (const Access& read : member.reads) {
      if (!fits(read.index)) return broken("read at ", read.index);
    }
    if (!fits(member.write.index)) return broken("written at ", member.write.index);
  }
  return std::nullopt;
}

struct Row {
  LegalityRow row;
  Broken (*pair)(const Pair&) = nullptr;
  Broken (*match)(const Match&) = nullptr;
  Broken (*merge)(const Merge&) = nullptr;
};

constexpr Row kRows[] = {
    {{1, "SAME_NODE", "the two are different groups", ""}, same_node},
    {{1, "DEVICE", "they are on one device", "a program is compiled for one device"}},
    {{1, "STREAM", "they are on one stream", "a program's kernels run on one stream, in order"}},
    {{2, "TEMPLATE_ROLE", "a template takes elementwise readers of its product, and no producer", ""}, template_role},
    {{2, "EXTERN", "neither is a library's", "every node is compiled; no library is called from a program"}},
    {{3, "PATH_BETWEEN", "no path leads from one to the other through a third", ""}, path_between},
    {{5, "INDIRECT", "no matched read is at an index that is computed", ""}, nullptr, not_indirect},
    {{6, "STAR_DEP", "no matched read is of a whole buffer", ""}, nullptr, not_whole},
    {{4, "INDEX_MISMATCH", "each element read is the one just written", ""}, nullptr, same_element},
    {{4, "EXTENT_MISMATCH", "one space has room for both", "seen when the loops are brought to one space"}},
    {{7, "ATOMIC_WRITE", "matched writes are plain", "a node writes each element once; there is no scatter"}},
    {{8, "WAR_HAZARD", "nothing is overwritten that is still read",
      "values are never changed; memory is reused after fusion, by the memory plan"}},
    {{9, "ALIAS", "what is written overlaps nothing else that is accessed",
      "outputs and temporaries have memory of their own; inputs are read only"}},
    {{10, "CLASS_REFUSED", "a kernel class holds the merged loops", ""}, class_takes_neighbours, nullptr, loops_agree},
    {{11, "REDUCE_RESULT", "a reduction is finished where its result is used", ""}, nullptr, nullptr, columns_stay},
    {{12, "REDUCE_SHAPE", "two reductions run along one axis in one order", ""}, reductions_fit},
    {{13, "SPLIT_REDUCE", "a reduction in parts has no neighbour", ""}, no_split_reduction},
    {{14, "ROUNDING", "every op rounds as it does alone", "an op rounds its result wherever it runs"}},
    {{14, "RNG", "random numbers do not depend on the loops", "they are a function of seed and element index"}},
    {{15, "INT_RANGE", "indices fit 64 bits", ""}, nullptr, nullptr, indices_fit},
    {{16, "LIMIT", "members, loads, weight and reductions are within bounds", ""}, count_limits, nullptr, size_limits},
    {{17, "RECOMPUTE", "no node is computed in more than 8 kernels", "no node is computed twice"}},
    {{18, "IN_PLACE", "memory is shared at one index only", "chosen after fusion, by the memory plan"}},
    {{19, "PEAK_MEMORY", "the peak stays below that of unfused order", "the memory plan's own rule"}},
    {{20, "BARRIER", "the user put nothing between", "the language has no barrier"}},
};

/// The first row of `check`'s kind that does not hold of `subject`.
template <class Subject>
std::optional<Refusal> first_broken(std::uint32_t rows_off, Broken (*Row::*check)(const Subject&),
                                    const Subject& subject) {
  for (const Row& row : kRows) {
    if (!(row.*check) || (rows_off >> row.row.number & 1) != 0) continue;
    if (Broken broken = (row.*check)(subject)) return Refusal{row.row.code, *std::move(broken)};
  }
  return std::nullopt;
}

const Member* writer_of(const Group& group, BufferId buffer) {
  for (const Member& m : group.members) {
    if (m.write.buffer == buffer) return &m;
  }
  return nullptr;
}

std::optional<Refusal> broken_match(const Pair& p, const Group& producer, const Group& consumer) {
  for (const Member& reader : consumer.members) {
    for (const Access& read : reader.reads) {
      const Member* writer = writer_of(producer, read.buffer);
      if (!writer) continue;
      if (auto refusal = first_broken(p.rows_off, &Row::match, {*writer, read})) return refusal;
    }
  }
  return std::nullopt;
}

Group merged(const Group& a, const Group& b) {
  Group out = a;
  out.members.insert(out.members.end(), b.members.begin(), b.members.end());
  std::sort(out.members.begin(), out.members.end(), [](const Member& x, const Member& y) { return x.node < y.node; });
  return out;
}

/// One way to bring both groups to one space.
struct Attempt {
  bool a_is_target;
  bool level_row;
};

std::vector<Attempt> attempts(const Group& a, const Group& b) {
  if (a.kernel_class == KernelClass::kMatmul) return {{true, false}};
  if (a.has_reduction() != b.has_reduction()) return {{a.has_reduction(), false}, {a.has_reduction(), true}};
  const bool a_finer = a.axes.size() >= b.axes.size();
  return {{a_finer, false}, {!a_finer, false}};
}

/// The groups, both in one space, as one. `moved` is what `other` became there.
FusionResult joined(const Pair& p, const Group& a, const Group& b, const Group& other, const Group& moved) {
  if (auto refusal = broken_match(p, a, b)) return {std::nullopt, *std::move(refusal)};
  Group both = merged(a, b);
  if (auto refusal = first_broken(p.rows_off, &Row::merge, {p.lowered, other, moved, both}))
    return {std::nullopt, *std::move(refusal)};
  return {std::move(both), {}};
}

FusionResult attempt(const Pair& p, const Attempt& way) {
  const Group& target = way.a_is_target ? p.a : p.b;
  const Group& other = way.a_is_target ? p.b : p.a;
  std::optional<Group> moved = reindex(p.lowered, other, target, way.level_row);
  if (!moved) return {std::nullopt, {"EXTENT_MISMATCH", *says("the loops have different extents")}};
  const Group& a = way.a_is_target ? target : *moved;
  const Group& b = way.a_is_target ? *moved : target;
  return joined(p, a, b, other, *moved);
}

}  // namespace

std::string Refusal::text() const {
  const std::string words = detail ? detail() : "";
  return words.empty() ? code : absl::StrCat(code, "(", words, ")");
}

std::vector<LegalityRow> legality_table() {
  constexpr int kLast = 20;
  std::vector<LegalityRow> out;
  for (int number = 1; number <= kLast; ++number) {
    for (const Row& row : kRows) {
      if (row.row.number == number) out.push_back(row.row);
    }
  }
  return out;
}

bool is_split_reduction(const Group& group) {
  if (group.kernel_class == KernelClass::kInnerReduction) {
    return numel(group.outer) < 16 && group.lanes >= 65536;
  }
  return group.kernel_class == KernelClass::kOuterReduction && numel(group.outer) * ((group.lanes + 63) / 64) < 8 &&
         group.sequence >= 4096;
}

FusionResult can_fuse(const FusionPair& pair) {
  if (auto refusal = first_broken(pair.rows_off, &Row::pair, pair)) return {std::nullopt, *std::move(refusal)};
  if (const auto nested = nest(pair.lowered, pair.a, pair.b))
    return joined(pair, nested->inner, nested->outer, pair.a, nested->inner);
  FusionResult first;
  for (const Attempt& way : attempts(pair.a, pair.b)) {
    FusionResult result = attempt(pair, way);
    if (result.group) return result;
    const bool is_more_telling = *first.refusal.code == 0 || first.refusal.code == std::string("EXTENT_MISMATCH");
    if (is_more_telling) first = std::move(result);
  }
  return first;
}

}  // namespace tenon
