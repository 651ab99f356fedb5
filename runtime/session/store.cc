// SPDX-License-Identifier: MIT
// See store.h.
#include "runtime/session/store.h"

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "compiler/build_id.h"
#include "compiler/ir/serialize.h"
#include "runtime/device/cpu/host_cpu.h"
#include "runtime/device/cpu/parallel.h"
#include "runtime/log.h"
#include "runtime/options.h"
#include "runtime/session/compiler_library.h"
#include "runtime/session/dump.h"

namespace tenon::session {
namespace {

constexpr std::uint64_t kMaxProgramBytes = std::uint64_t{512} << 20;
constexpr std::uint32_t kImageSection = cache::fourcc("IMG0");
constexpr std::uint32_t kMetaSection = cache::fourcc("META");

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

std::string_view as_text(absl::Span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const codegen::TargetSpec* native_target() {
  const auto& targets = device::runnable_targets();
  return targets.empty() ? nullptr : &targets.front();
}

cache::Mode disk_mode() {
  const std::string& mode = options().cache;
  return mode == "off" ? cache::Mode::kOff : mode == "ro" ? cache::Mode::kReadOnly : cache::Mode::kReadWrite;
}

cache::EntryKey entry_key(const ProgramKey& key) {
  static const std::string& environment = *new std::string(environment_text());  // leaked: statics may evaluate
  static const cache::Digest digest = cache::digest(environment, cache::Seed::kEnvironment);
  return {digest, key.digest, environment, std::string(as_text(key.bytes))};
}

}  // namespace

ProgramKey key_of(absl::Span<const std::byte> canonical_bytes) {
  const std::span bytes(canonical_bytes.data(), canonical_bytes.size());
  return {canonical_bytes, cache::digest(bytes, cache::Seed::kGraph)};
}

std::string environment_text() {
  const codegen::TargetSpec* target = native_target();
  if (!target) return absl::StrCat("build ", build_id(), "\ntarget none\n");
  return absl::StrCat("format 1\nbuild ", build_id(), "\ntriple ", target->triple, "\ncpu ", target->cpu, "\nfeatures ",
                      target->features, "\nnumerics ", options().numerics == "relaxed" ? "relaxed" : "portable",
                      "\nrealize ", options().realize, "\nfusion ", options().fusion, "\ncosts ",
                      to_string(compile_options().fusion.costs), "\n");
}

std::string cache_root() {
  if (!options().cache_dir.empty()) return options().cache_dir;
  const char* xdg = secure_getenv("XDG_CACHE_HOME");
  if (xdg && *xdg == '/') return absl::StrCat(xdg, "/tenon");
  const char* home = secure_getenv("HOME");
  return home && *home == '/' ? absl::StrCat(home, "/.cache/tenon") : "";
}

ProgramStore::ProgramStore() : root_(cache_root()), memory_(kMaxProgramBytes) {
  disk_ = cache::DiskStore::open(cache::posix_file_system(), root_, root_.empty() ? cache::Mode::kOff : disk_mode(),
                                 static_cast<std::uint64_t>(options().cache_max_size));
  if (root_.empty() && disk_mode() != cache::Mode::kOff) {
    warn_once("cache",
              "no folder for the disk cache (HOME and TENON_CACHE_DIR are unset); programs are kept in memory only");
  } else if (!disk_->status().empty()) {
    warn_once("cache", disk_->status());
  }
}

Counters ProgramStore::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void ProgramStore::drain() { disk_->drain(cache::DiskStore::kExitLimit); }

absl::StatusOr<std::shared_ptr<const Program>> ProgramStore::find_or_make(const ProgramKey& key) {
  if (auto found = memory_.find(key.digest, as_text(key.bytes))) {
    const std::lock_guard lock(mutex_);
    ++counters_.memory_hits;
    return found;
  }
  return memory_.get_or_compute(key.digest, as_text(key.bytes), [&] { return make(key); });
}

absl::StatusOr<cache::MemoryCache<Program>::Computed> ProgramStore::make(const ProgramKey& key) {
  const Clock::time_point start = Clock::now();
  const device::DefaultFloatMode mode;  // constants are folded, and the interpreter prepared, as programs run
  const auto bytes = std::make_shared<const std::vector<std::byte>>(key.bytes.begin(), key.bytes.end());
  absl::StatusOr<std::shared_ptr<const Program>> program;
  if (!options().jit || !native_target()) {
    if (!native_target()) warn_once("target", "this processor lacks x86-64-v3 (AVX2, FMA): programs are interpreted");
    program = interpret_instead(bytes);
  } else {
    const cache::EntryKey entry = entry_key(key);
    if (auto loaded = load_from_disk(entry, bytes)) {
      program = std::move(loaded);
    } else {
      program = compile_and_publish(entry, bytes);
    }
  }
  if (!program.ok()) return program.status();
  return cache::MemoryCache<Program>::Computed{*program, (*program)->held_bytes() + bytes->size(),
                                               static_cast<std::uint64_t>(microseconds_since(start))};
}

std::shared_ptr<const Program> ProgramStore::load_from_disk(const cache::EntryKey& key,
                                                            const trace::CanonicalBytes& bytes) {
  const Clock::time_point start = Clock::now();
  auto found = disk_->lookup(key);
  const double lookup_us = microseconds_since(start);
  const Clock::time_point load_start = Clock::now();
  std::shared_ptr<const Program> program;
  if (auto* entry = std::get_if<cache::Entry>(&found)) {
    const auto meta = entry->section(kMetaSection), image = entry->section(kImageSection);
    absl::StatusOr<Artifact> artifact = decode_meta(absl::MakeConstSpan(meta.data(), meta.size()));
    if (artifact.ok()) {
      artifact->image.assign(image.begin(), image.end());
      absl::StatusOr<std::shared_ptr<const Program>> loaded = Program::load(*artifact, bytes);
      if (loaded.ok()) program = *loaded;
    }
    if (!program) disk_->reject(key);
  }
  const std::lock_guard lock(mutex_);
  counters_.lookup_us += lookup_us;
  if (program) {
    ++counters_.disk_hits;
    counters_.load_us += microseconds_since(load_start);
  }
  return program;
}

absl::StatusOr<std::shared_ptr<const Program>> ProgramStore::compile_and_publish(const cache::EntryKey& key,
                                                                                 const trace::CanonicalBytes& bytes) {
  if (options().compile == "forbid") {
    return absl::FailedPreconditionError(
        absl::StrCat("program ", key.graph.hex(), " is not cached, and TENON_COMPILE=forbid"));
  }
  const auto without_compiler = [&](const absl::Status& why) {
    warn_once("compiler", absl::StrCat(why.message(), "; programs are interpreted"));
    return interpret_instead(bytes);
  };
  if (absl::Status opened = open_compiler(); !opened.ok()) return without_compiler(opened);
  const Clock::time_point start = Clock::now();
  const CodeGenerator generate = [&](absl::Span<const std::byte> kernels) {
    return compile_kernels(std::span(kernels.data(), kernels.size()), *native_target());
  };
  absl::StatusOr<Artifact> artifact = compile(*bytes, generate, compile_options());
  if (absl::IsUnavailable(artifact.status())) return without_compiler(artifact.status());
  if (!artifact.ok()) return artifact.status();
  dump_code(*bytes);
  const double compile_us = microseconds_since(start);
  const Clock::time_point load_start = Clock::now();
  absl::StatusOr<std::shared_ptr<const Program>> program = Program::load(*artifact, bytes);
  if (absl::IsPermissionDenied(program.status())) {
    warn_once("executable", "the system denies executable memory; programs are interpreted");
    return interpret_instead(bytes);
  }
  if (!program.ok()) return program.status();
  const std::vector<std::byte> meta = encode_meta(*artifact);
  const cache::Section sections[] = {{kMetaSection, 0, 64, meta}, {kImageSection, 0, 64, artifact->image}};
  disk_->publish(key, cache::encode_entry(key, sections, static_cast<std::uint64_t>(compile_us),
                                          static_cast<std::uint64_t>(std::time(nullptr))));
  log(LogLevel::kInfo, absl::StrCat("compiled ", key.graph.hex(), ": ", (*program)->num_kernels(), " kernels in ",
                                    static_cast<std::int64_t>(compile_us), " us"));
  const std::lock_guard lock(mutex_);
  ++counters_.compiled;
  counters_.kernels += static_cast<std::uint64_t>((*program)->num_kernels());
  counters_.compile_us += compile_us;
  counters_.load_us += microseconds_since(load_start);
  return program;
}

absl::StatusOr<std::shared_ptr<const Program>> ProgramStore::interpret_instead(const trace::CanonicalBytes& bytes) {
  absl::StatusOr<std::shared_ptr<const Program>> program = Program::interpreted(bytes);
  const std::lock_guard lock(mutex_);
  counters_.interpreted += program.ok() ? 1 : 0;
  return program;
}

}  // namespace tenon::session
