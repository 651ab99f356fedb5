// SPDX-License-Identifier: MIT
// The schema of an explanation's JSON: every key, and the type of every value, for several programs. The table here is
// the contract; what it does not name must not occur.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/random_graph.h"
#include "tests/unit/explained.h"

namespace tenon {
namespace {

using Json = nlohmann::json;
using testing::explained;

/// "int", "text", "bool", "time" (an int from 0, or null), "ints", "texts", or "[name]": a list of objects of the
/// schema.
using Fields = std::map<std::string, std::string>;

const std::map<std::string, Fields>& schema() {
  static const std::map<std::string, Fields> table = {
      {"report",
       {{"stages", "[stage]"},
        {"rewrites", "[rewrite]"},
        {"realize", "[realize]"},
        {"rounds", "[round]"},
        {"searches", "[search]"},
        {"kernels", "[kernel]"},
        {"memory", "{memory}"},
        {"key", "{key}"}}},
      {"stage", {{"name", "text"}, {"in", "int"}, {"out", "int"}, {"time_ps", "time"}, {"nodes", "[node]"}}},
      {"node",
       {{"id", "int"},
        {"op", "text"},
        {"text", "text"},
        {"type", "text"},
        {"operands", "ints"},
        {"source", "int"},
        {"bytes", "int"},
        {"leaf", "bool"},
        {"output", "bool"}}},
      {"rewrite", {{"stage", "text"}, {"rule", "text"}, {"before", "text"}, {"after", "ints"}, {"sources", "ints"}}},
      {"realize",
       {{"node", "int"},
        {"text", "text"},
        {"realized", "bool"},
        {"rule", "text"},
        {"into", "ints"},
        {"reads", "int"},
        {"ops", "int"},
        {"users", "int"},
        {"bytes_in", "int"},
        {"bytes_out", "int"},
        {"inline_cost_ps", "time"},
        {"store_cost_ps", "time"}}},
      {"round", {{"round", "int"}, {"candidates", "[candidate]"}}},
      {"candidate",
       {{"a", "text"},
        {"b", "text"},
        {"kind", "text"},
        {"score", "int"},
        {"shared_bytes", "int"},
        {"same_kind", "bool"},
        {"distance", "int"},
        {"verdict", "text"},
        {"reason", "any text"}}},
      {"search",
       {{"nodes", "ints"},
        {"method", "text"},
        {"reason", "any text"},
        {"evaluations", "int"},
        {"greedy_cost_ps", "int"},
        {"cost_ps", "int"}}},
      {"kernel",
       {{"name", "text"},
        {"class", "text"},
        {"members", "ints"},
        {"read_bytes", "int"},
        {"write_bytes", "int"},
        {"tasks", "int"},
        {"phases", "int"},
        {"predicted_ps", "time"},
        {"measured_ps", "time"}}},
      {"memory", {{"arena_bytes", "int"}, {"values", "[value]"}}},
      {"value",
       {{"node", "int"}, {"offset", "int"}, {"bytes", "int"}, {"first_kernel", "int"}, {"last_kernel", "int"}}},
      {"key", {{"graph", "text"}, {"ingredients", "[ingredient]"}}},
      {"ingredient", {{"name", "text"}, {"value", "text"}, {"hash", "text"}}},
  };
  return table;
}

bool is_list_of_ints(const Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& v) { return v.is_number_integer(); });
}

void expect_object(const Json& value, const std::string& name, const std::string& path);

void expect_value(const Json& value, const std::string& type, const std::string& path) {
  if (type == "int") {
    EXPECT_TRUE(value.is_number_integer()) << path << ": " << value;
  } else if (type == "time") {
    EXPECT_TRUE(value.is_null() || (value.is_number_integer() && value >= 0)) << path << ": " << value;
  } else if (type == "text") {
    EXPECT_TRUE(value.is_string() && value != "") << path << ": " << value;
  } else if (type == "any text") {
    EXPECT_TRUE(value.is_string()) << path << ": " << value;
  } else if (type == "bool") {
    EXPECT_TRUE(value.is_boolean()) << path << ": " << value;
  } else if (type == "ints") {
    EXPECT_TRUE(is_list_of_ints(value)) << path << ": " << value;
  } else if (type.front() == '{') {
    expect_object(value, type.substr(1, type.size() - 2), path);
  } else {
    ASSERT_TRUE(value.is_array()) << path << ": " << value;
    for (std::size_t i = 0; i < value.size(); ++i)
      expect_object(value[i], type.substr(1, type.size() - 2), path + "[" + std::to_string(i) + "]");
  }
}

