// SPDX-License-Identifier: MIT
//
// Whatever system call fails, and however, a program that uses the cache gets the results of one without, leaves
// nothing half-written under an entry's name, and the next program is well again.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/cache/testing.h"

namespace tenon::cache {
namespace {

constexpr int kKeys = 3;
constexpr std::chrono::milliseconds kLong{60'000};
constexpr int kErrors[] = {EIO,   ENOSPC, EDQUOT, EACCES, EPERM,  EROFS,   ENOENT,     EEXIST, ESTALE,
                           EINTR, EMFILE, ELOOP,  EINVAL, EISDIR, ENOTDIR, EOPNOTSUPP, EXDEV,  ENOMEM};

// What a program does: each value from the cache, or computed and published; twice. Gives all values, in order.
std::vector<std::string> run_program(FileSystem& files, const std::string& root) {
  std::vector<std::string> values;
  const auto store = DiskStore::open(files, root, Mode::kReadWrite, 2 * 4096);
  for (int i = 0; i < 2 * kKeys; ++i) {
    const EntryKey key = sample_key(i % kKeys);
    const auto answer = store->lookup(key);
    if (const Entry* entry = entry_of(answer)) {
      values.push_back(as_text(entry->section(kValueSection)));
      continue;
    }
    values.push_back(sample_value(i % kKeys));
    (void)store->publish(key, sample_image(key, values.back()));
    EXPECT_TRUE(store->drain(kLong));
  }
  store->sweep_now();
  return values;
}

std::vector<std::string> values_without_cache() {
  std::vector<std::string> values;
  for (int i = 0; i < 2 * kKeys; ++i) values.push_back(sample_value(i % kKeys));
  return values;
}

void expect_only_whole_entries(const std::string& root) {
  for (const auto& path : files_below(root, ".tenon")) {
    const std::string bytes = read_file(path);
    bool is_whole = false;
    for (int i = 0; i < kKeys; ++i) {
      is_whole |= entry_of(decode_entry(AlignedBuffer::copy_of(as_bytes(bytes)), sample_key(i))) != nullptr;
    }
    EXPECT_TRUE(is_whole) << path;
  }
}

// Runs the program on a used or new directory with calls failing from the `from`-th on; gives the calls it made.
uint64_t run_faulty(uint64_t from, uint64_t count, int error, bool has_unnamed_files, bool is_used) {
  const TemporaryDirectory temporary;
  if (is_used) run_program(posix_file_system(), temporary.root());
  FaultyFileSystem files;
  files.fail_from = from;
  files.fail_count = count;
  files.error = error;
  files.has_unnamed_files = has_unnamed_files;
  EXPECT_EQ(run_program(files, temporary.root()), values_without_cache());
  expect_only_whole_entries(temporary.root());
  EXPECT_EQ(run_program(posix_file_system(), temporary.root()), values_without_cache());
  return files.calls();
}

void fail_every_call(uint64_t count, bool has_unnamed_files, bool is_used) {
  for (const int error : kErrors) {
    uint64_t calls = 1;
    for (uint64_t from = 1; from <= calls; ++from) {
      SCOPED_TRACE(std::string(strerrorname_np(error)) + " at call " + std::to_string(from));
      const uint64_t made = run_faulty(from, count, error, has_unnamed_files, is_used);
      calls = std::max(calls, made);
      if (testing::Test::HasFailure()) return;
    }
  }
}

constexpr uint64_t kForever = ~uint64_t{0};

TEST(Fault, OneFailingCallChangesNoResult) { fail_every_call(1, true, false); }
TEST(Fault, OneFailingCallChangesNoResultOfAWarmRun) { fail_every_call(1, true, true); }
TEST(Fault, OneFailingCallChangesNoResultWithNamedTemporaries) { fail_every_call(1, false, false); }
TEST(Fault, ADiskThatBreaksForGoodChangesNoResult) { fail_every_call(kForever, true, false); }

}  // namespace
}  // namespace tenon::cache
