// SPDX-License-Identifier: MIT
//
// The disk store gives back what was published, to this process and the next; refuses what others could have put
// there; replaces what is damaged; and whatever is wrong with its directory is a miss with a reason and one line.
#include "cache/disk_store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <thread>

#include "tests/cache/testing.h"

namespace tenon::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLong{60'000};

std::unique_ptr<DiskStore> open(const std::string& root, Mode mode = Mode::kReadWrite,
                                FileSystem& files = posix_file_system()) {
  return DiskStore::open(files, root, mode);
}

void publish(DiskStore& store, int i) {
  EXPECT_TRUE(store.publish(sample_key(i), sample_image(sample_key(i), sample_value(i))));
  EXPECT_TRUE(store.drain(kLong));
}

void publish(const std::string& root, int i) { publish(*open(root), i); }

void expect_hit(const std::variant<Entry, MissReason>& answer, int i) {
  const Entry* entry = entry_of(answer);
  ASSERT_NE(entry, nullptr) << to_string(*miss_of(answer));
  EXPECT_EQ(as_text(entry->section(kValueSection)), sample_value(i));
}

// The file of the only entry below `root`.
fs::path only_entry(const std::string& root) {
  const auto found = files_below(root, ".tenon");
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? fs::path() : found[0];
}

uint64_t misses(const DiskStore& store, MissReason reason) { return store.stats().misses[static_cast<size_t>(reason)]; }

TEST(DiskStore, ASecondStoreFindsWhatTheFirstPublished) {
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  const auto store = open(temporary.root());
  EXPECT_EQ(store->status(), "");
  expect_hit(store->lookup(sample_key(1)), 1);
  EXPECT_EQ(miss_of(store->lookup(sample_key(2))), MissReason::kCold);
  const Stats stats = store->stats();
  EXPECT_EQ(stats.lookups, 2u);
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses[static_cast<size_t>(MissReason::kCold)], 1u);
  EXPECT_EQ(stats.hit_bytes, sample_image(sample_key(1), sample_value(1)).size());
}

TEST(DiskStore, LiesInItsDirectoryAsDocumented) {
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  const EntryKey key = sample_key(1);
  const fs::path environment = fs::path(temporary.root()) / "v1" / key.environment.hex().substr(0, 16);
  const std::string name = key.graph.hex();
  EXPECT_TRUE(fs::is_regular_file(environment / name.substr(0, 2) / (name + ".tenon")));
  EXPECT_EQ(read_file(environment / "env.txt"), key.environment_bytes);
  EXPECT_TRUE(read_file(fs::path(temporary.root()) / "CACHEDIR.TAG")
                  .starts_with("Signature: 8a477f597d28d172789f06886806bc55"));
  EXPECT_FALSE(fs::exists(environment / "tmp"));
}

TEST(DiskStore, FilesArePrivateWhateverTheUmask) {
  const TemporaryDirectory temporary;
  const mode_t before = umask(0277);
  publish(temporary.root(), 1);
  umask(before);
  const fs::path file = only_entry(temporary.root());
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(file.parent_path()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(temporary.root()).permissions(), fs::perms::owner_all);
  expect_hit(open(temporary.root())->lookup(sample_key(1)), 1);
}

TEST(DiskStore, NewEnvironmentsAreToldFromNewGraphs) {
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  const auto store = open(temporary.root());
  EXPECT_EQ(miss_of(store->lookup(sample_key(1, "cpu=other\n"))), MissReason::kEnvironment);
  EXPECT_EQ(miss_of(store->lookup(sample_key(2))), MissReason::kCold);
}

TEST(DiskStore, WorksWithoutUnnamedFilesAndLeavesNoTemporaries) {
  for (const bool has_unnamed_files : {false, true}) {
    const TemporaryDirectory temporary;
    FaultyFileSystem files;
    files.has_unnamed_files = has_unnamed_files;
    files.has_links = false;
    const auto store = open(temporary.root(), Mode::kReadWrite, files);
    for (int i = 0; i < 5; ++i) publish(*store, i);
    for (int i = 0; i < 5; ++i) expect_hit(store->lookup(sample_key(i)), i);
    EXPECT_EQ(files_below(temporary.root(), "").size(), 5u + 2u + 1u);  // entries, tag, env.txt, stamp
  }
}

TEST(DiskStore, ShortReadsAndWritesAreContinued) {
  const TemporaryDirectory temporary;
  FaultyFileSystem files;
  files.has_short_io = true;
  const auto store = open(temporary.root(), Mode::kReadWrite, files);
  publish(*store, 1);
  expect_hit(store->lookup(sample_key(1)), 1);
  expect_hit(open(temporary.root())->lookup(sample_key(1)), 1);
}

