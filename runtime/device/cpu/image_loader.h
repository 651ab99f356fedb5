// SPDX-License-Identifier: MIT
// Loading of flat images: from stored bytes (compiler/flat_image.h) to callable functions, in microseconds.
//
// Memory is never writable and executable at once: it is filled, then protected. Where the system denies making written
// memory executable, the image goes through an anonymous file instead. The loader checks the form of an image, not its
// code: only bytes that this user's compiler wrote, and whose checksum held, may be given to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::device {

/// A program's code in memory. Movable; the functions live as long as the object. Const members are thread-safe.
class LoadedImage {
 public:
  /// Maps a private copy of the image and fills its import slots. InvalidArgument if the bytes are malformed;
  /// PermissionDenied if the system allows no new executable memory (the caller then interprets); ResourceExhausted
  /// if there is no memory.
  static absl::StatusOr<LoadedImage> load(std::span<const std::byte> stored);

  LoadedImage(LoadedImage&& other) noexcept;
  LoadedImage& operator=(LoadedImage&& other) noexcept;
  ~LoadedImage();

  /// The function's address, or null if the image has none of this name.
  void* find(std::string_view symbol) const;

  /// As find, as a pointer to function: `find_as<float(float)>("f")`.
  template <class Function>
  Function* find_as(std::string_view symbol) const {
    return reinterpret_cast<Function*>(find(symbol));
  }

  /// Bytes of address space held.
  std::size_t mapped_bytes() const { return size_; }

 private:
  struct Symbol {
    std::string name;
    std::uint32_t offset;
  };
  LoadedImage() = default;

  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Symbol> symbols_;  // ascending by name
};

}  // namespace tenon::device
