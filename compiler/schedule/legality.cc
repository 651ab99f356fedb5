// SPDX-License-Identifier: MIT
// See legality.h. The rows stand in the order in which they are tried.
#include "compiler/schedule/legality.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

constexpr std::size_t kMaxMembers = 64;
constexpr std::size_t kMaxWeight = 1000;  // of a body; compile time grows faster than the body
constexpr std::size_t kMaxLoads = 48;
constexpr int kMaxReductions = 8;

struct Pair {
  const LoweredGraph& lowered;
  const Dependencies& dependencies;
  int a_id, b_id;
  const Group& a;
  const Group& b;
};

using Verdict = std::optional<Refusal>;

Verdict same_node(const Pair& p) {
  if (p.a_id != p.b_id) return std::nullopt;
  return Refusal{"SAME_NODE", ""};
}

Verdict template_role(const Pair& p) {
  if (p.a.kernel_class != KernelClass::kMatmul && p.b.kernel_class != KernelClass::kMatmul) return std::nullopt;
  return Refusal{"TEMPLATE_ROLE", "a matmul template takes no neighbours"};
}

Verdict split_reduction(const Pair& p) {
  if (!is_split_reduction(p.a) && !is_split_reduction(p.b)) return std::nullopt;
  return Refusal{"SPLIT_REDUCE", "the reduction runs as partials and a finish"};
}

Verdict scan_class(const Pair& p) {
  if (p.a.kernel_class != KernelClass::kScan && p.b.kernel_class != KernelClass::kScan) return std::nullopt;
  return Refusal{"CLASS_REFUSED", "a scan takes no neighbours"};
}

Verdict path_between(const Pair& p) {
  if (!p.dependencies.has_path_between(p.a_id, p.b_id)) return std::nullopt;
  return Refusal{"PATH_BETWEEN", "a third kernel lies between"};
}

Verdict limits(const Pair& p) {
  const auto over = [](const char* name, std::size_t have, std::size_t max) -> Verdict {
    if (have <= max) return std::nullopt;
    return Refusal{"LIMIT", absl::StrCat(name, ", ", have, ", ", max)};
  };
  std::size_t weight = 0, loads = 0, reductions = 0;
  for (const Group* g : {&p.a, &p.b}) {
    for (const Member& m : g->members) {
      const LoopNode& node = p.lowered.nodes[static_cast<std::size_t>(m.node)];
      for (const Instr& i : node.body)
        weight += static_cast<std::size_t>(i.kind == Instr::kApply ? op_weight(i.op) : 1);
      loads += m.reads.size();
      reductions += node.kind == LoopNode::kReduce ? 1 : 0;
    }
  }
  if (auto v = over("members", p.a.members.size() + p.b.members.size(), kMaxMembers)) return v;
  if (auto v = over("weight", weight, kMaxWeight)) return v;
  if (auto v = over("reductions", reductions, kMaxReductions)) return v;
  return over("loads", loads, kMaxLoads);
}

constexpr Verdict (*kRows[])(const Pair&) = {same_node,  template_role, split_reduction,
                                             scan_class, limits,        path_between};

const Member* writer_of(const Group& group, BufferId buffer) {
  for (const Member& m : group.members) {
    if (m.write.buffer == buffer) return &m;
  }
  return nullptr;
}

