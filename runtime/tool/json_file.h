// SPDX-License-Identifier: MIT
// JSON from a file, with errors that say where.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace tenon::tool {

/// The JSON of `text`; InvalidArgument as "PATH:LINE:COLUMN: what is wrong", where lines and columns count from 1.
absl::StatusOr<nlohmann::json> parse_json(const std::string& text, const std::string& path);

}  // namespace tenon::tool
