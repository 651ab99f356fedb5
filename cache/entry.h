// SPDX-License-Identifier: MIT
//
// The byte form of one cache entry (README.md has the table): a fixed header, a section table, and sections. An entry
// is checked before it is parsed: sizes, then a checksum of header and table, then one of all the rest, then the full
// key bytes. The parser takes hostile input: whatever the bytes, the answer is an entry that equals what was encoded
// under this very key, or a reason why not. This format is persisted; another layout is another major version.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cache/aligned_buffer.h"
#include "cache/digest.h"

namespace tenon::cache {

/// Why a look-up found nothing. Persisted nowhere; the names are stable and may be shown to users.
enum class MissReason : uint8_t {
  kOff,          // no store is open
  kCold,         // never stored
  kEnvironment,  // nothing is stored for this environment: another build, processor or option
  kSize,         // shorter or longer than it says, or beyond the limits
  kHeader,       // not an entry, or a header that cannot be
  kVersion,      // of a format that this build does not read
  kChecksum,     // damaged
  kKey,          // another key under this name
  kPermission,   // not a private regular file
  kIo,           // the system failed to read it
  kRejected,     // well formed, but the caller could not use it
};
inline constexpr size_t kMissReasonCount = 11;

/// "off", "cold", "environment", "size", "header", "version", "checksum", "key", "permission", "io", "rejected".
std::string_view to_string(MissReason reason);

inline constexpr uint64_t kHeaderSize = 256;
inline constexpr uint64_t kMaxEntrySize = uint64_t{256} << 20;
inline constexpr size_t kMaxSections = 32;
inline constexpr uint16_t kFormatMajor = 1;
inline constexpr uint16_t kFormatMinor = 0;

/// A section type from its four letters: fourcc("IMG0").
constexpr uint32_t fourcc(const char (&name)[5]) {
  uint32_t type = 0;
  for (int i = 3; i >= 0; --i) type = type << 8 | static_cast<uint8_t>(name[i]);
  return type;
}

inline constexpr uint32_t kGraphKeySection = fourcc("KEYG");
inline constexpr uint32_t kEnvironmentKeySection = fourcc("KEYE");

/// One section, borrowed. The low 16 flag bits belong to the format and are zero; the rest is the owner's.
/// `alignment` is a power of two up to 64; every section lies at a multiple of 64 whatever it asks.
struct Section {
  uint32_t type = 0;
  uint32_t flags = 0;
  uint32_t alignment = 64;
  std::span<const std::byte> bytes;
};

/// The name of an entry and the bytes that it names. The environment part is best written as text, a line a field:
/// the store shows it to people.
struct EntryKey {
  Digest environment;
  Digest graph;
  std::string environment_bytes;
  std::string graph_bytes;
};

/// A key whose digests are those of its bytes.
EntryKey make_key(std::string environment_bytes, std::string graph_bytes);

/// A checked entry; owns its bytes. Spans stay valid, and 64-byte aligned, as long as the entry or what it was moved
/// to lives.
class Entry {
 public:
  /// The bytes of the first section of this type; data() is null when there is none.
  std::span<const std::byte> section(uint32_t type) const;

  /// All sections in file order, the keys included.
  std::span<const Section> sections() const { return {sections_.data(), section_count_}; }

  uint64_t size() const { return buffer_.bytes().size(); }
  uint64_t compile_cost_us() const { return compile_cost_us_; }
  uint64_t created() const { return created_; }

 private:
  friend class EntryParser;

  AlignedBuffer buffer_;
  std::array<Section, kMaxSections> sections_{};
  size_t section_count_ = 0;
  uint64_t compile_cost_us_ = 0;
  uint64_t created_ = 0;
};

/// The file image of an entry. `created` is in seconds since 1970, or 0 where bytes must be reproducible. Empty when
/// the sections break the limits above (more than 30, a bad alignment or flag, more than 256 MiB in all).
std::vector<std::byte> encode_entry(const EntryKey& key, std::span<const Section> sections, uint64_t compile_cost_us,
                                    uint64_t created);

/// Checks and opens the image in `bytes`. Touches nothing outside `bytes`, allocates nothing, never throws.
std::variant<Entry, MissReason> decode_entry(AlignedBuffer bytes, const EntryKey& key);

/// What the first bytes of an image, unchecked, say that compiling it took; 0 when there are too few. For eviction.
uint64_t peek_compile_cost_us(std::span<const std::byte> head);

/// How many first bytes peek_compile_cost_us() needs.
inline constexpr size_t kPeekSize = 80;

}  // namespace tenon::cache
