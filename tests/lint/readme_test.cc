// SPDX-License-Identifier: MIT
// What the front page promises and text alone can prove: its program is the example that runs as a test, and its table
// of settings names every setting.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(std::string(TENON_SOURCE_DIR) + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// What stands between the first line "```cpp" and the "```" after it.
std::string first_program(const std::string& markdown) {
  const std::size_t start = markdown.find("```cpp\n");
  if (start == std::string::npos) return "";
  return markdown.substr(start + 7, markdown.find("```", start + 7) - start - 7);
}

TEST(Readme, TheFirstProgramIsTheExampleHello) {
  const std::vector<std::string> example = lines_of(read_text("tests/examples/hello.cc"));
  const std::vector<std::string> program = lines_of(first_program(read_text("README.md")));
  ASSERT_GT(program.size(), 5u);
  auto at = example.begin();
  for (const std::string& line : program) {
    at = std::find(at, example.end(), line);
    ASSERT_NE(at, example.end()) << "not in hello.cc, or not in this order: " << line;
  }
}

TEST(Readme, EverySettingIsInItsTable) {
  const std::string readme = read_text("README.md"), table = read_text("runtime/options.def");
  const std::regex variable("\"(TENON_[A-Z_]+)\"");
  const std::sregex_iterator begin(table.begin(), table.end(), variable), end;
  ASSERT_NE(begin, end);
  for (auto row = begin; row != end; ++row) {
    EXPECT_NE(readme.find("`" + row->str(1)), std::string::npos) << row->str(1);
  }
}

}  // namespace
