// SPDX-License-Identifier: MIT
//
// The read and publish protocol. A file is refused by what fstat says of the descriptor, never by a path looked at
// twice.
#include "cache/entry_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace tenon::cache {
namespace {

MissReason reason_of(int error) {
  switch (-error) {
    case ENOENT:
      return MissReason::kCold;
    case ELOOP:
    case EACCES:
    case EPERM:
      return MissReason::kPermission;
    default:
      return MissReason::kIo;
  }
}

bool is_private(FileSystem& files, const struct stat& status) {
  const bool is_ours = status.st_uid == files.user() || status.st_uid == 0;
  return S_ISREG(status.st_mode) && is_ours && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// A file system that knows no unnamed files answers in one of several ways; old kernels see an attempt to write a
// directory, and a missing /proc makes the link fail.
bool means_no_unnamed_files(int error) {
  return error == -EOPNOTSUPP || error == -EISDIR || error == -EINVAL || error == -ENOENT || error == -EXDEV;
}

}  // namespace

std::variant<EntryFile, MissReason> open_entry_file(FileSystem& files, int directory, const std::string& path) {
  // Without O_NONBLOCK a pipe in the place of an entry would hold the program up.
  EntryFile entry{OpenFile(files, files.open_at(directory, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK))};
  if (!entry.file.is_open()) return reason_of(entry.file.get());
  if (files.stat_fd(entry.file.get(), &entry.status) < 0) return MissReason::kIo;
  if (!is_private(files, entry.status)) return MissReason::kPermission;
  const uint64_t size = static_cast<uint64_t>(entry.status.st_size);
  if (size < kHeaderSize || size > kMaxEntrySize) return MissReason::kSize;
  return entry;
}

std::variant<AlignedBuffer, MissReason> read_entry_file(FileSystem& files, const EntryFile& file) {
  AlignedBuffer buffer(static_cast<size_t>(file.status.st_size));
  if (!buffer.is_valid()) return MissReason::kIo;
  size_t done = 0;
  while (done < buffer.bytes().size()) {
    const int64_t count = files.read_at(file.file.get(), buffer.bytes().subspan(done), done);
    if (count < 0) return MissReason::kIo;
    if (count == 0) return MissReason::kSize;
    done += static_cast<size_t>(count);
  }
  return buffer;
}

int write_all(FileSystem& files, int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const int64_t count = files.write(fd, bytes);
    if (count < 0) return static_cast<int>(count);
    if (count == 0) return -EIO;
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return 0;
}

int FileWriter::publish(int directory, const std::string& folder, const std::string& name,
                        const std::string& temporary_folder, std::span<const std::byte> bytes) {
  const std::string path = folder + "/" + name;
  if (can_be_unnamed_.load(std::memory_order_relaxed)) {
    const int result = publish_unnamed(directory, folder, path, bytes);
    if (!means_no_unnamed_files(result)) return result;
  }
  const int result = publish_renamed(directory, path, temporary_folder, bytes);
  if (result == 0) can_be_unnamed_.store(false, std::memory_order_relaxed);
  return result;
}

int FileWriter::publish_unnamed(int directory, const std::string& folder, const std::string& path,
                                std::span<const std::byte> bytes) {
  const OpenFile file(files_, files_.open_at(directory, folder, O_TMPFILE | O_WRONLY, 0600));
  if (!file.is_open()) return file.get();
  const int written = write_all(files_, file.get(), bytes);
  return written < 0 ? written : files_.link_at(file.get(), directory, path);
}

int FileWriter::publish_renamed(int directory, const std::string& path, const std::string& temporary_folder,
                                std::span<const std::byte> bytes) {
  const int made = files_.make_directory_at(directory, temporary_folder);
  if (made < 0 && made != -EEXIST) return made;
  const std::string temporary = temporary_folder + "/" + temporary_name();
  int result = 0;
  {
    const OpenFile file(files_, files_.open_at(directory, temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0600));
    if (!file.is_open()) return file.get();
    result = write_all(files_, file.get(), bytes);
  }
  if (result == 0) result = files_.rename_at(directory, temporary, path);
  if (result < 0) files_.unlink_at(directory, temporary);
  return result;
}

// Unlike any other of this host by process and serial number, and of other hosts by time; O_EXCL covers the rest.
std::string FileWriter::temporary_name() {
  const int64_t pid = getpid();
  const std::array<int64_t, 4> seed = {files_.now(), files_.monotonic_us(), pid,
                                       static_cast<int64_t>(serial_.fetch_add(1))};
  return digest(std::as_bytes(std::span(seed)), Seed::kChecksum).hex().substr(0, 16) + "." + std::to_string(pid);
}

}  // namespace tenon::cache
