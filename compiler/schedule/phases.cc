// SPDX-License-Identifier: MIT
// See phases.h.
#include "compiler/schedule/phases.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace tenon {
namespace {

constexpr std::int64_t kTileBytes = std::int64_t{1} << 20;  // of a core's L2 that the passes of a task may fill
constexpr std::int64_t kMostLanes = 128;
// A task takes a short piece of each row. Measured on 8192 x 1024 float32: pieces of 128 bytes are read about as fast
// as whole rows, but written at half the rate.
constexpr std::int64_t kFewestLanesRead = 16, kFewestLanesWritten = 64;

using Writers = absl::flat_hash_map<BufferId, std::size_t>;

Writers writers_of(const Group& group) {
  Writers writers;
  for (std::size_t m = 0; m < group.members.size(); ++m) writers[group.members[m].write.buffer] = m;
  return writers;
}

bool is_reduce(const LoweredGraph& lowered, const Member& member) {
  return lowered.nodes[static_cast<std::size_t>(member.node)].kind == LoopNode::kReduce;
}

/// The first time at which a member at level row or full can use what `made` at that time.
int usable_at(int made, bool from_reduce, bool is_row) {
  const bool from_full = made % 2 == 0;
  if (is_row) return from_reduce || from_full ? made + 1 : made;
  if (from_reduce) return made + 2;
  return from_full ? made : made + 1;
}

/// Whether the element differs from point to point of the sequence and the lanes, and is known before the body runs.
bool is_along(const Group& group, IndexExpr index) {
  return !is_indirect(index) && depends_on(index, group.sequence_var()) && depends_on(index, group.lane_var());
}

/// Whether some member reads the buffer at some points only.
bool is_masked(const LoweredGraph& lowered, const Group& group, BufferId buffer) {
  return std::any_of(group.members.begin(), group.members.end(), [&](const Member& m) {
    const Body& body = lowered.nodes[static_cast<std::size_t>(m.node)].body;
    return std::any_of(body.begin(), body.end(), [&](const Instr& i) {
      return i.kind == Instr::kLoad && i.buffer == buffer && i.operands[0] >= 0;
    });
  });
}

}  // namespace

std::vector<int> phase_times(const LoweredGraph& lowered, const Group& group) {
  std::vector<int> times;
  if (group.kernel_class == KernelClass::kNestedReduction) {
    for (const Member& m : group.members) times.push_back(m.is_row ? 2 : m.is_step ? 1 : 0);
    return times;
  }
  const Writers writers = writers_of(group);
  for (const Member& member : group.members) {
    int time = member.is_row ? -1 : 0;
    for (const Access& read : member.reads) {
      const auto writer = writers.find(read.buffer);
      if (writer == writers.end()) continue;
      const bool from_reduce = is_reduce(lowered, group.members[writer->second]);
      time = std::max(time, usable_at(times[writer->second], from_reduce, member.is_row));
    }
    times.push_back(time);
  }
  return times;
}

bool has_passes(const LoweredGraph& lowered, const Group& group) {
  if (group.kernel_class != KernelClass::kOuterReduction) return false;
  const std::vector<int> times = phase_times(lowered, group);
  return std::any_of(times.begin(), times.end(), [](int time) { return time >= 2 && time % 2 == 0; });
}

std::vector<PassedOn> passed_on(const LoweredGraph& lowered, const Group& group) {
  if (!has_passes(lowered, group)) return {};
  const Writers writers = writers_of(group);
  const std::vector<int> times = phase_times(lowered, group);
  std::vector<PassedOn> uses;
  const auto use = [&](const Access& access, int time) {
    const auto known = std::find_if(uses.begin(), uses.end(), [&](const PassedOn& u) {
      return u.access.buffer == access.buffer && u.access.index == access.index;
    });
    if (known == uses.end()) return uses.push_back({access, time, time});
    known->first = std::min(known->first, time);
    known->last = std::max(known->last, time);
  };
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const Member& member = group.members[m];
    if (member.is_row) continue;
    for (const Access& read : member.reads) {
      const auto writer = writers.find(read.buffer);
      const Member* made = writer == writers.end() ? nullptr : &group.members[writer->second];
      if (made ? made->is_row || is_reduce(lowered, *made) : !is_along(group, read.index)) continue;
      use(read, times[m]);
    }
    if (!is_reduce(lowered, member)) use(member.write, times[m]);
  }
  std::erase_if(uses,
                [&](const PassedOn& u) { return u.first == u.last || is_masked(lowered, group, u.access.buffer); });
  return uses;
}

std::int64_t column_tile(const LoweredGraph& lowered, const Group& group) {
  std::int64_t lane_bytes = 0;
  for (const PassedOn& use : passed_on(lowered, group)) {
    const DType dtype = lowered.buffers[static_cast<std::size_t>(use.access.buffer)].dtype;
    lane_bytes += group.sequence * static_cast<std::int64_t>(size_of(dtype));
  }
  const bool may_write = std::any_of(group.members.begin(), group.members.end(),
                                     [&](const Member& m) { return !m.is_row && !is_reduce(lowered, m); });
  const std::int64_t fewest = may_write ? kFewestLanesWritten : kFewestLanesRead;
  std::int64_t lanes = kMostLanes;
  while (lanes >= fewest && std::min(lanes, group.lanes) * lane_bytes > kTileBytes) lanes /= 2;
  return lanes < fewest ? 0 : lanes;
}

}  // namespace tenon
