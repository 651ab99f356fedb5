// SPDX-License-Identifier: MIT
// Mapping of flat images. One mapping an image: the text, readable and executable, then on the next page the data,
// read-only. The slots are filled in the copy before it is protected.
#include "runtime/device/cpu/image_loader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/flat_image.h"
#include "runtime/device/cpu/image_imports.h"

namespace tenon::device {
namespace {

std::byte* map(std::size_t size, int protection, int flags, int file) {
  void* at = ::mmap(nullptr, size, protection, flags, file, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

std::size_t page_aligned(std::size_t size) { return FlatImage::data_offset(size); }

std::size_t size_in_memory(const FlatImage& image) {
  return page_aligned(FlatImage::data_offset(image.text.size()) + image.data.size());
}

void fill(const FlatImage& image, std::byte* to) {
  std::memcpy(to, image.text.data(), image.text.size());
  std::byte* data = to + FlatImage::data_offset(image.text.size());
  if (!image.data.empty()) std::memcpy(data, image.data.data(), image.data.size());
  for (const FlatImage::Import& import : image.imports) {
    const std::uint64_t address = address_of(import.id);
    std::memcpy(data + import.slot, &address, sizeof(address));
  }
}

bool protect_data(const FlatImage& image, std::byte* base, std::size_t size) {
  const std::size_t data = FlatImage::data_offset(image.text.size());
  return data == size || ::mprotect(base + data, size - data, PROT_READ) == 0;
}

absl::Status failure(const char* step) {
  const int error = errno;
  const std::string text = absl::StrCat("cannot load code: ", step, ": ", std::strerror(error));
  return error == ENOMEM ? absl::ResourceExhaustedError(text) : absl::PermissionDeniedError(text);
}

// Write, then make executable: the fast way, which hardened systems deny.
absl::StatusOr<std::byte*> map_anonymous(const FlatImage& image, std::size_t size) {
  std::byte* base = map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
  if (base == nullptr) return failure("mmap");
  fill(image, base);
  const std::size_t text = FlatImage::data_offset(image.text.size());
  if (::mprotect(base, text, PROT_READ | PROT_EXEC) == 0 && protect_data(image, base, size)) return base;
  const absl::Status status = failure("mprotect");
  ::munmap(base, size);
  return status;
}

// Write into an anonymous file, then map that executable: memory that was never writable.
absl::StatusOr<std::byte*> map_file(const FlatImage& image, std::size_t size) {
  const int file = ::memfd_create("tenon-code", MFD_CLOEXEC);
  if (file < 0) return failure("memfd_create");
  absl::StatusOr<std::byte*> result = nullptr;
  std::byte* writable = nullptr;
  if (::ftruncate(file, static_cast<off_t>(size)) != 0 ||
      (writable = map(size, PROT_READ | PROT_WRITE, MAP_SHARED, file)) == nullptr) {
    result = failure("anonymous file");
  } else {
    fill(image, writable);
    ::munmap(writable, size);
    std::byte* base = map(size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file);
    result = base != nullptr && protect_data(image, base, size) ? absl::StatusOr<std::byte*>(base)
                                                                : failure("executable mapping");
    if (base != nullptr && !result.ok()) ::munmap(base, size);
  }
  ::close(file);
  return result;
}

absl::StatusOr<std::byte*> map_image(const FlatImage& image, std::size_t size) {
  absl::StatusOr<std::byte*> base = map_anonymous(image, size);
  return absl::IsPermissionDenied(base.status()) ? map_file(image, size) : base;
}

}  // namespace

absl::StatusOr<LoadedImage> LoadedImage::load(std::span<const std::byte> stored) {
  absl::StatusOr<FlatImage> image = parse_flat_image(stored);
  if (!image.ok()) return image.status();
  LoadedImage loaded;
  loaded.symbols_.reserve(image->symbols.size());
  for (const FlatImage::Symbol& symbol : image->symbols)
    loaded.symbols_.push_back({std::string(symbol.name), symbol.offset});
  const std::size_t size = size_in_memory(*image);
  absl::StatusOr<std::byte*> base = map_image(*image, size);
  if (!base.ok()) return base.status();
  loaded.base_ = *base;
  loaded.size_ = size;
  return loaded;
}

LoadedImage::LoadedImage(LoadedImage&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      symbols_(std::move(other.symbols_)) {}

LoadedImage& LoadedImage::operator=(LoadedImage&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  std::swap(symbols_, other.symbols_);
  return *this;
}

LoadedImage::~LoadedImage() {
  if (base_ != nullptr) ::munmap(base_, size_);
}

void* LoadedImage::find(std::string_view symbol) const {
  const auto at = std::lower_bound(symbols_.begin(), symbols_.end(), symbol,
                                   [](const Symbol& s, std::string_view name) { return s.name < name; });
  return at != symbols_.end() && at->name == symbol ? base_ + at->offset : nullptr;
}

}  // namespace tenon::device
