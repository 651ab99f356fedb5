// SPDX-License-Identifier: MIT
// Settings, read once from the environment by the table options.def; tests and the tool may change them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace tenon {

struct Options {
  std::string cache, cache_dir, compile, numerics, realize, fusion, log, dump, dump_dir, cases_dir;
  std::int64_t cache_max_size = 0, num_threads = 0;
  bool jit = true, eager = false, verify = false, bless = false;
};

/// The options of the process. First use reads the environment: a bad value or an unknown TENON_* name is one warning
/// (with the nearest name) and the default holds.
Options& options();

/// Sets one option by its variable's name, e.g. ("TENON_JIT", "0"). InvalidArgument names the valid values.
absl::Status set_option(Options& options, std::string_view variable, std::string_view value);

struct OptionRow {
  const char* variable;
  const char* default_value;
  const char* documentation;
  std::string value;  ///< as it is now
};
std::vector<OptionRow> describe(const Options& options);

}  // namespace tenon
