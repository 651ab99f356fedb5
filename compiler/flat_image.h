// SPDX-License-Identifier: MIT
// A flat image: the linked machine code of one program as position-independent bytes, and their stored form.
//
// Code generation writes it and the runtime's loader reads it, so this file knows neither LLVM nor memory protection.
// Inside an image every reference is relative to the instruction pointer; what lies outside (fmod, memset ...) is
// reached through 8-byte import slots, which the loader fills. The stored form is persisted: a change of it, or of an
// ImportId, is a new kFlatImageVersion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon {

inline constexpr std::uint32_t kFlatImageVersion = 1;
/// The data part begins at the first multiple of this after the text part, both in memory and for every reference.
inline constexpr std::size_t kImagePage = 4096;
/// Each of the two parts is smaller than this.
inline constexpr std::size_t kMaxImagePart = std::size_t{1} << 28;

/// The functions an image may call. Numbers are persisted: never renumber, only append.
enum class ImportId : std::uint32_t { kMemset, kMemcpy, kMemmove, kFmod, kFmodf, kFloat64ToFloat16 };
inline constexpr std::uint32_t kNumImports = 6;

/// The import with this link name ("fmodf", "memcpy", ...), or nothing if images may not call it.
std::optional<ImportId> import_of(std::string_view link_name);

/// `text` is mapped readable and executable, `data` read-only at data_offset(). Both spans belong to whoever made the
/// bytes. Symbols lie in the text part, in ascending order of name; imports in ascending order of slot.
struct FlatImage {
  struct Symbol {
    std::string_view name;
    std::uint32_t offset;  // from the start of the image
  };
  struct Import {
    std::uint32_t slot;  // offset from the start of the data part of 8 aligned bytes, zero as stored
    ImportId id;
  };

  std::span<const std::byte> text;
  std::span<const std::byte> data;
  std::vector<Symbol> symbols;
  std::vector<Import> imports;

  /// Distance of the data part from the start of the image, for a text part of `text_size` bytes.
  static constexpr std::size_t data_offset(std::size_t text_size) {
    return (text_size + kImagePage - 1) / kImagePage * kImagePage;
  }
};

/// The stored form: equal images give equal bytes. Sorts symbols by name and imports by slot.
/// InvalidArgument if the image breaks one of the rules that parse_flat_image checks.
absl::StatusOr<std::vector<std::byte>> serialize_flat_image(FlatImage image);

/// Reads the stored form. The result refers into `bytes`, which must outlive it. Any malformed input, of any length, is
/// an error: every size, offset, id, order and padding byte is checked. What the code itself says is not.
absl::StatusOr<FlatImage> parse_flat_image(std::span<const std::byte> bytes);

}  // namespace tenon