/// Every read of the consumer on a buffer of the producer must be of the element that the producer has at hand.
Verdict matching_accesses(const LoweredGraph& lowered, const Group& producer, const Group& consumer) {
  for (const Member& reader : consumer.members) {
    for (const Access& read : reader.reads) {
      const Member* writer = writer_of(producer, read.buffer);
      if (!writer) continue;
      if (is_indirect(read.index)) return Refusal{"INDIRECT", absl::StrCat("reads at ", to_string(read.index))};
      if (read.index != writer->write.index) {
        return Refusal{"INDEX_MISMATCH", absl::StrCat("written at ", to_string(writer->write.index), ", read at ",
                                                      to_string(read.index))};
      }
      const bool is_result =
          lowered.nodes[static_cast<std::size_t>(writer->node)].kind == LoopNode::kReduce || writer->is_row;
      if (is_result && !reader.is_row && consumer.kernel_class == KernelClass::kOuterReduction) {
        return Refusal{"CLASS_REFUSED", "an outer reduction's result is used along the reduced axis"};
      }
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

FusionResult attempt(const Pair& p, const Attempt& way) {
  const Group& target = way.a_is_target ? p.a : p.b;
  const Group& other = way.a_is_target ? p.b : p.a;
  std::optional<Group> moved = reindex(p.lowered, other, target, way.level_row);
  if (!moved) return {std::nullopt, {"EXTENT_MISMATCH", "the loops have different extents"}};
  const Group& a = way.a_is_target ? target : *moved;
  const Group& b = way.a_is_target ? *moved : target;
  if (auto refusal = matching_accesses(p.lowered, a, b)) return {std::nullopt, *refusal};
  if (divisions_of(*moved) > divisions_of(other)) {
    return {std::nullopt, {"CLASS_REFUSED", "the loops' order differs: the shared space would need divisions"}};
  }
  return {merged(a, b), {}};
}

}  // namespace

std::string Refusal::text() const { return detail.empty() ? code : absl::StrCat(code, "(", detail, ")"); }

bool is_split_reduction(const Group& group) {
  if (group.kernel_class == KernelClass::kInnerReduction) {
    return numel(group.outer) < 16 && group.lanes >= 65536;
  }
  return group.kernel_class == KernelClass::kOuterReduction && numel(group.outer) * ((group.lanes + 63) / 64) < 8 &&
         group.sequence >= 4096;
}

FusionResult try_fuse(const LoweredGraph& lowered, const Dependencies& dependencies, int a_id, const Group& a, int b_id,
                      const Group& b) {
  const Pair pair{lowered, dependencies, a_id, b_id, a, b};
  for (auto row : kRows) {
    if (auto refusal = row(pair)) return {std::nullopt, *refusal};
  }
  std::vector<Attempt> ways;
  if (a.has_reduction() == b.has_reduction()) {
    const bool a_finer = a.axes.size() >= b.axes.size();
    ways = {{a_finer, false}, {!a_finer, false}};
  } else {
    ways = {{a.has_reduction(), false}, {a.has_reduction(), true}};
  }
  FusionResult first;
  for (const Attempt& way : ways) {
    FusionResult result = attempt(pair, way);
    if (result.group) return result;
    const bool is_more_telling = *first.refusal.code == 0 || first.refusal.code == std::string("EXTENT_MISMATCH");
    if (is_more_telling) first = std::move(result);
  }
  return first;
}

void Dependencies::rebuild(const LoweredGraph& lowered, const std::vector<const Group*>& groups) {
  producers_.assign(lowered.buffers.size(), -1);
  readers_.assign(lowered.buffers.size(), {});
  successors_.assign(groups.size(), {});
  stamp_.assign(groups.size(), 0);
  epoch_ = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!groups[g]) continue;
    for (const Member& m : groups[g]->members) {
      producers_[static_cast<std::size_t>(m.write.buffer)] = static_cast<int>(g);
      for (const Access& read : m.reads) {
        auto& list = readers_[static_cast<std::size_t>(read.buffer)];
        if (list.empty() || list.back() != static_cast<int>(g)) list.push_back(static_cast<int>(g));
      }
    }
  }
  for (std::size_t b = 0; b < lowered.buffers.size(); ++b) {
    if (producers_[b] < 0) continue;
    for (int reader : readers_[b]) {
      if (reader != producers_[b]) successors_[static_cast<std::size_t>(producers_[b])].push_back(reader);
    }
  }
  order_groups();
}

/// Kahn's algorithm; a group that lies on a cycle would keep position 0, and there is none.
void Dependencies::order_groups() {
  std::vector<int> missing(successors_.size(), 0), ready;
  for (const auto& list : successors_) {
    for (int next : list) ++missing[static_cast<std::size_t>(next)];
  }
  for (std::size_t g = 0; g < successors_.size(); ++g) {
    if (missing[g] == 0) ready.push_back(static_cast<int>(g));
  }
  position_.assign(successors_.size(), 0);
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const auto g = static_cast<std::size_t>(ready[next]);
    position_[g] = static_cast<int>(next);
    for (int successor : successors_[g]) {
      if (--missing[static_cast<std::size_t>(successor)] == 0) ready.push_back(successor);
    }
  }
}

bool Dependencies::reaches(int from, int to, int skip_direct_of) const {
  ++epoch_;
  std::vector<int> work = {from};
  while (!work.empty()) {
    const int g = work.back();
    work.pop_back();
    for (int next : successors_[static_cast<std::size_t>(g)]) {
      if (next == to) {
        if (g != skip_direct_of) return true;
        continue;
      }
      // What comes later in a topological order cannot lead to the target.
      const bool is_beyond = position_[static_cast<std::size_t>(next)] > position_[static_cast<std::size_t>(to)];
      if (is_beyond || stamp_[static_cast<std::size_t>(next)] == epoch_) continue;
      stamp_[static_cast<std::size_t>(next)] = epoch_;
      work.push_back(next);
    }
  }
  return false;
}

bool Dependencies::has_path_between(int a, int b) const { return reaches(a, b, a) || reaches(b, a, b); }
bool Dependencies::depends_on(int b, int a) const { return reaches(a, b, -1); }

}  // namespace tenon
