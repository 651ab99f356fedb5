// SPDX-License-Identifier: MIT
// What does not make another program: the address of an input, and so which row of a tensor it is.
#include <gtest/gtest.h>

#include "tenon/tenon.h"

namespace tenon {
namespace {

TEST(SameProgram, RowsThatBeginAtAnyAddress) {
  const Tensor x = asarray(std::vector<float>(5 * 7, 2.0f), {5, 7});
  const auto programs = [] { return statistics().compiled + statistics().disk_hits; };
  (x[0] * 3).eval();
  const std::uint64_t before = programs();
  for (int row = 1; row < 5; ++row) EXPECT_EQ((x[row] * 3).to_vector<float>(), std::vector<float>(7, 6.0f));
  EXPECT_EQ(programs(), before);
}

}  // namespace
}  // namespace tenon
