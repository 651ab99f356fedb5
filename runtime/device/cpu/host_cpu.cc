// SPDX-License-Identifier: MIT
// Processor features as rows: register and bit of cpuid, level or name. Bits are those of the processor manuals.
#include "runtime/device/cpu/host_cpu.h"

#include <cpuid.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace tenon::cpu {
namespace {

enum Register { kLeaf1Ecx, kLeaf7Ebx, kLeaf7Ecx, kLeaf7Edx, kLeaf71Eax, kExtendedEcx, kNumRegisters };
using Registers = std::array<std::uint32_t, kNumRegisters>;

struct Bit {
  Register where;
  int bit;
};
struct Extra {
  const char* name;
  Bit bit;
};

constexpr Bit kOsSavesRegisters = {kLeaf1Ecx, 27};

// sse3 ssse3 fma cx16 sse4.1 sse4.2 movbe popcnt avx f16c, bmi avx2 bmi2, lahf lzcnt
constexpr Bit kLevel3[] = {{kLeaf1Ecx, 0},  {kLeaf1Ecx, 9},  {kLeaf1Ecx, 12}, {kLeaf1Ecx, 13},   {kLeaf1Ecx, 19},
                           {kLeaf1Ecx, 20}, {kLeaf1Ecx, 22}, {kLeaf1Ecx, 23}, {kLeaf1Ecx, 28},   {kLeaf1Ecx, 29},
                           {kLeaf7Ebx, 3},  {kLeaf7Ebx, 5},  {kLeaf7Ebx, 8},  {kExtendedEcx, 0}, {kExtendedEcx, 5}};
// avx512f avx512dq avx512cd avx512bw avx512vl
constexpr Bit kLevel4[] = {{kLeaf7Ebx, 16}, {kLeaf7Ebx, 17}, {kLeaf7Ebx, 28}, {kLeaf7Ebx, 30}, {kLeaf7Ebx, 31}};

// avx512bf16 is left out: its conversions flush subnormals, so no instruction of it rounds as ours must.
constexpr Extra kExtras3[] = {{"avxvnni", {kLeaf71Eax, 4}}, {"gfni", {kLeaf7Ecx, 8}}};
constexpr Extra kExtras4[] = {{"avx512bitalg", {kLeaf7Ecx, 12}},   {"avx512fp16", {kLeaf7Edx, 23}},
                              {"avx512ifma", {kLeaf7Ebx, 21}},     {"avx512vbmi", {kLeaf7Ecx, 1}},
                              {"avx512vbmi2", {kLeaf7Ecx, 6}},     {"avx512vnni", {kLeaf7Ecx, 11}},
                              {"avx512vpopcntdq", {kLeaf7Ecx, 14}}};

// What the operating system saves on a switch: bits 1-2 are the SSE and AVX registers, 5-7 those of AVX-512.
constexpr std::uint64_t kSavedAvx = 0x06;
constexpr std::uint64_t kSavedAvx512 = 0xe6;

Registers read_registers() {
  Registers r{};
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) r[kLeaf1Ecx] = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    r[kLeaf7Ebx] = ebx;
    r[kLeaf7Ecx] = ecx;
    r[kLeaf7Edx] = edx;
    if (eax >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) r[kLeaf71Eax] = eax;
  }
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx)) r[kExtendedEcx] = ecx;
  return r;
}

bool has(const Registers& r, Bit b) { return (r[b.where] >> b.bit & 1) != 0; }

bool has_all(const Registers& r, std::span<const Bit> bits) {
  for (Bit b : bits) {
    if (!has(r, b)) return false;
  }
  return true;
}

// Must be asked only where kOsSavesRegisters is set; elsewhere the instruction faults.
std::uint64_t saved_registers() {
  std::uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

std::string names_of(const Registers& r, std::span<const Extra> extras) {
  std::string names;
  for (const Extra& extra : extras) {
    if (has(r, extra.bit)) names += std::string(names.empty() ? "+" : ",+") + extra.name;
  }
  return names;
}

std::string join(const std::string& a, const std::string& b) { return a.empty() || b.empty() ? a + b : a + "," + b; }

codegen::TargetSpec target(const char* cpu, std::string features) {
  codegen::TargetSpec spec;
  spec.cpu = cpu;
  spec.features = std::move(features);
  return spec;
}

std::vector<codegen::TargetSpec> find_targets() {
  const Registers r = read_registers();
  const std::uint64_t saved = has(r, kOsSavesRegisters) ? saved_registers() : 0;
  std::vector<codegen::TargetSpec> targets;
  if (!has_all(r, kLevel3) || (saved & kSavedAvx) != kSavedAvx) return targets;
  const bool level4 = has_all(r, kLevel4) && (saved & kSavedAvx512) == kSavedAvx512;
  std::string extras = names_of(r, kExtras3);
  if (level4) extras = join(names_of(r, kExtras4), extras);
  if (!extras.empty()) targets.push_back(target(level4 ? "x86-64-v4" : "x86-64-v3", extras));
  if (level4) targets.push_back(target("x86-64-v4", ""));
  targets.push_back(target("x86-64-v3", ""));
  return targets;
}

}  // namespace

const std::vector<codegen::TargetSpec>& runnable_targets() {
  static const std::vector<codegen::TargetSpec> targets = find_targets();
  return targets;
}

}  // namespace tenon::cpu
