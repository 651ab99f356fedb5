// SPDX-License-Identifier: MIT
// The JSON form of the decision log. Keys are a contract (tests hold the schema).
#include <nlohmann/json.hpp>

#include "compiler/explain/report.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;

Json stages_json(const DecisionLog& log) {
  Json out = Json::array();
  for (const StageRecord& s : log.stages) out.push_back({{"name", s.name}, {"in", s.nodes_in}, {"out", s.nodes_out}});
  return out;
}

Json realize_json(const DecisionLog& log) {
  Json out = Json::array();
  for (const RealizeRecord& r : log.realize) {
    out.push_back({{"node", r.node},
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
                   {"store_cost_ps", r.store_cost}});
  }
  return out;
}

Json rounds_json(const DecisionLog& log) {
  Json rounds = Json::array();
  for (const CandidateRecord& c : log.candidates) {
    if (rounds.empty() || rounds.back()["round"] != c.round) {
      rounds.push_back({{"round", c.round}, {"candidates", Json::array()}});
    }
    rounds.back()["candidates"].push_back({{"a", c.a},
                                           {"b", c.b},
                                           {"kind", c.kind},
                                           {"score", c.score},
                                           {"shared_bytes", c.shared_bytes},
                                           {"verdict", c.verdict},
                                           {"reason", c.reason}});
  }
  return rounds;
}

Json kernels_json(const DecisionLog& log) {
  Json out = Json::array();
  for (const KernelRecord& k : log.kernels) {
    out.push_back({{"name", k.name},
                   {"class", k.kernel_class},
                   {"members", k.members},
                   {"read_bytes", k.read_bytes},
                   {"write_bytes", k.write_bytes},
                   {"tasks", k.tasks},
                   {"phases", k.phases}});
  }
  return out;
}

Json memory_json(const DecisionLog& log) {
  Json values = Json::array();
  for (const MemoryRecord& m : log.memory) {
    values.push_back({{"node", m.node},
                      {"offset", m.offset},
                      {"bytes", m.bytes},
                      {"first_kernel", m.first_kernel},
                      {"last_kernel", m.last_kernel}});
  }
  return {{"arena_bytes", log.arena_bytes}, {"values", std::move(values)}};
}

}  // namespace

std::string report_json(const DecisionLog& log, const ProgramIdentity& identity) {
  Json out;
  out["stages"] = stages_json(log);
  out["realize"] = realize_json(log);
  out["rounds"] = rounds_json(log);
  out["kernels"] = kernels_json(log);
  out["memory"] = memory_json(log);
  out["key"] = identity.key;
  out["environment"] = identity.environment;
  return out.dump(1) + "\n";
}

}  // namespace tenon
