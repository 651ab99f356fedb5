// SPDX-License-Identifier: MIT
//
// The only file that sees xxHash, which is compiled in whole, so that nothing is linked or exported for it.
#include "cache/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon::cache {

std::string Digest::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[i] = kDigits[hi >> (60 - 4 * i) & 15];
    text[16 + i] = kDigits[lo >> (60 - 4 * i) & 15];
  }
  return text;
}

Digest digest(std::span<const std::byte> bytes, Seed seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), static_cast<uint64_t>(seed));
  return {hash.high64, hash.low64};
}

Digest digest(std::string_view bytes, Seed seed) { return digest(std::as_bytes(std::span(bytes)), seed); }

}  // namespace tenon::cache
