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
  kAuto,      ///< greedy
  kOff,       ///< a kernel a realized value
  kGreedy,    ///< best pair first
  kInductor,  ///< best pair first by Inductor's score, for comparison
};

inline constexpr std::array<std::pair<std::string_view, FusionMode>, 4> kFusionModes = {{
    {"auto", FusionMode::kAuto},
    {"off", FusionMode::kOff},
    {"greedy", FusionMode::kGreedy},
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
