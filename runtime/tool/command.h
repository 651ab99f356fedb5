// SPDX-License-Identifier: MIT
// The commands of `tenon`, and the little they share.
//
// Exit status: 0 well, 1 a check failed, 2 bad usage or input, no memory, or output that cannot be written, 3 internal.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace tenon::tool {

inline constexpr int kOk = 0, kCheckFailed = 1, kBadInput = 2, kInternal = 3;

/// Words of a command line: positional ones, and --name or --name=value or --name value.
struct Arguments {
  std::vector<std::string> positional;
  std::map<std::string, std::string, std::less<>> flags;

  bool has(std::string_view flag) const { return flags.contains(flag); }
  std::string value(std::string_view flag, std::string_view otherwise = "") const;
};

struct Command {
  const char* name;
  const char* usage;  ///< what follows the name
  const char* summary;
  /// Flags that it knows; those that end in '=' take a value.
  std::vector<std::string> flags;
  int (*run)(const Arguments& arguments);
};

const std::vector<Command>& commands();

/// One line on standard error; returns the exit status for it (bad input, or internal).
int fail(const absl::Status& status);
int fail_input(std::string_view message);

int run_command(const Arguments& arguments);
int explain_command(const Arguments& arguments);
int check_command(const Arguments& arguments);
int compile_command(const Arguments& arguments);
int cache_command(const Arguments& arguments);
int doctor_command(const Arguments& arguments);

}  // namespace tenon::tool
