// SPDX-License-Identifier: MIT
// What machine code is made for, as plain data, and the LLVM target machine made from it.
//
// TargetSpec knows no LLVM, so that a warm process can name its target in a key without opening the compiler
// (runtime/device/cpu/host_cpu.h finds the host's). Equal specs give equal code on any machine.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace llvm {
class TargetMachine;
}

namespace tenon::codegen {

/// `cpu` is a named level (x86-64-v3, x86-64-v4) and `features` what the target has beyond it, in LLVM's spelling and
/// ascending order ("+avx512bf16,+avx512fp16").
struct TargetSpec {
  std::string triple = "x86_64-unknown-linux-gnu";
  std::string cpu = "x86-64-v3";
  std::string features;

  friend bool operator==(const TargetSpec&, const TargetSpec&) = default;
};

/// Bytes of the widest vectors the target works on: 64 with AVX-512, else 32.
inline int vector_bytes(const TargetSpec& target) {
  const bool wide = target.cpu == "x86-64-v4" || target.features.find("+avx512f") != std::string::npos;
  return wide ? 64 : 32;
}

/// A target machine for position-independent code in the small model, with full code generation effort and no liberty
/// in floating point: no contraction, no fast-math, subnormals kept. InvalidArgument, naming the part, if LLVM does not
/// know the triple, the cpu or a feature. Thread-safe; a target machine itself belongs to one thread at a time.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const TargetSpec& target);

}  // namespace tenon::codegen
