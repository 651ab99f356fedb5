// SPDX-License-Identifier: MIT
//
// A page that the kernel zeroes in a child, and a counter that the child inherits: zero means that the counter has to
// move on. Where the kernel has no such pages, the process id answers, at the cost of a system call.
#include "cache/fork_generation.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace tenon::cache {
namespace {

using Cell = std::atomic<uint64_t>;

std::atomic<uint64_t> last_generation{0};

Cell* map_wiped_cell() {
  const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, size, MADV_WIPEONFORK) == 0) return new (page) Cell(0);
  munmap(page, size);
  return nullptr;
}

}  // namespace

uint64_t fork_generation() {
  static Cell* const cell = map_wiped_cell();
  if (cell == nullptr) return static_cast<uint64_t>(getpid());
  uint64_t generation = cell->load(std::memory_order_relaxed);
  if (generation != 0) return generation;
  const uint64_t next = last_generation.fetch_add(1, std::memory_order_relaxed) + 1;
  return cell->compare_exchange_strong(generation, next, std::memory_order_relaxed) ? next : generation;
}

}  // namespace tenon::cache
