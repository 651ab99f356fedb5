// SPDX-License-Identifier: MIT
// tenon cache and doctor: what is on disk, and what this machine can do.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "compiler/build_id.h"
#include "runtime/device/cpu/host_cpu.h"
#include "runtime/device/cpu/parallel.h"
#include "runtime/options.h"
#include "runtime/session/compiler_library.h"
#include "runtime/session/store.h"
#include "runtime/tool/command.h"

namespace tenon::tool {
namespace {

namespace fs = std::filesystem;

struct DiskUse {
  std::uint64_t entries = 0, bytes = 0, environments = 0;
};

DiskUse measure(const std::string& root) {
  DiskUse use;
  std::error_code error;
  for (fs::directory_iterator it(fs::path(root) / "v1", error), end; !error && it != end; it.increment(error)) {
    use.environments += it->is_directory(error) ? 1 : 0;
  }
  for (fs::recursive_directory_iterator it(fs::path(root) / "v1", error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != ".tenon") continue;
    ++use.entries;
    use.bytes += it->file_size(error);
  }
  return use;
}

}  // namespace

int cache_command(const Arguments& arguments) {
  const std::string what = arguments.positional.empty() ? "" : arguments.positional[0];
  const std::string root = session::cache_root();
  if (arguments.positional.size() == 1 && what == "path") {
    std::cout << root << "\n";
    return kOk;
  }
  if (arguments.positional.size() != 1 || what != "stats") return fail_input("usage: tenon cache path|stats [--json]");
  const DiskUse use = measure(root);
  nlohmann::ordered_json out = {{"path", root},
                                {"entries", use.entries},
                                {"bytes", use.bytes},
                                {"max_bytes", options().cache_max_size},
                                {"environments", use.environments}};
  if (arguments.has("json")) {
    std::cout << out.dump() << "\n";
  } else {
    for (const auto& [key, value] : out.items()) {
      std::cout << key << ": " << (value.is_string() ? value.get<std::string>() : value.dump()) << "\n";
    }
  }
  return kOk;
}

int doctor_command(const Arguments&) {
  const auto& targets = device::runnable_targets();
  std::cout << "build     " << build_id() << "\n";
  if (targets.empty()) {
    std::cout << "target    none: this processor lacks x86-64-v3, programs are interpreted\n";
  } else {
    std::cout << "target    " << targets.front().cpu << " " << targets.front().features << "\n";
  }
  std::cout << "threads   " << device::num_threads() << "\n";
  const absl::Status compiler = session::open_compiler();
  std::cout << "compiler  " << (compiler.ok() ? "opens" : std::string(compiler.message())) << "\n";
  const std::string root = session::cache_root();
  session::ProgramStore store;
  std::cout << "cache     " << (root.empty() ? "none" : root) << " " << store.disk_status() << "\n";
  for (const OptionRow& row : describe(options())) {
    if (std::getenv(row.variable)) std::cout << "setting   " << row.variable << "=" << row.value << "\n";
  }
  return compiler.ok() ? kOk : kCheckFailed;
}

}  // namespace tenon::tool
