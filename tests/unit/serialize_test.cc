// SPDX-License-Identifier: MIT
// Byte forms: a graph's canonical bytes decode to the same graph and encode to the same bytes; nothing else decodes.
#include "compiler/ir/serialize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "compiler/ir/graph_text.h"
#include "compiler/ir/verify.h"
#include "compiler/ops/decompose.h"
#include "tests/random_graph.h"
#include "tests/unit/small_loops.h"

namespace tenon {
namespace {

using Bytes = std::vector<std::byte>;

Graph graph_of(std::string_view text) {
  auto program = parse_program(text);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return program.ok() ? std::move(program->graph) : Graph();
}

void expect_comes_back(const Graph& graph) {
  const Bytes bytes = encode_graph(graph);
  const auto back = decode_graph(bytes);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(print_graph(*back), print_graph(graph));
  EXPECT_EQ(encode_graph(*back), bytes);
  EXPECT_TRUE(verify(*back).ok());
  for (NodeId id = 0; id < static_cast<NodeId>(back->size()); ++id) EXPECT_EQ(back->node(id).origin, id);
}

TEST(SerializeGraph, RandomGraphsComeBack) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Graph graph = testing::random_graph(seed, 40);
    expect_comes_back(graph);
    expect_comes_back(*decompose(graph));
  }
}

TEST(SerializeGraph, TheFormIsTheDocumentedOne) {
  const Bytes bytes =
      encode_graph(graph_of("input x: float32[2, 3]\nscalar s: int8\ny = cast(x, dtype=int8)\noutput y\n"));
  const std::uint8_t expected[] = {
      'T', 'N', 'G', 'R', 1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0,              // header
      0,   0,   1,   11,  1, 0, 2, 0,                                      // input of float32, aligned, rank 2
      2,   0,   0,   0,   0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,              // its extents
      1,   0,   1,   1,                                                    // scalar of int8
      40,  0,   1,   0,   1, 0, 2, 0, 0, 0, 0, 0,                          // cast of node 0, two attribute words
      1,   0,   0,   0,   0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,  // [1, int8]; output 2
  };
  ASSERT_EQ(bytes.size(), sizeof expected);
  EXPECT_EQ(std::memcmp(bytes.data(), expected, sizeof expected), 0);
}

TEST(SerializeGraph, WhatDecidesTheMeaningDecidesTheBytes) {
  const std::string base = "input x: float32[2, 2]\nscalar s: float32\ny = sum(x, axis=[0])\noutput y\n";
  const auto bytes_with = [&](std::string_view from, std::string_view to) {
    std::string text = base;
    text.replace(text.find(from), from.size(), to);
    return encode_graph(graph_of(text));
  };
  const Bytes bytes = encode_graph(graph_of(base));
  EXPECT_NE(bytes_with("float32[2, 2]", "float32[2, 3]"), bytes);
  EXPECT_NE(bytes_with("float32[2, 2]", "float64[2, 2]"), bytes);
  EXPECT_NE(bytes_with("float32[2, 2]", "float32[2, 2] strides=[1, 2]"), bytes);
  EXPECT_NE(bytes_with("float32[2, 2]", "float32[2, 2] aligned=false"), bytes);
  EXPECT_NE(bytes_with("s: float32", "s: float64"), bytes);
  EXPECT_NE(bytes_with("axis=[0]", "axis=[1]"), bytes);
  EXPECT_NE(bytes_with("sum(x, axis=[0])", "prod(x, axis=[0])"), bytes);
  EXPECT_NE(bytes_with("output y", "output x"), bytes);
  EXPECT_EQ(bytes_with("s: float32", "s: float32 = 3"), bytes);
}

TEST(SerializeGraph, ManyOperandsComeBack) {
  std::string text = "input x: int8[1]\ny = concat(x";
  for (int i = 0; i < 70000; ++i) text += ", x";
  const Graph graph = graph_of(text + ", axis=0)\noutput y\n");
  const auto back = decode_graph(encode_graph(graph));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->nodes[1].operands, graph.nodes[1].operands);
}

TEST(SerializeGraph, TheEncoderIsReusable) {
  GraphEncoder encoder;
  for (int round = 0; round < 2; ++round) {
    encoder.clear();
    encoder.input({DType::kInt8, {3}}, {});
    const NodeId operands[] = {0};
    encoder.node(Op::k_abs, operands, {});
    encoder.output(1);
    const auto bytes = encoder.finish();
    EXPECT_EQ(Bytes(bytes.begin(), bytes.end()), encode_graph(graph_of("input x: int8[3]\ny = abs(x)\noutput y\n")));
  }
}

