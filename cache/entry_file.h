// SPDX-License-Identifier: MIT
//
// One immutable file, read whole or published whole. A reader takes no lock: a file appears under its name complete,
// or not at all, because it is written unnamed (or under a private name) and linked (or renamed) afterwards. There is
// no fsync: what a power cut leaves short, the checksum of the entry turns into a miss.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "cache/aligned_buffer.h"
#include "cache/entry.h"
#include "cache/file_system.h"

namespace tenon::cache {

/// An open file that may be trusted to be ours: regular, private, of a possible size.
struct EntryFile {
  OpenFile file;
  struct stat status{};
};

/// kCold when there is none; kPermission, kSize or kIo when there is one that will not do.
std::variant<EntryFile, MissReason> open_entry_file(FileSystem& files, int directory, const std::string& path);

/// All bytes of it; kSize when it has shrunk since, kIo when reading or memory failed.
std::variant<AlignedBuffer, MissReason> read_entry_file(FileSystem& files, const EntryFile& file);

/// Which way files are published; starts unnamed and remembers that the file system cannot.
class FileWriter {
 public:
  /// `files` outlives the writer.
  explicit FileWriter(FileSystem& files) : files_(files) {}

  /// Publishes `bytes` as `name` in `folder` (a path inside `directory`). 0, -EEXIST when another was first, or why
  /// not as -errno; after a failure nothing is left under `name`. `temporary_folder` is made and used only where
  /// unnamed files are unknown. Any thread.
  int publish(int directory, const std::string& folder, const std::string& name, const std::string& temporary_folder,
              std::span<const std::byte> bytes);

 private:
  int publish_unnamed(int directory, const std::string& folder, const std::string& path,
                      std::span<const std::byte> bytes);
  int publish_renamed(int directory, const std::string& path, const std::string& temporary_folder,
                      std::span<const std::byte> bytes);
  std::string temporary_name();

  FileSystem& files_;
  std::atomic<bool> can_be_unnamed_{true};
  std::atomic<uint64_t> serial_{0};
};

/// Writes all of `bytes`; 0 or -errno.
int write_all(FileSystem& files, int fd, std::span<const std::byte> bytes);

}  // namespace tenon::cache