void expect_object(const Json& value, const std::string& name, const std::string& path) {
  ASSERT_TRUE(value.is_object()) << path << ": " << value;
  const Fields& fields = schema().at(name);
  for (const auto& [key, unused] : value.items()) EXPECT_TRUE(fields.contains(key)) << path << "." << key;
  for (const auto& [key, type] : fields) {
    ASSERT_TRUE(value.contains(key)) << path << "." << key;
    expect_value(value[key], type, path + "." + key);
  }
}

Json report_of(const DecisionLog& log) {
  return Json::parse(report_json(log, {"0123", {{"build", "1", "4567"}, {"numerics", "portable", "89ab"}}}));
}

constexpr char kRewritten[] = R"(
    input x: float32[2, 3, 4]
    %1: float32[4, 3, 2] = permute_dims(x, axes=[2, 1, 0])
    %2: float32[2, 3, 4] = permute_dims(%1, axes=[2, 1, 0])
    %3: float32[2, 3, 4] = add(x, x)
    %4: float32[2, 3, 4] = add(%2, %2)
    %5: float32[2, 3, 4] = multiply(%3, %4)
    output %5)";

TEST(ExplainJson, EveryKeyAndTypeIsThatOfTheSchema) {
  for (const char* text : {testing::kRmsNorm, testing::kAttention, kRewritten, "input x: float32[3]\noutput x",
                           "input x: float32[0]\n%1: float32[0] = exp(x)\noutput %1"}) {
    SCOPED_TRACE(text);
    expect_object(report_of(explained(text)), "report", "report");
  }
}

TEST(ExplainJson, EveryKeyAndTypeIsThatOfTheSchemaForRandomGraphs) {
  for (std::uint32_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_object(report_of(explained(testing::random_graph(seed, 40))), "report", "report");
  }
}

TEST(ExplainJson, ListsHoldWhatTheCompilationDecided) {
  const Json report = report_of(explained(testing::kAttention));
  EXPECT_EQ(report["stages"].size(), 5u);
  EXPECT_EQ(report["stages"][0]["nodes"].size(), 6u);
  EXPECT_EQ(report["rewrites"][0]["rule"], "softmax");
  EXPECT_EQ(report["rewrites"][0]["sources"], Json({4}));
  EXPECT_GE(report["kernels"].size(), 2u);
  EXPECT_GE(report["memory"]["values"].size(), 1u);
  EXPECT_GE(report["rounds"][0]["candidates"].size(), 1u);
  EXPECT_GE(report["searches"].size(), 1u);
  EXPECT_TRUE(report["kernels"][0]["measured_ps"].is_null());
  EXPECT_TRUE(report["stages"][0]["time_ps"].is_null()) << "nobody gave a clock";
}

TEST(ExplainJson, RewritesSayWhatMatchedAndWhatBecameOfIt) {
  const DecisionLog log = explained(kRewritten);
  std::vector<std::string> rules;
  for (const RewriteRecord& r : log.rewrites) rules.push_back(r.rule);
  EXPECT_EQ(rules, (std::vector<std::string>{"permute(permute(x)) = permute(x)", "equal nodes are one"}));
  EXPECT_EQ(log.rewrites[0].sources, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(log.rewrites[1].before, "%4 = add(%2, %2): float32[2, 3, 4]");
  EXPECT_EQ(log.rewrites[1].after, (std::vector<int>{1})) << "the sum that was made first";
}

}  // namespace
}  // namespace tenon
