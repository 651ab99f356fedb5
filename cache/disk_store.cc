// SPDX-License-Identifier: MIT
//
// Look-up, publish and sweep over one held directory. All state is in the core, which queued jobs own together with
// the store, so that a job left behind at exit finds it alive.
#include "cache/disk_store.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

#include "cache/entry_file.h"
#include "cache/secure_directory.h"

namespace tenon::cache {
namespace {

constexpr size_t kQueueCapacity = 64;
constexpr int64_t kDay = 86'400;
constexpr int64_t kSlowUs = 100'000;
constexpr int kMaxSlow = 3;
constexpr uint64_t kMinFreeBytes = uint64_t{256} << 20;
// The layout of the directory; a change of the format that old builds cannot read gets a folder of its own.
constexpr char kVersionFolder[] = "v1";

constexpr std::string_view kCacheTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This directory is a cache made by Tenon; it can be deleted at any time.\n"
    "# See https://bford.info/cachedir/ about this file.\n";

std::string environment_folder(const Digest& environment) { return environment.hex().substr(0, 16); }

std::string entry_folder(const EntryKey& key) {
  return environment_folder(key.environment) + "/" + key.graph.hex().substr(0, 2);
}

std::string entry_name(const EntryKey& key) { return key.graph.hex() + ".tenon"; }

std::string entry_path(const EntryKey& key) { return entry_folder(key) + "/" + entry_name(key); }

using Counter = std::atomic<uint64_t>;

struct Counters {
  Counter lookups{0}, hits{0}, hit_bytes{0}, removed{0};
  Counter published{0}, published_bytes{0}, already_there{0}, dropped{0}, publish_errors{0};
  Counter sweeps{0}, evicted{0}, evicted_bytes{0};
  std::array<Counter, kMissReasonCount> misses{};
};

void add(Counter& counter, uint64_t amount = 1) { counter.fetch_add(amount, std::memory_order_relaxed); }

// Errors after which no later write can be expected to work.
bool is_final(int error) { return error == -EROFS || error == -EACCES || error == -EPERM; }

}  // namespace

struct DiskStore::Core {
  Core(FileSystem& system, OpenFile opened, Mode mode, uint64_t cap)
      : files(system),
        directory(std::move(opened)),
        writer(system),
        max_bytes(cap),
        can_read(directory.is_open()),
        can_write(directory.is_open() && mode == Mode::kReadWrite) {}

  std::variant<Entry, MissReason> find(const EntryKey& key);
  MissReason explain_absence(const EntryKey& key);
  void touch_if_old(const EntryFile& file);
  void remove(const std::string& path);
  void remove_same(const std::string& path, const struct stat& seen);
  void count(const std::variant<Entry, MissReason>& answer);
  void watch(int64_t duration_us);

  void write(const EntryKey& key, std::span<const std::byte> image);
  int write_file(const EntryKey& key, std::span<const std::byte> image);
  bool has_space();
  void sweep_if_due();
  SweepResult sweep_store();

  FileSystem& files;
  OpenFile directory;
  FileWriter writer;
  const uint64_t max_bytes;
  std::string problem;
  std::atomic<bool> can_read;
  std::atomic<bool> can_write;
  std::atomic<bool> is_read_only_by_error{false};
  std::atomic<bool> hurry{false};
  std::atomic<int> slow_lookups{0};
  Counter unswept_bytes{0};
  Counters counters;
};

std::variant<Entry, MissReason> DiskStore::Core::find(const EntryKey& key) {
  if (!can_read) return MissReason::kOff;
  const std::string path = entry_path(key);
  auto opened = open_entry_file(files, directory.get(), path);
  if (const auto* reason = std::get_if<MissReason>(&opened)) {
    if (*reason == MissReason::kCold) return explain_absence(key);
    if (*reason != MissReason::kIo) remove(path);
    return *reason;
  }
  const EntryFile& file = std::get<EntryFile>(opened);
  auto bytes = read_entry_file(files, file);
  if (const auto* reason = std::get_if<MissReason>(&bytes)) return *reason;
  auto entry = decode_entry(std::move(std::get<AlignedBuffer>(bytes)), key);
  if (std::holds_alternative<Entry>(entry)) {
    touch_if_old(file);
  } else {
    remove_same(path, file.status);
  }
  return entry;
}

// Cold, unless other environments have entries and this one has none.
MissReason DiskStore::Core::explain_absence(const EntryKey& key) {
  const std::string environment = environment_folder(key.environment);
  struct stat status{};
  if (files.stat_at(directory.get(), environment, &status) != -ENOENT) return MissReason::kCold;
  std::vector<std::string> names;
  files.list_at(directory.get(), ".", &names);
  const bool has_other = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name.size() == environment.size() && name != environment;
  });
  return has_other ? MissReason::kEnvironment : MissReason::kCold;
}

