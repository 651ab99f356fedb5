// SPDX-License-Identifier: MIT
//
// Collect, rank, delete. Ages are by modification time, which a hit renews at most daily; a time in the future counts
// as now. The compile cost is read from the unchecked head of each file, only when something has to go, and clamped.
#include "cache/sweep.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry.h"

namespace tenon::cache {
namespace {

constexpr int64_t kHour = 3600;
constexpr int64_t kEnvironmentLife = 720 * kHour;
constexpr uint64_t kBlock = 4096;
constexpr size_t kEnvironmentNameSize = 16;
constexpr size_t kEntryNameSize = 32 + std::string_view(".tenon").size();
constexpr char kStamp[] = "sweep.stamp";

struct Candidate {
  size_t environment;
  std::string name;
  uint64_t size;
  int64_t age;
  bool is_stale = false;
  double uselessness = 0;
};

class Sweep {
 public:
  Sweep(FileSystem& files, int directory, const std::atomic<bool>& hurry)
      : files_(files), directory_(directory), hurry_(hurry), now_(files.now()) {}

  SweepResult run(uint64_t max_bytes) {
    collect();
    if (result_.bytes > max_bytes && !hurry_) {
      rank();
      evict(max_bytes / 5 * 4);
      remove_empty_environments();
    }
    return result_;
  }

 private:
  std::string path_of(const Candidate& candidate) const {
    return environments_[candidate.environment] + "/" + candidate.name.substr(0, 2) + "/" + candidate.name;
  }

  int64_t age_of(const struct stat& status) const { return std::max<int64_t>(0, now_ - status.st_mtim.tv_sec); }

  std::vector<std::string> list(const std::string& path) {
    std::vector<std::string> names;
    files_.list_at(directory_, path, &names);
    return names;
  }

  void collect() {
    for (std::string& environment : list(".")) {
      if (environment.size() != kEnvironmentNameSize) continue;
      environments_.push_back(std::move(environment));
      collect_environment(environments_.size() - 1);
    }
  }

  void collect_environment(size_t index) {
    const std::string& environment = environments_[index];
    for (const std::string& folder : list(environment)) {
      if (folder == "tmp") remove_old_temporaries(environment + "/tmp");
      if (folder.size() != 2) continue;
      for (std::string& name : list(environment + "/" + folder)) {
        if (hurry_) return;
        if (name.size() == kEntryNameSize) collect_entry({index, std::move(name), 0, 0});
      }
    }
  }

  void collect_entry(Candidate candidate) {
    struct stat status{};
    if (files_.stat_at(directory_, path_of(candidate), &status) < 0 || !S_ISREG(status.st_mode)) return;
    candidate.size = (static_cast<uint64_t>(status.st_size) + kBlock - 1) / kBlock * kBlock;
    candidate.age = age_of(status);
    result_.entries += 1;
    result_.bytes += candidate.size;
    candidates_.push_back(std::move(candidate));
  }

  // Left by writers that were killed.
  void remove_old_temporaries(const std::string& folder) {
    for (const std::string& name : list(folder)) {
      const std::string path = folder + "/" + name;
      struct stat status{};
      if (files_.stat_at(directory_, path, &status) < 0) continue;
      if (std::abs(now_ - status.st_mtim.tv_sec) > kHour) files_.unlink_at(directory_, path);
    }
  }

  double compile_cost_us(const Candidate& candidate) {
    std::array<std::byte, kPeekSize> head{};
    const OpenFile file(files_, files_.open_at(directory_, path_of(candidate), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (file.is_open()) files_.read_at(file.get(), head, 0);
    return static_cast<double>(std::clamp<uint64_t>(peek_compile_cost_us(head), 1'000, 1'000'000));
  }

  void rank() {
    std::vector<int64_t> youngest(environments_.size(), now_);
    for (const Candidate& candidate : candidates_) {
      int64_t& age = youngest[candidate.environment];
      age = std::min(age, candidate.age);
    }
    for (Candidate& candidate : candidates_) {
      candidate.is_stale = youngest[candidate.environment] > kEnvironmentLife;
      const double byte_hours = static_cast<double>(candidate.size) * static_cast<double>(candidate.age + kHour);
      candidate.uselessness = byte_hours / compile_cost_us(candidate);
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return a.is_stale != b.is_stale ? a.is_stale : a.uselessness > b.uselessness;
    });
  }

  void evict(uint64_t target) {
    for (const Candidate& candidate : candidates_) {
      if (result_.bytes <= target || hurry_) return;
      const int removed = files_.unlink_at(directory_, path_of(candidate));
      if (removed < 0 && removed != -ENOENT) continue;
      result_.entries -= 1;
      result_.bytes -= candidate.size;
      result_.evicted += 1;
      result_.evicted_bytes += candidate.size;
      if (candidate.is_stale) emptied_.push_back(candidate.environment);
    }
  }

  // Only stale ones, so that no writer is about to use them; what is not empty stays.
  void remove_empty_environments() {
    std::sort(emptied_.begin(), emptied_.end());
    emptied_.erase(std::unique(emptied_.begin(), emptied_.end()), emptied_.end());
    for (const size_t index : emptied_) {
      const std::string& environment = environments_[index];
      bool is_empty = true;
      for (const std::string& name : list(environment)) {
        if (name == "env.txt") continue;
        is_empty &= files_.remove_directory_at(directory_, environment + "/" + name) == 0;
      }
      if (!is_empty) continue;
      files_.unlink_at(directory_, environment + "/env.txt");
      files_.remove_directory_at(directory_, environment);
    }
  }

  FileSystem& files_;
  const int directory_;
  const std::atomic<bool>& hurry_;
  const int64_t now_;
  std::vector<std::string> environments_;
  std::vector<Candidate> candidates_;
  std::vector<size_t> emptied_;
  SweepResult result_;
};

void make_stamp(FileSystem& files, int directory) {
  const OpenFile stamp(files, files.open_at(directory, kStamp, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0600));
}

}  // namespace

SweepResult sweep(FileSystem& files, int directory, uint64_t max_bytes, const std::atomic<bool>& hurry) {
  return Sweep(files, directory, hurry).run(max_bytes);
}

bool claim_sweep(FileSystem& files, int directory) {
  struct stat status{};
  const int seen = files.stat_at(directory, kStamp, &status);
  const bool is_due = seen == 0 && std::abs(files.now() - status.st_mtim.tv_sec) > kHour;
  // Whoever unlinks it wins.
  const bool is_claimed = is_due && files.unlink_at(directory, kStamp) == 0;
  if (is_claimed || seen == -ENOENT) make_stamp(files, directory);
  return is_claimed;
}

}  // namespace tenon::cache
