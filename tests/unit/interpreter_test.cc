// SPDX-License-Identifier: MIT
// The graph interpreter on small programs whose results were worked out by hand (or are NumPy's).
#include "compiler/ops/interpreter.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/graph_text.h"
#include "compiler/ir/text.h"
#include "compiler/ops/decompose.h"
#include "compiler/ops/philox.h"
#include "tests/random_graph.h"

namespace tenon {
namespace {

HostTensor tensor_of(const TensorType& type, const std::vector<std::uint64_t>& elements) {
  HostTensor tensor{type, {}};
  for (const std::uint64_t bits : elements) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
    tensor.data.insert(tensor.data.end(), bytes, bytes + size_of(type.dtype));
  }
  return tensor;
}

/// "int32[2]: 1, 2"
std::string text_of(const HostTensor& tensor) {
  const std::size_t size = size_of(tensor.type.dtype);
  std::string text = to_string(tensor.type) + ":";
  for (std::size_t at = 0; at < tensor.data.size(); at += size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, tensor.data.data() + at, size);
    text += cat(at > 0 ? ", " : " ", element_text(tensor.type.dtype, bits));
  }
  return text;
}

/// The outputs of a program whose inputs and scalars are literals, one a line; or the error.
std::string run(const std::string& text) {
  const auto program = parse_program(text);
  if (!program.ok()) return std::string(program.status().message());
  std::vector<HostTensor> tensors;
  std::vector<HostView> views;
  std::vector<std::uint64_t> scalars;
  tensors.reserve(program->inputs.size());
  for (std::size_t i = 0; i < program->inputs.size(); ++i) {
    tensors.push_back(tensor_of(program->graph.node(program->graph.inputs[i]).type, program->inputs[i].elements));
    views.push_back(tensors.back().view());
  }
  for (const Initialiser& scalar : program->scalars) scalars.push_back(scalar.elements[0]);
  const auto outputs = interpret(program->graph, views, scalars);
  if (!outputs.ok()) return std::string(outputs.status().message());
  std::string result;
  for (const HostTensor& output : *outputs) result += (result.empty() ? "" : "\n") + text_of(output);
  return result;
}

/// The result of one call over a few inputs.
std::string result_of(const std::string& call) {
  return run(
      "input m: int32[2, 3] = [[1, 2, 3], [4, 5, 6]]\n"
      "input f: float32[2, 3] = [[1, -2, 3], [nan, 5, -0]]\n"
      "input v: int32[3] = [10, 20, 30]\n"
      "input c: int32[2, 1] = [[100], [200]]\n"
      "input b: bool[3] = [true, false, true]\n"
      "input i: int8[4] = [0, -1, 5, -9]\n"
      "input j: int64[2, 2] = [[0, 2], [-1, 1]]\n"
      "input u: uint64[1] = [18446744073709551615]\n"
      "input z: int32[0, 3] = []\n"
      "scalar s: int32 = 7\n"
      "scalar p: int64 = 5\n"
      "scalar q: int64 = -5\n"
      "scalar k: uint64 = 81985529216486895\n"
      "r = " +
      call + "\noutput r\n");
}

TEST(Interpreter, ElementwiseOperandsBroadcast) {
  EXPECT_EQ(result_of("add(m, v)"), "int32[2, 3]: 11, 22, 33, 14, 25, 36");
  EXPECT_EQ(result_of("multiply(c, v)"), "int32[2, 3]: 1000, 2000, 3000, 2000, 4000, 6000");
  EXPECT_EQ(result_of("add(z, v)"), "int32[0, 3]:");
  EXPECT_EQ(result_of("subtract(s, v)"), "int32[3]: -3, -13, -23");
  EXPECT_EQ(result_of("where(b, m, s)"), "int32[2, 3]: 1, 7, 3, 4, 7, 6");
  EXPECT_EQ(result_of("less(c, m)"), "bool[2, 3]: false, false, false, false, false, false");
  EXPECT_EQ(result_of("cast(f, dtype=int8)"), "int8[2, 3]: 1, -2, 3, 0, 5, 0");
}

