// SPDX-License-Identifier: MIT
// See log.h.
#include "runtime/log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>

namespace tenon {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"error", "warn", "info", "debug"};

struct State {
  std::mutex mutex;
  std::function<void(LogLevel, std::string_view)> sink;
  std::set<std::string, std::less<>> warned;
};

// Leaked: threads may log while statics are destroyed.
State& state() {
  static State* const instance = new State;
  return *instance;
}

std::atomic<int> level_now{static_cast<int>(LogLevel::kWarn)};

}  // namespace

bool is_logged(LogLevel level) { return static_cast<int>(level) <= level_now.load(std::memory_order_relaxed); }

void log(LogLevel level, std::string_view line) {
  if (!is_logged(level)) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.sink) return s.sink(level, line);
  const std::string_view name = kNames[static_cast<std::size_t>(level)];
  std::fprintf(stderr, "tenon %.*s: %.*s\n", static_cast<int>(name.size()), name.data(), static_cast<int>(line.size()),
               line.data());
}

void warn_once(std::string_view reason, std::string_view line) {
  {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (!s.warned.emplace(reason).second) return;
  }
  log(LogLevel::kWarn, line);
}

void set_log_level(std::string_view name) {
  const auto at = std::find(kNames.begin(), kNames.end(), name);
  if (at != kNames.end()) level_now = static_cast<int>(at - kNames.begin());
}

void set_log_sink(std::function<void(LogLevel, std::string_view)> sink) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.sink = std::move(sink);
}

}  // namespace tenon
