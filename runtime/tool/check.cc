// SPDX-License-Identifier: MIT
// tenon check: runs cases in one of four ways and compares with their expected results.
//
//   whole    all steps are built, then all outputs are evaluated together
//   forced   each step is evaluated as soon as it is built
//   outputs  all steps are evaluated together as outputs
//   cached   as whole, in one process and then in a second with the same disk cache, which must compile nothing
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "runtime/api/access.h"
#include "runtime/session/session.h"
#include "runtime/tool/case_program.h"
#include "runtime/tool/command.h"
#include "runtime/tool/compare.h"
#include "tenon/tenon.h"

namespace tenon::tool {
namespace {

struct Tally {
  int passed = 0, failed = 0, skipped = 0;
  std::map<std::string, int> reasons;
};

using Values = std::map<std::string, Tensor>;

Values run_whole(const Case& c) {
  Values values = build_case(c);
  std::vector<Tensor> outputs;
  for (const CaseOutput& output : c.outputs) outputs.push_back(values.at(output.want.name));
  eval(outputs);
  return values;
}

Values run_forced(const Case& c) {
  return build_case(c, [](const Tensor& t) { t.eval(); });
}

Values run_outputs(const Case& c) {
  Values values = build_case(c);
  std::vector<Tensor> all;
  for (const CaseStep& step : c.steps) all.push_back(values.at(step.out));
  eval(all);
  return values;
}

const std::map<std::string, Values (*)(const Case&), std::less<>>& ways() {
  static const std::map<std::string, Values (*)(const Case&), std::less<>> table = {
      {"whole", run_whole}, {"forced", run_forced}, {"outputs", run_outputs}};
  return table;
}

struct Bytes {
  TensorType type;
  std::vector<std::byte> data;
};

Bytes bytes_of(const Tensor& tensor) {
  const trace::TraceNode& node = *internal::Access::node(tensor);
  const std::size_t size = static_cast<std::size_t>(numel(node.type.shape)) * size_of(node.type.dtype);
  tensor.eval();
  const std::byte* first = static_cast<const std::byte*>(node.storage->data) + node.byte_offset;
  return {node.type, {first, first + size}};
}

/// The first thing wrong with a run, or nothing.
std::string verdict(const Case& c, const Values& values, std::map<std::string, Bytes>& results) {
  for (const CaseOutput& output : c.outputs) {
    Bytes got = bytes_of(values.at(output.want.name));
    const std::string wrong = difference(output, got.type, got.data.data());
    if (!wrong.empty()) return absl::StrCat(output.want.name, ": ", wrong);
    results[output.want.name] = std::move(got);
  }
  for (const CaseTensor& input : c.inputs) {
    const Bytes now = bytes_of(values.at(input.name));
    if (now.data != input.data) return absl::StrCat(input.name, ": the input has changed");
  }
  return "";
}

/// The output whose bits are not those of `first` when the case is run by `way`, or nothing.
std::string other_bits(const Case& c, Values (*way)(const Case&), const std::map<std::string, Bytes>& first) {
  const Values values = way(c);
  for (const auto& [name, bytes] : first) {
    const Bytes again = bytes_of(values.at(name));
    if (!same_bits(bytes.type, again.data.data(), bytes.data.data())) return name;
  }
  return "";
}

/// Runs a case; the bits must be the same on a second run, and by way `whole`.
std::string check_case(const Case& c, Values (*way)(const Case&)) {
  try {
    std::map<std::string, Bytes> results;
    if (std::string wrong = verdict(c, way(c), results); !wrong.empty()) return wrong;
    if (std::string name = other_bits(c, way, results); !name.empty()) return name + ": a second run has other bits";
    if (way == run_whole) return "";
    const std::string name = other_bits(c, run_whole, results);
    return name.empty() ? "" : name + ": other bits than by way whole";
  } catch (const std::exception& error) {
    return error.what();
  }
}

absl::Status check_file(const std::string& path, const Arguments& arguments, Values (*way)(const Case&), Tally& tally) {
  absl::StatusOr<std::vector<Case>> cases = read_cases(path);
  if (!cases.ok()) return cases.status();
  const std::string only = arguments.value("only"), mode = arguments.value("mode", "whole");
  for (const Case& c : *cases) {
    if (!only.empty() && c.id != only) continue;
    if (const std::string missing = unsupported(c); !missing.empty()) {
      ++tally.skipped;
      ++tally.reasons[missing];
      if (arguments.has("v")) std::printf("n/a %s: %s\n", c.id.c_str(), missing.c_str());
      continue;
    }
    const std::string wrong = check_case(c, way);
    ++(wrong.empty() ? tally.passed : tally.failed);
    if (!wrong.empty()) std::printf("FAIL %s %s %s\n", c.id.c_str(), mode.c_str(), wrong.c_str());
    if (wrong.empty() && arguments.has("v")) std::printf("ok %s\n", c.id.c_str());
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

int report(const Tally& tally, const Arguments& arguments) {
  if (arguments.has("reasons")) {
    for (const auto& [reason, count] : tally.reasons) std::printf("%5d %s\n", count, reason.c_str());
  }
  std::printf("%d passed, %d failed, %d skipped\n", tally.passed, tally.failed, tally.skipped);
  return tally.failed == 0 && tally.passed > 0 ? kOk : kCheckFailed;
}

/// Starts this program anew on the same files with a cache folder of its own; returns its exit status.
int run_again(const Arguments& arguments, const std::string& root, bool forbid) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("TENON_CACHE_DIR", root.c_str(), 1);
    setenv("TENON_CACHE", "rw", 1);
    if (forbid) setenv("TENON_COMPILE", "forbid", 1);
    std::vector<std::string> words = {"tenon", "check", "--mode", "whole"};
    if (arguments.has("only")) words.insert(words.end(), {"--only", arguments.value("only")});
    if (arguments.has("v")) words.push_back("-v");
    if (arguments.has("reasons") && forbid) words.push_back("--reasons");
    words.insert(words.end(), arguments.positional.begin(), arguments.positional.end());
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    execv("/proc/self/exe", argv.data());
    _exit(kInternal);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kInternal;
}

int check_cached(const Arguments& arguments) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tenon-check-XXXXXX").string();
  if (!mkdtemp(pattern.data())) return fail_input("cannot make a temporary folder");
  std::printf("first process, empty cache:\n");
  std::fflush(stdout);
  int status = run_again(arguments, pattern, false);
  if (status == kOk || status == kCheckFailed) {
    std::printf("second process, which may not compile:\n");
    std::fflush(stdout);
    status = std::max(status, run_again(arguments, pattern, true));
  }
  std::error_code ignored;
  std::filesystem::remove_all(pattern, ignored);
  return status;
}

}  // namespace

int check_command(const Arguments& arguments) {
  if (arguments.positional.empty()) return fail_input("give at least one case file");
  const std::string device = arguments.value("device", "cpu"), mode = arguments.value("mode", "whole");
  if (device != "cpu") return fail_input("--device is one of: cpu");
  if (mode == "cached") return check_cached(arguments);
  const auto way = ways().find(mode);
  if (way == ways().end()) return fail_input("--mode is one of: whole, forced, outputs, cached");
  Tally tally;
  for (const std::string& path : arguments.positional) {
    if (absl::Status status = check_file(path, arguments, way->second, tally); !status.ok()) return fail(status);
  }
  return report(tally, arguments);
}

}  // namespace tenon::tool
