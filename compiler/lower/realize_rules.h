// SPDX-License-Identifier: MIT
// The tables of realize rules: which of the values that need no memory get some.
//
// The first row that applies decides. Rules see the numbers of one value and nothing else.
#pragma once

#include "absl/types/span.h"
#include "compiler/lower/realize.h"

namespace tenon {

constexpr int kMaxBodyOps = 100;
constexpr int kMaxBodyWeight = 400;
constexpr int kMaxLoads = 16;
constexpr int kMaxRecompute = 8;
constexpr int kFewOps = 2;                   // of a body with one load: no more than the load itself
constexpr std::int64_t kSmallReduction = 8;  // shorter ones are unrolled inside their readers
constexpr int kStorePercent = 95;            // of the cost of inlining: where in doubt, inline

constexpr int kInductorReads = 4;
constexpr int kInductorOps = 30;
constexpr int kInductorAccumulatedReads = 8;
constexpr int kInductorHint = 1;
constexpr int kInductorLarge = 100;

/// What a rule sees.
struct RealizeCandidate {
  const Node& node;
  const RealizeDecision& numbers;
  bool has_transcendental = false;
  bool has_one_reader = false;  ///< which computes with it at the same place, and whose value is no larger
  bool has_exp = false;
};

struct RealizeRule {
  const char* name;
  bool realizes;
  bool (*applies)(const RealizeCandidate&);
};

/// The last row applies to everything.
absl::Span<const RealizeRule> realize_rules(RealizeMode mode);

}  // namespace tenon
