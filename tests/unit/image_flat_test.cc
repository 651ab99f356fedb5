// SPDX-License-Identifier: MIT
// The stored form of a flat image: what is written is read back, and nothing malformed is accepted or crashes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

#include "compiler/flat_image.h"

namespace tenon {
namespace {

std::vector<std::byte> bytes_of(std::size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed));
  return bytes;
}

class FlatImageForm : public ::testing::Test {
 protected:
  FlatImageForm() : text_(bytes_of(100, 1)), data_(bytes_of(72, 3)) {
    for (std::size_t slot : {8, 40}) std::fill_n(&data_[slot], 8, std::byte{});
  }

  FlatImage image() const {
    return {text_, data_, {{"run", 64}, {"init", 0}}, {{40, ImportId::kFmodf}, {8, ImportId::kMemset}}};
  }
  std::vector<std::byte> stored() const { return serialize_flat_image(image()).value(); }

  std::vector<std::byte> text_, data_;
};

bool same(const FlatImage& a, const FlatImage& b) {
  const auto symbols = [](const auto& x, const auto& y) { return x.name == y.name && x.offset == y.offset; };
  const auto imports = [](const auto& x, const auto& y) { return x.slot == y.slot && x.id == y.id; };
  return std::ranges::equal(a.text, b.text) && std::ranges::equal(a.data, b.data) &&
         std::ranges::equal(a.symbols, b.symbols, symbols) && std::ranges::equal(a.imports, b.imports, imports);
}

TEST_F(FlatImageForm, ReadsBackWhatWasWritten) {
  const auto bytes = stored();
  const auto read = parse_flat_image(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  FlatImage expected = image();
  std::swap(expected.symbols[0], expected.symbols[1]);
  std::swap(expected.imports[0], expected.imports[1]);
  EXPECT_TRUE(same(*read, expected));
}

TEST_F(FlatImageForm, OrderOfTablesDoesNotMatter) {
  FlatImage other = image();
  std::swap(other.symbols[0], other.symbols[1]);
  std::swap(other.imports[0], other.imports[1]);
  EXPECT_EQ(serialize_flat_image(other).value(), stored());
}

TEST_F(FlatImageForm, EveryTruncationIsAnError) {
  const auto bytes = stored();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> shorter(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(parse_flat_image(shorter).ok()) << size;
  }
}

TEST_F(FlatImageForm, AppendedBytesAreAnError) {
  auto bytes = stored();
  bytes.push_back(std::byte{});
  EXPECT_FALSE(parse_flat_image(bytes).ok());
}

// What is accepted must be a valid image: writing it again gives the very bytes.
void expect_rejected_or_exact(const std::vector<std::byte>& bytes) {
  const auto read = parse_flat_image(bytes);
  if (!read.ok()) return;
  const auto again = serialize_flat_image(*read);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, bytes);
}

TEST_F(FlatImageForm, EveryBitFlipIsRejectedOrAnotherValidImage) {
  const auto good = stored();
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bytes = good;
    bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    expect_rejected_or_exact(bytes);
  }
}

TEST_F(FlatImageForm, RandomDamageIsRejectedOrAnotherValidImage) {
  std::mt19937 random(7);
  const auto good = stored();
  const std::size_t table_end = good.size() - data_.size() - 128;
  for (int trial = 0; trial < 20000; ++trial) {
    auto bytes = good;
    bytes.resize(random() % 4 == 0 ? random() % (2 * good.size()) : good.size());
    for (int i = 0; i < 4 && !bytes.empty(); ++i) {
      const std::size_t at = random() % std::min(bytes.size(), random() % 2 == 0 ? table_end : bytes.size());
      bytes[at] = static_cast<std::byte>(random() % 2 == 0 ? random() : 0xff);
    }
    expect_rejected_or_exact(bytes);
  }
}

TEST_F(FlatImageForm, WriterKeepsTheRules) {
  const auto refused = [this](auto change) {
    FlatImage broken = image();
    change(broken);
    return !serialize_flat_image(broken).ok();
  };
  EXPECT_TRUE(refused([](FlatImage& i) { i.text = {}; })) << "no text";
  EXPECT_TRUE(refused([](FlatImage& i) { i.symbols[0].offset = 100; })) << "symbol beyond the text";
  EXPECT_TRUE(refused([](FlatImage& i) { i.symbols[0].name = "init"; })) << "one name twice";
  EXPECT_TRUE(refused([](FlatImage& i) { i.symbols[0].name = ""; })) << "no name";
  EXPECT_TRUE(refused([](FlatImage& i) { i.imports[0].slot = 12; })) << "overlapping slots";
  EXPECT_TRUE(refused([](FlatImage& i) { i.imports[0].slot = 72; })) << "slot beyond the data";
  EXPECT_TRUE(refused([](FlatImage& i) { i.imports[0].slot = 48; })) << "slot not empty";
  EXPECT_TRUE(refused([](FlatImage& i) { i.imports[0].id = static_cast<ImportId>(kNumImports); })) << "unknown import";
}

TEST_F(FlatImageForm, ImportsAreAnAllowList) {
  EXPECT_EQ(import_of("fmodf"), ImportId::kFmodf);
  EXPECT_EQ(import_of("__truncdfhf2"), ImportId::kFloat64ToFloat16);
  for (const char* name : {"", "system", "fmodl", "fmodf ", "sinf", "malloc"}) EXPECT_EQ(import_of(name), std::nullopt);
}

}  // namespace
}  // namespace tenon
