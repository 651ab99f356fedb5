// SPDX-License-Identifier: MIT
// Forms of the decision log: text and HTML for people, JSON for programs, DOT for Graphviz.
#pragma once

#include <string>

#include "compiler/explain/decision_log.h"

namespace tenon {

/// What identifies the explained program.
struct ProgramIdentity {
  std::string key;                ///< XXH3-128 of the canonical bytes, 32 hexadecimal digits
  std::vector<KeyRecord> fields;  ///< what goes into the name under which it is cached
};

/// Stages, rewrites, realize table, candidate pairs by round, kernels, memory, key.
std::string report_text(const DecisionLog& log, const ProgramIdentity& identity);

/// One object; tests/unit/report_json_test.cc is its schema.
std::string report_json(const DecisionLog& log, const ProgramIdentity& identity);

/// The graph after rewriting for Graphviz, a cluster a kernel. Inlined nodes are dashed.
std::string report_dot(const DecisionLog& log);

/// One page for a browser, which needs no other file and no network: the graph after each stage, kernels, tables.
std::string report_html(const DecisionLog& log, const ProgramIdentity& identity);

}  // namespace tenon
