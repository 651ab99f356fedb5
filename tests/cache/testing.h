// SPDX-License-Identifier: MIT
//
// What the cache tests share: a directory that goes away, keys and images that can be told apart, and a file system
// whose calls can be made to fail, to do less than asked, or to see another time, user or amount of space.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cache/disk_store.h"
#include "cache/entry.h"
#include "cache/file_system.h"

namespace tenon::cache {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / ("tenon-cache-test-" + std::string(6, 'X'))).string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::string root() const { return (path_ / "cache").string(); }

 private:
  std::filesystem::path path_;
};

inline std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

inline std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline EntryKey sample_key(int i, const std::string& environment = "cpu=any\nbuild=1\n") {
  return make_key(environment, "graph number " + std::to_string(i));
}

/// The value of key `i`: what a program would have compiled.
inline std::string sample_value(int i, size_t size = 3000) {
  std::string text = "value " + std::to_string(i) + " ";
  while (text.size() < size) text += static_cast<char>('a' + (text.size() * 7 + static_cast<size_t>(i)) % 26);
  return text;
}

inline constexpr uint32_t kValueSection = fourcc("IMG0");

inline std::vector<std::byte> sample_image(const EntryKey& key, const std::string& value, uint64_t cost_us = 5000) {
  const Section sections[] = {{kValueSection, 0, 64, as_bytes(value)}};
  return encode_entry(key, sections, cost_us, 1'700'000'000);
}

inline const Entry* entry_of(const std::variant<Entry, MissReason>& answer) { return std::get_if<Entry>(&answer); }

inline std::optional<MissReason> miss_of(const std::variant<Entry, MissReason>& answer) {
  const auto* reason = std::get_if<MissReason>(&answer);
  return reason == nullptr ? std::nullopt : std::optional(*reason);
}

/// Every regular file below `root` whose name ends so.
inline std::vector<std::filesystem::path> files_below(const std::filesystem::path& root, const std::string& ending) {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& item : std::filesystem::recursive_directory_iterator(root, ignored)) {
    if (item.is_regular_file() && item.path().string().ends_with(ending)) found.push_back(item.path());
  }
  return found;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Whether threads may be started in a forked child, which ThreadSanitizer does not allow.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kChildrenHaveThreads = false;
#elif defined(__has_feature)
inline constexpr bool kChildrenHaveThreads = !__has_feature(thread_sanitizer);
#else
inline constexpr bool kChildrenHaveThreads = true;
#endif

/// The system, with knobs. Counts its calls; safe from any thread while no knob is turned.
class FaultyFileSystem : public FileSystem {
 public:
  uint64_t fail_from = 0;  // the first call, counted from 1, that fails; 0: none
  uint64_t fail_count = 1;
  int error = EIO;
  bool has_short_io = false;
  bool has_unnamed_files = true;
  bool has_links = true;
  bool is_elevated_process = false;
  uint64_t free_bytes = uint64_t{1} << 40;
  int64_t time_shift = 0;
  std::atomic<int64_t> step_us{0};  // added to the monotonic clock at each reading
  std::function<void()> before_write = [] {};

  uint64_t calls() const { return calls_; }

  int open_at(int directory, const std::string& path, int flags, mode_t mode) override;
  int close(int fd) override;
  int stat_fd(int fd, struct stat* out) override;
  int stat_at(int directory, const std::string& path, struct stat* out) override;
  int64_t read_at(int fd, std::span<std::byte> to, uint64_t offset) override;
  int64_t write(int fd, std::span<const std::byte> from) override;
  int link_at(int fd, int directory, const std::string& path) override;
  int rename_at(int directory, const std::string& from, const std::string& to) override;
  int unlink_at(int directory, const std::string& path) override;
  int remove_directory_at(int directory, const std::string& path) override;
  int make_directory_at(int directory, const std::string& path) override;
  int touch(int fd) override;
  int list_at(int directory, const std::string& path, std::vector<std::string>* names) override;
  int space(int fd, struct statvfs* out) override;
  uid_t user() override { return system_.user(); }
  bool is_elevated() override { return is_elevated_process; }
  int64_t now() override { return system_.now() + time_shift; }
  int64_t monotonic_us() override { return skipped_us_ += step_us; }

 private:
  bool fails() {
    const uint64_t call = ++calls_;
    return fail_from != 0 && call >= fail_from && call - fail_from < fail_count;
  }

  FileSystem& system_ = posix_file_system();
  std::atomic<uint64_t> calls_{0};
  std::atomic<int64_t> skipped_us_{0};
};

inline int FaultyFileSystem::open_at(int directory, const std::string& path, int flags, mode_t mode) {
  if (fails()) return -error;
  // O_TMPFILE includes O_DIRECTORY; what is left is the bit of its own.
  constexpr int kUnnamed = 020000000;
  if (!has_unnamed_files && (flags & kUnnamed) != 0) return -EOPNOTSUPP;
  return system_.open_at(directory, path, flags, mode);
}

inline int FaultyFileSystem::close(int fd) {
  const int result = system_.close(fd);
  return fails() ? -error : result;
}

inline int FaultyFileSystem::stat_fd(int fd, struct stat* out) { return fails() ? -error : system_.stat_fd(fd, out); }

inline int FaultyFileSystem::stat_at(int directory, const std::string& path, struct stat* out) {
  return fails() ? -error : system_.stat_at(directory, path, out);
}

inline int64_t FaultyFileSystem::read_at(int fd, std::span<std::byte> to, uint64_t offset) {
  if (fails()) return -error;
  return system_.read_at(fd, has_short_io ? to.first((to.size() + 1) / 2) : to, offset);
}

inline int64_t FaultyFileSystem::write(int fd, std::span<const std::byte> from) {
  before_write();
  if (fails()) return -error;
  return system_.write(fd, has_short_io ? from.first((from.size() + 1) / 2) : from);
}

inline int FaultyFileSystem::link_at(int fd, int directory, const std::string& path) {
  if (fails()) return -error;
  return has_links ? system_.link_at(fd, directory, path) : -ENOENT;
}

inline int FaultyFileSystem::rename_at(int directory, const std::string& from, const std::string& to) {
  return fails() ? -error : system_.rename_at(directory, from, to);
}

inline int FaultyFileSystem::unlink_at(int directory, const std::string& path) {
  return fails() ? -error : system_.unlink_at(directory, path);
}

inline int FaultyFileSystem::remove_directory_at(int directory, const std::string& path) {
  return fails() ? -error : system_.remove_directory_at(directory, path);
}

inline int FaultyFileSystem::make_directory_at(int directory, const std::string& path) {
  return fails() ? -error : system_.make_directory_at(directory, path);
}

inline int FaultyFileSystem::touch(int fd) { return fails() ? -error : system_.touch(fd); }

inline int FaultyFileSystem::list_at(int directory, const std::string& path, std::vector<std::string>* names) {
  return fails() ? -error : system_.list_at(directory, path, names);
}

inline int FaultyFileSystem::space(int fd, struct statvfs* out) {
  if (fails()) return -error;
  const int result = system_.space(fd, out);
  out->f_frsize = 4096;
  out->f_blocks = (uint64_t{1} << 30) / 4096;
  out->f_bavail = free_bytes / 4096;
  return result;
}

}  // namespace tenon::cache
