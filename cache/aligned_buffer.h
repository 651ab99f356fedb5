// SPDX-License-Identifier: MIT
//
// Bytes of a size fixed at birth, aligned to 64, owned by one holder: what a cache entry is read into, so that its
// sections, which are 64-byte aligned in the file, are so in memory too.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace tenon::cache {

class AlignedBuffer {
 public:
  static constexpr size_t kAlignment = 64;

  AlignedBuffer() = default;

  /// `size` uninitialised bytes; is_valid() is false when there is no memory for them. Never throws.
  explicit AlignedBuffer(size_t size)
      : data_(static_cast<std::byte*>(::operator new(size, std::align_val_t{kAlignment}, std::nothrow))), size_(size) {}

  /// A copy of `bytes`.
  static AlignedBuffer copy_of(std::span<const std::byte> bytes) {
    AlignedBuffer buffer(bytes.size());
    if (buffer.is_valid() && !bytes.empty()) std::memcpy(buffer.data_.get(), bytes.data(), bytes.size());
    return buffer;
  }

  bool is_valid() const { return data_ != nullptr; }
  std::span<std::byte> bytes() { return {data_.get(), size_}; }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const { ::operator delete(data, std::align_val_t{kAlignment}); }
  };

  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

}  // namespace tenon::cache
