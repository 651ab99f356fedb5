// SPDX-License-Identifier: MIT
// Forms of the decision log: text for people, JSON for programs.
#pragma once

#include <string>

#include "compiler/explain/decision_log.h"

namespace tenon {

/// What identifies the explained program.
struct ProgramIdentity {
  std::string key;          ///< XXH3-128 of the canonical bytes, 32 hexadecimal digits
  std::string environment;  ///< a line a field
};

/// Stages, realize table, candidate pairs by round, kernels, memory, key.
std::string report_text(const DecisionLog& log, const ProgramIdentity& identity);

/// An object with the keys stages, realize, rounds (each: round, candidates of a, b, kind, score, shared_bytes,
/// verdict, reason), kernels (name, class, members, read_bytes, write_bytes, tasks, phases), memory, key, environment.
std::string report_json(const DecisionLog& log, const ProgramIdentity& identity);

}  // namespace tenon
