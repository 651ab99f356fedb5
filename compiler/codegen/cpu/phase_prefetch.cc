// SPDX-License-Identifier: MIT
// Prefetches. In a row kernel, while the last loop over a row writes, the row that the task's successor will read first
// comes nearer: the kernel reads memory in its first loop only and finds the row in the cache later, so without this
// the memory bus idles while they run. In a pointwise kernel, what large buffers hold a little further on: a processor
// looks a few hundred instructions ahead, which is less than a memory's latency where a body computes much.
#include <algorithm>

#include "compiler/codegen/cpu/phase.h"

namespace tenon::codegen {
namespace {

constexpr std::int64_t kLine = 64;
constexpr std::int64_t kBytesAhead = 2048;
constexpr std::int64_t kShortestRow = 512;
constexpr std::int64_t kLongestRow = std::int64_t{256} << 10;

/// How many elements further the same place of the next row lies, or 0 where the load is not adjacent along the lanes.
std::int64_t row_distance(const Kernel& kernel, const Instr& load) {
  if (load.kind != Instr::kLoad || is_indirect(load.index)) return 0;
  bool lane_affine = false, row_affine = false;
  const std::int64_t lane = coefficient_of(load.index, kernel.lane_var(), &lane_affine);
  const std::int64_t row = coefficient_of(load.index, kernel.sequence_var() - 1, &row_affine);
  return lane_affine && row_affine && lane == 1 ? row : 0;
}

bool is_row_kernel(const Kernel& kernel) {
  return !kernel.outer.empty() && kernel.row_block <= 1 && kernel.chunks() == 1 && kernel.phases.front().lanes;
}

}  // namespace

std::vector<const Instr*> PhaseEmitter::next_row_loads() const {
  std::vector<const Instr*> loads;
  if (!is_row_kernel(kernel_)) return loads;
  const auto last =
      std::find_if(kernel_.phases.rbegin(), kernel_.phases.rend(), [](const Phase& p) { return p.lanes; });
  if (&*last != &phase_ || &phase_ == &kernel_.phases.front()) return loads;
  for (const Instr& load : kernel_.phases.front().body) {
    const std::int64_t bytes = kernel_.lanes * static_cast<std::int64_t>(size_of(load.dtype));
    if (row_distance(kernel_, load) != 0 && bytes >= kShortestRow && bytes <= kLongestRow) loads.push_back(&load);
  }
  return loads;
}

void PhaseEmitter::emit_prefetches(Points points) {
  for (const Instr* load : next_row_loads()) emit_prefetch(*load, row_distance(kernel_, *load), points);
  if (kernel_.phases.size() > 1 || !phase_.reductions.empty()) return;
  for (const Instr* load : body_.streamed_loads())
    emit_prefetch(*load, kBytesAhead / static_cast<std::int64_t>(size_of(load->dtype)), points);
}

// All lines of the points' lanes, `elements` further on.
void PhaseEmitter::emit_prefetch(const Instr& load, std::int64_t elements, Points points) {
  const std::int64_t step = kLine / static_cast<std::int64_t>(size_of(load.dtype));
  for (const BodyPoint& at : points) {
    for (std::int64_t lane = 0; lane < at.lanes; lane += step) body_.prefetch(load, elements + lane, at);
  }
}

}  // namespace tenon::codegen
