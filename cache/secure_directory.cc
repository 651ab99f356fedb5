// SPDX-License-Identifier: MIT
//
// A walk from / (or the working directory), one component a step. Links on the way are followed, because homes are
// often links, and what they lead to must pass the same test; the last component may not be one.
#include "cache/secure_directory.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace tenon::cache {
namespace {

enum class Place { kOnTheWay, kRoot };

std::string error_text(int result) { return std::strerror(-result); }

SecureDirectory refuse(FileSystem& files, const std::string& path, const std::string& why) {
  return {OpenFile(files, -EACCES), path + ": " + why};
}

// Why others could put their files here; empty when they cannot.
std::string find_weakness(FileSystem& files, const struct stat& status, Place place) {
  if (status.st_uid != 0 && status.st_uid != files.user()) return "belongs to another user";
  const bool is_open_to_others = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool is_excused = place == Place::kOnTheWay && (status.st_mode & S_ISVTX) != 0;
  return is_open_to_others && !is_excused ? "others may write there" : "";
}

int open_directory(FileSystem& files, int parent, const std::string& name, Place place) {
  const int flags = place == Place::kRoot ? O_RDONLY | O_DIRECTORY | O_NOFOLLOW : O_PATH | O_DIRECTORY;
  return files.open_at(parent, name, flags);
}

// `shown` is the path so far, for messages.
SecureDirectory step(FileSystem& files, int parent, const std::string& name, const std::string& shown, Place place,
                     bool create) {
  int fd = open_directory(files, parent, name, place);
  if (fd == -ENOENT && create) {
    const int made = files.make_directory_at(parent, name);
    if (made < 0 && made != -EEXIST) return refuse(files, shown, "cannot be created: " + error_text(made));
    fd = open_directory(files, parent, name, place);
  }
  OpenFile directory(files, fd);
  if (place == Place::kRoot && (fd == -ENOTDIR || fd == -ELOOP))
    return refuse(files, shown, "is a link or not a directory");
  if (fd < 0) return refuse(files, shown, error_text(fd));
  struct stat status{};
  const int result = files.stat_fd(fd, &status);
  if (result < 0) return refuse(files, shown, error_text(result));
  const std::string weakness = find_weakness(files, status, place);
  if (!weakness.empty()) return refuse(files, shown, weakness);
  return {std::move(directory), ""};
}

}  // namespace

SecureDirectory open_secure_directory(FileSystem& files, const std::string& path, bool create) {
  std::string_view rest = path;
  while (rest.size() > 1 && rest.back() == '/') rest.remove_suffix(1);
  if (rest.empty() || rest == "/") return refuse(files, path, "is not a directory for a cache");
  const std::string start = rest.front() == '/' ? "/" : ".";
  SecureDirectory at = step(files, AT_FDCWD, start, start, Place::kOnTheWay, false);
  size_t begin = rest.find_first_not_of('/');
  while (at.problem.empty() && begin != std::string_view::npos) {
    const size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string name(rest.substr(begin, end - begin));
    const Place place = end == rest.size() ? Place::kRoot : Place::kOnTheWay;
    at = step(files, at.directory.get(), name, std::string(rest.substr(0, end)), place, create);
    begin = rest.find_first_not_of('/', end);
  }
  return at;
}

SecureDirectory open_secure_child(FileSystem& files, int parent, const std::string& name, bool create) {
  return step(files, parent, name, name, Place::kRoot, create);
}

}  // namespace tenon::cache
