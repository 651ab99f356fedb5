// SPDX-License-Identifier: MIT
// Every row of the tables of rewrite rules: it matches somewhere, and never changes a bit, whatever the values. A new
// row is tried without a new test.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/explain/decision_log.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ops/decompose.h"
#include "compiler/rewrite/identities.h"
#include "compiler/rewrite/rewrite.h"
#include "compiler/rewrite/rule.h"
#include "tests/fuzz/same_bits.h"
#include "tests/random_graph.h"

namespace tenon {
namespace {

/// Whether the rule matches in the graph. Fails if it then changes a bit of an output.
bool matches_and_keeps_bits(std::string_view rule, const Graph& graph, const std::vector<HostView>& inputs,
                            absl::Span<const std::uint64_t> scalars) {
  DecisionLog log;
  const absl::StatusOr<Graph> simpler = rewrite(graph, &log);
  EXPECT_TRUE(simpler.ok()) << simpler.status() << "\n" << print_graph(graph);
  if (!simpler.ok()) return false;
  const auto want = interpret(graph, inputs, scalars), got = interpret(*simpler, inputs, scalars);
  EXPECT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
  for (std::size_t o = 0; want.ok() && got.ok() && o < want->size(); ++o) {
    EXPECT_EQ((*got)[o].type, (*want)[o].type);
    EXPECT_TRUE(testing::same_bits((*want)[o].type, (*got)[o].data.data(), (*want)[o].data.data()))
        << rule << "\n"
        << print_graph(graph) << print_graph(*simpler);
  }
  return std::any_of(log.rewrites.begin(), log.rewrites.end(), [&](const auto& r) { return r.rule == rule; });
}

// ---- identities: the left side is the program ----

/// Values about which rules go wrong.
std::vector<std::uint64_t> special_values(DType dtype) {
  std::vector<std::uint64_t> bits;
  if (dtype == DType::kBool) return {0, 1};
  if (is_float(dtype)) {
    for (const double v :
         {0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-3, 65504.0, -1e30, double{INFINITY}, -double{INFINITY}, double{NAN}})
      bits.push_back(bits_of(dtype, v));
    const int mantissa = dtype == DType::kFloat16    ? 10
                         : dtype == DType::kBFloat16 ? 7
                         : dtype == DType::kFloat32  ? 23
                                                     : 52;
    const std::uint64_t infinity = bits_of(dtype, INFINITY), sign = bits_of(dtype, -0.0);
    const std::uint64_t smallest_normal = std::uint64_t{1} << mantissa;
    for (const std::uint64_t v : {std::uint64_t{1}, smallest_normal - 1, smallest_normal, infinity - 1, infinity + 1}) {
      bits.push_back(v);  // subnormals, the smallest normal, the largest finite, a signalling NaN
      bits.push_back(v | sign);
    }
    return bits;
  }
  const int width = static_cast<int>(8 * size_of(dtype));
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t top = std::uint64_t{1} << (width - 1);
  for (const std::uint64_t v : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7},
                                ~std::uint64_t{0}, ~std::uint64_t{1}, top, top - 1, top + 1})
    bits.push_back(v & mask);
  return bits;
}

/// Each special value beside each other one, then random bits.
HostTensor values(DType dtype, char variable, std::int64_t count) {
  const auto special = special_values(dtype);
  std::mt19937_64 rng(static_cast<std::uint64_t>(variable));
  HostTensor t;
  t.type = {dtype, {count}};
  t.data.resize(static_cast<std::size_t>(count) * size_of(dtype));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::size_t n = special.size(), at = variable == 'x' ? i / n : variable == 'y' ? i : i * 5 + i / n;
    const std::uint64_t noise = dtype == DType::kBool ? rng() % 2 : rng();
    const std::uint64_t bits = i < n * n ? special[at % n] : noise;
    std::memcpy(&t.data[i * size_of(dtype)], &bits, size_of(dtype));
  }
  return t;
}

void collect_variables(const Pattern& pattern, std::string& variables) {
  const bool is_new = pattern.kind == Pattern::kVariable && variables.find(pattern.variable) == std::string::npos;
  if (is_new) variables += pattern.variable;
  for (const Pattern& operand : pattern.operands) collect_variables(operand, variables);
}

/// The program whose output is the left side, on inputs of a dtype (conditions: bool).
struct IdentityProgram {
  GraphBuilder builder;
  std::vector<HostTensor> inputs;
  bool is_well_typed = false;

  IdentityProgram(const ParsedIdentity& identity, DType dtype) {
    std::string variables;
    collect_variables(identity.from, variables);
    Bindings bindings;
    for (const char variable : variables) {
      inputs.push_back(values(variable == 'c' ? DType::kBool : dtype, variable, 2000));
      Node node;
      node.op = Op::k_input;
      node.type = inputs.back().type;
      node.attrs.append(static_cast<std::int64_t>(inputs.size()) - 1);
      bindings[variable] = builder.append_copy(node, {});
      builder.graph().inputs.push_back(bindings[variable]);
      builder.graph().layouts.push_back({});
    }
    builder.graph().outputs.push_back(make(builder, identity.from, bindings).id);
    is_well_typed = builder.status().ok();
  }
};

class EveryIdentity : public ::testing::TestWithParam<int> {};

