// SPDX-License-Identifier: MIT
// Random programs have one meaning, however they are run. FUZZ_FIRST and FUZZ_SEEDS choose other samples.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/fuzz/agreement.h"

namespace tenon {
namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

void try_seeds(std::uint64_t offset, std::uint64_t sample, int max_ops, bool compiled) {
  const std::uint64_t first = number("FUZZ_FIRST", 0), last = first + number("FUZZ_SEEDS", sample);
  for (std::uint64_t seed = first; seed < last && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed + offset);
    testing::expect_agreement(testing::random_program(seed + offset, max_ops), compiled);
  }
}

TEST(FusionFuzz, SmallProgramsByBothInterpreters) { try_seeds(0, 6000, 14, false); }
TEST(FusionFuzz, LargeProgramsByBothInterpreters) { try_seeds(1'000'000'000, 600, 60, false); }
TEST(FusionFuzz, SmallProgramsCompiled) { try_seeds(2'000'000'000, 300, 14, true); }
TEST(FusionFuzz, LargeProgramsCompiled) { try_seeds(3'000'000'000, 40, 60, true); }

}  // namespace
}  // namespace tenon