void DiskStore::Core::touch_if_old(const EntryFile& file) {
  if (can_write && files.now() - file.status.st_mtim.tv_sec > kDay) files.touch(file.file.get());
}

void DiskStore::Core::remove(const std::string& path) {
  if (can_write && files.unlink_at(directory.get(), path) == 0) add(counters.removed);
}

// Not when another process has put a good file there meanwhile.
void DiskStore::Core::remove_same(const std::string& path, const struct stat& seen) {
  struct stat status{};
  if (files.stat_at(directory.get(), path, &status) < 0) return;
  if (status.st_ino == seen.st_ino && status.st_dev == seen.st_dev) remove(path);
}

void DiskStore::Core::count(const std::variant<Entry, MissReason>& answer) {
  add(counters.lookups);
  if (const auto* entry = std::get_if<Entry>(&answer)) {
    add(counters.hits);
    add(counters.hit_bytes, entry->size());
  } else {
    add(counters.misses[static_cast<size_t>(std::get<MissReason>(answer))]);
  }
}

void DiskStore::Core::watch(int64_t duration_us) {
  if (duration_us <= kSlowUs) {
    if (slow_lookups != 0 && can_read) slow_lookups = 0;
    return;
  }
  if (slow_lookups.fetch_add(1) + 1 < kMaxSlow) return;
  can_read = false;
  can_write = false;
}

void DiskStore::Core::write(const EntryKey& key, std::span<const std::byte> image) {
  if (!can_write || !has_space()) return add(counters.dropped);
  const int result = write_file(key, image);
  if (result == 0) {
    add(counters.published);
    add(counters.published_bytes, image.size());
    add(unswept_bytes, image.size());
  } else if (result == -EEXIST) {
    add(counters.already_there);
  } else {
    add(counters.publish_errors);
    if (is_final(result)) {
      is_read_only_by_error = true;
      can_write = false;
    }
  }
}

int DiskStore::Core::write_file(const EntryKey& key, std::span<const std::byte> image) {
  const std::string environment = environment_folder(key.environment);
  const std::string temporary = environment + "/tmp";
  const int made = files.make_directory_at(directory.get(), environment);
  if (made < 0 && made != -EEXIST) return made;
  if (made == 0) {
    const auto text = std::as_bytes(std::span(key.environment_bytes));
    writer.publish(directory.get(), environment, "env.txt", temporary, text);
  }
  const std::string folder = entry_folder(key);
  const int made_folder = files.make_directory_at(directory.get(), folder);
  if (made_folder < 0 && made_folder != -EEXIST) return made_folder;
  return writer.publish(directory.get(), folder, entry_name(key), temporary, image);
}

bool DiskStore::Core::has_space() {
  struct statvfs space{};
  if (files.space(directory.get(), &space) < 0) return false;
  const uint64_t total = uint64_t{space.f_blocks} * space.f_frsize;
  return uint64_t{space.f_bavail} * space.f_frsize >= std::max(total / 100, kMinFreeBytes);
}

// Hourly among all processes, and sooner in one that writes much.
void DiskStore::Core::sweep_if_due() {
  if (!can_write || hurry) return;
  if (unswept_bytes > max_bytes / 8 || claim_sweep(files, directory.get())) sweep_store();
}

SweepResult DiskStore::Core::sweep_store() {
  unswept_bytes = 0;
  const SweepResult result = sweep(files, directory.get(), max_bytes, hurry);
  add(counters.sweeps);
  add(counters.evicted, result.evicted);
  add(counters.evicted_bytes, result.evicted_bytes);
  return result;
}

