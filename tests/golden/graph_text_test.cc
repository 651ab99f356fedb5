// SPDX-License-Identifier: MIT
// Golden text: each graph/NAME.tir, parsed and printed, is graph/NAME.txt. TENON_BLESS=1 rewrites the .txt files.
#include "compiler/ir/graph_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/ir/verify.h"
#include "runtime/options.h"

namespace tenon {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(TENON_SOURCE_DIR) / "tests/golden/graph";

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void check_file(const std::filesystem::path& source) {
  SCOPED_TRACE(source.filename().string());
  const auto program = parse_program(read_file(source));
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_TRUE(verify(program->graph).ok());
  const std::string text = print_program(*program);
  std::filesystem::path golden = source;
  golden.replace_extension(".txt");
  if (options().bless) std::ofstream(golden) << text;
  EXPECT_EQ(text, read_file(golden));
  const auto again = parse_program(text);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(print_program(*again), text);
}

TEST(GraphText, PrintsTheGoldenForms) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".tir") continue;
    check_file(entry.path());
    ++files;
  }
  EXPECT_GT(files, 0);
}

TEST(GraphText, TheGoldenProgramHasEveryOp) {
  const auto program = parse_program(read_file(kFolder / "every_op.tir"));
  ASSERT_TRUE(program.ok()) << program.status().message();
  std::set<Op> seen;
  for (const Node& node : program->graph.nodes) seen.insert(node.op);
  for (int op = 0; op < kNumOps; ++op) EXPECT_TRUE(seen.count(static_cast<Op>(op))) << name_of(static_cast<Op>(op));
}

}  // namespace
}  // namespace tenon
