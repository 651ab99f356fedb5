// SPDX-License-Identifier: MIT
//
// The seam between the disk store and the system: one virtual function a system call, so that a test can fail any of
// them, and two clocks. Calls return a value >= 0, or -errno; none throws or sets anything aside. Paths are relative
// to an open directory. Implementations may be called from any thread and outlive every store opened on them.
#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tenon::cache {

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  /// openat(2), always with O_CLOEXEC. A file that it creates has exactly `mode`, whatever the umask.
  virtual int open_at(int directory, const std::string& path, int flags, mode_t mode = 0) = 0;
  virtual int close(int fd) = 0;

  virtual int stat_fd(int fd, struct stat* out) = 0;
  /// Does not follow a link in the last component.
  virtual int stat_at(int directory, const std::string& path, struct stat* out) = 0;

  /// May read or write less than asked, like pread(2) and write(2); interrupted calls are repeated.
  virtual int64_t read_at(int fd, std::span<std::byte> to, uint64_t offset) = 0;
  virtual int64_t write(int fd, std::span<const std::byte> from) = 0;

  /// Gives the unnamed file `fd` a name; -EEXIST when the name is taken.
  virtual int link_at(int fd, int directory, const std::string& path) = 0;
  /// Replaces `to`.
  virtual int rename_at(int directory, const std::string& from, const std::string& to) = 0;
  virtual int unlink_at(int directory, const std::string& path) = 0;
  virtual int remove_directory_at(int directory, const std::string& path) = 0;
  /// Makes a directory of mode 0700, whatever the umask.
  virtual int make_directory_at(int directory, const std::string& path) = 0;
  /// Sets the modification time of an open file to now.
  virtual int touch(int fd) = 0;

  /// Appends the names in a directory, in no order, without "." and "..".
  virtual int list_at(int directory, const std::string& path, std::vector<std::string>* names) = 0;
  virtual int space(int fd, struct statvfs* out) = 0;

  /// The user whose files may be trusted, beside root's.
  virtual uid_t user() = 0;
  /// Whether the process runs with more rights than the user who started it.
  virtual bool is_elevated() = 0;

  /// Seconds since 1970; may jump.
  virtual int64_t now() = 0;
  /// Microseconds that only grow.
  virtual int64_t monotonic_us() = 0;
};

/// The system itself; lives until the process ends.
FileSystem& posix_file_system();

/// Closes its descriptor. A negative one is an error code and is left alone.
class OpenFile {
 public:
  OpenFile(FileSystem& files, int fd) : files_(&files), fd_(fd) {}
  OpenFile(OpenFile&& other) noexcept : files_(other.files_), fd_(other.release()) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(files_, other.files_);
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OpenFile() {
    if (is_open()) files_->close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  /// The descriptor, or -errno.
  int get() const { return fd_; }

 private:
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

  FileSystem* files_;
  int fd_;
};

}  // namespace tenon::cache
