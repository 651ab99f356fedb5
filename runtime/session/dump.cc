// SPDX-License-Identifier: MIT
// See dump.h.
#include "runtime/session/dump.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/ir/serialize.h"
#include "runtime/device/cpu/host_cpu.h"
#include "runtime/log.h"
#include "runtime/options.h"
#include "runtime/session/compiler_library.h"

namespace tenon::session {
namespace {

bool is_wanted(std::string_view stage) {
  for (absl::string_view name : absl::StrSplit(options().dump, ',', absl::SkipEmpty())) {
    if (name == "all" || std::string_view(name.data(), name.size()) == stage) return true;
  }
  return false;
}

/// <dir>/<pid>_<number>.<stage>, or standard error when there is no folder.
void write(std::string_view stage, std::string_view text) {
  static std::atomic<int> number{0};
  if (options().dump_dir.empty()) {
    std::fprintf(stderr, "# %.*s\n%.*s\n", static_cast<int>(stage.size()), stage.data(), static_cast<int>(text.size()),
                 text.data());
    return;
  }
  const std::string path = absl::StrCat(options().dump_dir, "/", getpid(), "_", number++, ".", std::string(stage));
  std::ofstream file(path);
  if (!(file << text)) warn_once("dump", absl::StrCat("cannot write ", path));
}

}  // namespace

CompileOptions compile_options() {
  CompileOptions o;
  o.realize = parse_realize_mode(options().realize).value_or(RealizeMode::kTenon);
  o.fusion.mode = parse_fusion_mode(options().fusion).value_or(FusionMode::kAuto);
  o.verify = options().verify;
  if (!options().dump.empty()) {
    o.dump = [](std::string_view stage, std::string text) {
      if (is_wanted(stage)) write(stage, text);
    };
  }
  return o;
}

void dump_code(absl::Span<const std::byte> key_bytes) {
  const bool llvm = is_wanted("llvm"), assembly = is_wanted("asm");
  if (!llvm && !assembly) return;
  absl::StatusOr<Graph> graph = decode_graph(key_bytes);
  if (!graph.ok()) return;
  CompileOptions options = compile_options();
  options.dump = nullptr;
  absl::StatusOr<LoopProgram> program = build_loops(*graph, options);
  if (!program.ok()) return;
  const std::vector<std::byte> kernels = encode_loop_program(*program);
  for (const auto& [wanted, stage, emit] :
       {std::tuple(llvm, "llvm", kTenonEmitLlvm), std::tuple(assembly, "asm", kTenonEmitAssembly)}) {
    if (!wanted) continue;
    const auto text = compile_kernels(kernels, device::runnable_targets().front(), emit);
    if (text.ok()) write(stage, std::string_view(reinterpret_cast<const char*>(text->data()), text->size()));
  }
}

}  // namespace tenon::session
