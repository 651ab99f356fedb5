// SPDX-License-Identifier: MIT
// Measuring kernels one by one runs the program: the results have the bits of the graph interpreter, and every kernel
// has a time. Asking for times leaves tensors as they are.
#include "runtime/session/measure.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/serialize.h"
#include "compiler/ops/decompose.h"
#include "compiler/ops/interpreter.h"
#include "runtime/device/cpu/host_cpu.h"
#include "tenon/tenon.h"
#include "tests/unit/explained.h"

namespace tenon {
namespace {

using testing::explained;

constexpr char kSplitSum[] = R"(
    input x: float32[4, 100000]
    scalar e: float32
    %2: float32[4, 1] = sum(x, axis=[1], keepdims=true, dtype=float32)
    %3: float32[4, 100000] = divide(x, %2)
    %4: float32[100000] = max(%3, axis=[0], keepdims=false)
    %5: float32[100000] = add(%4, e)
    output %5, %2)";

std::vector<std::vector<float>> some_inputs(const Graph& graph) {
  std::vector<std::vector<float>> inputs;
  for (NodeId id : graph.inputs) {
    std::vector<float>& values = inputs.emplace_back(static_cast<std::size_t>(numel(graph.node(id).type.shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7919 % 1009) / 512.0f - 0.75f;
  }
  return inputs;
}

TEST(Measure, KernelsOneByOneComputeTheProgram) {
  if (device::runnable_targets().empty()) GTEST_SKIP() << "programs are interpreted on this machine";
  for (const char* text : {testing::kRmsNorm, testing::kAttention, kSplitSum}) {
    SCOPED_TRACE(text);
    const Graph graph = parse_program(text)->graph;
    DecisionLog log = explained(graph);
    const auto values = some_inputs(graph);
    std::vector<const void*> inputs;
    std::vector<HostView> views;
    for (const auto& v : values) {
      inputs.push_back(v.data());
      views.push_back({v.data(), {}});
    }
    const std::vector<std::uint64_t> scalars(graph.scalars.size(), 0x3f000000);  // 0.5f

    const auto results = session::measure_kernels(encode_graph(graph), inputs, scalars, log.kernels);
    ASSERT_TRUE(results.ok()) << results.status();
    const auto want = interpret(*decompose(graph), views, scalars);
    ASSERT_TRUE(want.ok()) << want.status();
    for (std::size_t o = 0; o < want->size(); ++o) {
      const std::vector<std::byte>& bytes = (*want)[o].data;
      EXPECT_EQ(std::memcmp((*results)[o]->data, bytes.data(), bytes.size()), 0) << "output " << o;
    }
    for (const KernelRecord& k : log.kernels) EXPECT_GT(k.measured, 0) << k.name;
  }
}

TEST(Measure, TheRecordsMustBeThoseOfTheProgram) {
  if (device::runnable_targets().empty()) GTEST_SKIP() << "programs are interpreted on this machine";
  std::vector<KernelRecord> other(17);
  EXPECT_FALSE(session::measure_kernels(encode_graph(parse_program(testing::kRmsNorm)->graph), {}, {}, other).ok());
}

TEST(Measure, ATensorThatIsMeasuredStaysUnevaluated) {
  if (device::runnable_targets().empty()) GTEST_SKIP() << "programs are interpreted on this machine";
  const Tensor x = ones({64, 256}), y = exp(x) * 2.0;
  const std::uint64_t before = statistics().compiled;
  const Explanation measured = explain(y, Timing::kMeasured), predicted = explain(y);
  EXPECT_EQ(statistics().compiled, before) << "neither of the process's programs";
  ASSERT_EQ(measured.num_kernels(), predicted.num_kernels());
  EXPECT_GT(measured.kernels()[0].measured, 0);
  EXPECT_EQ(predicted.kernels()[0].measured, -1);
  EXPECT_EQ(measured.kernels()[0].predicted, predicted.kernels()[0].predicted);
  EXPECT_NE(measured.text().find("measured"), std::string::npos);
  EXPECT_EQ(predicted.text().find("measured"), std::string::npos);
}

TEST(Measure, ExplainingChangesNothingOfWhatIsComputedLater) {
  const Tensor x = ones({64, 256}) * 3.0, y = exp(x);
  const std::string first = explain(y).key(), second = explain(y).key();
  EXPECT_EQ(first, second) << "x is not made an output because somebody looked at y twice";
}

}  // namespace
}  // namespace tenon
