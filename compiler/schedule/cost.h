// SPDX-License-Identifier: MIT
// What a kernel costs and what fusing two saves, in integers (picoseconds and bytes), so that decisions are the same on
// every machine. Constants are those of the fusion design for a CPU.
#pragma once

#include "compiler/schedule/legality.h"

namespace tenon {

/// Bytes that a group moves: each buffer it reads once, each buffer it must store once.
struct Traffic {
  std::int64_t read_bytes = 0;
  std::int64_t write_bytes = 0;
  std::int64_t bytes() const { return read_bytes + write_bytes; }
};

/// Whether a value must be stored: it is an output, or a group other than `self` reads it.
bool is_stored(const LoweredGraph& lowered, const Dependencies& dependencies, BufferId buffer, int self,
               int other = -1);

/// Traffic of `group`; values read only by groups `self` and `other` are not stored.
Traffic traffic_of(const LoweredGraph& lowered, const Dependencies& dependencies, const Group& group, int self,
                   int other = -1);

std::int64_t kernel_cost(const Traffic& traffic);

/// What fusing a legal pair brings.
struct FusionScore {
  std::int64_t value = 0;         ///< the order of candidates: higher first; not above 0: not worth it
  std::int64_t saved = 0;         ///< picoseconds
  std::int64_t shared_bytes = 0;  ///< bytes that need not move any more
};
/// `a` and `b`: what the two move by themselves.
FusionScore score_fusion(const FusionPair& pair, const Traffic& a, const Traffic& b, const Group& both);

}  // namespace tenon
