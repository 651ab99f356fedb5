// SPDX-License-Identifier: MIT
// A mistake is thrown at the call that makes it, and says which op, which types, and which line of the caller.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>

#include "tenon/tenon.h"
#include "tests/sanitized.h"

namespace tn = tenon;

namespace {

using tn::DType;

/// Expects `call`, on the line of the macro, to throw kInvalidArgument of `op` with `part` in its message.
#define EXPECT_MISTAKE(call, op_name, part)                           \
  try {                                                               \
    static_cast<void>(call);                                          \
    ADD_FAILURE() << #call << " is no error";                         \
  } catch (const tn::Error& e) {                                      \
    EXPECT_EQ(e.code(), tn::ErrorCode::kInvalidArgument);             \
    EXPECT_EQ(e.op(), op_name);                                       \
    EXPECT_NE(e.message().find(part), std::string::npos) << e.what(); \
    EXPECT_EQ(e.line(), __LINE__) << e.what();                        \
    EXPECT_EQ(std::string(e.file()), __FILE__);                       \
  }

tn::Tensor floats(const tn::Dims& shape) { return tn::ones(shape); }
tn::Tensor ints(const tn::Dims& shape, DType dtype = DType::kInt64) { return tn::ones(shape, dtype); }

TEST(CallError, TextNamesPlaceOpAndShapes) {
  const tn::Tensor x = floats({2, 3}), y = floats({4});
  const int line = __LINE__ + 2;
  try {
    static_cast<void>(x + y);
    FAIL();
  } catch (const tn::Error& e) {
    EXPECT_EQ(std::string(e.what()), std::string(__FILE__) + ":" + std::to_string(line) +
                                         ": add: shapes float32[2, 3] and float32[4] do not broadcast");
  }
}

TEST(CallError, ShapesThatDoNotBroadcast) {
  const tn::Tensor x = floats({2, 3});
  EXPECT_MISTAKE(x + floats({4}), "add", "float32[2, 3] and float32[4]");
  EXPECT_MISTAKE(tn::maximum(x, floats({3, 3})), "maximum", "float32[2, 3] and float32[3, 3]");
  EXPECT_MISTAKE(tn::where(x < 0, x, floats({5})), "where", "do not broadcast");
  EXPECT_MISTAKE(tn::broadcast_to(x, {4, 3}), "broadcast_to", "float32[2, 3]");
  tn::Tensor z = x;
  EXPECT_MISTAKE(z += floats({7}), "add", "float32[7]");
}

TEST(CallError, Dtypes) {
  EXPECT_MISTAKE(ints({2}, DType::kUInt64) + ints({2}), "add", "uint64[2] and int64[2]");
  EXPECT_MISTAKE(floats({2}) & 1, "bitwise_and", "float32[2]");
  EXPECT_MISTAKE(-tn::ones({2}, DType::kBool), "negative", "bool[2]");
  EXPECT_MISTAKE(ints({2}, DType::kUInt8) + 256, "add", "the scalar 256 does not fit uint8");
  EXPECT_MISTAKE(ints({2}, DType::kUInt8) * -1, "multiply", "the scalar -1 does not fit uint8");
  EXPECT_MISTAKE(tn::take(floats({2}), floats({2})), "take", "indices must be integers");
  EXPECT_MISTAKE(tn::where(ints({2}), 1, 0), "where", "must be bool");
  EXPECT_MISTAKE(tn::add(1, 2), "add", "at least one tensor");
  EXPECT_MISTAKE(tn::random::normal({2}, tn::seed(1), DType::kInt32), "random::normal", "int32");
}

TEST(CallError, DtypesThatDoNotExist) {
  const auto none = static_cast<DType>(99);
  EXPECT_MISTAKE(floats({2}).astype(none), "cast", "no dtype of number 99");
  EXPECT_MISTAKE(tn::zeros({2}, none), "full", "no dtype of number 99");
  EXPECT_MISTAKE(tn::random::normal({2}, tn::seed(1), none), "random::normal", "no dtype of number 99");
  EXPECT_MISTAKE(tn::sum(floats({2}), {}, false, none), "sum", "no dtype of number 99");
}

TEST(CallError, Axes) {
  const tn::Tensor x = floats({2, 3});
  EXPECT_MISTAKE(tn::sum(x, 2), "sum", "axis 2 is out of range for 2 axes");
  EXPECT_MISTAKE(tn::mean(x, {0, -3}), "mean", "axis -3");
  EXPECT_MISTAKE(tn::max(x, {0, -2}), "max", "axis 0 is given twice");
  EXPECT_MISTAKE(tn::softmax(x, 5), "softmax", "axis 5");
  EXPECT_MISTAKE(tn::concat({x, x}, 2), "concat", "axis 2");
  EXPECT_MISTAKE(tn::permute_dims(x, {0, 0}), "permute_dims", "permutation");
  EXPECT_MISTAKE(tn::squeeze(x, 0), "squeeze", "float32[2, 3]");
  EXPECT_MISTAKE(tn::expand_dims(x, 4), "expand_dims", "axis 4");
  EXPECT_MISTAKE(x.length(2), "length", "axis 2");
}

TEST(CallError, ShapesOfStructure) {
  const tn::Tensor x = floats({2, 3});
  EXPECT_MISTAKE(tn::reshape(x, {4, -1}), "reshape", "float32[2, 3]");
  EXPECT_MISTAKE(tn::matmul(x, x), "matmul", "float32[2, 3] and float32[2, 3]");
  EXPECT_MISTAKE(tn::concat({x, floats({3, 2})}), "concat", "float32[3, 2]");
  EXPECT_MISTAKE(tn::stack({x, floats({2})}), "stack", "float32[2]");
  EXPECT_MISTAKE(tn::concat({}), "concat", "at least one");
  EXPECT_MISTAKE(tn::pad(x, {{1, 1}}), "pad", "float32[2, 3]");
  EXPECT_MISTAKE(tn::split(x, 2, 1), "split", "no 2 equal parts");
  EXPECT_MISTAKE(tn::layer_norm(x, floats({2})), "layer_norm", "float32[2]");
  EXPECT_MISTAKE(tn::max(floats({0, 3}), 0), "max", "no elements");
  EXPECT_MISTAKE(tn::zeros({2, -1}), "full", "[2, -1]");
  EXPECT_MISTAKE(tn::asarray(std::vector<float>(5), {2, 3}), "asarray", "5 elements do not fill float32[2, 3]");
  EXPECT_MISTAKE(tn::asarray({{1, 2}, {3}}), "asarray", "lengths 2 and 1");
  EXPECT_MISTAKE(tn::arange(0, 10, 0), "arange", "step is 0");
}

TEST(CallError, RangesBeyondInt64) {
  constexpr std::uint64_t huge = std::uint64_t{1} << 63;
  const std::string part = "the scalar 9223372036854775808 does not fit int64";
  EXPECT_MISTAKE(tn::arange(0, huge), "arange", part);
  EXPECT_MISTAKE(tn::arange(huge), "arange", part);
  EXPECT_MISTAKE(tn::arange(0, huge, 1, DType::kUInt64), "arange", part);
  EXPECT_MISTAKE(tn::arange(huge, 0, -1), "arange", part);
  EXPECT_MISTAKE(tn::arange(0, 1, huge), "arange", part);
  constexpr std::uint64_t most = huge - 1;
  EXPECT_EQ(tn::arange(most - 2, most, 1, DType::kUInt64).to_vector<std::uint64_t>(),
            (std::vector<std::uint64_t>{most - 2, most - 1}));
}

TEST(CallError, ANullPointerHoldsNoElements) {
  const float* none = nullptr;
  EXPECT_MISTAKE(tn::asarray(none, {1}), "asarray", "a null pointer holds no float32[1]");
  EXPECT_EQ(tn::asarray(none, {0, 2}).shape(), (tn::Dims{0, 2}));
}

TEST(CallError, UnsignedPlacesBeyondInt64AreBeyondTheAxis) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  const tn::Tensor x = tn::arange(3);
  EXPECT_MISTAKE(x[most], "index", "is out of range for axis 0 of int64[3]");
  EXPECT_MISTAKE(tn::sum(x, most), "sum", "is out of range for 1 axis");
  EXPECT_EQ(x[tn::slice(0u, most)].to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(x[tn::slice(most, tn::none)].to_vector<std::int64_t>(), (std::vector<std::int64_t>{}));
  EXPECT_EQ(x[tn::slice(most, 0u, -1)].to_vector<std::int64_t>(), (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(x[tn::slice(1u, tn::none, most)].to_vector<std::int64_t>(), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(x[std::uint64_t{2}].item<std::int64_t>(), 2);
}

TEST(CallError, Indices) {
  const tn::Tensor x = floats({2, 3});
  EXPECT_MISTAKE(x[2], "index", "index 2 is out of range for axis 0 of float32[2, 3]");
  EXPECT_MISTAKE((x[{0, -4}]), "index", "index -4");
  EXPECT_MISTAKE((x[{0, 0, 0}]), "index", "3 indices are too many");
  EXPECT_MISTAKE(x[tn::slice(0, 1, 0)], "index", "step");
}

TEST(CallError, TypedReads) {
  const tn::Tensor x = floats({2, 3});
  EXPECT_MISTAKE(x.item<float>(), "item", "one element, not float32[2, 3]");
  EXPECT_MISTAKE(tn::sum(x).item<double>(), "item", "float32[] is not read as float64");
  EXPECT_MISTAKE(x.to_vector<std::int32_t>(), "to_vector", "int32");
  EXPECT_MISTAKE(x.data<double>(), "data", "float64");
}

TEST(CallError, EmptyHandles) {
  const tn::Tensor empty;
  EXPECT_MISTAKE(empty.shape(), "shape", "empty handle");
  EXPECT_MISTAKE(empty + 1, "operand", "empty handle");
  EXPECT_MISTAKE(empty.eval(), "eval", "empty handle");
  EXPECT_MISTAKE(tn::stack({floats({2}), empty}), "operand", "empty handle");
}

TEST(CallError, NoMemoryForAResult) {
  const tn::Tensor huge = tn::zeros({std::int64_t{1} << 45}, DType::kBool);
  try {
    static_cast<void>(huge.to_vector<bool>());
    FAIL();
  } catch (const tn::Error& e) {
    EXPECT_EQ(e.code(), tn::ErrorCode::kOutOfMemory);
    EXPECT_EQ(e.op(), "to_vector");
    EXPECT_EQ(e.line(), __LINE__ - 5);
  }
}

/// Ends with 0 if the interpreter's want of memory is kOutOfMemory of the call, twice.
[[noreturn]] void interpret_what_has_no_memory() {
  const tn::Tensor part = tn::zeros({std::int64_t{1} << 48})[tn::slice(0, 4)];
  for (int i = 0; i < 2; ++i) {
    try {
      part.eval();
      std::exit(1);
    } catch (const tn::Error& e) {
      std::fprintf(stderr, "%s\n", e.what());
      if (e.code() != tn::ErrorCode::kOutOfMemory) std::exit(2);
    }
  }
  std::exit(0);
}

TEST(CallErrorDeathTest, NoMemoryForTheInterpreter) {
  if (!tn::testing::kNewThrows) GTEST_SKIP() << "a sanitizer ends the process where new would throw";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, which reads the variable
  setenv("TENON_JIT", "0", 1);
  EXPECT_EXIT(interpret_what_has_no_memory(), testing::ExitedWithCode(0), "eval: no memory");
  unsetenv("TENON_JIT");
}

TEST(CallError, PrintingNamesTheCallThatMadeTheTensor) {
  const tn::Tensor huge = tn::iota({std::int64_t{1} << 45}, 0, DType::kInt8);
  const int line = __LINE__ - 1;
  try {
    std::ostringstream() << huge;
    FAIL();
  } catch (const tn::Error& e) {
    EXPECT_EQ(std::string(e.file()), __FILE__);
    EXPECT_EQ(e.line(), line);
  }
}

TEST(CallError, TheLibraryGoesOnAfterAnError) {
  const tn::Tensor x = floats({2});
  EXPECT_THROW(static_cast<void>(x + floats({3})), tn::Error);
  EXPECT_EQ((x + x).to_vector<float>(), (std::vector<float>{2, 2}));
}

}  // namespace
