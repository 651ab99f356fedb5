// SPDX-License-Identifier: MIT
// See cost.h. Formulas: fusion design, section 7.
#include "compiler/schedule/cost.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/schedule/grain.h"

namespace tenon {
namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;  // keeps products of counts, weights and costs in 64 bits

std::int64_t bytes_of(const Buffer& buffer) {
  return std::min(numel(buffer.shape), kMaxCount) * static_cast<std::int64_t>(size_of(buffer.dtype));
}

/// How often a member's body runs.
std::int64_t count_of(const LoweredGraph& lowered, const Group& group, const Member& member) {
  const LoopNode& node = lowered.nodes[static_cast<std::size_t>(member.node)];
  if (node.kind == LoopNode::kMatmul) return node.matmul.m * node.matmul.n * node.matmul.k * numel(node.matmul.batch);
  if (member.is_step) return std::min(group.row_count() * group.sequence, kMaxCount);
  return std::min(member.is_row ? group.row_count() : group.full_count(), kMaxCount);
}

std::int64_t tasks_of(const Group& group) {
  switch (group.kernel_class) {
    case KernelClass::kInnerReduction:
    case KernelClass::kNestedReduction:
    case KernelClass::kScan:
      return is_split_reduction(group) ? kMaxCount : numel(group.outer);
    case KernelClass::kOuterReduction:
      return is_split_reduction(group) ? kMaxCount
                                       : numel(group.outer) * ((group.lanes + kColumnChunk - 1) / kColumnChunk);
    default:
      return kMaxCount;
  }
}

struct Read {
  BufferId buffer;
  IndexExpr index;
  std::int64_t count;
  auto key() const { return std::pair(buffer, index ? index->serial : 0); }
};

/// Adds reads to the work: the first touch of a buffer's bytes comes from memory, what goes beyond that from a cache.
/// Reads of one element at one index are one.
void add_reads(const LoweredGraph& lowered, std::vector<Read>& reads, const CostTable& table, Work& work) {
  std::sort(reads.begin(), reads.end(),
            [](const Read& a, const Read& b) { return std::tuple(a.key(), -a.count) < std::tuple(b.key(), -b.count); });
  reads.erase(std::unique(reads.begin(), reads.end(), [](const Read& a, const Read& b) { return a.key() == b.key(); }),
              reads.end());
  for (std::size_t i = 0; i < reads.size();) {
    const BufferId id = reads[i].buffer;
    const Buffer& buffer = lowered.buffers[static_cast<std::size_t>(id)];
    std::int64_t count = 0;
    for (; i < reads.size() && reads[i].buffer == id; ++i) count = std::min(count + reads[i].count, kMaxCount);
    const std::int64_t all = bytes_of(buffer), touched = count * static_cast<std::int64_t>(size_of(buffer.dtype));
    const std::int64_t first = std::min(all, touched);
    work.read_bytes += first;
    (all <= table.nearest_bytes ? work.nearest_bytes : work.near_bytes) += touched - first;
  }
}

/// What one thread, or `threads`, take.
std::int64_t time_of(const Work& work, const CostTable& table, std::int64_t threads) {
  const std::int64_t ps_per_kib = std::max(table.core_ps_per_kib / threads, table.memory_ps_per_kib);
  const std::int64_t cached = work.near_bytes / table.near_factor + work.nearest_bytes / table.nearest_factor;
  const std::int64_t memory = work.bytes() / 1024 * ps_per_kib + work.bytes() % 1024 * ps_per_kib / 1024 +
                              cached / 1024 * table.core_ps_per_kib / threads;
  const std::int64_t compute = work.operations * table.op_ps / threads;
  return std::max(memory, compute) + std::min(memory, compute) / 20;
}

}  // namespace

bool is_stored(const LoweredGraph& lowered, const Dependencies& dependencies, BufferId buffer, int self, int other) {
  if (lowered.buffers[static_cast<std::size_t>(buffer)].space == Buffer::kOutput) return true;
  const auto& readers = dependencies.readers(buffer);
  return std::any_of(readers.begin(), readers.end(), [&](int r) { return r != self && r != other; });
}

Work work_of(const LoweredGraph& lowered, const Dependencies& dependencies, const Group& group, const CostTable& table,
             int self, int other) {
  return work_of(lowered, group, table, [&](BufferId b) { return is_stored(lowered, dependencies, b, self, other); });
}

Work work_of(const LoweredGraph& lowered, const Group& group, const CostTable& table,
             absl::FunctionRef<bool(BufferId)> is_stored) {
  Work work;
  std::vector<BufferId> written;
  for (const Member& m : group.members) written.push_back(m.write.buffer);
  std::sort(written.begin(), written.end());
  std::vector<Read> reads;
  for (const Member& m : group.members) {
    const std::int64_t count = count_of(lowered, group, m);
    work.operations = std::min(work.operations + count * m.weight, kMaxCount * 64);
    for (const Access& r : m.reads) {
      if (std::binary_search(written.begin(), written.end(), r.buffer)) continue;
      if (!r.index) {
        reads.push_back({r.buffer, nullptr, numel(lowered.buffers[static_cast<std::size_t>(r.buffer)].shape)});
        continue;
      }
      const bool is_still = !m.is_row && !m.is_step && !depends_on(r.index, group.lane_var()) && group.lanes > 0;
      reads.push_back({r.buffer, r.index, is_still ? count / group.lanes : count});
    }
    if (is_stored(m.write.buffer))
      work.write_bytes += bytes_of(lowered.buffers[static_cast<std::size_t>(m.write.buffer)]);
  }
  add_reads(lowered, reads, table, work);
  work.tasks = tasks_of(group);
  return work;
}

std::int64_t kernel_cost(const Work& work, const CostTable& table) {
  const std::int64_t threads = std::min({work.operations / table.thread_work, work.tasks, table.cores});
  const std::int64_t alone = time_of(work, table, 1);
  if (threads <= 1) return table.kernel_ps + alone;
  return table.kernel_ps + std::min(alone, table.threads_ps + time_of(work, table, threads));
}

FusionScore score_fusion(const FusionPair& pair, const Work& a, const Work& b, const Group& both,
                         const CostTable& table, ScoreRule rule) {
  const Work ab = work_of(pair.lowered, pair.dependencies, both, table, pair.a_id, pair.b_id);
  const bool same_kind = pair.a.kernel_class == pair.b.kernel_class;
  FusionScore score;
  if (pair.b.kernel_class == KernelClass::kMatmul) score.template_rank = 0;
  if (pair.a.kernel_class == KernelClass::kMatmul) score.template_rank = 2;
  score.saved = kernel_cost(a, table) + kernel_cost(b, table) - kernel_cost(ab, table);
  score.shared_bytes = a.bytes() + b.bytes() - ab.bytes();
  score.value =
      rule == ScoreRule::kTime ? score.saved * (same_kind ? 2 : 1) : score.shared_bytes * (same_kind ? 16 : 1);
  return score;
}

}  // namespace tenon
