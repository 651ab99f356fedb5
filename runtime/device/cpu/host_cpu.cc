// SPDX-License-Identifier: MIT
// Processor features as the C library found them when the process started: it counts only what the operating system
// saves the registers of, and asking again would cost tens of microseconds in a virtual machine, where cpuid traps.
#include "runtime/device/cpu/host_cpu.h"

#define _Bool bool  // the header is C, and clang does not know this word of C in C++
#include <sys/platform/x86.h>
#undef _Bool

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace tenon::device {
namespace {

struct Extra {
  unsigned index;
  const char* name;  // LLVM's
};

constexpr unsigned kLevel3[] = {x86_cpu_SSE3,   x86_cpu_SSSE3, x86_cpu_SSE4_1, x86_cpu_SSE4_2, x86_cpu_CMPXCHG16B,
                                x86_cpu_POPCNT, x86_cpu_MOVBE, x86_cpu_F16C,   x86_cpu_FMA,    x86_cpu_AVX,
                                x86_cpu_AVX2,   x86_cpu_BMI1,  x86_cpu_BMI2,   x86_cpu_LZCNT,  x86_cpu_LAHF64_SAHF64};
constexpr unsigned kLevel4[] = {x86_cpu_AVX512F, x86_cpu_AVX512BW, x86_cpu_AVX512CD, x86_cpu_AVX512DQ,
                                x86_cpu_AVX512VL};

// avx512bf16 is left out: its conversions flush subnormals, so no instruction of it rounds as ours must.
constexpr Extra kExtras3[] = {{x86_cpu_AVX_VNNI, "+avxvnni"}, {x86_cpu_GFNI, "+gfni"}};
constexpr Extra kExtras4[] = {{x86_cpu_AVX512_BITALG, "+avx512bitalg"},      {x86_cpu_AVX512_FP16, "+avx512fp16"},
                              {x86_cpu_AVX512_IFMA, "+avx512ifma"},          {x86_cpu_AVX512_VBMI, "+avx512vbmi"},
                              {x86_cpu_AVX512_VBMI2, "+avx512vbmi2"},        {x86_cpu_AVX512_VNNI, "+avx512vnni"},
                              {x86_cpu_AVX512_VPOPCNTDQ, "+avx512vpopcntdq"}};

bool has_all(std::span<const unsigned> features) { return std::ranges::all_of(features, x86_cpu_active); }

void append_names(std::string& names, std::span<const Extra> extras) {
  for (const Extra& extra : extras) {
    if (!x86_cpu_active(extra.index)) continue;
    if (!names.empty()) names += ',';
    names += extra.name;
  }
}

codegen::TargetSpec target(const char* cpu, std::string features) {
  codegen::TargetSpec spec;
  spec.cpu = cpu;
  spec.features = std::move(features);
  return spec;
}

std::vector<codegen::TargetSpec> find_targets() {
  std::vector<codegen::TargetSpec> targets;
  if (!has_all(kLevel3)) return targets;
  const bool level4 = has_all(kLevel4);
  std::string extras;
  if (level4) append_names(extras, kExtras4);
  append_names(extras, kExtras3);
  if (!extras.empty()) targets.push_back(target(level4 ? "x86-64-v4" : "x86-64-v3", extras));
  if (level4) targets.push_back(target("x86-64-v4", ""));
  targets.push_back(target("x86-64-v3", ""));
  return targets;
}

}  // namespace

const std::vector<codegen::TargetSpec>& runnable_targets() {
  static const auto& targets = *new std::vector<codegen::TargetSpec>(find_targets());  // leaked: statics may evaluate
  return targets;
}

}  // namespace tenon::device