TEST(Interpreter, Views) {
  EXPECT_EQ(result_of("reshape(m, shape=[3, 2])"), "int32[3, 2]: 1, 2, 3, 4, 5, 6");
  EXPECT_EQ(result_of("permute_dims(m, axes=[1, 0])"), "int32[3, 2]: 1, 4, 2, 5, 3, 6");
  EXPECT_EQ(result_of("broadcast_to(c, shape=[2, 2, 2])"), "int32[2, 2, 2]: 100, 100, 200, 200, 100, 100, 200, 200");
  EXPECT_EQ(result_of("slice(m, starts=[1, 2], lengths=[2, 2], steps=[-1, -2])"), "int32[2, 2]: 6, 4, 3, 1");
  EXPECT_EQ(result_of("slice(m, starts=[0, 9], lengths=[2, 0])"), "int32[2, 0]:");
}

TEST(Interpreter, Structure) {
  EXPECT_EQ(result_of("concat(m, z, m, axis=0)"), "int32[4, 3]: 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6");
  EXPECT_EQ(result_of("concat(m, c, axis=1)"), "int32[2, 4]: 1, 2, 3, 100, 4, 5, 6, 200");
  EXPECT_EQ(result_of("pad(m, s, before=[1, 0], after=[0, 2])"),
            "int32[3, 5]: 7, 7, 7, 7, 7, 1, 2, 3, 7, 7, 4, 5, 6, 7, 7");
  EXPECT_EQ(result_of("slice_update(m, v, starts=[1, 2], lengths=[2, 3], steps=[-1, -1])"),
            "int32[2, 3]: 30, 20, 10, 30, 20, 10");
  EXPECT_EQ(result_of("slice_update(m, s, starts=[0, 0], lengths=[2, 2], steps=[1, 2])"),
            "int32[2, 3]: 7, 2, 7, 7, 5, 7");
}

TEST(Interpreter, IndicesCountFromTheEndAndClamp) {
  EXPECT_EQ(result_of("take(v, i, axis=0)"), "int32[4]: 10, 30, 30, 10");
  EXPECT_EQ(result_of("take(m, j, axis=1)"), "int32[2, 2, 2]: 1, 3, 3, 2, 4, 6, 6, 5");
  EXPECT_EQ(result_of("take(v, u, axis=0)"), "int32[1]: 30");
  EXPECT_EQ(result_of("take_along_axis(m, j, axis=1)"), "int32[2, 2]: 1, 3, 6, 5");
  EXPECT_EQ(result_of("take_along_axis(c, j, axis=1)"), "int32[2, 2]: 100, 100, 200, 200");
  EXPECT_EQ(result_of("dynamic_slice(m, q, p, lengths=[1, 2])"), "int32[1, 2]: 2, 3");
}

TEST(Interpreter, Creation) {
  EXPECT_EQ(result_of("iota(shape=[2, 3], axis=1, dtype=float16)"), "float16[2, 3]: 0, 1, 2, 0, 1, 2");
  EXPECT_EQ(result_of("iota(shape=[2, 2], axis=0, dtype=int8)"), "int8[2, 2]: 0, 0, 1, 1");
}

TEST(Interpreter, ReductionsAndScans) {
  EXPECT_EQ(result_of("reduce(m, kind=sum, axis=1, order=inner)"), "int32[2]: 6, 15");
  EXPECT_EQ(result_of("reduce(m, kind=prod, axis=0, order=outer)"), "int32[3]: 4, 10, 18");
  EXPECT_EQ(result_of("reduce(f, kind=max, axis=1, order=inner)"), "float32[2]: 3, nan");
  EXPECT_EQ(result_of("reduce(f, kind=argmin, axis=1, order=inner)"), "int64[2]: 1, 0");
  EXPECT_EQ(result_of("reduce(b, kind=min, axis=0, order=inner)"), "bool[]: false");
  EXPECT_EQ(result_of("reduce(z, kind=sum, axis=0, order=outer)"), "int32[3]: 0, 0, 0");
  EXPECT_EQ(result_of("scan(m, kind=sum, axis=0)"), "int32[2, 3]: 1, 2, 3, 5, 7, 9");
  EXPECT_EQ(result_of("scan(m, kind=prod, axis=1)"), "int32[2, 3]: 1, 2, 6, 4, 20, 120");
}