TEST(DiskStore, ADamagedFileIsAMissThenReplaced) {
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  const fs::path file = only_entry(temporary.root());
  std::string bytes = read_file(file);
  bytes.back() ^= 1;
  write_file(file, bytes);
  EXPECT_EQ(miss_of(open(temporary.root(), Mode::kReadOnly)->lookup(sample_key(1))), MissReason::kChecksum);
  EXPECT_TRUE(fs::exists(file));
  const auto store = open(temporary.root());
  EXPECT_EQ(miss_of(store->lookup(sample_key(1))), MissReason::kChecksum);
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(store->stats().removed, 1u);
  publish(*store, 1);
  expect_hit(store->lookup(sample_key(1)), 1);
}

TEST(DiskStore, CutAndEmptyFilesAreMisses) {
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  const fs::path file = only_entry(temporary.root());
  const std::string bytes = read_file(file);
  const auto store = open(temporary.root());
  for (const size_t size : {size_t{0}, size_t{255}, size_t{256}, size_t{1000}, bytes.size() - 1}) {
    write_file(file, std::string_view(bytes).substr(0, size));
    EXPECT_EQ(miss_of(store->lookup(sample_key(1))), MissReason::kSize) << size;
  }
}

TEST(DiskStore, SwappedNamesAreAMiss) {
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  const fs::path first = only_entry(temporary.root());
  publish(temporary.root(), 2);
  for (const fs::path& file : files_below(temporary.root(), ".tenon")) {
    if (file != first) fs::copy_file(file, first, fs::copy_options::overwrite_existing);
  }
  EXPECT_EQ(miss_of(open(temporary.root())->lookup(sample_key(1))), MissReason::kKey);
}

TEST(DiskStore, ARejectedEntryCanBePublishedAnew) {
  const TemporaryDirectory temporary;
  const auto store = open(temporary.root());
  publish(*store, 1);
  store->reject(sample_key(1));
  EXPECT_EQ(miss_of(store->lookup(sample_key(1))), MissReason::kCold);
  EXPECT_EQ(misses(*store, MissReason::kRejected), 1u);
  publish(*store, 1);
  expect_hit(store->lookup(sample_key(1)), 1);
}

TEST(DiskStore, PublishingTwiceKeepsTheFirst) {
  const TemporaryDirectory temporary;
  const auto store = open(temporary.root());
  publish(*store, 1);
  publish(*store, 1);
  EXPECT_EQ(store->stats().published, 1u);
  EXPECT_EQ(store->stats().already_there, 1u);
}

// Puts something else in the place of the entry of key 1 and looks it up.
template <typename Replace>
void expect_refused(MissReason reason, const Replace& replace) {
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  const fs::path file = only_entry(temporary.root());
  const fs::path aside = temporary.path() / "aside";
  fs::rename(file, aside);
  replace(aside, file);
  const auto store = open(temporary.root());
  EXPECT_EQ(miss_of(store->lookup(sample_key(1))), reason);
}

TEST(DiskStore, FilesThatAreNotPrivateAndRegularAreRefused) {
  expect_refused(MissReason::kPermission,
                 [](const fs::path& aside, const fs::path& file) { fs::create_symlink(aside, file); });
  expect_refused(MissReason::kPermission, [](const fs::path& aside, const fs::path& file) {
    fs::rename(aside, file);
    fs::permissions(file, fs::perms::all);
  });
  expect_refused(MissReason::kPermission, [](const fs::path&, const fs::path& file) { fs::create_directory(file); });
  expect_refused(MissReason::kPermission,
                 [](const fs::path&, const fs::path& file) { ASSERT_EQ(mkfifo(file.c_str(), 0600), 0); });
}

TEST(DiskStore, ARefusedLinkIsReplacedByTheNextPublish) {
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  const fs::path file = only_entry(temporary.root());
  fs::rename(file, temporary.path() / "aside");
  fs::create_symlink(temporary.path() / "aside", file);
  const auto store = open(temporary.root());
  EXPECT_EQ(miss_of(store->lookup(sample_key(1))), MissReason::kPermission);
  publish(*store, 1);
  expect_hit(store->lookup(sample_key(1)), 1);
}

