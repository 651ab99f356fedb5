// SPDX-License-Identifier: MIT
// The logger: lines to a sink, by default standard error. Nothing else in the library prints.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tenon {

enum class LogLevel { kError, kWarn, kInfo, kDebug };

/// Whether a line of this level would go out: ask before making an expensive one.
bool is_logged(LogLevel level);
/// One line, without its newline. Thread-safe; never throws.
void log(LogLevel level, std::string_view line);
/// As log at kWarn, once a process for each `reason`.
void warn_once(std::string_view reason, std::string_view line);

/// "error", "warn", "info" or "debug"; anything else leaves the level.
void set_log_level(std::string_view name);
/// Where lines go; an empty function restores standard error.
void set_log_sink(std::function<void(LogLevel, std::string_view)> sink);

}  // namespace tenon
