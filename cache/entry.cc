// SPDX-License-Identifier: MIT
//
// Encoder and parser of the entry format. Numbers are little-endian and read by memcpy at fixed offsets; the parser
// uses a length only after the checksum that covers it, and bounds it even then.
#include "cache/entry.h"

#include <bit>
#include <cstring>
#include <optional>
#include <utility>

namespace tenon::cache {
namespace {

static_assert(std::endian::native == std::endian::little, "the entry format is little-endian");

using Bytes = std::span<const std::byte>;

// The last byte is the byte-order mark: L, little-endian.
constexpr char kMagic[8] = {'T', 'N', 'N', '\r', '\n', '\x1a', '\0', 'L'};

constexpr size_t kMajorAt = 8;
constexpr size_t kMinorAt = 10;
constexpr size_t kHeaderSizeAt = 12;
constexpr size_t kFileSizeAt = 16;
constexpr size_t kEnvironmentAt = 24;
constexpr size_t kGraphAt = 40;
constexpr size_t kSectionCountAt = 60;
constexpr size_t kCreatedAt = 64;
constexpr size_t kCostAt = 72;
constexpr size_t kRawLimitAt = 80;
constexpr size_t kHeaderChecksumAt = 224;
constexpr size_t kPayloadChecksumAt = 240;

constexpr size_t kSectionRecord = 40;  // type, flags, offset, size, raw size, alignment, zero
constexpr uint32_t kFormatFlags = 0xffff;

constexpr uint64_t align_up(uint64_t value) {
  return (value + AlignedBuffer::kAlignment - 1) & ~uint64_t{AlignedBuffer::kAlignment - 1};
}

template <typename T>
T load(Bytes bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <typename T>
void store(std::span<std::byte> bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

void store_digest(std::span<std::byte> bytes, size_t at, const Digest& value) {
  store(bytes, at, value.hi);
  store(bytes, at + 8, value.lo);
}

Digest load_digest(Bytes bytes, size_t at) { return {load<uint64_t>(bytes, at), load<uint64_t>(bytes, at + 8)}; }

// Of everything up to the end of the table but the checksum itself.
Digest header_checksum(Bytes image, size_t table_end) {
  std::array<std::byte, kHeaderSize + kMaxSections * kSectionRecord> covered;
  const size_t rest = table_end - kPayloadChecksumAt;
  std::memcpy(covered.data(), image.data(), kHeaderChecksumAt);
  std::memcpy(covered.data() + kHeaderChecksumAt, image.data() + kPayloadChecksumAt, rest);
  return digest(Bytes(covered.data(), kHeaderChecksumAt + rest), Seed::kChecksum);
}

bool is_well_formed(const Section& section) {
  return std::has_single_bit(section.alignment) && section.alignment <= AlignedBuffer::kAlignment &&
         (section.flags & kFormatFlags) == 0 && section.bytes.size() <= kMaxEntrySize;
}

Section key_section(uint32_t type, std::string_view bytes) { return {type, 0, 1, std::as_bytes(std::span(bytes))}; }

// The two key sections, then the caller's.
std::vector<Section> with_keys(const EntryKey& key, std::span<const Section> sections) {
  std::vector<Section> all = {key_section(kGraphKeySection, key.graph_bytes),
                              key_section(kEnvironmentKeySection, key.environment_bytes)};
  all.insert(all.end(), sections.begin(), sections.end());
  return all;
}

// The size of the whole image, or 0 when the sections break a limit.
uint64_t image_size(std::span<const Section> sections) {
  if (sections.size() > kMaxSections) return 0;
  uint64_t size = kHeaderSize + sections.size() * kSectionRecord;
  for (const Section& section : sections) {
    if (!is_well_formed(section)) return 0;
    size = align_up(size) + section.bytes.size();
  }
  return size <= kMaxEntrySize ? size : 0;
}

// Writes table and payload; returns the sum of the sections' sizes.
uint64_t store_sections(std::span<std::byte> image, std::span<const Section> sections) {
  uint64_t raw_bytes = 0;
  uint64_t end = kHeaderSize + sections.size() * kSectionRecord;
  size_t record = kHeaderSize;
  for (const Section& section : sections) {
    const uint64_t offset = align_up(end);
    const uint64_t size = section.bytes.size();
    store(image, record, section.type);
    store(image, record + 4, section.flags);
    store(image, record + 8, offset);
    store(image, record + 16, size);
    store(image, record + 24, size);
    store(image, record + 32, section.alignment);
    if (size != 0) std::memcpy(image.data() + offset, section.bytes.data(), size);
    record += kSectionRecord;
    end = offset + size;
    raw_bytes += size;
  }
  return raw_bytes;
}

bool equals(Bytes bytes, std::string_view expected) {
  return bytes.data() != nullptr && bytes.size() == expected.size() &&
         std::memcmp(bytes.data(), expected.data(), expected.size()) == 0;
}

}  // namespace

// The checks, in the order in which they must be made; each names the reason when it fails.
class EntryParser {
 public:
  EntryParser(AlignedBuffer buffer, const EntryKey& key) : key_(key) {
    entry_.buffer_ = std::move(buffer);
    image_ = std::as_const(entry_.buffer_).bytes();
  }

  std::variant<Entry, MissReason> parse() {
    for (const auto check : {&EntryParser::check_frame, &EntryParser::check_header, &EntryParser::check_payload,
                             &EntryParser::read_sections, &EntryParser::check_keys}) {
      if (const std::optional<MissReason> reason = (this->*check)()) return *reason;
    }
    entry_.created_ = load<uint64_t>(image_, kCreatedAt);
    entry_.compile_cost_us_ = load<uint64_t>(image_, kCostAt);
    return std::move(entry_);
  }

 private:
  using Verdict = std::optional<MissReason>;

  // What must hold before the header checksum can be computed.
  Verdict check_frame() {
    if (image_.data() == nullptr || image_.size() < kHeaderSize || image_.size() > kMaxEntrySize) {
      return MissReason::kSize;
    }
    if (std::memcmp(image_.data(), kMagic, sizeof(kMagic)) != 0) return MissReason::kHeader;
    if (load<uint16_t>(image_, kMajorAt) != kFormatMajor) return MissReason::kVersion;
    if (load<uint32_t>(image_, kHeaderSizeAt) != kHeaderSize) return MissReason::kHeader;
    const uint32_t count = load<uint32_t>(image_, kSectionCountAt);
    if (count > kMaxSections) return MissReason::kHeader;
    table_end_ = kHeaderSize + count * kSectionRecord;
    if (image_.size() < table_end_) return MissReason::kSize;
    entry_.section_count_ = count;
    return {};
  }

  Verdict check_header() {
    if (load_digest(image_, kHeaderChecksumAt) != header_checksum(image_, table_end_)) return MissReason::kChecksum;
    if (load<uint64_t>(image_, kFileSizeAt) != image_.size()) return MissReason::kSize;
    if (load<uint64_t>(image_, kRawLimitAt) > kMaxEntrySize) return MissReason::kSize;
    if (load_digest(image_, kEnvironmentAt) != key_.environment) return MissReason::kKey;
    if (load_digest(image_, kGraphAt) != key_.graph) return MissReason::kKey;
    return {};
  }

  Verdict check_payload() {
    const Digest payload = digest(image_.subspan(table_end_), Seed::kChecksum);
    if (load_digest(image_, kPayloadChecksumAt) != payload) return MissReason::kChecksum;
    return {};
  }

  Verdict read_sections() {
    uint64_t end = table_end_;
    uint64_t raw_bytes = 0;
    for (size_t i = 0; i < entry_.section_count_; ++i) {
      const size_t record = kHeaderSize + i * kSectionRecord;
      const uint64_t offset = load<uint64_t>(image_, record + 8);
      const uint64_t size = load<uint64_t>(image_, record + 16);
      if (offset % AlignedBuffer::kAlignment != 0 || offset < end || offset > image_.size()) return MissReason::kHeader;
      if (size > image_.size() - offset || load<uint64_t>(image_, record + 24) != size) return MissReason::kHeader;
      entry_.sections_[i] = {load<uint32_t>(image_, record), load<uint32_t>(image_, record + 4),
                             load<uint32_t>(image_, record + 32), image_.subspan(offset, size)};
      if (!is_well_formed(entry_.sections_[i])) return MissReason::kHeader;
      end = offset + size;
      raw_bytes += size;
    }
    if (end != image_.size()) return MissReason::kSize;
    if (raw_bytes > load<uint64_t>(image_, kRawLimitAt)) return MissReason::kSize;
    return {};
  }

  Verdict check_keys() {
    if (!equals(entry_.section(kGraphKeySection), key_.graph_bytes)) return MissReason::kKey;
    if (!equals(entry_.section(kEnvironmentKeySection), key_.environment_bytes)) return MissReason::kKey;
    return {};
  }

  const EntryKey& key_;
  Entry entry_;
  Bytes image_;
  size_t table_end_ = 0;
};

std::string_view to_string(MissReason reason) {
  static constexpr std::array<std::string_view, kMissReasonCount> kNames = {
      "off", "cold", "environment", "size", "header", "version", "checksum", "key", "permission", "io", "rejected"};
  return kNames[static_cast<size_t>(reason)];
}

EntryKey make_key(std::string environment_bytes, std::string graph_bytes) {
  const Digest environment = digest(environment_bytes, Seed::kEnvironment);
  const Digest graph = digest(graph_bytes, Seed::kGraph);
  return {environment, graph, std::move(environment_bytes), std::move(graph_bytes)};
}

std::span<const std::byte> Entry::section(uint32_t type) const {
  for (const Section& section : sections()) {
    if (section.type == type) return section.bytes;
  }
  return {};
}

std::vector<std::byte> encode_entry(const EntryKey& key, std::span<const Section> sections, uint64_t compile_cost_us,
                                    uint64_t created) {
  const std::vector<Section> all = with_keys(key, sections);
  const uint64_t size = image_size(all);
  if (size == 0) return {};
  std::vector<std::byte> bytes(size);
  const std::span<std::byte> image(bytes);
  const size_t table_end = kHeaderSize + all.size() * kSectionRecord;
  std::memcpy(image.data(), kMagic, sizeof(kMagic));
  store(image, kMajorAt, kFormatMajor);
  store(image, kMinorAt, kFormatMinor);
  store(image, kHeaderSizeAt, static_cast<uint32_t>(kHeaderSize));
  store(image, kFileSizeAt, size);
  store_digest(image, kEnvironmentAt, key.environment);
  store_digest(image, kGraphAt, key.graph);
  store(image, kSectionCountAt, static_cast<uint32_t>(all.size()));
  store(image, kCreatedAt, created);
  store(image, kCostAt, compile_cost_us);
  store(image, kRawLimitAt, store_sections(image, all));
  store_digest(image, kPayloadChecksumAt, digest(image.subspan(table_end), Seed::kChecksum));
  store_digest(image, kHeaderChecksumAt, header_checksum(image, table_end));
  return bytes;
}

std::variant<Entry, MissReason> decode_entry(AlignedBuffer bytes, const EntryKey& key) {
  return EntryParser(std::move(bytes), key).parse();
}

uint64_t peek_compile_cost_us(std::span<const std::byte> head) {
  return head.size() < kPeekSize ? 0 : load<uint64_t>(head, kCostAt);
}

}  // namespace tenon::cache
