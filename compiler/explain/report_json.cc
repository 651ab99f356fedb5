// SPDX-License-Identifier: MIT
// The JSON form of the decision log. Keys are a contract (tests hold the schema); times are integers of picoseconds,
// null where nobody asked for them.
#include <nlohmann/json.hpp>

#include "compiler/explain/report.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;

template <class Records, class Form>
Json list(const Records& records, const Form& form) {
  Json out = Json::array();
  for (const auto& record : records) out.push_back(form(record));
  return out;
}

Json known(std::int64_t picoseconds) { return picoseconds < 0 ? Json() : Json(picoseconds); }

Json node_json(const NodeRecord& n) {
  return {
      {"id", n.id},         {"op", n.op},       {"text", n.text},    {"type", n.type},       {"operands", n.operands},
      {"source", n.source}, {"bytes", n.bytes}, {"leaf", n.is_leaf}, {"output", n.is_output}};
}

Json stage_json(const StageRecord& s) {
  return {{"name", s.name},
          {"in", s.nodes_in},
          {"out", s.nodes_out},
          {"time_ps", known(s.time)},
          {"nodes", list(s.nodes, node_json)}};
}

Json rewrite_json(const RewriteRecord& r) {
  return {{"stage", r.stage}, {"rule", r.rule}, {"before", r.before}, {"after", r.after}, {"sources", r.sources}};
}

Json realize_json(const RealizeRecord& r) {
  return {{"node", r.node},
          {"text", r.text},
          {"realized", r.realized},
          {"rule", r.rule},
          {"into", r.into},
          {"reads", r.reads},
          {"ops", r.ops},
          {"users", r.users},
          {"bytes_in", r.bytes_in},
          {"bytes_out", r.bytes_out},
          {"inline_cost_ps", r.inline_cost},
          {"store_cost_ps", r.store_cost}};
}

Json candidate_json(const CandidateRecord& c) {
  return {{"a", c.a},
          {"b", c.b},
          {"kind", c.kind},
          {"score", c.score},
          {"shared_bytes", c.shared_bytes},
          {"same_kind", c.same_kind},
          {"distance", c.distance},
          {"verdict", c.verdict},
          {"reason", c.reason}};
}

Json rounds_json(const DecisionLog& log) {
  Json rounds = Json::array();
  for (const CandidateRecord& c : log.candidates) {
    if (rounds.empty() || rounds.back()["round"] != c.round) {
      rounds.push_back({{"round", c.round}, {"candidates", Json::array()}});
    }
    rounds.back()["candidates"].push_back(candidate_json(c));
  }
  return rounds;
}

Json search_json(const SearchRecord& s) {
  return {{"nodes", s.nodes},
          {"method", s.method},
          {"reason", s.reason},
          {"evaluations", s.evaluations},
          {"greedy_cost_ps", s.greedy_cost},
          {"cost_ps", s.cost}};
}

Json kernel_json(const KernelRecord& k) {
  return {{"name", k.name},
          {"class", k.kernel_class},
          {"members", k.members},
          {"read_bytes", k.read_bytes},
          {"write_bytes", k.write_bytes},
          {"tasks", k.tasks},
          {"phases", k.phases},
          {"predicted_ps", known(k.predicted)},
          {"measured_ps", known(k.measured)}};
}

Json memory_json(const MemoryRecord& m) {
  return {{"node", m.node},
          {"offset", m.offset},
          {"bytes", m.bytes},
          {"first_kernel", m.first_kernel},
          {"last_kernel", m.last_kernel}};
}

Json key_json(const KeyRecord& f) { return {{"name", f.name}, {"value", f.value}, {"hash", f.hash}}; }

}  // namespace

std::string report_json(const DecisionLog& log, const ProgramIdentity& identity) {
  Json out;
  out["stages"] = list(log.stages, stage_json);
  out["rewrites"] = list(log.rewrites, rewrite_json);
  out["realize"] = list(log.realize, realize_json);
  out["rounds"] = rounds_json(log);
  out["searches"] = list(log.searches, search_json);
  out["kernels"] = list(log.kernels, kernel_json);
  out["memory"] = {{"arena_bytes", log.arena_bytes}, {"values", list(log.memory, memory_json)}};
  out["key"] = {{"graph", identity.key}, {"ingredients", list(identity.fields, key_json)}};
  return out.dump(1) + "\n";
}

}  // namespace tenon
