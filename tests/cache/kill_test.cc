// SPDX-License-Identifier: MIT
//
// Writers killed at any moment leave neither a file that a reader accepts wrongly nor, where the system knows unnamed
// files, any litter.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "tests/cache/testing.h"

namespace tenon::cache {
namespace {

constexpr int kKeys = 8;
constexpr int kWriters = 3;
constexpr int kKills = 150;

// Publishes and withdraws entries of many sizes until it is killed.
[[noreturn]] void write_forever(const std::string& root, FileSystem& files, uint64_t seed) {
  const auto store = DiskStore::open(files, root, Mode::kReadWrite);
  std::mt19937_64 random(seed);
  while (true) {
    const int i = static_cast<int>(random() % kKeys);
    (void)store->publish(sample_key(i), sample_image(sample_key(i), sample_value(i, 1000u << i)));
    (void)store->drain(std::chrono::seconds(60));
    if (random() % 2 == 0) store->reject(sample_key(i));
  }
}

pid_t start_writer(const std::string& root, FileSystem& files, uint64_t seed) {
  const pid_t child = fork();
  if (child == 0) write_forever(root, files, seed);
  return child;
}

struct Outcome {
  int hits = 0;
  int wrong = 0;

  void count(const std::variant<Entry, MissReason>& answer, int i) {
    if (const Entry* entry = entry_of(answer)) {
      hits += 1;
      wrong += as_text(entry->section(kValueSection)) != sample_value(i, 1000u << i);
    } else if (*miss_of(answer) != MissReason::kCold) {
      wrong += 1;
      ADD_FAILURE() << to_string(*miss_of(answer));
    }
  }
};

// Looks keys up, as a reader who may not repair anything, while writers die.
Outcome read_while_killing(const std::string& root, FileSystem& files) {
  Outcome outcome;
  std::mt19937_64 random(7);
  std::vector<pid_t> writers;
  for (int i = 0; i < kWriters; ++i) writers.push_back(start_writer(root, files, random()));
  DiskStore::open(posix_file_system(), root, Mode::kReadWrite);
  const auto store = DiskStore::open(posix_file_system(), root, Mode::kReadOnly);
  for (int kills = 0; kills < kKills; ++kills) {
    for (uint64_t reads = 20 + random() % 400; reads > 0; --reads) {
      const int i = static_cast<int>(random() % kKeys);
      outcome.count(store->lookup(sample_key(i)), i);
    }
    pid_t& writer = writers[random() % kWriters];
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    writer = start_writer(root, files, random());
  }
  for (const pid_t writer : writers) {
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
  }
  return outcome;
}

TEST(Kill, NoBadEntryIsSeenAndNothingIsLeftBehind) {
  const TemporaryDirectory temporary;
  const Outcome outcome = read_while_killing(temporary.root(), posix_file_system());
  EXPECT_EQ(outcome.wrong, 0);
  EXPECT_GT(outcome.hits, 0);
  for (const auto& path : files_below(temporary.root(), "")) EXPECT_NE(path.parent_path().filename(), "tmp") << path;
}

TEST(Kill, NoBadEntryIsSeenWithNamedTemporaries) {
  const TemporaryDirectory temporary;
  FaultyFileSystem files;
  files.has_unnamed_files = false;
  const Outcome outcome = read_while_killing(temporary.root(), files);
  EXPECT_EQ(outcome.wrong, 0);
  EXPECT_GT(outcome.hits, 0);
}

}  // namespace
}  // namespace tenon::cache
