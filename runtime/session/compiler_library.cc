// SPDX-License-Identifier: MIT
// Opening of the compiler library. It is looked for beside the library or program that holds this code, then in the
// neighbouring lib folder, nowhere else; it is never closed, since LLVM does not survive that. When the process exits,
// LLVM's statics go before those of the program that evaluates in a destructor, so it serves no call from then on.
#include "runtime/session/compiler_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/build_id.h"

// Null unless the compiler is linked into this program (the static build).
extern "C" __attribute__((weak)) TenonCompileFunction tenon_compiler_compile;

namespace tenon::session {
namespace {

constexpr char kFileName[] = "libtenon_compiler.so";

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

/// Where this code lies, and where the program lies: the first is a name the program was started by, of any truth, when
/// this code is linked into the program.
std::vector<std::string> own_folders() {
  std::vector<std::string> folders;
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&folder_of), &info) != 0 && info.dli_fname != nullptr) {
    folders.push_back(folder_of(info.dli_fname));
  }
  char program[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", program, sizeof(program));
  if (length > 0) folders.push_back(folder_of(std::string(program, static_cast<std::size_t>(length))));
  return folders;
}

absl::StatusOr<TenonCompileFunction*> open_file(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absl::UnavailableError(::dlerror());
  void* entry = ::dlsym(library, kTenonCompilerEntry);
  if (entry == nullptr) return absl::UnavailableError(::dlerror());
  return reinterpret_cast<TenonCompileFunction*>(entry);
}

absl::StatusOr<TenonCompileFunction*> open_library() {
  if (tenon_compiler_compile != nullptr) return &tenon_compiler_compile;
  std::string tried;
  for (const std::string& folder : own_folders()) {
    for (const char* way : {"/", "/../lib/"}) {
      auto entry = open_file(absl::StrCat(folder, way, kFileName));
      if (entry.ok()) return entry;
      absl::StrAppend(&tried, tried.empty() ? "" : "; ", entry.status().message());
    }
  }
  return absl::UnavailableError(absl::StrCat("the compiler library cannot be opened: ", tried));
}

std::atomic<bool> opened = false;
std::atomic<bool> has_exit_begun = false;

/// Registered after LLVM has made statics, so it runs before their destructors.
void note_exit() { has_exit_begun = true; }

// Leaked, so that statics may still evaluate.
const absl::StatusOr<TenonCompileFunction*>& first_try() {
  static const auto* const entry = [] {
    auto* const result = new absl::StatusOr<TenonCompileFunction*>(open_library());
    opened = result->ok();
    std::atexit(note_exit);
    return result;
  }();
  return *entry;
}

absl::StatusOr<TenonCompileFunction*> compiler() {
  if (has_exit_begun) return absl::UnavailableError("the process exits, and the compiler with it");
  return first_try();
}

void keep(void* self, const void* bytes, std::size_t size) {
  const auto* begin = static_cast<const std::byte*>(bytes);
  static_cast<std::vector<std::byte>*>(self)->assign(begin, begin + size);
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> compile_kernels(std::span<const std::byte> kernels,
                                                       const codegen::TargetSpec& target, TenonEmit emit) {
  const auto entry = compiler();
  if (!entry.ok()) return entry.status();
  const TenonCompileRequest request{kTenonCompilerAbi,  emit,
                                    build_id(),         kernels.data(),
                                    kernels.size(),     target.triple.c_str(),
                                    target.cpu.c_str(), target.features.c_str()};
  std::vector<std::byte> out;
  const TenonCompileSink sink{&out, keep};
  const std::int32_t code = (*entry)(&request, &sink);
  std::atexit(note_exit);  // LLVM makes statics as it needs them
  if (code == 0) return out;
  return absl::Status(static_cast<absl::StatusCode>(code),
                      absl::string_view(reinterpret_cast<const char*>(out.data()), out.size()));
}

absl::Status open_compiler() { return compiler().status(); }

bool is_compiler_open() { return opened; }

}  // namespace tenon::session
