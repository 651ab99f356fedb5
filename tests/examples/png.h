// SPDX-License-Identifier: MIT
// Writes 8-bit RGB pictures as PNG files, uncompressed (deflate's stored blocks), so that it needs no library.
//
// Formats: PNG (ISO/IEC 15948), zlib (RFC 1950), deflate (RFC 1951).
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace png {

using Bytes = std::vector<std::uint8_t>;

inline void append_u32(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

/// CRC-32 of PNG's annex D.
inline std::uint32_t crc32(const std::uint8_t* data, std::size_t size) {
  std::uint32_t crc = ~0u;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

inline std::uint32_t adler32(const Bytes& data) {
  std::uint32_t a = 1, b = 0;
  for (const std::uint8_t byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

/// A chunk: length, type, body, and the CRC of type and body.
inline void append_chunk(Bytes& out, const char (&type)[5], const Bytes& body) {
  append_u32(out, static_cast<std::uint32_t>(body.size()));
  const std::size_t start = out.size();
  out.insert(out.end(), type, type + 4);
  out.insert(out.end(), body.begin(), body.end());
  append_u32(out, crc32(out.data() + start, out.size() - start));
}

/// A zlib stream of stored blocks, which hold at most 65,535 bytes each.
inline Bytes store(const Bytes& data) {
  Bytes out = {0x78, 0x01};
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t size = std::min<std::size_t>(data.size() - at, 65535);
    const auto low = static_cast<std::uint8_t>(size), high = static_cast<std::uint8_t>(size >> 8);
    const bool is_last = at + size == data.size();
    for (const int byte : {int{is_last}, int{low}, int{high}, ~low, ~high})
      out.push_back(static_cast<std::uint8_t>(byte));
    out.insert(out.end(), data.begin() + at, data.begin() + at + size);
    at += size;
  }
  append_u32(out, adler32(data));
  return out;
}

/// Writes `height` rows of `width` pixels of three bytes each. Returns whether the file could be written.
inline bool write(const std::string& path, const std::uint8_t* rgb, std::uint32_t width, std::uint32_t height) {
  Bytes rows;
  for (std::uint32_t y = 0; y < height; ++y) {
    rows.push_back(0);  // the row is stored without a filter
    rows.insert(rows.end(), rgb + std::size_t{y} * width * 3, rgb + std::size_t{y + 1} * width * 3);
  }
  Bytes header;
  append_u32(header, width);
  append_u32(header, height);
  header.insert(header.end(), {8, 2, 0, 0, 0});  // 8 bits a channel, RGB, the only compression and filter, no interlace
  Bytes out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  append_chunk(out, "IHDR", header);
  append_chunk(out, "IDAT", store(rows));
  append_chunk(out, "IEND", {});
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size()));
  return file.good();
}

}  // namespace png
