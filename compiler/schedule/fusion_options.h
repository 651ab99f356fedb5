// SPDX-License-Identifier: MIT
// What a caller may choose of fusion. Mode and costs are part of the key under which a program is cached.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "compiler/ir/cost_table.h"

namespace tenon {

enum class FusionMode : std::uint8_t {
  kAuto,      ///< greedy; then exact up to 12 nodes of a component, a beam up to 64, where greedy left several kernels
  kOff,       ///< a kernel a realized value
  kGreedy,    ///< best pair first
  kExact,     ///< as auto, also where greedy left one kernel
  kBeam,      ///< greedy, then a beam for any component up to 64 nodes
  kInductor,  ///< best pair first by Inductor's score, for comparison
};

inline constexpr std::array<std::pair<std::string_view, FusionMode>, 6> kFusionModes = {{
    {"auto", FusionMode::kAuto},
    {"off", FusionMode::kOff},
    {"greedy", FusionMode::kGreedy},
    {"exact", FusionMode::kExact},
    {"beam", FusionMode::kBeam},
    {"inductor", FusionMode::kInductor},
}};

inline std::optional<FusionMode> parse_fusion_mode(std::string_view name) {
  for (const auto& [known, mode] : kFusionModes) {
    if (known == name) return mode;
  }
  return std::nullopt;
}

struct FusionOptions {
  FusionMode mode = FusionMode::kAuto;
  CostTable costs;
  std::uint32_t rows_off = 0;  ///< tests only: bit n switches row Ln of the legality table off; not part of the key
};

}  // namespace tenon
