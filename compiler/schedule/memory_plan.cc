// SPDX-License-Identifier: MIT
// See memory_plan.h. Buffers take the lowest free gap in the order of their first use.
#include "compiler/schedule/memory_plan.h"

#include <algorithm>
#include <utility>

namespace tenon {
namespace {

/// Calls visit with each buffer id in a kernel, as a reference where the kernel may change.
template <class AnyKernel, class Visit>
void for_each_buffer_id(AnyKernel& kernel, const Visit& visit) {
  if (kernel.matmul) {
    for (auto* operand : {&kernel.matmul->a, &kernel.matmul->b}) visit(operand->buffer);
    if (kernel.phases.empty()) visit(kernel.matmul->c.buffer);
  }
  for (auto& phase : kernel.phases) {
    for (auto& i : phase.body) {
      if (i.kind == Instr::kLoad || i.kind == Instr::kStore) visit(i.buffer);
    }
    for (auto& r : phase.reductions) {
      if (r.result == Reduction::kPartials) visit(r.partials);
    }
  }
}

struct Interval {
  BufferId buffer = -1;
  int first = 0, last = 0;
  std::int64_t bytes = 0;
};

std::int64_t bytes_of(const Buffer& buffer) {
  return (numel(buffer.shape) * static_cast<std::int64_t>(size_of(buffer.dtype)) + 63) / 64 * 64;
}

std::vector<Interval> live_intervals(const LoopProgram& program) {
  std::vector<Interval> intervals(program.buffers.size());
  for (std::size_t k = 0; k < program.kernels.size(); ++k) {
    for (BufferId b : buffers_of(program.kernels[k])) {
      Interval& interval = intervals[static_cast<std::size_t>(b)];
      if (interval.buffer < 0)
        interval = {b, static_cast<int>(k), static_cast<int>(k),
                    bytes_of(program.buffers[static_cast<std::size_t>(b)])};
      interval.last = static_cast<int>(k);
    }
  }
  std::erase_if(intervals, [&](const Interval& i) {
    return i.buffer < 0 || program.buffers[static_cast<std::size_t>(i.buffer)].space != Buffer::kTemporary;
  });
  std::ranges::sort(intervals, {}, [](const Interval& i) { return std::pair(i.first, i.buffer); });
  return intervals;
}

}  // namespace

std::vector<BufferId> buffers_of(const Kernel& kernel) {
  std::vector<BufferId> out;
  for_each_buffer_id(kernel, [&](BufferId b) { out.push_back(b); });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void drop_virtual_buffers(LoopProgram& program) {
  std::vector<bool> used(program.buffers.size(), false);
  for (Kernel& kernel : program.kernels) {
    for_each_buffer_id(kernel, [&](BufferId& b) { used[static_cast<std::size_t>(b)] = true; });
  }
  std::vector<BufferId> image(program.buffers.size(), -1);
  std::vector<Buffer> kept;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    if (!used[b] && program.buffers[b].space == Buffer::kTemporary) continue;
    image[b] = static_cast<BufferId>(kept.size());
    kept.push_back(std::move(program.buffers[b]));
  }
  program.buffers = std::move(kept);
  for (Kernel& kernel : program.kernels) {
    for_each_buffer_id(kernel, [&](BufferId& b) { b = image[static_cast<std::size_t>(b)]; });
  }
}

void plan_memory(LoopProgram& program, DecisionLog* log) {
  struct Placed {
    std::int64_t offset, end;
    int last;
  };
  std::vector<Placed> live;  // by offset
  program.arena_bytes = 0;
  for (const Interval& interval : live_intervals(program)) {
    std::erase_if(live, [&](const Placed& p) { return p.last < interval.first; });
    std::int64_t offset = 0;
    auto at = live.begin();
    for (; at != live.end() && at->offset < offset + interval.bytes; ++at) offset = std::max(offset, at->end);
    program.buffers[static_cast<std::size_t>(interval.buffer)].offset = offset;
    live.insert(at, {offset, offset + interval.bytes, interval.last});
    program.arena_bytes = std::max(program.arena_bytes, offset + interval.bytes);
    if (log) {
      log->memory.push_back({program.buffers[static_cast<std::size_t>(interval.buffer)].node, offset, interval.bytes,
                             interval.first, interval.last});
    }
  }
  if (log) log->arena_bytes = program.arena_bytes;
}

}  // namespace tenon