DiskStore::DiskStore(std::shared_ptr<Core> core) : core_(std::move(core)), queue_(kQueueCapacity) {}

DiskStore::~DiskStore() {
  drain(kExitLimit);
  core_->hurry = true;
}

std::unique_ptr<DiskStore> DiskStore::open(FileSystem& files, const std::string& root, Mode mode, uint64_t max_bytes) {
  const auto make = [&](OpenFile directory, std::string problem) {
    auto core = std::make_shared<Core>(files, std::move(directory), mode, max_bytes);
    core->problem = std::move(problem);
    return std::unique_ptr<DiskStore>(new DiskStore(std::move(core)));
  };
  const auto make_off = [&](std::string problem) { return make(OpenFile(files, -ENOENT), std::move(problem)); };
  if (mode == Mode::kOff) return make_off("");
  if (root.empty()) return make_off("there is no directory for it");
  if (files.is_elevated()) return make_off("the process has more rights than its user");
  const bool writes = mode == Mode::kReadWrite;
  const SecureDirectory top = open_secure_directory(files, root, writes);
  if (!top.directory.is_open()) return make_off(top.problem);
  SecureDirectory store = open_secure_child(files, top.directory.get(), kVersionFolder, writes);
  if (!store.directory.is_open()) return make_off(root + "/" + store.problem);
  if (writes) {
    const OpenFile tag(files, files.open_at(top.directory.get(), "CACHEDIR.TAG", O_CREAT | O_EXCL | O_WRONLY, 0600));
    if (tag.is_open()) write_all(files, tag.get(), std::as_bytes(std::span(kCacheTag)));
  }
  return make(std::move(store.directory), "");
}

bool DiskStore::is_on() const { return core_->can_read; }

std::string DiskStore::status() const {
  if (!core_->problem.empty()) return "the disk cache is off: " + core_->problem;
  if (core_->slow_lookups >= kMaxSlow) return "the disk cache is off: its file system is too slow";
  if (core_->is_read_only_by_error) return "the disk cache is read-only: its directory cannot be written";
  return "";
}

std::variant<Entry, MissReason> DiskStore::lookup(const EntryKey& key) {
  const int64_t begin = core_->files.monotonic_us();
  auto answer = core_->find(key);
  core_->watch(core_->files.monotonic_us() - begin);
  core_->count(answer);
  return answer;
}

void DiskStore::reject(const EntryKey& key) {
  add(core_->counters.misses[static_cast<size_t>(MissReason::kRejected)]);
  if (core_->can_read) core_->remove(entry_path(key));
}

bool DiskStore::publish(const EntryKey& key, std::vector<std::byte> image) {
  if (!core_->can_write) return false;
  const bool is_queued = !image.empty() && queue_.submit([core = core_, key, image = std::move(image)] {
    core->write(key, image);
    core->sweep_if_due();
  });
  if (!is_queued) add(core_->counters.dropped);
  return is_queued;
}

bool DiskStore::drain(std::chrono::milliseconds limit) {
  core_->hurry = queue_.is_behind();
  const bool is_drained = queue_.drain(limit);
  core_->hurry = false;
  return is_drained;
}

SweepResult DiskStore::sweep_now() { return core_->can_write ? core_->sweep_store() : SweepResult{}; }

Stats DiskStore::stats() const {
  const Counters& from = core_->counters;
  Stats stats;
  stats.lookups = from.lookups;
  stats.hits = from.hits;
  stats.hit_bytes = from.hit_bytes;
  stats.removed = from.removed;
  stats.published = from.published;
  stats.published_bytes = from.published_bytes;
  stats.already_there = from.already_there;
  stats.dropped = from.dropped;
  stats.publish_errors = from.publish_errors;
  stats.sweeps = from.sweeps;
  stats.evicted = from.evicted;
  stats.evicted_bytes = from.evicted_bytes;
  std::copy(from.misses.begin(), from.misses.end(), stats.misses.begin());
  return stats;
}

}  // namespace tenon::cache
