// SPDX-License-Identifier: MIT
//
// The seam on Linux. Nothing here decides anything: each function is its system call, repeated while interrupted, with
// errno turned into a value.
#include "cache/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace tenon::cache {
namespace {

// The value of a system call, or -errno; repeated while a signal interrupts it.
template <typename Call>
auto retried(Call call) -> decltype(call()) {
  while (true) {
    const auto result = call();
    if (result >= 0) return result;
    if (errno != EINTR) return -errno;
  }
}

class PosixFileSystem final : public FileSystem {
 public:
  int open_at(int directory, const std::string& path, int flags, mode_t mode) override {
    const int fd = retried([&] { return ::openat(directory, path.c_str(), flags | O_CLOEXEC, mode); });
    const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    if (fd >= 0 && creates && ::fchmod(fd, mode) != 0) {
      const int error = errno;
      ::close(fd);
      return -error;
    }
    return fd;
  }

  // Not repeated: after EINTR the descriptor is closed on Linux.
  int close(int fd) override { return ::close(fd) == 0 ? 0 : -errno; }

  int stat_fd(int fd, struct stat* out) override {
    return retried([&] { return ::fstat(fd, out); });
  }

  int stat_at(int directory, const std::string& path, struct stat* out) override {
    return retried([&] { return ::fstatat(directory, path.c_str(), out, AT_SYMLINK_NOFOLLOW); });
  }

  int64_t read_at(int fd, std::span<std::byte> to, uint64_t offset) override {
    return retried([&] { return ::pread(fd, to.data(), to.size(), static_cast<off_t>(offset)); });
  }

  int64_t write(int fd, std::span<const std::byte> from) override {
    return retried([&] { return ::write(fd, from.data(), from.size()); });
  }

  int link_at(int fd, int directory, const std::string& path) override {
    char unnamed[32];
    snprintf(unnamed, sizeof(unnamed), "/proc/self/fd/%d", fd);
    return retried([&] { return ::linkat(AT_FDCWD, unnamed, directory, path.c_str(), AT_SYMLINK_FOLLOW); });
  }

  int rename_at(int directory, const std::string& from, const std::string& to) override {
    return retried([&] { return ::renameat(directory, from.c_str(), directory, to.c_str()); });
  }

  int unlink_at(int directory, const std::string& path) override {
    return retried([&] { return ::unlinkat(directory, path.c_str(), 0); });
  }

  int remove_directory_at(int directory, const std::string& path) override {
    return retried([&] { return ::unlinkat(directory, path.c_str(), AT_REMOVEDIR); });
  }

  int make_directory_at(int directory, const std::string& path) override {
    const int made = retried([&] { return ::mkdirat(directory, path.c_str(), 0700); });
    if (made < 0) return made;
    return retried([&] { return ::fchmodat(directory, path.c_str(), 0700, 0); });
  }

  int touch(int fd) override {
    return retried([&] { return ::futimens(fd, nullptr); });
  }

  int list_at(int directory, const std::string& path, std::vector<std::string>* names) override {
    const int fd = open_at(directory, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0) return fd;
    DIR* stream = ::fdopendir(fd);
    if (stream == nullptr) {
      const int error = errno;
      ::close(fd);
      return -error;
    }
    errno = 0;
    while (const dirent* item = ::readdir(stream)) {
      if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0) names->emplace_back(item->d_name);
      errno = 0;
    }
    const int error = errno;
    ::closedir(stream);
    return -error;
  }

  int space(int fd, struct statvfs* out) override {
    return retried([&] { return ::fstatvfs(fd, out); });
  }

  uid_t user() override { return ::geteuid(); }

  bool is_elevated() override {
    return ::getauxval(AT_SECURE) != 0 || ::geteuid() != ::getuid() || ::getegid() != ::getgid();
  }

  int64_t now() override { return ::time(nullptr); }

  int64_t monotonic_us() override {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1'000;
  }
};

}  // namespace

FileSystem& posix_file_system() {
  static FileSystem* const files = new PosixFileSystem;
  return *files;
}

}  // namespace tenon::cache
