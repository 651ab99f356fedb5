// SPDX-License-Identifier: MIT
// See legality.h. The rows stand in the order in which they are tried.
#include "compiler/schedule/legality.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/group_size.h"

namespace tenon {
namespace {

constexpr std::int64_t kMaxMembers = 64;
constexpr std::int64_t kMaxWeight = 1000;  // of a body; compile time grows faster than the body
constexpr std::int64_t kMaxLoads = 48;
constexpr std::int64_t kMaxReductions = 8;

using Pair = FusionPair;
using Verdict = std::optional<Refusal>;

Verdict same_node(const Pair& p) {
  if (p.a_id != p.b_id) return std::nullopt;
  return Refusal{"SAME_NODE", ""};
}

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

Verdict template_role(const Pair& p) {
  if (p.a.kernel_class != KernelClass::kMatmul && p.b.kernel_class != KernelClass::kMatmul) return std::nullopt;
  if (p.b.kernel_class == KernelClass::kMatmul) return Refusal{"TEMPLATE_ROLE", "a matmul takes no prologue"};
  if (p.b.kernel_class != KernelClass::kPointwise)
    return Refusal{"TEMPLATE_ROLE", "a matmul's epilogue is elementwise"};
  if (reads(p.b, product_of(p.lowered, p.a))) return std::nullopt;
  return Refusal{"TEMPLATE_ROLE", "a matmul takes readers of its product only"};
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
  switch (p.dependencies.path_between(p.a_id, p.b_id)) {
    case Dependencies::kNone:
      return std::nullopt;
    case Dependencies::kThrough:
      return Refusal{"PATH_BETWEEN", "a third kernel lies between"};
    default:
      return Refusal{"WINDOW", "too much lies between to look for a path"};
  }
}

Verdict over(const char* name, std::int64_t have, std::int64_t max) {
  if (have <= max) return std::nullopt;
  return Refusal{"LIMIT", absl::StrCat(name, ", ", have, ", ", max)};
}

Verdict count_limits(const Pair& p) {
  const auto count_of = [](const Group& group) { return static_cast<std::int64_t>(group.members.size()); };
  std::int64_t reductions = 0;
  for (const Group* g : {&p.a, &p.b}) {
    for (const Member& m : g->members)
      reductions += p.lowered.nodes[static_cast<std::size_t>(m.node)].kind == LoopNode::kReduce ? 1 : 0;
  }
  if (auto v = over("members", count_of(p.a) + count_of(p.b), kMaxMembers)) return v;
  return over("reductions", reductions, kMaxReductions);
}

/// Of the merged body: what it loads and computes once values are passed on and equal ones are one.
Verdict size_limits(const LoweredGraph& lowered, const Group& group) {
  std::int64_t reads = 0;
  for (const Member& m : group.members) reads += static_cast<std::int64_t>(m.reads.size());
  if (reads > kMaxLoads) {
    if (auto v = over("loads", loads_of(group), kMaxLoads)) return v;
  }
  if (weight_bound(group) <= kMaxWeight) return std::nullopt;
  return over("weight", joined_weight(lowered, group), kMaxWeight);
}

constexpr Verdict (*kRows[])(const Pair&) = {same_node,  template_role, split_reduction,
                                             scan_class, count_limits,  path_between};

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
      if (!read.index) return Refusal{"STAR_DEP", "all of it is read"};
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
  Group both = merged(a, b);
  if (auto refusal = size_limits(p.lowered, both)) return {std::nullopt, *refusal};
  return {std::move(both), {}};
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

FusionResult can_fuse(const FusionPair& pair) {
  const Group &a = pair.a, &b = pair.b;
  for (auto row : kRows) {
    if (auto refusal = row(pair)) return {std::nullopt, *refusal};
  }
  std::vector<Attempt> ways;
  if (a.kernel_class == KernelClass::kMatmul) {
    ways = {{true, false}};
  } else if (a.has_reduction() == b.has_reduction()) {
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

}  // namespace tenon
