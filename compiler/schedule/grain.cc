// SPDX-License-Identifier: MIT
// See grain.h. Constants: fusion design, section 8. None depends on the number of threads.
#include "compiler/schedule/grain.h"

#include <algorithm>

namespace tenon {
namespace {

constexpr std::int64_t kChunk = 16384;          // lanes a task of a pointwise kernel
constexpr std::int64_t kRowBlock = 32;          // rows a task walks in tiles when reads are transposed
constexpr std::int64_t kWorkPerThread = 32768;  // weighted element operations

std::int64_t align_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

bool reduces_or_scans_lanes(const Kernel& kernel) {
  for (const Phase& phase : kernel.phases) {
    for (const Reduction& r : phase.reductions) {
      if (r.over == Reduction::kLanes && r.result == Reduction::kValue) return true;
    }
  }
  return false;
}

bool has_partials(const Kernel& kernel) {
  for (const Phase& phase : kernel.phases) {
    for (const Reduction& r : phase.reductions) {
      if (r.result == Reduction::kPartials) return true;
    }
  }
  return false;
}

/// A load that is far apart along the lanes and next to itself along the last outer variable.
bool is_transposed(const Kernel& kernel) {
  if (kernel.kernel_class != KernelClass::kPointwise || kernel.outer.empty() || kernel.phases.size() != 1) return false;
  for (const Instr& i : kernel.phases[0].body) {
    if (i.kind != Instr::kLoad && i.kind != Instr::kStore) continue;
    bool lane_affine = false, outer_affine = false;
    const std::int64_t lane = coefficient_of(i.index, kernel.lane_var(), &lane_affine);
    const std::int64_t outer = coefficient_of(i.index, kernel.sequence_var() - 1, &outer_affine);
    if (lane_affine && outer_affine && std::abs(lane) >= 16 && std::abs(outer) == 1) return true;
  }
  return false;
}

std::int64_t work_per_task(const Kernel& kernel) {
  std::int64_t work = 0;
  for (const Phase& phase : kernel.phases) {
    const std::int64_t lanes = phase.lanes ? kernel.lane_chunk : 1;
    work += phase.sequence * lanes * static_cast<std::int64_t>(1 + phase.body.size() / 4);
  }
  return std::max<std::int64_t>(work * kernel.row_block, 1);
}

void place_locals(Kernel& kernel) {
  for (LocalBuffer& local : kernel.locals) {
    if (!local.per_lane) continue;
    local.scratch_offset = kernel.scratch_bytes;
    const std::int64_t elements = kernel.lane_chunk * local.sequence;
    kernel.scratch_bytes += align_up(elements * static_cast<std::int64_t>(size_of(local.dtype)), 64);
  }
}

}  // namespace

void choose_loops(Kernel& kernel) {
  if (is_transposed(kernel)) {
    kernel.row_block = std::min(kRowBlock, std::max<std::int64_t>(kernel.outer.back(), 1));
    kernel.lane_chunk = std::min<std::int64_t>(kernel.lanes, 512);
  } else if (!reduces_or_scans_lanes(kernel) && !has_partials(kernel)) {
    const std::int64_t chunk = kernel.kernel_class == KernelClass::kOuterReduction ? kColumnChunk : kChunk;
    kernel.lane_chunk = std::min(kernel.lane_chunk, chunk);
  }
  kernel.grain = std::max<std::int64_t>(kWorkPerThread / work_per_task(kernel), 1);
  place_locals(kernel);
}

}  // namespace tenon
