// SPDX-License-Identifier: MIT
// Sizes and times as people read them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tenon {

/// "8.0 MiB"
inline std::string size_text(std::int64_t bytes) {
  if (bytes >= 1 << 20) return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  if (bytes >= 1 << 10) return absl::StrFormat("%.1f KiB", static_cast<double>(bytes) / (1 << 10));
  return absl::StrCat(bytes, " B");
}

/// "87.5 us"
inline std::string time_text(std::int64_t picoseconds) {
  return absl::StrFormat("%.1f us", static_cast<double>(picoseconds) * 1e-6);
}

}  // namespace tenon
