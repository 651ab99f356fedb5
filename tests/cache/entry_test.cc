// SPDX-License-Identifier: MIT
//
// An entry gives back what was put in, lies in the file as README.md says, and nothing else is ever accepted: no
// flipped bit, cut, addition or wrong key, and no header that a hostile writer has signed anew.
#include "cache/entry.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/cache/testing.h"

namespace tenon::cache {
namespace {

using Image = std::vector<std::byte>;

std::variant<Entry, MissReason> decode(const Image& image, const EntryKey& key) {
  return decode_entry(AlignedBuffer::copy_of(image), key);
}

template <typename T>
T field(const Image& image, size_t at) {
  T value;
  std::memcpy(&value, image.data() + at, sizeof(T));
  return value;
}

template <typename T>
void set_field(Image& image, size_t at, T value) {
  std::memcpy(image.data() + at, &value, sizeof(T));
}

void set_digest(Image& image, size_t at, const Digest& value) {
  set_field(image, at, value.hi);
  set_field(image, at + 8, value.lo);
}

// Makes both checksums right again, as the format describes them.
void sign(Image& image) {
  const size_t table_end = std::min<size_t>(256 + 40 * field<uint32_t>(image, 60), image.size());
  set_digest(image, 240, digest(std::span(image).subspan(table_end), Seed::kChecksum));
  Image covered(image.begin(), image.begin() + 224);
  covered.insert(covered.end(), image.begin() + 240, image.begin() + static_cast<ptrdiff_t>(table_end));
  set_digest(image, 224, digest(std::span<const std::byte>(covered), Seed::kChecksum));
}

struct Sample {
  EntryKey key = sample_key(1);
  Image image = sample_image(key, sample_value(1, 700));
};

TEST(Entry, GivesBackItsSectionsAlignedInMemory) {
  const EntryKey key = sample_key(7);
  const std::string image = "machine code";
  const std::string meta(1000, 'm');
  const Section sections[] = {{fourcc("IMG0"), 0x10000, 16, as_bytes(image)},
                              {fourcc("META"), 0, 1, as_bytes(meta)},
                              {fourcc("NOTE"), 0, 1, {}}};
  const auto answer = decode(encode_entry(key, sections, 1234, 99), key);
  const Entry* entry = entry_of(answer);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(as_text(entry->section(fourcc("IMG0"))), image);
  EXPECT_EQ(as_text(entry->section(fourcc("META"))), meta);
  EXPECT_EQ(as_text(entry->section(kGraphKeySection)), key.graph_bytes);
  EXPECT_EQ(as_text(entry->section(kEnvironmentKeySection)), key.environment_bytes);
  EXPECT_NE(entry->section(fourcc("NOTE")).data(), nullptr);
  EXPECT_EQ(entry->section(fourcc("NOPE")).data(), nullptr);
  EXPECT_EQ(entry->compile_cost_us(), 1234u);
  EXPECT_EQ(entry->created(), 99u);
  ASSERT_EQ(entry->sections().size(), 5u);
  EXPECT_EQ(entry->sections()[2].flags, 0x10000u);
  for (const Section& section : entry->sections()) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(section.bytes.data()) % 64, 0u);
  }
}

TEST(Entry, LiesInTheFileAsDocumented) {
  const Sample sample;
  const Image& image = sample.image;
  EXPECT_EQ(std::memcmp(image.data(), "TNN\r\n\x1a\0L", 8), 0);
  EXPECT_EQ(field<uint16_t>(image, 8), 1);
  EXPECT_EQ(field<uint32_t>(image, 12), 256u);
  EXPECT_EQ(field<uint64_t>(image, 16), image.size());
  EXPECT_EQ(field<uint64_t>(image, 24), sample.key.environment.hi);
  EXPECT_EQ(field<uint64_t>(image, 48), sample.key.graph.lo);
  EXPECT_EQ(field<uint32_t>(image, 60), 3u);
  EXPECT_EQ(field<uint64_t>(image, 64), 1'700'000'000u);
  EXPECT_EQ(field<uint64_t>(image, 72), 5000u);
  EXPECT_EQ(std::memcmp(image.data() + 256, "KEYG", 4), 0);
  EXPECT_EQ(std::memcmp(image.data() + 296, "KEYE", 4), 0);
  EXPECT_EQ(std::memcmp(image.data() + 336, "IMG0", 4), 0);
  EXPECT_EQ(field<uint64_t>(image, 336 + 8) % 64, 0u);
  Image signed_again = image;
  sign(signed_again);
  EXPECT_EQ(signed_again, image);
}

TEST(Entry, IsTheSameBytesForTheSameInput) { EXPECT_EQ(Sample().image, Sample().image); }

TEST(Entry, RefusesToEncodeWhatItCouldNotRead) {
  const EntryKey key = sample_key(1);
  const std::string bytes = "x";
  const auto encodes = [&](uint32_t flags, uint32_t alignment, size_t count) {
    const std::vector<Section> sections(count, Section{kValueSection, flags, alignment, as_bytes(bytes)});
    return !encode_entry(key, sections, 0, 0).empty();
  };
  EXPECT_TRUE(encodes(0, 64, 30));
  EXPECT_FALSE(encodes(0, 64, 31));
  EXPECT_FALSE(encodes(0, 128, 1));
  EXPECT_FALSE(encodes(0, 0, 1));
  EXPECT_FALSE(encodes(0, 24, 1));
  EXPECT_FALSE(encodes(1, 64, 1));
}

TEST(Entry, NoFlippedBitOfHeaderAndTableIsAccepted) {
  Sample sample;
  for (size_t bit = 0; bit < (256 + 3 * 40) * 8; ++bit) {
    sample.image[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_TRUE(miss_of(decode(sample.image, sample.key)).has_value()) << "bit " << bit;
    sample.image[bit / 8] ^= std::byte{1} << bit % 8;
  }
  EXPECT_FALSE(miss_of(decode(sample.image, sample.key)).has_value());
}

TEST(Entry, NoFlippedBitsOfThePayloadAreAccepted) {
  Sample sample;
  const size_t begin = 256 + 3 * 40;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    Image image = sample.image;
    for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
      image[begin + random() % (image.size() - begin)] ^= std::byte{1} << random() % 8;
    }
    if (image == sample.image) continue;
    EXPECT_EQ(miss_of(decode(image, sample.key)), MissReason::kChecksum);
  }
}