// Expects that no store opens at `root`, that the line says why, and that using it is harmless.
void expect_off(const std::string& root, const std::string& why, Mode mode = Mode::kReadWrite) {
  const auto store = open(root, mode);
  EXPECT_FALSE(store->is_on());
  EXPECT_NE(store->status().find(why), std::string::npos) << store->status();
  EXPECT_EQ(store->status().find('\n'), std::string::npos);
  EXPECT_EQ(miss_of(store->lookup(sample_key(1))), MissReason::kOff);
  EXPECT_FALSE(store->publish(sample_key(1), sample_image(sample_key(1), "x")));
  store->reject(sample_key(1));
  EXPECT_EQ(store->sweep_now().entries, 0u);
  EXPECT_TRUE(store->drain(kLong));
}

TEST(DiskStore, DirectoriesThatOthersMayWriteAreRefused) {
  const TemporaryDirectory temporary;
  const fs::path open_to_all = temporary.path() / "open";
  fs::create_directories(open_to_all / "inner");
  fs::permissions(open_to_all, fs::perms::all);
  expect_off(open_to_all, "others may write there");
  expect_off(open_to_all / "inner", "others may write there");
  fs::permissions(open_to_all, fs::perms::all | fs::perms::sticky_bit);
  expect_off(open_to_all, "others may write there");
  EXPECT_TRUE(open(open_to_all / "inner")->is_on());
}

TEST(DiskStore, AnothersDirectoryIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const TemporaryDirectory temporary;
  fs::create_directory(temporary.root());
  ASSERT_EQ(chown(temporary.root().c_str(), 65534, 65534), 0);
  expect_off(temporary.root(), "belongs to another user");
}

TEST(DiskStore, ALinkAsRootIsRefusedButFollowedOnTheWay) {
  const TemporaryDirectory temporary;
  fs::create_directory(temporary.path() / "real");
  fs::create_directory_symlink(temporary.path() / "real", temporary.path() / "link");
  expect_off(temporary.path() / "link", "is a link or not a directory");
  expect_off((temporary.path() / "link").string() + "/", "is a link or not a directory");
  EXPECT_TRUE(open(temporary.path() / "link" / "cache")->is_on());
  EXPECT_TRUE(fs::is_directory(temporary.path() / "real" / "cache" / "v1"));
}

TEST(DiskStore, PathsThatAreNoDirectoriesAreRefused) {
  const TemporaryDirectory temporary;
  write_file(temporary.path() / "file", "text");
  expect_off(temporary.path() / "file", "is a link or not a directory");
  expect_off(temporary.path() / "file" / "below", "Not a directory");
  expect_off("", "there is no directory for it");
  expect_off("/", "is not a directory for a cache");
  expect_off(temporary.root(), "No such file or directory", Mode::kReadOnly);
  expect_off(temporary.root(), "", Mode::kOff);
}

TEST(DiskStore, WhatIsMissingIsCreatedOnlyForWriting) {
  const TemporaryDirectory temporary;
  EXPECT_FALSE(open(temporary.path() / "a/b/c", Mode::kReadOnly)->is_on());
  EXPECT_FALSE(fs::exists(temporary.path() / "a"));
  EXPECT_TRUE(open(temporary.path() / "a/b/c")->is_on());
  EXPECT_TRUE(fs::exists(temporary.path() / "a/b/c/v1"));
}

TEST(DiskStore, ElevatedProcessesHaveNone) {
  const TemporaryDirectory temporary;
  FaultyFileSystem files;
  files.is_elevated_process = true;
  const auto store = open(temporary.root(), Mode::kReadWrite, files);
  EXPECT_FALSE(store->is_on());
  EXPECT_NE(store->status().find("more rights"), std::string::npos);
}

TEST(DiskStore, ReadOnlyReadsAndNeverWrites) {
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  const auto store = open(temporary.root(), Mode::kReadOnly);
  expect_hit(store->lookup(sample_key(1)), 1);
  EXPECT_FALSE(store->publish(sample_key(2), sample_image(sample_key(2), "x")));
  store->reject(sample_key(1));
  EXPECT_EQ(files_below(temporary.root(), ".tenon").size(), 1u);
}

TEST(DiskStore, ADirectoryThatCannotBeWrittenIsReadOnlyFromThenOn) {
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  FaultyFileSystem files;
  const auto store = open(temporary.root(), Mode::kReadWrite, files);
  files.error = EROFS;
  files.fail_from = files.calls() + 2;  // after the question for space
  EXPECT_TRUE(store->publish(sample_key(2), sample_image(sample_key(2), "x")));
  EXPECT_TRUE(store->drain(kLong));
  EXPECT_NE(store->status().find("read-only"), std::string::npos);
  EXPECT_FALSE(store->publish(sample_key(2), sample_image(sample_key(2), "x")));
  expect_hit(store->lookup(sample_key(1)), 1);
}

