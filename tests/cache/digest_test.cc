// SPDX-License-Identifier: MIT
//
// Digests are XXH3-128 under seeds that never change. Expected values are those of the reference library's own build
// (libxxhash 0.8.1, XXH3_128bits_withSeed).
#include "cache/digest.h"

#include <gtest/gtest.h>

#include <string>

namespace tenon::cache {
namespace {

std::string thousand_bytes() {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 7);
  return bytes;
}

TEST(Digest, EqualsTheReferenceImplementation) {
  EXPECT_EQ(digest("", Seed::kGraph).hex(), "7c76f86d5d146da575bceda1b7fb0ba4");
  EXPECT_EQ(digest("a", Seed::kGraph).hex(), "d6902b057524d4ffcf50177b5e59d6c5");
  EXPECT_EQ(digest("tenon", Seed::kEnvironment).hex(), "111316dc0fa457da76109cbdd5275315");
  EXPECT_EQ(digest("tenon", Seed::kChecksum).hex(), "cd74140d7fce498fd8a9d32e1293f29e");
  EXPECT_EQ(digest(thousand_bytes(), Seed::kGraph).hex(), "200801126bbadefaf9fc5fd0c59a2cf5");
  EXPECT_EQ(digest(thousand_bytes(), Seed::kEnvironment).hex(), "0de2f50b8df30ce9cbfb50ac1c47b481");
  EXPECT_EQ(digest(thousand_bytes(), Seed::kChecksum).hex(), "9dbb24b61b71c6af32c25848ce1c60d8");
}

TEST(Digest, HexShowsTheHighHalfFirstWithLeadingZeros) {
  EXPECT_EQ((Digest{0x1, 0xabcdef0123456789}).hex(), "0000000000000001abcdef0123456789");
}

TEST(Digest, OrdersByTheHighHalf) {
  EXPECT_LT((Digest{1, 9}), (Digest{2, 0}));
  EXPECT_LT((Digest{1, 1}), (Digest{1, 2}));
}

}  // namespace
}  // namespace tenon::cache
