// SPDX-License-Identifier: MIT
// Seeds of random programs. FUZZ_FIRST and FUZZ_SEEDS choose other samples.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

namespace tenon::testing {

inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Calls body(seed) for `sample` seeds from `offset` on, until a test fails.
template <class Body>
void for_seeds(std::uint64_t offset, std::uint64_t sample, const Body& body) {
  const std::uint64_t first = number_from("FUZZ_FIRST", 0), last = first + number_from("FUZZ_SEEDS", sample);
  for (std::uint64_t seed = first; seed < last && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed + offset);
    body(seed + offset);
  }
}

}  // namespace tenon::testing
