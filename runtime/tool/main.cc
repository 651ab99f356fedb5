// SPDX-License-Identifier: MIT
// The `tenon` command: reads the command line and calls a command of command.h.
#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

#include "absl/strings/str_cat.h"
#include "compiler/build_id.h"
#include "runtime/tool/command.h"

namespace tenon::tool {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"run", "PROG [--stats] [--quiet]", "run a program and print its outputs", {"stats", "quiet"}, run_command},
      {"explain",
       "PROG [--measure] [--json|--dot|--html|--why-not A,B] [-o FILE]",
       "show every decision of its compilation",
       {"measure", "json", "dot", "html", "why-not=", "o="},
       explain_command},
      {"check",
       "FILE.json... [--mode whole|forced|outputs|cached] [--device cpu] [--only ID] [-v] [--reasons]",
       "run cases and compare with their expected results",
       {"mode=", "device=", "only=", "v", "reasons"},
       check_command},
      {"compile", "PROG --emit graph|loops|llvm|asm", "print a stage of its compilation", {"emit="}, compile_command},
      {"cache", "path|stats [--json]", "where the disk cache is, and what is in it", {"json"}, cache_command},
      {"doctor", "", "what this machine and installation can do", {}, doctor_command},
  };
  return table;
}

std::string Arguments::value(std::string_view flag, std::string_view otherwise) const {
  auto it = flags.find(flag);
  return std::string(it == flags.end() ? otherwise : std::string_view(it->second));
}

int fail(const absl::Status& status) {
  std::fprintf(stderr, "tenon: %s\n", std::string(status.message()).c_str());
  return absl::IsInternal(status) ? kInternal : kBadInput;
}

int fail_input(std::string_view message) {
  std::fprintf(stderr, "tenon: %.*s\n", static_cast<int>(message.size()), message.data());
  return kBadInput;
}

namespace {

constexpr const char* kAboutPrograms = "PROG is a .tir file, or FILE.json#ID for one case of a case file.\n";

int print_help() {
  std::printf("usage: tenon COMMAND ...\n\n");
  for (const Command& c : commands()) std::printf("  %-8s %s\n           %s\n", c.name, c.usage, c.summary);
  std::printf("\n%s", kAboutPrograms);
  std::printf("tenon help COMMAND is about one command; tenon --version tells which build this is.\n");
  return kOk;
}

int print_help(const Command& c) {
  const std::string_view usage = c.usage;
  std::printf("usage: tenon %s%s%s\n\n  %s\n", c.name, usage.empty() ? "" : " ", c.usage, c.summary);
  if (usage.find("PROG") != std::string_view::npos) std::printf("\n%s", kAboutPrograms);
  return kOk;
}

int print_version() {
  std::printf("tenon %s (build %s)\n", TENON_VERSION, build_id());
  return kOk;
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

int fail_command(std::string_view name) {
  std::string names;
  for (const Command& c : commands()) absl::StrAppend(&names, names.empty() ? "" : ", ", c.name);
  return fail_input(absl::StrCat("no command '", std::string(name), "'; there are ", names));
}

bool is_help(std::string_view word) { return word == "--help" || word == "-h"; }

/// Whether the command knows the flag: 1 plain, 2 with a value, 0 not at all.
int flag_kind(const Command& command, std::string_view name) {
  for (const std::string& known : command.flags) {
    if (known == name) return 1;
    if (known.back() == '=' && known.substr(0, known.size() - 1) == name) return 2;
  }
  return 0;
}

int dispatch(const Command& command, const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].size() < 2 || words[i][0] != '-') {
      arguments.positional.push_back(words[i]);
      continue;
    }
    const std::string_view word = std::string_view(words[i]).substr(words[i].starts_with("--") ? 2 : 1);
    const std::size_t equals = word.find('=');
    const std::string name(word.substr(0, equals));
    const int kind = flag_kind(command, name);
    const bool has_value = equals != std::string_view::npos;
    if (kind == 0 || (kind == 1 && has_value))
      return fail_input(std::string(command.name) + " does not know " + words[i]);
    if (kind == 2 && !has_value && i + 1 == words.size()) return fail_input(words[i] + " needs a value");
    arguments.flags[name] = kind == 1 ? "" : has_value ? std::string(word.substr(equals + 1)) : words[++i];
  }
  return command.run(arguments);
}

/// Words of `tenon help`: none, or one command.
int help(const std::vector<std::string>& words) {
  if (words.empty()) return print_help();
  if (words.size() > 1) return fail_input("help takes one command");
  const Command* command = find_command(words[0]);
  return command ? print_help(*command) : fail_command(words[0]);
}

int tool_main(int argc, char** argv) {
  if (argc < 2) return fail_input("give a command; tenon help lists them");
  const std::string first = argv[1];
  const std::vector<std::string> rest(argv + 2, argv + argc);
  if (first == "help") return help(rest);
  if (is_help(first)) return print_help();
  if (first == "--version") return print_version();
  const Command* command = find_command(first);
  if (!command) return fail_command(first);
  return std::ranges::any_of(rest, is_help) ? print_help(*command) : dispatch(*command, rest);
}

/// Gives closed standard streams a file that cannot be written: else the next file opened would be taken for one.
void hold_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDONLY);
  }
}

/// The exit status after a command that returned `status`: bad if something it printed went nowhere.
int close_output(int status) {
  const bool is_written = std::cout.flush() && std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (is_written || (status != kOk && status != kCheckFailed)) return status;
  return fail_input("cannot write the output");
}

}  // namespace
}  // namespace tenon::tool

int main(int argc, char** argv) {
  tenon::tool::hold_standard_streams();
  try {
    return tenon::tool::close_output(tenon::tool::tool_main(argc, argv));
  } catch (const std::bad_alloc&) {
    return tenon::tool::fail_input("no memory");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenon: %s\n", error.what());
    return tenon::tool::kInternal;
  }
}
