// SPDX-License-Identifier: MIT
// See realize_rules.h.
#include "compiler/lower/realize_rules.h"

#include "compiler/lower/views.h"

namespace tenon {
namespace {

using Candidate = RealizeCandidate;

bool is_one_number(const Node& node) {
  return row_of(node.op).kind == OpKind::elementwise && numel(node.type.shape) == 1;
}
bool is_reused(const Candidate& c) { return c.numbers.users > 1; }
bool always(const Candidate&) { return true; }

constexpr RealizeRule kTenonRules[] = {
    {"cap/ops > 100", true, [](const Candidate& c) { return c.numbers.ops > kMaxBodyOps; }},
    {"cap/weight > 400", true, [](const Candidate& c) { return c.numbers.weight > kMaxBodyWeight; }},
    {"cap/loads > 16", true, [](const Candidate& c) { return c.numbers.reads > kMaxLoads; }},
    {"exempt/view", false, [](const Candidate& c) { return is_view(c.node.op); }},
    {"exempt/no read", false,
     [](const Candidate& c) { return c.numbers.reads == 0 && (c.numbers.ops <= 1 || is_one_number(c.node)); }},
    {"exempt/one load", false,
     [](const Candidate& c) { return c.numbers.reads == 1 && c.numbers.ops <= kFewOps && !c.has_transcendental; }},
    {"chain/its one reader decides", false, [](const Candidate& c) { return is_reused(c) && c.has_one_reader; }},
    {"cap/recompute > 8", true, [](const Candidate& c) { return c.numbers.users > kMaxRecompute; }},
    {"cap/transcendental used twice", true, [](const Candidate& c) { return is_reused(c) && c.has_transcendental; }},
    {"exempt/no read", false, [](const Candidate& c) { return c.numbers.reads == 0; }},
    {"cost/store is cheaper", true,
     [](const Candidate& c) {
       return is_reused(c) && c.numbers.store_cost * 100 < c.numbers.inline_cost * kStorePercent;
     }},
    {"cost/recompute is cheaper", false, is_reused},
    {"chain below caps", false, always},
};

/// Inductor counts loads among the ops.
int inductor_ops(const Candidate& c) { return c.numbers.ops + c.numbers.reads; }

constexpr RealizeRule kInductorRules[] = {
    {"inductor/view", false, [](const Candidate& c) { return is_view(c.node.op); }},
    {"inductor/random", true, [](const Candidate& c) { return c.node.op == Op::k_random_bits; }},
    {"inductor/large > 100", true, [](const Candidate& c) { return inductor_ops(c) > kInductorLarge; }},
    {"inductor/no read", false, [](const Candidate& c) { return c.numbers.reads == 0; }},
    {"inductor/heavy op reused", true, [](const Candidate& c) { return is_reused(c) && c.has_exp; }},
    {"inductor/reads > 4 reused", true,
     [](const Candidate& c) { return is_reused(c) && c.numbers.reads > kInductorReads; }},
    {"inductor/ops > 30 reused", true,
     [](const Candidate& c) { return is_reused(c) && inductor_ops(c) > kInductorOps; }},
    {"inductor/reads > 8", true, [](const Candidate& c) { return c.numbers.reads > kInductorAccumulatedReads; }},
    {"inductor/ops > 30", true,
     [](const Candidate& c) { return inductor_ops(c) > kInductorOps && c.numbers.reads > kInductorHint; }},
    {"inductor/below thresholds", false, always},
};

}  // namespace

absl::Span<const RealizeRule> realize_rules(RealizeMode mode) {
  if (mode == RealizeMode::kInductor) return kInductorRules;
  return kTenonRules;
}

std::optional<RealizeMode> parse_realize_mode(std::string_view name) {
  for (const auto& [known, mode] : kRealizeModes) {
    if (known == name) return mode;
  }
  return std::nullopt;
}

}  // namespace tenon
