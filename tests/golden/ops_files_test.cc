// SPDX-License-Identifier: MIT
// The committed files that are made from the op table are what the table makes. TENON_BLESS=1 rewrites them.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "compiler/ops/generate_ops.h"
#include "runtime/options.h"

namespace tenon {
namespace {

void expect_file(const std::string& path, const std::string& text) {
  const std::string file = std::string(TENON_SOURCE_DIR) + "/" + path;
  if (options().bless) std::ofstream(file) << text;
  std::stringstream found;
  found << std::ifstream(file).rdbuf();
  EXPECT_TRUE(found.str() == text) << path << " is not what compiler/ops/op_table.def makes; run with TENON_BLESS=1";
}

TEST(OpsFiles, HeaderBodiesAndPageAreFresh) {
  expect_file("include/tenon/ops.h", generate_ops_header());
  expect_file("runtime/api/ops_generated.cc", generate_ops_bodies());
  expect_file("include/tenon/OPS.md", generate_ops_page());
}

}  // namespace
}  // namespace tenon