TEST(Entry, NoTruncationIsAccepted) {
  const Sample sample;
  for (size_t size = 0; size < sample.image.size(); ++size) {
    const Image image(sample.image.begin(), sample.image.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(miss_of(decode(image, sample.key)), MissReason::kSize) << size;
  }
}

TEST(Entry, NoAppendedByteIsAccepted) {
  Sample sample;
  for (int i = 0; i < 200; ++i) {
    sample.image.push_back(std::byte{0});
    EXPECT_EQ(miss_of(decode(sample.image, sample.key)), MissReason::kSize);
  }
}

TEST(Entry, ZerosAreNoEntry) {
  EXPECT_EQ(miss_of(decode(Image(4096), sample_key(1))), MissReason::kHeader);
  EXPECT_EQ(miss_of(decode_entry(AlignedBuffer(), sample_key(1))), MissReason::kSize);
}

TEST(Entry, AnotherKeyIsAMissEvenUnderTheSameDigests) {
  const Sample sample;
  EXPECT_EQ(miss_of(decode(sample.image, sample_key(2))), MissReason::kKey);
  EXPECT_EQ(miss_of(decode(sample.image, sample_key(1, "cpu=other\n"))), MissReason::kKey);
  EntryKey colliding_graph = sample.key;
  colliding_graph.graph_bytes.back() ^= 1;
  EXPECT_EQ(miss_of(decode(sample.image, colliding_graph)), MissReason::kKey);
  EntryKey colliding_environment = sample.key;
  colliding_environment.environment_bytes += "x";
  EXPECT_EQ(miss_of(decode(sample.image, colliding_environment)), MissReason::kKey);
}

TEST(Entry, AnotherFormatVersionIsNamed) {
  Sample sample;
  set_field<uint16_t>(sample.image, 8, 2);
  EXPECT_EQ(miss_of(decode(sample.image, sample.key)), MissReason::kVersion);
}

TEST(Entry, SignedNonsenseInTheTableIsRefused) {
  const auto refuses = [](size_t at, auto value) {
    Sample sample;
    set_field(sample.image, at, value);
    sign(sample.image);
    return miss_of(decode(sample.image, sample.key)).has_value();
  };
  constexpr size_t kThird = 336;
  EXPECT_TRUE(refuses(kThird + 8, uint64_t{256}));  // over the table
  EXPECT_TRUE(refuses(kThird + 8, uint64_t{384}));  // over another section
  EXPECT_TRUE(refuses(kThird + 8, uint64_t{513}));  // not aligned
  EXPECT_TRUE(refuses(kThird + 8, ~uint64_t{63}));  // beyond the end
  EXPECT_TRUE(refuses(kThird + 16, ~uint64_t{0}));  // size wraps
  EXPECT_TRUE(refuses(kThird + 24, uint64_t{1}));   // compressed, which version 1.0 is not
  EXPECT_TRUE(refuses(kThird + 32, uint32_t{3}));   // alignment
  EXPECT_TRUE(refuses(kThird + 4, uint32_t{1}));    // a flag of the format
  EXPECT_TRUE(refuses(60, uint32_t{33}));           // too many sections
  EXPECT_TRUE(refuses(60, uint32_t{2}));            // too few
  EXPECT_TRUE(refuses(80, uint64_t{10}));           // more bytes than the header allows
  EXPECT_TRUE(refuses(80, kMaxEntrySize + 1));      // allows too much
  EXPECT_TRUE(refuses(256, fourcc("NONE")));        // no graph key
  EXPECT_FALSE(refuses(kThird, fourcc("NONE")));    // an unknown section is none of its business
}

TEST(Entry, SignedRandomDamageNeverCrashes) {
  std::mt19937_64 random(2);
  const Sample sample;
  uint64_t touched = 0;
  for (int i = 0; i < 50'000; ++i) {
    Image image = sample.image;
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      image[8 + random() % (256 + 3 * 40 - 8)] = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 3);
    }
    sign(image);
    const auto answer = decode(image, sample.key);
    const Entry* entry = entry_of(answer);
    if (entry == nullptr) continue;
    for (const Section& section : entry->sections()) touched += digest(section.bytes, Seed::kChecksum).lo;
  }
  RecordProperty("touched", std::to_string(touched));
}

TEST(Entry, CompileCostIsReadFromTheHead) {
  const Sample sample;
  EXPECT_EQ(peek_compile_cost_us(std::span(sample.image).first(kPeekSize)), 5000u);
  EXPECT_EQ(peek_compile_cost_us(std::span(sample.image).first(kPeekSize - 1)), 0u);
}

TEST(MissReason, NamesAreStable) {
  std::string names;
  for (size_t i = 0; i < kMissReasonCount; ++i) names += std::string(to_string(static_cast<MissReason>(i))) + " ";
  EXPECT_EQ(names, "off cold environment size header version checksum key permission io rejected ");
}

}  // namespace
}  // namespace tenon::cache