TEST(DiskStore, AnotherUsersReadOnlyRightsSuffice) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const TemporaryDirectory temporary;
  publish(temporary.root(), 1);
  fs::permissions(temporary.path(), fs::perms::owner_all | fs::perms::others_exec | fs::perms::others_read);
  for (const auto& item : fs::recursive_directory_iterator(temporary.path())) {
    fs::permissions(item.path(), fs::perms::others_exec | fs::perms::others_read, fs::perm_options::add);
  }
  const pid_t child = fork();
  if (child == 0) {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(2);
    const auto store = open(temporary.root());
    const auto found = store->lookup(sample_key(1));
    (void)store->publish(sample_key(2), sample_image(sample_key(2), "x"));
    const bool is_drained = store->drain(kLong);
    const bool is_read_only = store->status().find("read-only") != std::string::npos;
    _exit(entry_of(found) != nullptr && is_drained && is_read_only ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(DiskStore, ARootDeletedOrReplacedWhileOpenIsAMiss) {
  const TemporaryDirectory temporary;
  const auto store = open(temporary.root());
  publish(*store, 1);
  fs::remove_all(temporary.root());
  EXPECT_EQ(miss_of(store->lookup(sample_key(1))), MissReason::kCold);
  write_file(temporary.root(), "a file");
  publish(*store, 2);
  EXPECT_EQ(store->stats().publish_errors, 1u);
  EXPECT_EQ(miss_of(store->lookup(sample_key(2))), MissReason::kCold);
  EXPECT_EQ(read_file(temporary.root()), "a file");
}

TEST(DiskStore, NothingIsWrittenToANearlyFullDisk) {
  const TemporaryDirectory temporary;
  FaultyFileSystem files;
  const auto store = open(temporary.root(), Mode::kReadWrite, files);
  files.free_bytes = uint64_t{100} << 20;
  publish(*store, 1);
  EXPECT_EQ(store->stats().dropped, 1u);
  EXPECT_TRUE(files_below(temporary.root(), ".tenon").empty());
}

TEST(DiskStore, ThreeSlowLookupsTurnItOff) {
  const TemporaryDirectory temporary;
  FaultyFileSystem files;
  const auto store = open(temporary.root(), Mode::kReadWrite, files);
  publish(*store, 1);
  files.step_us = 200'000;
  for (int i = 0; i < 3; ++i) expect_hit(store->lookup(sample_key(1)), 1);
  EXPECT_FALSE(store->is_on());
  EXPECT_EQ(miss_of(store->lookup(sample_key(1))), MissReason::kOff);
  EXPECT_NE(store->status().find("too slow"), std::string::npos);
}

TEST(DiskStore, AFullQueueDropsAndAHungDiskHoldsNobodyUp) {
  // Both outlive the thread that is left behind.
  static FaultyFileSystem& files = *new FaultyFileSystem;
  static std::latch& stuck = *new std::latch(1);
  {
    const TemporaryDirectory temporary;
    const auto store = open(temporary.root(), Mode::kReadWrite, files);
    files.before_write = [] { stuck.wait(); };
    for (int i = 0; i < 100; ++i) (void)store->publish(sample_key(i), sample_image(sample_key(i), "x"));
    EXPECT_FALSE(store->drain(std::chrono::milliseconds(1)));
    EXPECT_GE(store->stats().dropped, 35u);
  }
  stuck.count_down();
}

TEST(DiskStore, AForkedChildPublishesOnItsOwn) {
  if (!kChildrenHaveThreads) GTEST_SKIP() << "the sanitizer forbids it";
  const TemporaryDirectory temporary;
  const auto store = open(temporary.root());
  publish(*store, 1);
  const pid_t child = fork();
  if (child == 0) {
    const auto found = store->lookup(sample_key(1));
    const bool is_queued = store->publish(sample_key(2), sample_image(sample_key(2), sample_value(2)));
    _exit(entry_of(found) != nullptr && is_queued && store->drain(kLong) ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  expect_hit(store->lookup(sample_key(2)), 2);
  publish(*store, 3);
}

TEST(DiskStore, ManyThreadsLookUpAndPublish) {
  const TemporaryDirectory temporary;
  const auto store = open(temporary.root());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const int id = (i + t) % 16;
        const auto answer = store->lookup(sample_key(id));
        const Entry* entry = entry_of(answer);
        if (entry == nullptr) (void)store->publish(sample_key(id), sample_image(sample_key(id), sample_value(id)));
        wrong += entry != nullptr && as_text(entry->section(kValueSection)) != sample_value(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(store->drain(kLong));
  EXPECT_EQ(files_below(temporary.root(), ".tenon").size(), 16u);
}

}  // namespace
}  // namespace tenon::cache