/// Calls f with many damaged forms of the bytes: each truncation, additions, and random edits.
template <class F>
void for_damaged(const Bytes& good, F f) {
  for (std::size_t size = 0; size < good.size(); ++size) f(Bytes(good.begin(), good.begin() + static_cast<long>(size)));
  Bytes longer = good;
  longer.push_back(std::byte{0});
  f(longer);
  std::mt19937 random(7);
  for (int trial = 0; trial < 10000; ++trial) {
    Bytes bytes = good;
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      std::byte& byte = bytes[random() % bytes.size()];
      byte = random() % 2 ? static_cast<std::byte>(random() % 256) : byte ^ static_cast<std::byte>(1u << random() % 8);
    }
    f(bytes);
  }
}

TEST(SerializeGraph, DamagedBytesAreAnErrorOrAnotherGraph) {
  const Bytes good = encode_graph(testing::random_graph(11, 25));
  for_damaged(good, [&](const Bytes& bytes) {
    const auto graph = decode_graph(bytes);
    if (!graph.ok()) return;
    EXPECT_TRUE(verify(*graph).ok());
    EXPECT_EQ(encode_graph(*graph), bytes);
  });
}

TEST(SerializeLoops, AProgramComesBack) {
  const LoopProgram program = small_program();
  ASSERT_TRUE(verify(program).ok()) << verify(program).message();
  const Bytes bytes = encode_loop_program(program);
  const auto back = parse_loop_program(bytes);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(encode_loop_program(*back), bytes);
  EXPECT_EQ(to_string(back->kernels[0].phases[0].body[3].index), to_string(program.kernels[0].phases[0].body[3].index));
  EXPECT_EQ(back->kernels[1].matmul->k, 8);
}

TEST(SerializeLoops, DamagedBytesAreAnErrorOrAnotherProgram) {
  for_damaged(encode_loop_program(small_program()), [&](const Bytes& bytes) {
    const auto program = parse_loop_program(bytes);
    if (program.ok()) {
      EXPECT_TRUE(verify(*program).ok());
    }
  });
}

TEST(VerifyLoops, BrokenProgramsAreNamed) {
  const auto message = [](auto edit) {
    LoopProgram program = small_program();
    edit(program);
    return std::string(verify(program).message());
  };
  EXPECT_EQ(message([](LoopProgram& p) { p.kernels[0].phases[0].body[5].operands[1] = 6; }),
            "kernel tenon_row_0 is broken: phase 0, instruction 5: an operand does not stand before it");
  EXPECT_EQ(message([](LoopProgram& p) { p.kernels[0].phases[1].body[3].buffer = 0; }),
            "kernel tenon_row_0 is broken: phase 1, instruction 3: it writes an input");
  EXPECT_EQ(message([](LoopProgram& p) { p.kernels[0].lane_chunk = 4; }),
            "kernel tenon_row_0 is broken: it reduces over a part of the lanes");
  EXPECT_EQ(message([](LoopProgram& p) { p.arena_bytes = 128; }),
            "buffer 4 of the loop program is broken: it leaves the arena");
  EXPECT_EQ(message([](LoopProgram& p) { p.kernels[0].phases[0].body[2].index = p.pool->var(0, 3); }),
            "kernel tenon_row_0 is broken: phase 0, instruction 2: its index does not fit the loops");
}

TEST(VerifyGraph, BrokenGraphsAreNamed) {
  const auto message = [](auto edit) {
    Graph graph = graph_of("input x: float32[2]\ny = exp(x)\nz = add(x, y)\noutput z\n");
    edit(graph);
    return std::string(verify(graph).message());
  };
  EXPECT_EQ(message([](Graph& g) { g.nodes[2].operands[1] = 2; }),
            "the graph is broken: %2 uses %2, which does not come before it");
  EXPECT_EQ(message([](Graph& g) { g.nodes[1].type.shape = {3}; }),
            "the graph is broken: %1 is float32[3] but infers as float32[2]");
  EXPECT_EQ(message([](Graph& g) { g.inputs.clear(); }), "the graph is broken: inputs and layouts differ in number");
  EXPECT_EQ(message([](Graph& g) { g.outputs[0] = 3; }), "the graph is broken: output %3 does not exist");
}

}  // namespace
}  // namespace tenon
