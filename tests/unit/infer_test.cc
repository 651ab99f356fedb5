// SPDX-License-Identifier: MIT
// The shape and dtype rules: a table of calls with the type that NumPy and the array API give, or the message.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/graph_text.h"

namespace tenon {
namespace {

/// The type of the last line of a program over the inputs below, or the message without its place.
std::string type_of(const std::string& call) {
  constexpr std::string_view kInputs =
      "input f: float32[2, 3]\n"
      "input g: float32[3]\n"
      "input g4: float32[4]\n"
      "input d: float64[2, 3]\n"
      "input h: float16[2, 3]\n"
      "input i: int32[2, 3]\n"
      "input j: int64[4]\n"
      "input u: uint8[2, 3]\n"
      "input b: bool[2, 3]\n"
      "input b2: bool[2, 1]\n"
      "input m: float32[5, 3, 4]\n"
      "input o: float32[1, 3, 1]\n"
      "input z: float32[0, 3]\n"
      "input w: float32[3, 4]\n"
      "input k: uint64\n"
      "input s: float32\n"
      "input t: int64\n"
      "input n: int8\n";
  const auto program = parse_program(std::string(kInputs) + "r = " + call);
  if (program.ok()) return to_string(program->graph.nodes.back().type);
  const std::string message(program.status().message());
  return message.substr(message.find(": ") + 2);
}

struct Case {
  const char* call;
  const char* expected;
};

class Infer : public testing::TestWithParam<Case> {};

TEST_P(Infer, GivesTheTypeOrTheReason) { EXPECT_EQ(type_of(GetParam().call), GetParam().expected) << GetParam().call; }

constexpr Case kElementwise[] = {
    {"add(f, g)", "float32[2, 3]"},
    {"add(o, m)", "float32[5, 3, 4]"},
    {"add(m, o)", "float32[5, 3, 4]"},
    {"add(s, z)", "float32[0, 3]"},
    {"add(b, b2)", "bool[2, 3]"},
    {"add(f, g4)", "add: shapes float32[2, 3] and float32[4] do not broadcast"},
    {"add(f, d)", "add: dtypes of float32[2, 3] and float64[2, 3] differ"},
    {"add(f)", "add: takes 2 operands, not 1"},
    {"subtract(b, b)", "subtract: is not defined for bool: bool[2, 3]"},
    {"negative(u)", "uint8[2, 3]"},
    {"negative(b)", "negative: is not defined for bool: bool[2, 3]"},
    {"abs(b)", "bool[2, 3]"},
    {"exp(h)", "float16[2, 3]"},
    {"exp(i)", "exp: takes floats, not int32[2, 3]"},
    {"isnan(i)", "bool[2, 3]"},
    {"logical_not(b)", "bool[2, 3]"},
    {"logical_not(i)", "logical_not: takes bool, not int32[2, 3]"},
    {"less(f, g)", "bool[2, 3]"},
    {"less(f, i)", "less: dtypes of float32[2, 3] and int32[2, 3] differ"},
    {"bitwise_and(b, b2)", "bool[2, 3]"},
    {"bitwise_and(f, f)", "bitwise_and: takes integers or bool, not float32[2, 3]"},
    {"bitwise_left_shift(b, b)", "bitwise_left_shift: takes integers, not bool[2, 3]"},
    {"bitwise_invert(i)", "int32[2, 3]"},
    {"bitwise_invert(b)", "bitwise_invert: takes integers, not bool[2, 3]"},
    {"fma(f, g, s)", "float32[2, 3]"},
    {"fma(i, i, i)", "fma: takes floats, not int32[2, 3]"},
    {"where(b2, f, s)", "float32[2, 3]"},
    {"where(i, f, f)", "where: the condition must be bool, not int32[2, 3]"},
    {"where(b, f, i)", "where: dtypes of float32[2, 3] and int32[2, 3] differ"},
    {"where(b, f, m)", "where: shapes bool[2, 3] and float32[2, 3] and float32[5, 3, 4] do not broadcast"},
    {"cast(f, dtype=bool)", "bool[2, 3]"},
    {"clip(f, s, s)", "float32[2, 3]"},
    {"gelu(f, approximate=1)", "float32[2, 3]"},
    {"gelu(f, approximate=2)", "gelu: approximate 2 is not one of 0 .. 1"},
};
INSTANTIATE_TEST_SUITE_P(Elementwise, Infer, testing::ValuesIn(kElementwise));

constexpr Case kViews[] = {
    {"reshape(f, shape=[3, 2])", "float32[3, 2]"},
    {"reshape(f, shape=[-1, 2])", "float32[3, 2]"},
    {"reshape(f, shape=[4, 2])", "reshape: float32[2, 3] has 6 elements and cannot have shape [4, 2]"},
    {"reshape(f, shape=[-1, 4])", "reshape: float32[2, 3] has 6 elements and cannot have shape [-1, 4]"},
    {"reshape(f, shape=[-1, -1])", "reshape: [-1, -1] is not a shape"},
    {"reshape(z, shape=[0, 7])", "float32[0, 7]"},
    {"reshape(z, shape=[-1, 0])", "reshape: float32[0, 3] has 0 elements and cannot have shape [-1, 0]"},
    {"permute_dims(m, axes=[2, 0, 1])", "float32[4, 5, 3]"},
    {"permute_dims(m, axes=[2, 0, 0])",
     "permute_dims: axes [2, 0, 0] are not a permutation of the axes of float32[5, 3, 4]"},
    {"broadcast_to(g, shape=[7, 3])", "float32[7, 3]"},
    {"broadcast_to(f, shape=[3])", "broadcast_to: float32[2, 3] does not broadcast to [3]"},
    {"slice(f, starts=[1, 2], lengths=[2, 3], steps=[-1, -1])", "float32[2, 3]"},
    {"slice(f, starts=[0, 0], lengths=[2, 2], steps=[1, 2])", "float32[2, 2]"},
    {"slice(f, starts=[0, 1], lengths=[2, 2], steps=[1, 2])",
     "slice: start 1, length 2 and step 2 leave axis 1 of float32[2, 3]"},
    {"slice(f, starts=[0, 0], lengths=[2, 9223372036854775807], steps=[1, 9223372036854775807])",
     "slice: start 0, length 9223372036854775807 and step 9223372036854775807 leave axis 1 of float32[2, 3]"},
    {"slice(f, starts=[9, 0], lengths=[0, 3])", "float32[0, 3]"},
    {"slice(f, starts=[0], lengths=[1], steps=[1])", "slice: starts has 1 entries for float32[2, 3]"},
    {"expand_dims(f, axes=[0, 3])", "float32[1, 2, 3, 1]"},
    {"expand_dims(f, axes=[3])", "expand_dims: axes [3] are not distinct axes of a result of rank 3"},
    {"squeeze(o, axes=[0, 2])", "float32[3]"},
    {"squeeze(o, axes=[1])", "squeeze: axis 1 of float32[1, 3, 1] has a length other than 1"},
    {"flip(f, axes=[1])", "float32[2, 3]"},
    {"flip(f, axes=[2])", "flip: axes [2] is not valid for float32[2, 3]"},
    {"transpose(m)", "float32[5, 4, 3]"},
    {"transpose(g)", "transpose: takes two axes or more, not float32[3]"},
    {"tile(g, repetitions=[2, 2])", "float32[2, 6]"},
    {"tile(g, repetitions=[-1])", "tile: repetitions [-1] of float32[3] are out of range"},
};
INSTANTIATE_TEST_SUITE_P(Views, Infer, testing::ValuesIn(kViews));

constexpr Case kStructure[] = {
    {"concat(f, z, axis=0)", "float32[2, 3]"},
    {"concat(f, f, f, axis=1)", "float32[2, 9]"},
    {"concat(f, g, axis=0)", "concat: shapes float32[2, 3] and float32[3] differ outside axis 0"},
    {"concat(axis=0)", "concat: takes at least one operand"},
    {"stack(f, f, axis=2)", "float32[2, 3, 2]"},
    {"stack(f, z, axis=0)", "stack: shapes float32[2, 3] and float32[0, 3] differ"},
    {"pad(f, s, before=[1, 0], after=[0, 2])", "float32[3, 5]"},
    {"pad(f, g, before=[1, 0], after=[0, 2])", "pad: operand 1 must be 0-d, not float32[3]"},
    {"pad(f, s, before=[-1, 0], after=[0, 2])", "pad: a padding of axis 0 is negative"},
    {"pad_mode(f, before=[1, 2], after=[1, 2], mode=1)", "float32[4, 7]"},
    {"pad_mode(f, before=[2, 0], after=[0, 0], mode=1)",
     "pad_mode: axis 0 of float32[2, 3] is too short for a padding of 2"},
    {"pad_mode(f, before=[2, 0], after=[0, 0], mode=2)", "float32[4, 3]"},
    {"take(f, j, axis=1)", "float32[2, 4]"},
    {"take(f, n, axis=0)", "float32[3]"},
    {"take(f, g, axis=0)", "take: indices must be integers, not float32[3]"},
    {"take(z, j, axis=0)", "take: axis 0 of float32[0, 3] has no elements to take"},
    {"take(f, j, axis=2)", "take: axis 2 is not valid for float32[2, 3]"},
    {"take_along_axis(f, i, axis=0)", "float32[2, 3]"},
    {"take_along_axis(f, j, axis=0)", "take_along_axis: indices int64[4] do not fit float32[2, 3] outside axis 0"},
    {"slice_update(f, g, starts=[1, 0], lengths=[1, 3], steps=[1, 1])", "float32[2, 3]"},
    {"slice_update(f, g4, starts=[1, 0], lengths=[1, 3], steps=[1, 1])",
     "slice_update: float32[4] does not broadcast to the slice [1, 3]"},
    {"dynamic_slice(f, t, t, lengths=[1, 3])", "float32[1, 3]"},
    {"dynamic_slice(f, t, lengths=[1, 3])", "dynamic_slice: takes one start for each axis of float32[2, 3], not 1"},
    {"dynamic_slice(f, t, t, lengths=[1, 4])", "dynamic_slice: length 4 is out of range for axis 1 of float32[2, 3]"},
    {"one_hot(i, classes=7, dtype=float32)", "float32[2, 3, 7]"},
    {"one_hot(f, classes=7, dtype=float32)", "one_hot: takes integers, not float32[2, 3]"},
    {"tril(g)", "tril: takes two axes or more, not float32[3]"},
    {"full(s, shape=[2, 2])", "float32[2, 2]"},
    {"full(s, shape=[2, -2])", "full: the result's shape [2, -2] has a negative length"},
    {"full(s, shape=[1099511627776, 1099511627776])",
     "full: the result's shape [1099511627776, 1099511627776] is too large"},
    {"iota(shape=[2, 3], axis=1, dtype=int32)", "int32[2, 3]"},
    {"iota(shape=[2, 3], axis=2, dtype=int32)", "iota: axis 2 is out of range for rank 2"},
    {"arange(s, s, length=5)", "float32[5]"},
    {"arange(g, s, length=5)", "arange: operand 0 must be 0-d, not float32[3]"},
    {"eye(n_rows=2, n_cols=3, k=0, dtype=int8)", "int8[2, 3]"},
    {"random_bits(k, shape=[2], stream=3)", "uint32[2]"},
    {"random_bits(t, shape=[2], stream=3)", "random_bits: the seed must be uint64, not int64[]"},
    {"random_uniform(k, s, s, shape=[2], dtype=float32)", "float32[2]"},
    {"random_normal(k, shape=[2], dtype=int32)", "random_normal: makes floats, not int32"},
};
INSTANTIATE_TEST_SUITE_P(Structure, Infer, testing::ValuesIn(kStructure));

constexpr Case kReductions[] = {
    {"sum(u)", "uint64[]"},
    {"sum(b, axis=[1])", "int64[2]"},
    {"sum(h, axis=[0], keepdims=true)", "float16[1, 3]"},
    {"sum(f, axis=[])", "float32[2, 3]"},
    {"sum(f, axis=[2])", "sum: axis [2] is not valid for float32[2, 3]"},
    {"sum(f, dtype=bool)", "sum: the result cannot be bool"},
    {"max(z, axis=[1])", "float32[0]"},
    {"max(z, axis=[0])", "max: axis 0 of float32[0, 3] has no elements"},
    {"mean(i)", "mean: takes floats, not int32[2, 3]"},
    {"var(f, axis=[1], correction=1)", "float32[2]"},
    {"all(b)", "bool[]"},
    {"argmax(f, axis=[1])", "int64[2]"},
    {"argmax(f)", "int64[]"},
    {"argmax(m, axis=[0, 1])", "argmax: takes one axis or all of float32[5, 3, 4], not [0, 1]"},
    {"count_nonzero(m, axis=[0, 1])", "int64[4]"},
    {"reduce(f, kind=argmin, axis=0, order=outer)", "int64[3]"},
    {"reduce(h, kind=sum, axis=0, order=outer)",
     "reduce: sum has no accumulator of float16; float16[2, 3] must be cast"},
    {"cumsum(u, axis=1)", "uint64[2, 3]"},
    {"scan(f, kind=prod, axis=1)", "float32[2, 3]"},
    {"scan(f, kind=max, axis=1)", "scan: kind 2 is not one of 0 .. 1"},
    {"matmul(f, w)", "float32[2, 4]"},
    {"matmul(g, w)", "float32[4]"},
    {"matmul(f, g)", "float32[2]"},
    {"matmul(g, g)", "float32[]"},
    {"matmul(f, m)", "float32[5, 2, 4]"},
    {"matmul(w, f)", "matmul: shapes float32[3, 4] and float32[2, 3] have no matrix product"},
    {"matmul(s, f)", "matmul: shapes float32[] and float32[2, 3] have no matrix product"},
    {"softmax(f, axis=1)", "float32[2, 3]"},
    {"layer_norm(f, s, g, g, axis=1)", "float32[2, 3]"},
    {"layer_norm(f, s, axis=0)", "float32[2, 3]"},
    {"rms_norm(f, s, g4, axis=1)", "rms_norm: weight and bias must be float32[3], not float32[4]"},
};
INSTANTIATE_TEST_SUITE_P(Reductions, Infer, testing::ValuesIn(kReductions));

TEST(InferAttributes, MalformedListsAreRefused) {
  const TensorType x{DType::kFloat32, {2, 3}};
  const TensorType* operands[] = {&x};
  Attrs two_values;
  two_values.append(absl::Span<const std::int64_t>({1, 0}));
  two_values.append(0);
  two_values.append(2);
  EXPECT_FALSE(infer(Op::k_cast, operands, Attrs({{99}})).ok());
  EXPECT_FALSE(infer(Op::k_softmax, operands, Attrs({{0, 1}})).ok());
  EXPECT_FALSE(infer(Op::k_sum, operands, two_values).ok());
}

TEST(BitsOf, RoundsOnce) {
  EXPECT_EQ(bits_of(DType::kFloat16, 1.0), 0x3c00u);
  EXPECT_EQ(bits_of(DType::kFloat16, 65520.0), 0x7c00u);
  EXPECT_EQ(bits_of(DType::kFloat16, 0x1p-25), 0u);
  EXPECT_EQ(bits_of(DType::kFloat16, 0x1.8p-25), 1u);
  // Just above a tie of float16 that float32 would first round onto the tie, and then to even.
  EXPECT_EQ(bits_of(DType::kFloat16, 1.0 + 0x1p-11 + 0x1p-40), 0x3c01u);
  EXPECT_EQ(bits_of(DType::kBFloat16, 1.0 + 0x1p-8 + 0x1p-40), 0x3f81u);
  EXPECT_EQ(bits_of(DType::kBFloat16, 1.0 + 0x1p-8), 0x3f80u);
  EXPECT_EQ(bits_of(DType::kBFloat16, (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1), 0x5e81u);
  EXPECT_EQ(bits_of(DType::kBFloat16, (std::int64_t{1} << 62) + (std::int64_t{1} << 54)), 0x5e80u);
  EXPECT_EQ(bits_of(DType::kBFloat16, -0.0), 0x8000u);
  EXPECT_EQ(bits_of(DType::kFloat32, std::int64_t{16777217}), 0x4b800000u);
}

TEST(BitsOf, IntegersSaturateFromDoubleAndWrapFromInteger) {
  EXPECT_EQ(bits_of(DType::kInt8, 300.0), 0x7fu);
  EXPECT_EQ(bits_of(DType::kInt8, -300.0), 0x80u);
  EXPECT_EQ(bits_of(DType::kInt8, -1.9), 0xffu);
  EXPECT_EQ(bits_of(DType::kUInt8, -1.0), 0u);
  EXPECT_EQ(bits_of(DType::kInt64, 1e30), 0x7fffffffffffffffu);
  EXPECT_EQ(bits_of(DType::kUInt64, 1e30), ~std::uint64_t{0});
  EXPECT_EQ(bits_of(DType::kInt32, std::nan("")), 0u);
  EXPECT_EQ(bits_of(DType::kBool, 0.25), 1u);
  EXPECT_EQ(bits_of(DType::kInt8, std::int64_t{300}), 44u);
  EXPECT_EQ(bits_of(DType::kUInt32, std::int64_t{-1}), 0xffffffffu);
}

TEST(OpTable, NamesAndAttributesAreFound) {
  EXPECT_EQ(find_op("sum"), Op::k_sum);
  EXPECT_EQ(find_op("summ"), std::nullopt);
  EXPECT_EQ(attribute_index(Op::k_sum, "keepdims"), 1);
  EXPECT_EQ(attribute_index(Op::k_sum, "keep"), -1);
  EXPECT_EQ(min_operands(Op::k_layer_norm), 2);
  EXPECT_EQ(max_operands(Op::k_layer_norm), 4);
}

}  // namespace
}  // namespace tenon
