// SPDX-License-Identifier: MIT
// What a reader may rely on in every file of the project: layers, licence line, opening comment, size, plain words.
//
// Reads the sources as text from TENON_SOURCE_DIR; knows no other file of the project.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// A folder and what its files may include beside themselves and the standard library; the longest match holds.
struct Layer {
  std::string folder;
  std::vector<std::string> may_include;
};

// In a list, "tenon/" is the public API, "absl/" and "llvm/" are packages; the rest are paths from the root.
const std::vector<Layer>& layers() {
  static const std::vector<Layer> table = {
      {"include/tenon/", {"tenon/"}},
      {"cache/", {"absl/", "xxhash.h"}},
      {"compiler/", {"compiler/", "tenon/dtype.h", "absl/"}},
      {"compiler/explain/",
       {"compiler/ir/", "compiler/ops/", "tenon/dtype.h", "tenon/decisions.h", "absl/", "nlohmann/"}},
      {"compiler/ir/", {"compiler/ops/op_table.def", "compiler/ops/math/", "tenon/dtype.h", "absl/"}},
      {"compiler/ops/", {"compiler/ir/", "tenon/dtype.h", "absl/"}},
      {"compiler/rewrite/", {"compiler/explain/", "compiler/ir/", "compiler/ops/", "tenon/dtype.h", "absl/"}},
      {"compiler/lower/",
       {"compiler/explain/", "compiler/ir/", "compiler/ops/", "compiler/rewrite/", "tenon/dtype.h", "absl/"}},
      {"compiler/schedule/",
       {"compiler/explain/", "compiler/ir/", "compiler/ops/", "compiler/rewrite/", "compiler/lower/", "tenon/dtype.h",
        "absl/"}},
      {"compiler/codegen/", {"compiler/", "tenon/dtype.h", "absl/", "llvm/", "llvm-c/"}},
      {"runtime/device/", {"compiler/", "runtime/options", "runtime/log", "tenon/", "absl/", "tbb/", "oneapi/"}},
      {"runtime/trace/", {"compiler/", "runtime/options", "runtime/log", "runtime/device/", "tenon/", "absl/"}},
      {"runtime/session/",
       {"cache/", "compiler/", "runtime/options", "runtime/log", "runtime/device/", "runtime/trace/", "tenon/", "absl/",
        "nlohmann/"}},
      {"runtime/api/",
       {"cache/", "compiler/", "runtime/options", "runtime/log", "runtime/device/", "runtime/trace/",
        "runtime/session/", "tenon/", "absl/", "nlohmann/"}},
      {"runtime/tool/", {"cache/", "compiler/", "runtime/", "tenon/", "absl/", "nlohmann/"}},
      {"runtime/", {"tenon/", "absl/"}},
  };
  return table;
}

struct Source {
  std::string path;  // from the root
  std::vector<std::string> lines;
};

std::vector<std::string> read_lines(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_code(const fs::path& file) {
  return file.extension() == ".cc" || file.extension() == ".h" || file.extension() == ".def";
}

const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    const fs::path root = TENON_SOURCE_DIR;
    std::vector<Source> found;
    for (const char* folder : {"include", "cache", "compiler", "runtime", "tests", "bench"}) {
      for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        if (!entry.is_regular_file() || !is_code(entry.path())) continue;
        found.push_back({entry.path().lexically_relative(root).string(), read_lines(entry.path())});
      }
    }
    return found;
  }();
  return all;
}

const Layer* layer_of(const std::string& path) {
  const Layer* best = nullptr;
  for (const Layer& layer : layers()) {
    if (path.starts_with(layer.folder) && (!best || layer.folder.size() > best->folder.size())) best = &layer;
  }
  return best;
}

bool is_allowed(const Layer& layer, const std::string& included) {
  const bool is_standard = included.find('/') == std::string::npos && !included.ends_with(".hpp");
  const bool is_system = included.starts_with("sys/") || included.starts_with("linux/");
  if (included.starts_with(layer.folder) || is_system) return true;
  if (is_standard && included != "xxhash.h") return true;
  return std::any_of(layer.may_include.begin(), layer.may_include.end(),
                     [&](const std::string& prefix) { return included.starts_with(prefix); });
}

/// Whether the purpose of a body is told by the header of the same name.
bool has_header(const std::string& path) {
  return path.ends_with(".cc") && fs::exists(fs::path(TENON_SOURCE_DIR) / (path.substr(0, path.size() - 2) + "h"));
}

