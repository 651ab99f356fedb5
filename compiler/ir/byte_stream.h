// SPDX-License-Identifier: MIT
// Fixed-width little-endian values in bytes: a writer, and a reader that never leaves its bytes.
//
// A reader that meets the end fails once and for all: every later value is zero and ok() is false, so a decoder may
// check in a few places. Counts are checked against the bytes that are left before anything is allocated.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"

namespace tenon {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie in memory");

class ByteWriter {
 public:
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) {
    put_raw(&value, sizeof value);
  }
  void put_raw(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  /// A 32-bit count and the values.
  void put_list(absl::Span<const std::int64_t> values) {
    put(static_cast<std::uint32_t>(values.size()));
    put_raw(values.data(), values.size() * sizeof(std::int64_t));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(absl::Span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }
  void fail() {
    ok_ = false;
    bytes_ = {};
  }

  template <class T>
    requires std::is_arithmetic_v<T>
  T get() {
    T value{};
    get_raw(&value, sizeof value);
    return value;
  }
  /// An enumerator below `count`, stored in E's width.
  template <class E>
  E get_enum(std::int64_t count) {
    const auto value = get<std::underlying_type_t<E>>();
    if (static_cast<std::int64_t>(value) < 0 || static_cast<std::int64_t>(value) >= count) {
      fail();
      return E{};
    }
    return static_cast<E>(value);
  }
  bool get_bool() {
    const auto value = get<std::uint8_t>();
    if (value > 1) fail();
    return value == 1;
  }
  /// A 32-bit count of things that take at least `least_size` bytes each.
  std::size_t get_count(std::size_t least_size) {
    const std::size_t count = get<std::uint32_t>();
    if (count > bytes_.size() / least_size) {
      fail();
      return 0;
    }
    return count;
  }
  /// What put_list wrote; List has resize and data.
  template <class List>
  void get_list(List* out) {
    out->resize(get_count(sizeof(std::int64_t)));
    get_raw(out->data(), out->size() * sizeof(std::int64_t));
  }
  void get_raw(void* out, std::size_t size) {
    if (size > bytes_.size()) return fail();
    if (size != 0) std::memcpy(out, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }

 private:
  absl::Span<const std::byte> bytes_;
  bool ok_ = true;
};

}  // namespace tenon
