// SPDX-License-Identifier: MIT
// See agreement.h.
#include "tests/fuzz/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/ir/graph_text.h"
#include "compiler/ir/serialize.h"
#include "compiler/ops/decompose.h"
#include "compiler/ops/loop_interpreter.h"
#include "compiler/pipeline.h"
#include "runtime/device/cpu/allocator.h"
#include "runtime/device/cpu/host_cpu.h"
#include "runtime/session/compiler_library.h"
#include "runtime/session/program.h"
#include "tests/fuzz/same_bits.h"

namespace tenon::testing {
namespace {

using Results = std::vector<HostTensor>;

void expect_same(const RandomProgram& p, const Results& got, const Results& want, const char* way) {
  for (std::size_t o = 0; o < want.size(); ++o) {
    ASSERT_TRUE(same_bits(want[o].type, got[o].data.data(), want[o].data.data())) << way << ", output " << o << "\n"
                                                                                  << print_graph(p.graph);
  }
}

void expect_loops(const RandomProgram& p, const Results& want, CompileOptions options, const std::string& way) {
  options.verify = true;
  const auto loops = build_loops(p.graph, options);
  ASSERT_TRUE(loops.ok()) << way << loops.status() << "\n" << print_graph(p.graph);
  for (const bool reverse : {false, true}) {
    const auto got = interpret_loops(*loops, p.views(), p.scalars, {reverse});
    ASSERT_TRUE(got.ok()) << way << got.status() << "\n" << print_graph(p.graph);
    expect_same(p, *got, want, (reverse ? way + ", tasks backwards" : way).c_str());
  }
}

void expect_compiled(const RandomProgram& p, const Results& want) {
  const CodeGenerator generate = [](absl::Span<const std::byte> kernels) {
    return session::compile_kernels(std::span(kernels.data(), kernels.size()), device::runnable_targets().front());
  };
  const auto artifact = compile(encode_graph(p.graph), generate, {});
  ASSERT_TRUE(artifact.ok()) << artifact.status() << "\n" << print_graph(p.graph);
  const auto program = session::Program::load(*artifact);
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<const void*> inputs;
  for (const HostTensor& t : p.inputs) inputs.push_back(t.data.data());
  Results got = want;
  std::vector<device::StorageRef> blocks;
  std::vector<void*> outputs;
  for (const HostTensor& t : want) {
    blocks.push_back(device::allocate(t.data.size()));
    outputs.push_back(blocks.back()->data);
  }
  const absl::Status status = (*program)->run({inputs, p.scalars, outputs});
  ASSERT_TRUE(status.ok()) << status;
  for (std::size_t o = 0; o < got.size(); ++o) {
    std::copy_n(static_cast<const std::byte*>(outputs[o]), got[o].data.size(), got[o].data.begin());
  }
  expect_same(p, got, want, "compiled");
}

}  // namespace

void expect_agreement(const RandomProgram& p, bool compiled) {
  const auto primitives = decompose(p.graph);
  ASSERT_TRUE(primitives.ok()) << primitives.status() << "\n" << print_graph(p.graph);
  const auto want = interpret(*primitives, p.views(), p.scalars);
  ASSERT_TRUE(want.ok()) << want.status() << "\n" << print_graph(p.graph);
  CompileOptions options;
  for (const auto& [name, mode] : kFusionModes) {
    options.fusion.mode = mode;
    expect_loops(p, *want, options, "loops, fusion " + std::string(name));
  }
  options = {};
  options.realize = RealizeMode::kInductor;
  expect_loops(p, *want, options, "loops, realized as by Inductor");
  if (compiled && !device::runnable_targets().empty()) expect_compiled(p, *want);
}

}  // namespace tenon::testing
