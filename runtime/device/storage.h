// SPDX-License-Identifier: MIT
// A counted block of device memory, shared by the tensors that view it.
//
// Blocks come from the device's caching allocator or wrap memory of the user's (with a deleter). Contents may be read by
// many; only a program that owns the single reference may write.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace tenon::device {

struct Storage {
  std::atomic<std::size_t> references{1};
  void* data = nullptr;
  std::size_t bytes = 0;
  void (*free)(Storage* self) = nullptr;  ///< releases data and self
  void* context = nullptr;                ///< belongs to `free`
};

class StorageRef {
 public:
  StorageRef() = default;
  explicit StorageRef(Storage* adopted) : storage_(adopted) {}
  StorageRef(const StorageRef& other) : storage_(other.storage_) {
    if (storage_) storage_->references.fetch_add(1, std::memory_order_relaxed);
  }
  StorageRef(StorageRef&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  StorageRef& operator=(StorageRef other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~StorageRef() {
    if (storage_ && storage_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) storage_->free(storage_);
  }
  Storage* operator->() const { return storage_; }
  Storage* get() const { return storage_; }
  explicit operator bool() const { return storage_ != nullptr; }

 private:
  Storage* storage_ = nullptr;
};

}  // namespace tenon::device
