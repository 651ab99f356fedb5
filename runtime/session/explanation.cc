// SPDX-License-Identifier: MIT
// See explanation.h.
#include "runtime/session/explanation.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cache/digest.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/serialize.h"
#include "runtime/session/dump.h"
#include "runtime/session/store.h"

namespace tenon::session {
namespace {

KeyRecord ingredient(std::string_view name, std::string value, std::string_view bytes) {
  return {std::string(name), std::move(value), cache::digest(bytes, cache::Seed::kChecksum).hex()};
}

/// The graph's share: what comes in, what is done, what goes out.
void add_graph(const Graph& graph, std::vector<KeyRecord>& fields) {
  std::string inputs, ops, outputs;
  for (absl::string_view line : absl::StrSplit(print_graph(graph), '\n', absl::SkipEmpty())) {
    const bool is_input = absl::StartsWith(line, "input ") || absl::StartsWith(line, "scalar ");
    absl::StrAppend(is_input ? &inputs : absl::StartsWith(line, "output ") ? &outputs : &ops, line, "\n");
  }
  const std::size_t leaves = graph.inputs.size() + graph.scalars.size();
  fields.push_back(
      ingredient("inputs", absl::StrCat(graph.inputs.size(), " tensors, ", graph.scalars.size(), " scalars"), inputs));
  fields.push_back(ingredient("ops", absl::StrCat(graph.size() - leaves, " nodes"), ops));
  fields.push_back(ingredient("outputs", absl::StrCat(graph.outputs.size(), " tensors"), outputs));
}

void add_environment(std::vector<KeyRecord>& fields) {
  for (absl::string_view line : absl::StrSplit(environment_text(), '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> field = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    fields.push_back(ingredient(field.first, field.second, field.second));
  }
}

ProgramIdentity identity_of(const Graph& graph, absl::Span<const std::byte> key_bytes) {
  ProgramIdentity identity;
  identity.key = cache::digest(std::span(key_bytes.data(), key_bytes.size()), cache::Seed::kGraph).hex();
  add_graph(graph, identity.fields);
  add_environment(identity.fields);
  return identity;
}

}  // namespace

absl::StatusOr<ProgramExplanation> explain_program(absl::Span<const std::byte> key_bytes) {
  absl::StatusOr<Graph> graph = decode_graph(key_bytes);
  if (!graph.ok()) return graph.status();
  ProgramExplanation explanation;
  CompileOptions options = compile_options();
  options.dump = nullptr;
  options.log = &explanation.log;
  auto last = std::chrono::steady_clock::now();
  options.stage_done = [&](std::string_view) {
    const auto now = std::chrono::steady_clock::now();
    explanation.log.stages.back().time = std::chrono::nanoseconds(now - last).count() * 1000;
    last = now;
  };
  absl::StatusOr<LoopProgram> program = build_loops(*graph, options);
  if (!program.ok()) return program.status();
  explanation.identity = identity_of(*graph, key_bytes);
  return explanation;
}

std::vector<std::string> key_difference(const ProgramIdentity& a, const ProgramIdentity& b) {
  std::vector<std::string> names;
  for (const KeyRecord& field : a.fields) {
    const auto same = [&](const KeyRecord& other) { return other.name == field.name && other.hash == field.hash; };
    if (std::none_of(b.fields.begin(), b.fields.end(), same)) names.push_back(field.name);
  }
  for (const KeyRecord& field : b.fields) {
    const auto named = [&](const KeyRecord& other) { return other.name == field.name; };
    if (std::none_of(a.fields.begin(), a.fields.end(), named)) names.push_back(field.name);
  }
  return names;
}

}  // namespace tenon::session
