// SPDX-License-Identifier: MIT
//
// 128-bit names and checksums: XXH3-128 under one of three seeds, so that the name of a graph, the name of an
// environment and the checksum of the same bytes never coincide. A digest is a name, not a proof: whoever looks
// something up by digest also compares the full bytes that it names. Digests are persisted; seeds never change.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tenon::cache {

struct Digest {
  uint64_t hi = 0;
  uint64_t lo = 0;

  auto operator<=>(const Digest&) const = default;

  /// 32 lower-case hexadecimal digits, `hi` first.
  std::string hex() const;
};

/// For hash maps keyed by digests, whose bits are already well mixed.
struct DigestHash {
  size_t operator()(const Digest& digest) const { return static_cast<size_t>(digest.lo); }
};

/// What the digest is for. The values are ASCII words, part of the file format.
enum class Seed : uint64_t {
  kGraph = 0x67726170686b6579,        // "graphkey"
  kEnvironment = 0x656e7669726f6e6d,  // "environm"
  kChecksum = 0x636865636b73756d,     // "checksum"
};

/// XXH3-128 of `bytes`. Pure; the same on every machine.
Digest digest(std::span<const std::byte> bytes, Seed seed);
Digest digest(std::string_view bytes, Seed seed);

}  // namespace tenon::cache
