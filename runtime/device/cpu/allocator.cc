// SPDX-License-Identifier: MIT
// See allocator.h. Sizes round up to four steps a power of two; each class has a list of free blocks.
#include "runtime/device/cpu/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace tenon::device {
namespace {

constexpr std::size_t kSmallest = 256;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMaxBytes = std::size_t{1} << 46;
constexpr int kClasses = 4 * 47;

/// Class of a size: which quarter of which power of two holds it.
int class_of(std::size_t bytes) {
  const std::size_t n = std::max(bytes, kSmallest) - 1;
  const int power = std::bit_width(n) - 1;
  const int quarter = static_cast<int>((n >> (power - 2)) & 3);
  return power * 4 + quarter;
}

std::size_t size_of_class(int c) {
  const int power = c / 4, quarter = c % 4;
  return (std::size_t{4} + static_cast<std::size_t>(quarter) + 1) << (power - 2);
}

struct Pool {
  std::mutex mutex;
  std::array<std::vector<Storage*>, kClasses> kept;
  AllocatorStats stats;
  std::int64_t max_kept = sysconf(_SC_PHYS_PAGES) / 4 * sysconf(_SC_PAGESIZE);
};

// Leaked: tensors in statics may be freed after this file's statics.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

void free_to_system(Storage* s) {
  std::free(s->data);
  delete s;
}

void free_block(Storage* s) {
  Pool& p = pool();
  const int c = class_of(s->bytes);
  const auto size = static_cast<std::int64_t>(size_of_class(c));
  {
    const std::lock_guard lock(p.mutex);
    p.stats.live_bytes -= size;
    if (p.stats.kept_bytes + size <= p.max_kept) {
      p.stats.kept_bytes += size;
      p.kept[static_cast<std::size_t>(c)].push_back(s);
      return;
    }
  }
  free_to_system(s);
}

Storage* new_block(std::size_t size) {
  const std::size_t alignment = size >= kHugePage ? kHugePage : 64;
  void* data = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!data) return nullptr;
  if (size >= kHugePage) madvise(data, size, MADV_HUGEPAGE);
  auto* s = new (std::nothrow) Storage;
  if (!s) {
    std::free(data);
    return nullptr;
  }
  s->data = data;
  s->free = free_block;
  return s;
}

Storage* take_kept(Pool& p, int c) {
  const std::lock_guard lock(p.mutex);
  const auto size = static_cast<std::int64_t>(size_of_class(c));
  p.stats.live_bytes += size;
  p.stats.peak_bytes = std::max(p.stats.peak_bytes, p.stats.live_bytes);
  auto& list = p.kept[static_cast<std::size_t>(c)];
  if (list.empty()) return nullptr;
  Storage* s = list.back();
  list.pop_back();
  p.stats.kept_bytes -= size;
  return s;
}

}  // namespace

StorageRef allocate(std::size_t bytes) {
  if (bytes > kMaxBytes) return {};
  const int c = class_of(bytes);
  Pool& p = pool();
  Storage* s = take_kept(p, c);
  if (!s) s = new_block(size_of_class(c));
  if (!s) {
    release_kept_memory();
    s = new_block(size_of_class(c));
  }
  if (!s) {
    const std::lock_guard lock(p.mutex);
    p.stats.live_bytes -= static_cast<std::int64_t>(size_of_class(c));
    return {};
  }
  s->references = 1;
  s->bytes = std::max(bytes, kSmallest);
  return StorageRef(s);
}

StorageRef wrap(void* data, std::size_t bytes, void (*free_data)(void*), void* context) {
  struct Wrapped : Storage {
    void (*free_data)(void*);
  };
  auto* s = new Wrapped;
  s->data = data;
  s->bytes = bytes;
  s->context = context;
  s->free_data = free_data;
  s->free = [](Storage* self) {
    auto* w = static_cast<Wrapped*>(self);
    if (w->free_data) w->free_data(w->context);
    delete w;
  };
  return StorageRef(s);
}

AllocatorStats allocator_stats() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  return p.stats;
}

void release_kept_memory() {
  Pool& p = pool();
  std::vector<Storage*> all;
  {
    const std::lock_guard lock(p.mutex);
    for (auto& list : p.kept) {
      all.insert(all.end(), list.begin(), list.end());
      list.clear();
    }
    p.stats.kept_bytes = 0;
  }
  for (Storage* s : all) free_to_system(s);
}

}  // namespace tenon::device
