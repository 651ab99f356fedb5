// SPDX-License-Identifier: MIT
//
// A sweep ends below the cap, takes the old, the large, the cheap and the abandoned first, deletes nothing while there
// is room, and is done by one process an hour whatever the clock says.
#include "cache/sweep.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/time.h>

#include "tests/cache/testing.h"

namespace tenon::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLong{60'000};
constexpr int64_t kHour = 3600;
constexpr int64_t kDay = 24 * kHour;

void set_age(const fs::path& path, int64_t seconds) {
  const timespec time{posix_file_system().now() - seconds, 0};
  const timespec times[] = {time, time};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

class SweepTest : public testing::Test {
 protected:
  // Entries `first` to `last` - 1, each of two blocks; gives their files by number.
  void fill(int first, int last, int64_t age, uint64_t cost_us = 5000, const std::string& environment = "cpu=any\n") {
    const auto store = DiskStore::open(posix_file_system(), root_, Mode::kReadWrite);
    for (int i = first; i < last; ++i) {
      const EntryKey key = sample_key(i, environment);
      ASSERT_TRUE(store->publish(key, sample_image(key, sample_value(i, 5000), cost_us)));
      ASSERT_TRUE(store->drain(kLong));
      set_age(path_of(key), age);
    }
  }

  fs::path path_of(const EntryKey& key) const {
    const std::string name = key.graph.hex();
    return fs::path(root_) / "v1" / key.environment.hex().substr(0, 16) / name.substr(0, 2) / (name + ".tenon");
  }

  int count(int first, int last, const std::string& environment = "cpu=any\n") const {
    int found = 0;
    for (int i = first; i < last; ++i) found += fs::exists(path_of(sample_key(i, environment)));
    return found;
  }

  SweepResult sweep_to(uint64_t blocks) {
    return DiskStore::open(posix_file_system(), root_, Mode::kReadWrite, blocks * 4096)->sweep_now();
  }

  fs::path stamp() const { return fs::path(root_) / "v1" / "sweep.stamp"; }

  const TemporaryDirectory temporary_;
  const std::string root_ = temporary_.root();
};

TEST_F(SweepTest, DeletesNothingBelowTheCap) {
  fill(0, 10, 300 * kDay);
  const SweepResult result = sweep_to(20);
  EXPECT_EQ(result.evicted, 0u);
  EXPECT_EQ(result.entries, 10u);
  EXPECT_EQ(result.bytes, 20u * 4096);
}

TEST_F(SweepTest, GoesDownToFourFifthsOfTheCap) {
  fill(0, 50, kDay);
  const SweepResult result = sweep_to(50);
  EXPECT_EQ(result.entries, 20u);
  EXPECT_EQ(result.evicted, 30u);
  EXPECT_EQ(count(0, 50), 20);
}

TEST_F(SweepTest, TakesTheOldestFirst) {
  fill(0, 10, 0);
  fill(10, 20, 5 * kDay);
  fill(20, 30, kDay);
  sweep_to(50);
  EXPECT_EQ(count(0, 10), 10);
  EXPECT_EQ(count(10, 20), 0);
  EXPECT_EQ(count(20, 30), 10);
}

TEST_F(SweepTest, TakesTheCheapFirst) {
  fill(0, 10, kDay, 500'000);
  fill(10, 20, kDay, 2'000);
  sweep_to(30);
  EXPECT_EQ(count(0, 10), 10);
  EXPECT_EQ(count(10, 20), 2);
}

TEST_F(SweepTest, TakesAbandonedEnvironmentsFirstAndTheirFoldersWithThem) {
  fill(0, 10, 29 * kDay, 2'000);
  fill(0, 10, 31 * kDay, 900'000, "cpu=gone\n");
  sweep_to(25);
  EXPECT_EQ(count(0, 10), 10);
  EXPECT_EQ(count(0, 10, "cpu=gone\n"), 0);
  EXPECT_EQ(fs::exists(path_of(sample_key(0, "cpu=gone\n")).parent_path().parent_path()), false);
}

TEST_F(SweepTest, ATimeInTheFutureCountsAsNow) {
  fill(0, 10, -1000 * kDay);
  fill(10, 20, kDay);
  sweep_to(25);
  EXPECT_EQ(count(0, 10), 10);
  EXPECT_EQ(count(10, 20), 0);
}

TEST_F(SweepTest, AHitRenewsAnOldEntry) {
  fill(0, 20, 5 * kDay);
  {
    const auto store = DiskStore::open(posix_file_system(), root_, Mode::kReadWrite);
    for (int i = 0; i < 10; ++i) EXPECT_NE(entry_of(store->lookup(sample_key(i, "cpu=any\n"))), nullptr);
  }
  sweep_to(25);
  EXPECT_EQ(count(0, 10), 10);
  EXPECT_EQ(count(10, 20), 0);
}

TEST_F(SweepTest, RemovesTemporariesOfTheDeadButNotOfTheLiving) {
  fill(0, 1, 0);
  const fs::path folder = path_of(sample_key(0, "cpu=any\n")).parent_path().parent_path() / "tmp";
  fs::create_directory(folder);
  write_file(folder / "old", "x");
  write_file(folder / "new", "x");
  set_age(folder / "old", 2 * kHour);
  sweep_to(1000);
  EXPECT_FALSE(fs::exists(folder / "old"));
  EXPECT_TRUE(fs::exists(folder / "new"));
}

TEST_F(SweepTest, LeavesForeignFilesAlone) {
  fill(0, 20, kDay);
  const fs::path environment = path_of(sample_key(0, "cpu=any\n")).parent_path().parent_path();
  write_file(fs::path(root_) / "v1" / "note", "x");
  write_file(environment / "note", "x");
  sweep_to(10);
  EXPECT_TRUE(fs::exists(fs::path(root_) / "v1" / "note"));
  EXPECT_TRUE(fs::exists(environment / "note"));
}

TEST_F(SweepTest, StopsWhenInAHurry) {
  fill(0, 10, kDay);
  const OpenFile directory(posix_file_system(), ::open((root_ + "/v1").c_str(), O_RDONLY | O_DIRECTORY));
  EXPECT_EQ(sweep(posix_file_system(), directory.get(), 1, true).evicted, 0u);
  EXPECT_EQ(count(0, 10), 10);
}

TEST_F(SweepTest, IsClaimedOnceAnHour) {
  fill(0, 1, 0);
  const OpenFile directory(posix_file_system(), ::open((root_ + "/v1").c_str(), O_RDONLY | O_DIRECTORY));
  const auto claim = [&] { return claim_sweep(posix_file_system(), directory.get()); };
  ASSERT_TRUE(fs::exists(stamp()));
  EXPECT_FALSE(claim());
  set_age(stamp(), 2 * kHour);
  EXPECT_TRUE(claim());
  EXPECT_FALSE(claim());
  set_age(stamp(), -2 * kHour);
  EXPECT_TRUE(claim());
  EXPECT_FALSE(claim());
  fs::remove(stamp());
  EXPECT_FALSE(claim());
  EXPECT_TRUE(fs::exists(stamp()));
}

TEST_F(SweepTest, AWriterOfMuchSweepsByItself) {
  const uint64_t cap = 40 * 4096;
  const auto store = DiskStore::open(posix_file_system(), root_, Mode::kReadWrite, cap);
  for (int i = 0; i < 200; ++i) {
    const EntryKey key = sample_key(i);
    ASSERT_TRUE(store->publish(key, sample_image(key, sample_value(i, 5000))));
    while (store->stats().published <= static_cast<uint64_t>(i)) usleep(100);
  }
  ASSERT_TRUE(store->drain(kLong));
  EXPECT_GT(store->stats().sweeps, 1u);
  EXPECT_LE(files_below(root_, ".tenon").size() * 2 * 4096, cap + cap / 4);
}

}  // namespace
}  // namespace tenon::cache
