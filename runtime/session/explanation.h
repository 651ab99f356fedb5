// SPDX-License-Identifier: MIT
// Explains a program from its canonical bytes: the front half of the compiler is run again with a decision log.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/explain/report.h"

namespace tenon::session {

struct ProgramExplanation {
  DecisionLog log;
  ProgramIdentity identity;
};

/// Costs a front half of a compilation (no LLVM); runs nothing.
absl::StatusOr<ProgramExplanation> explain_program(absl::Span<const std::byte> key_bytes);

/// Names of the key's ingredients that one program has otherwise than the other.
std::vector<std::string> key_difference(const ProgramIdentity& a, const ProgramIdentity& b);

}  // namespace tenon::session
