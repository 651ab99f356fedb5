// SPDX-License-Identifier: MIT
// Random programs have one meaning, however they are run.
#include <gtest/gtest.h>

#include "tests/fuzz/agreement.h"
#include "tests/fuzz/seeds.h"

namespace tenon {
namespace {

void try_seeds(std::uint64_t offset, std::uint64_t sample, int max_ops, bool compiled) {
  testing::for_seeds(offset, sample, [&](std::uint64_t seed) {
    testing::expect_agreement(testing::random_program(seed, max_ops), compiled);
  });
}

TEST(FusionFuzz, SmallProgramsByBothInterpreters) { try_seeds(0, 6000, 14, false); }
TEST(FusionFuzz, LargeProgramsByBothInterpreters) { try_seeds(1'000'000'000, 600, 60, false); }
TEST(FusionFuzz, SmallProgramsCompiled) { try_seeds(2'000'000'000, 300, 14, true); }
TEST(FusionFuzz, LargeProgramsCompiled) { try_seeds(3'000'000'000, 40, 60, true); }

}  // namespace
}  // namespace tenon
