// SPDX-License-Identifier: MIT
// See cost.h.
#include "compiler/schedule/cost.h"

#include <algorithm>

namespace tenon {
namespace {

constexpr std::int64_t kLaunch = 300'000;         // 0.3 us to start a kernel
constexpr std::int64_t kPicosecondsPerByte = 83;  // 12 GB/s a core

std::int64_t bytes_of(const Buffer& buffer) {
  return numel(buffer.shape) * static_cast<std::int64_t>(size_of(buffer.dtype));
}

}  // namespace

bool is_stored(const LoweredGraph& lowered, const Dependencies& dependencies, BufferId buffer, int self, int other) {
  if (lowered.buffers[static_cast<std::size_t>(buffer)].space == Buffer::kOutput) return true;
  const auto& readers = dependencies.readers(buffer);
  return std::any_of(readers.begin(), readers.end(), [&](int r) { return r != self && r != other; });
}

Traffic traffic_of(const LoweredGraph& lowered, const Dependencies& dependencies, const Group& group, int self,
                   int other) {
  Traffic traffic;
  std::vector<BufferId> written, read;
  for (const Member& m : group.members) {
    written.push_back(m.write.buffer);
    for (const Access& r : m.reads) read.push_back(r.buffer);
    if (is_stored(lowered, dependencies, m.write.buffer, self, other)) {
      traffic.write_bytes += bytes_of(lowered.buffers[static_cast<std::size_t>(m.write.buffer)]);
    }
  }
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  for (BufferId b : read) {
    if (std::find(written.begin(), written.end(), b) != written.end()) continue;
    traffic.read_bytes += bytes_of(lowered.buffers[static_cast<std::size_t>(b)]);
  }
  return traffic;
}

std::int64_t kernel_cost(const Traffic& traffic) {
  return kLaunch + (traffic.read_bytes + traffic.write_bytes) * kPicosecondsPerByte;
}

FusionScore score_fusion(const FusionPair& pair, const Traffic& a, const Traffic& b, const Group& both) {
  const Traffic ab = traffic_of(pair.lowered, pair.dependencies, both, pair.a_id, pair.b_id);
  FusionScore score;
  score.saved = kernel_cost(a) + kernel_cost(b) - kernel_cost(ab);
  score.shared_bytes = a.bytes() + b.bytes() - ab.bytes();
  score.value = score.saved * (pair.a.kernel_class == pair.b.kernel_class ? 2 : 1);
  return score;
}

}  // namespace tenon