/// The line with which the source's first raw string begins (text of another file, perhaps), or one past the last.
std::size_t end_of_includes(const Source& source) {
  const auto is_raw = [](const std::string& line) { return line.find("R\"(") != std::string::npos; };
  return std::find_if(source.lines.begin(), source.lines.end(), is_raw) - source.lines.begin();
}

/// For each offending line one "path:line: what", joined; `check` is given the source and the line's index.
template <class Check>
std::string offences(const Check& check) {
  std::string out;
  for (const Source& source : sources()) {
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      const std::string what = check(source, i);
      if (!what.empty()) out += source.path + ":" + std::to_string(i + 1) + ": " + what + "\n";
    }
  }
  return out;
}

std::string include_offence(const Source& source, std::size_t i) {
  static const std::regex include(R"re(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)re");
  std::smatch match;
  const Layer* layer = layer_of(source.path);
  if (!layer || i >= end_of_includes(source) || !std::regex_match(source.lines[i], match, include)) return "";
  return is_allowed(*layer, match[1]) ? "" : layer->folder + " may not include " + match[1].str();
}

std::string form_offence(const Source& source, std::size_t i) {
  const std::string& line = source.lines[i];
  const bool is_ascii = std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!is_ascii) return "not plain ASCII";
  if (line.size() > 140 && !source.path.ends_with(".def")) return "longer than 140";
  return line.ends_with(' ') ? "space at the end" : "";
}

std::string word_offence(const Source& source, std::size_t i) {
  if (source.path == "tests/lint/lint_test.cc") return "";
  for (const char* word : {"TODO", "FIXME", "HACK", "/home/"}) {
    if (source.lines[i].find(word) != std::string::npos) return word;
  }
  return "";
}

TEST(Lint, IncludesPointDownTheLayers) { EXPECT_EQ(offences(include_offence), ""); }

TEST(Lint, LinesAreShortAsciiWithoutTrailingSpace) { EXPECT_EQ(offences(form_offence), ""); }

TEST(Lint, NothingIsLeftForLaterInAComment) { EXPECT_EQ(offences(word_offence), ""); }

TEST(Lint, FilesOpenWithLicenceAndPurpose) {
  for (const Source& source : sources()) {
    ASSERT_GE(source.lines.size(), 3u) << source.path;
    EXPECT_EQ(source.lines[0], "// SPDX-License-Identifier: MIT") << source.path;
    if (has_header(source.path)) continue;
    const bool is_next = source.lines[1].starts_with("// ");
    EXPECT_TRUE(is_next || source.lines[2].starts_with("// ")) << source.path << " does not say what it is for";
  }
}

TEST(Lint, HeadersAreIncludedOnce) {
  for (const Source& source : sources()) {
    if (!source.path.ends_with(".h")) continue;
    EXPECT_EQ(std::count(source.lines.begin(), source.lines.end(), "#pragma once"), 1) << source.path;
  }
}

TEST(Lint, FilesAreShort) {
  for (const Source& source : sources()) {
    if (source.path.ends_with(".def")) continue;
    EXPECT_LE(source.lines.size(), 600u) << source.path;
  }
}

TEST(Lint, LargerFoldersHaveAShortReadme) {
  const fs::path root = TENON_SOURCE_DIR;
  std::map<std::string, int> files;
  for (const Source& source : sources()) ++files[fs::path(source.path).parent_path().string()];
  for (const auto& [folder, count] : files) {
    if (count <= 5 || folder.starts_with("tests")) continue;
    const auto lines = read_lines(root / folder / "README.md");
    EXPECT_FALSE(lines.empty()) << folder << " has " << count << " files and no README.md";
    EXPECT_LE(lines.size(), 40u) << folder;
  }
}

TEST(Lint, TheRootHoldsOnlyWhatPeopleAndToolsLookForThere) {
  const std::set<std::string> known = {"CMakeLists.txt",  "CMakePresets.json",
                                       "CONTRIBUTING.md", "LICENSE",
                                       "README.md",       "quickstart",
                                       "runtime",         "compiler",
                                       "cache",           "include",
                                       "tests",           "bench",
                                       "build",           "carried"};
  for (const auto& entry : fs::directory_iterator(TENON_SOURCE_DIR)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name.starts_with(".") || known.contains(name)) << name;
  }
}

}  // namespace