TEST_P(EveryIdentity, KeepsEveryBitOfEveryDType) {
  const ParsedIdentity& identity = identities()[static_cast<std::size_t>(GetParam())];
  int matched = 0;
  for (int d = 0; d < kNumDTypes; ++d) {
    IdentityProgram program(identity, static_cast<DType>(d));
    if (!program.is_well_typed) continue;
    std::vector<HostView> views;
    for (const HostTensor& t : program.inputs) views.push_back(t.view());
    matched += matches_and_keeps_bits(identity.identity.text, program.builder.graph(), views, {}) ? 1 : 0;
  }
  EXPECT_GT(matched, 0) << identity.identity.text << " matches nowhere";
}

INSTANTIATE_TEST_SUITE_P(RewriteRules, EveryIdentity, ::testing::Range(0, static_cast<int>(identities().size())));

// ---- rules with an example ----

std::vector<Rule> all_rules() {
  std::vector<Rule> all(arithmetic_rules().begin(), arithmetic_rules().end());
  all.insert(all.end(), movement_rules().begin(), movement_rules().end());
  return all;
}

/// The example in every dtype that stands for A, B and C.
std::vector<std::string> programs_of(const Rule& rule) {
  std::vector<std::string> programs = {std::string(rule.example)};
  for (const std::string letter : {"A", "B", "C"}) {
    std::vector<std::string> more;
    for (const std::string& text : programs) {
      const auto in_dtype = [&](int d) {
        const std::string name(name_of(static_cast<DType>(d)));
        return absl::StrReplaceAll(text, {{": " + letter, ": " + name}, {"dtype=" + letter, "dtype=" + name}});
      };
      more.push_back(in_dtype(0));
      for (int d = 1; d < kNumDTypes && in_dtype(d) != more[0]; ++d) more.push_back(in_dtype(d));
    }
    programs = std::move(more);
  }
  for (std::string& text : programs) {
    const std::size_t line = text.rfind('\n') + 1;
    absl::StrAppend(&text, "\noutput ", text.substr(line, text.find(':', line) - line));
  }
  return programs;
}

class EveryRule : public ::testing::TestWithParam<int> {};

TEST_P(EveryRule, KeepsEveryBitOfItsExample) {
  const Rule rule = all_rules()[static_cast<std::size_t>(GetParam())];
  int matched = 0;
  for (const std::string& text : programs_of(rule)) {
    const auto parsed = parse_program(text);
    if (!parsed.ok()) continue;  // an op that does not take this dtype
    const auto graph = decompose(parsed->graph);
    ASSERT_TRUE(graph.ok()) << graph.status();
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const testing::RandomProgram program = testing::with_random_inputs(*graph, seed);
      matched += matches_and_keeps_bits(rule.name, *graph, program.views(), program.scalars) ? 1 : 0;
    }
  }
  EXPECT_GT(matched, 0) << rule.name << " matches nowhere in\n" << programs_of(rule).back();
}

INSTANTIATE_TEST_SUITE_P(RewriteRules, EveryRule, ::testing::Range(0, static_cast<int>(all_rules().size())));

// ---- what is not a rule ----

bool is_rewritten(const std::string& text) {
  const auto parsed = parse_program(text);
  if (!parsed.ok()) throw std::runtime_error(std::string(parsed.status().message()));
  DecisionLog log;
  EXPECT_TRUE(rewrite(decompose(parsed->graph).value(), &log).ok());
  return !log.rewrites.empty();
}

TEST(RewriteRules, NothingIsDoneThatIsTrueOfRealNumbersOnly) {
  for (const std::string call :
       {"add(x, zero)", "subtract(x, x)", "multiply(x, zero)", "divide(x, x)", "subtract(zero, x)"}) {
    EXPECT_FALSE(
        is_rewritten("input x: float32[4]\nzero: float32 = constant(0)\n%1: float32[4] = " + call + "\noutput %1"))
        << call;
  }
  EXPECT_FALSE(
      is_rewritten("input x: float32[4]\nthree: float32 = constant(3)\n%1: float32[4] = divide(x, three)\noutput %1"));
  EXPECT_FALSE(
      is_rewritten("input x: float32[4]\n%1: float16[4] = cast(x, dtype=float16)\n"
                   "%2: float32[4] = cast(%1, dtype=float32)\noutput %2"));
}

TEST(RewriteRules, AScalarOfTheUserIsNeverLookedAt) {
  EXPECT_FALSE(is_rewritten("input x: float32[4]\nscalar one: float32\n%1: float32[4] = multiply(x, one)\noutput %1"));
}

TEST(RewriteRules, AProductThatIsReadTwiceIsNotTransposed) {
  EXPECT_FALSE(
      is_rewritten("input x: float32[4, 5]\ninput y: float32[5, 6]\n%1: float32[4, 6] = matmul(x, y)\n"
                   "%2: float32[6, 4] = transpose(%1)\noutput %1, %2"));
}

TEST(RewriteRules, RulesApplyToWhatRulesMade) {
  DecisionLog log;
  const auto parsed = parse_program(
      "input x: float32[4]\none: float32 = constant(1)\n%1: float32[4] = negative(x)\n%2: float32[4] = multiply(%1, "
      "one)\n"
      "%3: float32[4] = negative(%2)\n%4: float32[4] = maximum(%3, x)\noutput %4");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const Graph graph = rewrite(parsed->graph, &log).value();
  EXPECT_EQ(graph.size(), 1u);
  EXPECT_EQ(log.rewrites.size(), 3u);
}

TEST(RewriteRules, SumsInEitherOrderAreOne) {
  const auto parsed = parse_program(
      "input x: float32[4]\ninput y: float32[4]\n%1: float32[4] = add(x, y)\n%2: float32[4] = add(y, x)\n"
      "%3: float32[4] = multiply(%1, %2)\noutput %3");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(rewrite(parsed->graph)->size(), 4u);
}

}  // namespace
}  // namespace tenon