TEST(Interpreter, MatrixProducts) {
  EXPECT_EQ(result_of("matmul(m, v)"), "int32[2]: 140, 320");
  EXPECT_EQ(result_of("matmul(v, v)"), "int32[]: 1400");
  EXPECT_EQ(result_of("matmul(m, permute_dims)"), "line 14, column 15: 'permute_dims' is not defined above");
  EXPECT_EQ(run("input a: int8[2, 1, 2] = [[[100, 100]], [[1, 2]]]\ninput b: int8[2, 1] = [[2], [1]]\n"
                "r = matmul(a, b)\noutput r\n"),
            "int8[2, 1, 1]: 44, 4");
  // Products that cancel exactly only when each one is fused into the sum: 1 + 2^-12 squared is not a float32.
  EXPECT_EQ(run("input a: float32[2] = [-1.00048828125, 1.000244140625]\ninput b: float32[2] = [1, 1.000244140625]\n"
                "r = matmul(a, b)\noutput r\n"),
            "float32[]: 5.9604645e-08");
  EXPECT_EQ(run("input a: float16[3] = [2048, 1, 1]\ninput b: float16[3] = [1, 1, 1]\nr = matmul(a, b)\noutput r\n"),
            "float16[]: 2050");
}

TEST(Interpreter, LeavesAndOutputsInAnyOrder) {
  EXPECT_EQ(run("scalar s: float32 = 2.5\nc: float32 = constant(4)\ninput x: float32[2] = [1, 2]\n"
                "y = multiply(x, s)\noutput y, c, x, y\n"),
            "float32[2]: 2.5, 5\nfloat32[]: 4\nfloat32[2]: 1, 2\nfloat32[2]: 2.5, 5");
}

TEST(Interpreter, StridedInputsAreReadByTheirStrides) {
  const auto program = parse_program("input x: int16[2, 3]\ny = negative(x)\noutput y\n");
  const std::int16_t data[] = {1, 2, 3, 4, 5, 6};
  const auto text = [&](const std::int16_t* first, Shape strides) {
    const auto outputs = interpret(program->graph, {HostView{first, std::move(strides)}}, {});
    return text_of((*outputs)[0]);
  };
  EXPECT_EQ(text(data, {1, 2}), "int16[2, 3]: -1, -3, -5, -2, -4, -6");
  EXPECT_EQ(text(data + 5, {-3, -1}), "int16[2, 3]: -6, -5, -4, -3, -2, -1");
  EXPECT_EQ(text(data, {0, 1}), "int16[2, 3]: -1, -2, -3, -1, -2, -3");
}

TEST(Interpreter, KeepAllGivesEveryNode) {
  const auto program = parse_program("input x: int8[2]\ny = negative(x)\nz = abs(y)\noutput z\n");
  const std::int8_t data[] = {3, -4};
  const auto values = interpret(program->graph, {HostView{data, {}}}, {}, true);
  ASSERT_TRUE(values.ok());
  ASSERT_EQ(values->size(), 3u);
  EXPECT_EQ(text_of((*values)[1]), "int8[2]: -3, 4");
}

TEST(Interpreter, RefusesWhatItCannotRun) {
  EXPECT_EQ(result_of("softmax(f, axis=1)"), "the interpreter runs primitives only, not softmax");
  const auto program = parse_program("input x: int8[2]\noutput x\n");
  EXPECT_FALSE(interpret(program->graph, {}, {}).ok());
}

// Known answers of Philox4x32-10 from its authors' test vectors (Random123, kat_vectors).
TEST(Philox, GivesThePublishedAnswers) {
  HostWords ops;
  EXPECT_EQ(philox4x32(ops, {0u, 0u, 0u, 0u}, {0u, 0u}),
            (std::array<std::uint32_t, 4>{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(philox4x32(ops, {~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<std::uint32_t, 4>{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  EXPECT_EQ(philox4x32(ops, {0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}),
            (std::array<std::uint32_t, 4>{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
}

TEST(Philox, RandomBitsAreWordsOfTheIndex) {
  HostWords ops;
  std::string expected = "uint32[2, 2]:";
  for (std::uint32_t i = 0; i < 4; ++i) {
    expected += cat(i ? ", " : " ", philox4x32(ops, {i, 0u, 0u, 0u}, {0x89abcdefu, 0x01234567u})[2]);
  }
  EXPECT_EQ(result_of("random_bits(k, shape=[2, 2], stream=2)"), expected);
}

TEST(Interpreter, RandomGraphsRunAndRepeat) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const testing::RandomProgram p = testing::random_program(seed, 40);
    const Graph graph = *decompose(p.graph);
    const auto all = interpret(graph, p.views(), p.scalars, true), outputs = interpret(graph, p.views(), p.scalars);
    ASSERT_TRUE(all.ok() && outputs.ok()) << print_graph(graph);
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      EXPECT_EQ((*outputs)[i].data, (*all)[static_cast<std::size_t>(graph.outputs[i])].data);
    }
  }
}

}  // namespace
}  // namespace tenon
