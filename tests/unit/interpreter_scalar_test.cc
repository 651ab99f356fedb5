// SPDX-License-Identifier: MIT
// The meaning of elementwise primitives at the values where implementations differ. Expected values are those of the op
// table's words, of IEEE 754 and of NumPy, written out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "compiler/ir/graph_text.h"
#include "compiler/ir/text.h"
#include "compiler/ops/scalar_eval.h"

namespace tenon {
namespace {

std::uint64_t bits_of_text(DType dtype, std::string_view text) {
  const auto program = parse_program(cat("c: ", name_of(dtype), " = constant(", text, ")\n"));
  EXPECT_TRUE(program.ok()) << text;
  return program.ok() ? static_cast<std::uint64_t>(program->graph.nodes[0].attrs.value(0)) : 0;
}

/// op applied to values given as text; `where` takes its condition first.
std::string eval(Op op, DType dtype, std::vector<std::string_view> operands, DType result) {
  std::uint64_t bits[3] = {};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    bits[i] = bits_of_text(op == Op::k_where && i == 0 ? DType::kBool : dtype, operands[i]);
  }
  return element_text(result, eval_scalar(op, result, dtype, bits));
}
std::string eval(Op op, DType dtype, std::vector<std::string_view> operands) {
  const std::string_view rule = row_of(op).result;
  const bool is_test = rule == "compare" || rule == "predicate";
  return eval(op, dtype, std::move(operands), is_test ? DType::kBool : dtype);
}

constexpr DType kF32 = DType::kFloat32, kF64 = DType::kFloat64, kF16 = DType::kFloat16, kBF16 = DType::kBFloat16;
constexpr DType kI8 = DType::kInt8, kI32 = DType::kInt32, kI64 = DType::kInt64, kU8 = DType::kUInt8,
                kU64 = DType::kUInt64;
constexpr DType kFloats[] = {kF16, kBF16, kF32, kF64};

TEST(ScalarEval, MaximumAndMinimumPropagateNanAndOrderZeros) {
  for (const DType t : kFloats) {
    EXPECT_EQ(eval(Op::k_maximum, t, {"-0", "0"}), "0");
    EXPECT_EQ(eval(Op::k_maximum, t, {"0", "-0"}), "0");
    EXPECT_EQ(eval(Op::k_minimum, t, {"-0", "0"}), "-0");
    EXPECT_EQ(eval(Op::k_minimum, t, {"0", "-0"}), "-0");
    EXPECT_EQ(eval(Op::k_maximum, t, {"-0", "-0"}), "-0");
    EXPECT_EQ(eval(Op::k_maximum, t, {"nan", "1"}), "nan");
    EXPECT_EQ(eval(Op::k_maximum, t, {"1", "nan"}), "nan");
    EXPECT_EQ(eval(Op::k_minimum, t, {"-inf", "nan"}), "nan");
    EXPECT_EQ(eval(Op::k_maximum, t, {"-inf", "-1"}), "-1");
    EXPECT_EQ(eval(Op::k_minimum, t, {"-1.5", "-1"}), "-1.5");
  }
}

TEST(ScalarEval, SignAndPredicates) {
  for (const DType t : kFloats) {
    EXPECT_EQ(eval(Op::k_sign, t, {"-0"}), "0");
    EXPECT_EQ(eval(Op::k_sign, t, {"nan"}), "nan");
    EXPECT_EQ(eval(Op::k_sign, t, {"-inf"}), "-1");
    EXPECT_EQ(eval(Op::k_signbit, t, {"-0"}), "true");
    EXPECT_EQ(eval(Op::k_isinf, t, {"-inf"}), "true");
    EXPECT_EQ(eval(Op::k_isfinite, t, {"nan"}), "false");
    EXPECT_EQ(eval(Op::k_isnan, t, {"nan"}), "true");
    EXPECT_EQ(eval(Op::k_not_equal, t, {"nan", "nan"}), "true");
    EXPECT_EQ(eval(Op::k_equal, t, {"-0", "0"}), "true");
    EXPECT_EQ(eval(Op::k_less_equal, t, {"nan", "1"}), "false");
  }
  EXPECT_EQ(eval(Op::k_signbit, kF32, {"0xffc00000"}), "false");
  EXPECT_EQ(eval(Op::k_signbit, kI8, {"-1"}), "true");
  EXPECT_EQ(eval(Op::k_signbit, kU8, {"255"}), "false");
  EXPECT_EQ(eval(Op::k_isfinite, kI8, {"-1"}), "true");
  EXPECT_EQ(eval(Op::k_isnan, kI8, {"-1"}), "false");
}

TEST(ScalarEval, RoundingToIntegers) {
  for (const DType t : kFloats) {
    EXPECT_EQ(eval(Op::k_round, t, {"2.5"}), "2");
    EXPECT_EQ(eval(Op::k_round, t, {"3.5"}), "4");
    EXPECT_EQ(eval(Op::k_round, t, {"-0.5"}), "-0");
    EXPECT_EQ(eval(Op::k_floor, t, {"-0.5"}), "-1");
    EXPECT_EQ(eval(Op::k_ceil, t, {"-0.5"}), "-0");
    EXPECT_EQ(eval(Op::k_trunc, t, {"-1.75"}), "-1");
  }
  EXPECT_EQ(eval(Op::k_round, kI32, {"-7"}), "-7");
  EXPECT_EQ(eval(Op::k_ceil, DType::kBool, {"true"}), "true");
}

TEST(ScalarEval, IntegersWrap) {
  EXPECT_EQ(eval(Op::k_add, kI8, {"127", "1"}), "-128");
  EXPECT_EQ(eval(Op::k_subtract, kU8, {"0", "1"}), "255");
  EXPECT_EQ(eval(Op::k_multiply, kI64, {"9223372036854775807", "2"}), "-2");
  EXPECT_EQ(eval(Op::k_multiply, DType::kUInt16, {"65535", "65535"}), "1");
  EXPECT_EQ(eval(Op::k_negative, kU8, {"1"}), "255");
  EXPECT_EQ(eval(Op::k_negative, kI8, {"-128"}), "-128");
  EXPECT_EQ(eval(Op::k_abs, kI8, {"-128"}), "-128");
  EXPECT_EQ(eval(Op::k_bitwise_invert, kU8, {"5"}), "250");
}

TEST(ScalarEval, IntegerDivision) {
  EXPECT_EQ(eval(Op::k_floor_divide, kI32, {"-7", "2"}), "-4");
  EXPECT_EQ(eval(Op::k_floor_divide, kI32, {"7", "-2"}), "-4");
  EXPECT_EQ(eval(Op::k_floor_divide, kI32, {"-7", "-2"}), "3");
  EXPECT_EQ(eval(Op::k_floor_divide, kI32, {"5", "0"}), "0");
  EXPECT_EQ(eval(Op::k_floor_divide, kI32, {"-2147483648", "-1"}), "-2147483648");
  EXPECT_EQ(eval(Op::k_remainder, kI32, {"-7", "2"}), "1");
  EXPECT_EQ(eval(Op::k_remainder, kI32, {"7", "-2"}), "-1");
  EXPECT_EQ(eval(Op::k_remainder, kI32, {"-2147483648", "-1"}), "0");
  EXPECT_EQ(eval(Op::k_remainder, kI64, {"5", "0"}), "0");
  EXPECT_EQ(eval(Op::k_fmod, kI32, {"-7", "2"}), "-1");
  EXPECT_EQ(eval(Op::k_fmod, kU8, {"7", "0"}), "0");
  EXPECT_EQ(eval(Op::k_remainder, kU64, {"18446744073709551615", "10"}), "5");
}

TEST(ScalarEval, FloatDivisionFollowsNumPy) {
  for (const DType t : {kF32, kF64}) {
    EXPECT_EQ(eval(Op::k_floor_divide, t, {"-7", "2"}), "-4");
    EXPECT_EQ(eval(Op::k_floor_divide, t, {"1", "0.1"}), "9");
    EXPECT_EQ(eval(Op::k_floor_divide, t, {"1", "0"}), "inf");
    EXPECT_EQ(eval(Op::k_floor_divide, t, {"0", "0"}), "nan");
    EXPECT_EQ(eval(Op::k_floor_divide, t, {"-0", "2"}), "-0");
    EXPECT_EQ(eval(Op::k_remainder, t, {"-7", "2"}), "1");
    EXPECT_EQ(eval(Op::k_remainder, t, {"-1", "inf"}), "inf");
    EXPECT_EQ(eval(Op::k_remainder, t, {"0", "-2"}), "-0");
    EXPECT_EQ(eval(Op::k_remainder, t, {"inf", "2"}), "nan");
    EXPECT_EQ(eval(Op::k_fmod, t, {"-7", "2"}), "-1");
    EXPECT_EQ(eval(Op::k_fmod, t, {"5", "inf"}), "5");
  }
}

TEST(ScalarEval, PowersOfIntegers) {
  EXPECT_EQ(eval(Op::k_pow, kI32, {"-3", "3"}), "-27");
  EXPECT_EQ(eval(Op::k_pow, kI32, {"0", "0"}), "1");
  EXPECT_EQ(eval(Op::k_pow, kI32, {"2", "33"}), "0");
  EXPECT_EQ(eval(Op::k_pow, kI32, {"2", "-1"}), "0");
  EXPECT_EQ(eval(Op::k_pow, kI32, {"1", "-5"}), "1");
  EXPECT_EQ(eval(Op::k_pow, kI32, {"-1", "-5"}), "-1");
  EXPECT_EQ(eval(Op::k_pow, kI32, {"-1", "-4"}), "1");
  EXPECT_EQ(eval(Op::k_pow, kU64, {"3", "40"}), "12157665459056928801");
  EXPECT_EQ(eval(Op::k_pow, kU8, {"3", "255"}), "171");
}

TEST(ScalarEval, Shifts) {
  EXPECT_EQ(eval(Op::k_bitwise_left_shift, kI8, {"1", "7"}), "-128");
  EXPECT_EQ(eval(Op::k_bitwise_left_shift, kI8, {"1", "8"}), "0");
  EXPECT_EQ(eval(Op::k_bitwise_left_shift, kI32, {"1", "-1"}), "0");
  EXPECT_EQ(eval(Op::k_bitwise_right_shift, kI8, {"-128", "3"}), "-16");
  EXPECT_EQ(eval(Op::k_bitwise_right_shift, kI8, {"-5", "8"}), "-1");
  EXPECT_EQ(eval(Op::k_bitwise_right_shift, kI8, {"-5", "-1"}), "-1");
  EXPECT_EQ(eval(Op::k_bitwise_right_shift, kI8, {"5", "100"}), "0");
  EXPECT_EQ(eval(Op::k_bitwise_right_shift, kU8, {"255", "8"}), "0");
  EXPECT_EQ(eval(Op::k_bitwise_right_shift, kU64, {"18446744073709551615", "63"}), "1");
}

TEST(ScalarEval, Bools) {
  constexpr DType kBool = DType::kBool;
  EXPECT_EQ(eval(Op::k_add, kBool, {"true", "true"}), "true");
  EXPECT_EQ(eval(Op::k_multiply, kBool, {"true", "false"}), "false");
  EXPECT_EQ(eval(Op::k_maximum, kBool, {"true", "false"}), "true");
  EXPECT_EQ(eval(Op::k_minimum, kBool, {"true", "false"}), "false");
  EXPECT_EQ(eval(Op::k_bitwise_xor, kBool, {"true", "true"}), "false");
  EXPECT_EQ(eval(Op::k_logical_xor, kBool, {"true", "false"}), "true");
  EXPECT_EQ(eval(Op::k_logical_not, kBool, {"true"}), "false");
  EXPECT_EQ(eval(Op::k_less, kBool, {"false", "true"}), "true");
  EXPECT_EQ(eval(Op::k_where, kF32, {"false", "1", "2"}), "2");
}

TEST(ScalarEval, HalfTypesRoundOnceAnOp) {
  EXPECT_EQ(eval(Op::k_add, kF16, {"2048", "1"}), "2048");
  EXPECT_EQ(eval(Op::k_add, kF16, {"65504", "16"}), "inf");
  EXPECT_EQ(eval(Op::k_multiply, kBF16, {"0x3f81", "0x3f81"}), "1.015625");
  EXPECT_EQ(eval(Op::k_divide, kF16, {"1", "3"}), "0.33325195");
  EXPECT_EQ(eval(Op::k_multiply, kF16, {"6e-08", "0.5"}), "0");
  EXPECT_EQ(eval(Op::k_nextafter, kF16, {"1", "2"}), "1.0009766");
  EXPECT_EQ(eval(Op::k_nextafter, kF16, {"0", "-1"}), "-5.9604645e-08");
  EXPECT_EQ(eval(Op::k_nextafter, kF16, {"-1", "0"}), "-0.9995117");
  EXPECT_EQ(eval(Op::k_nextafter, kBF16, {"1", "0"}), "0.99609375");
  EXPECT_EQ(eval(Op::k_nextafter, kF16, {"65504", "inf"}), "inf");
  EXPECT_EQ(eval(Op::k_nextafter, kF16, {"nan", "1"}), "nan");
}

TEST(ScalarEval, FusedMultiplyAddRoundsOnce) {
  EXPECT_EQ(eval(Op::k_fma, kF32, {"1.000244140625", "1.000244140625", "-1.00048828125"}), "5.9604645e-08");
  EXPECT_EQ(eval(Op::k_fma, kF64, {"inf", "0", "1"}), "nan");
}

TEST(ScalarEval, FunctionsTakeEveryFloat) {
  for (const DType t : kFloats) {
    EXPECT_EQ(eval(Op::k_exp, t, {"-inf"}), "0");
    EXPECT_EQ(eval(Op::k_log, t, {"-1"}), "nan");
    EXPECT_EQ(eval(Op::k_rsqrt, t, {"-0"}), "-inf");
    EXPECT_EQ(eval(Op::k_rsqrt, t, {"4"}), "0.5");
    EXPECT_EQ(eval(Op::k_sqrt, t, {"-0"}), "-0");
    EXPECT_EQ(eval(Op::k_pow, t, {"nan", "0"}), "1");
    EXPECT_EQ(eval(Op::k_pow, t, {"2", "3"}), "8");
    EXPECT_EQ(eval(Op::k_atan2, t, {"0", "1"}), "0");
    EXPECT_EQ(eval(Op::k_tanh, t, {"inf"}), "1");
    EXPECT_EQ(eval(Op::k_erfc, t, {"inf"}), "0");
    EXPECT_EQ(eval(Op::k_cbrt, t, {"-8"}), "-2");
  }
}

std::string cast(DType from, std::string_view value, DType to) { return eval(Op::k_cast, from, {value}, to); }

TEST(ScalarEval, CastsToIntegers) {
  EXPECT_EQ(cast(kI32, "300", kI8), "44");
  EXPECT_EQ(cast(kI32, "-1", kU64), "18446744073709551615");
  EXPECT_EQ(cast(kF32, "-1.9", kI32), "-1");
  EXPECT_EQ(cast(kF32, "3e9", kI32), "2147483647");
  EXPECT_EQ(cast(kF32, "-3e9", kI32), "-2147483648");
  EXPECT_EQ(cast(kF32, "-1", kU8), "0");
  EXPECT_EQ(cast(kF32, "300", kU8), "255");
  EXPECT_EQ(cast(kF64, "1e30", kU64), "18446744073709551615");
  EXPECT_EQ(cast(kF64, "9223372036854775807", kI64), "9223372036854775807");
  EXPECT_EQ(cast(kF32, "nan", kI32), "0");
  EXPECT_EQ(cast(kF16, "inf", kI64), "9223372036854775807");
  EXPECT_EQ(cast(DType::kBool, "true", kI8), "1");
}

TEST(ScalarEval, CastsToBool) {
  EXPECT_EQ(cast(kF32, "nan", DType::kBool), "true");
  EXPECT_EQ(cast(kF32, "-0", DType::kBool), "false");
  EXPECT_EQ(cast(kF16, "5.9604645e-08", DType::kBool), "true");
  EXPECT_EQ(cast(kI32, "256", DType::kBool), "true");
}

TEST(ScalarEval, CastsToFloatsRoundOnce) {
  EXPECT_EQ(cast(kI64, "16777217", kF32), "16777216");
  EXPECT_EQ(cast(kU64, "18446744073709551615", kF64), "18446744073709551616");
  EXPECT_EQ(cast(kI32, "65520", kF16), "inf");
  EXPECT_EQ(cast(kI32, "65519", kF16), "65504");
  // 2^30 + 2^22 is a tie of bfloat16; one more is above it, which float32 cannot hold.
  EXPECT_EQ(cast(kI32, "1077936128", kBF16), "1073741824");
  EXPECT_EQ(cast(kI32, "1077936129", kBF16), "1082130432");
  EXPECT_EQ(cast(kI64, "4629700416936869889", kBF16), "4.647715e+18");
  EXPECT_EQ(cast(kF64, "1.00048828125000001", kF16), "1");
  EXPECT_EQ(cast(kF64, "1.0004882812500002", kF16), "1.0009766");
  EXPECT_EQ(cast(kF64, "1e300", kBF16), "inf");
  EXPECT_EQ(cast(kF64, "1e-310", kF32), "0");
  EXPECT_EQ(cast(kBF16, "0x3f81", kF16), "1.0078125");
  EXPECT_EQ(cast(DType::kBool, "true", kBF16), "1");
}

/// Every finite float16 is a multiple of 2^-24, so its neighbours decide what a double rounds to.
TEST(ScalarEval, CastOfDoubleToFloat16IsTheNearest) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200000; ++trial) {
    const double value = std::ldexp(static_cast<double>(random()) * 0x1p-64 + 1, static_cast<int>(random() % 44) - 27);
    std::uint64_t bits = 0, operand = 0;
    std::memcpy(&operand, &value, sizeof value);
    bits = eval_scalar(Op::k_cast, kF16, kF64, &operand);
    if (bits >= 0x7c00u) {
      EXPECT_GE(value, 65520.0);
      continue;
    }
    const auto half = [](std::uint64_t b) {
      float16 h;
      h.bits = static_cast<std::uint16_t>(b);
      return static_cast<double>(static_cast<float>(h));
    };
    const double error = std::fabs(half(bits) - value);
    EXPECT_TRUE(bits + 1 == 0x7c00u || error <= half(bits + 1) - value);
    EXPECT_TRUE(bits == 0 || error <= value - half(bits - 1));
  }
}

TEST(ScalarEval, ArraysHaveTheBitsOfElements) {
  std::mt19937_64 random(5);
  for (int op_number = 0; op_number < kNumOps; ++op_number) {
    const auto op = static_cast<Op>(op_number);
    if (row_of(op).kind != OpKind::elementwise || op == Op::k_cast || op == Op::k_where) continue;
    for (int d = 0; d < kNumDTypes; ++d) {
      const TensorType type{static_cast<DType>(d), {}};
      std::vector<const TensorType*> types(static_cast<std::size_t>(min_operands(op)), &type);
      const auto result = infer(op, types, {});
      if (!result.ok()) continue;
      constexpr std::size_t kCount = 9;
      std::vector<std::vector<std::byte>> arrays(types.size(), std::vector<std::byte>(kCount * 8));
      std::vector<const void*> addresses;
      std::uint64_t bits[3][kCount] = {};
      const std::size_t size = size_of(type.dtype);
      for (std::size_t k = 0; k < types.size(); ++k) {
        for (std::size_t i = 0; i < kCount; ++i) {
          bits[k][i] = bits_of(type.dtype, static_cast<std::int64_t>(random() % 300) - 150);
          std::memcpy(arrays[k].data() + i * size, &bits[k][i], size);
        }
        addresses.push_back(arrays[k].data());
      }
      std::vector<std::byte> out(kCount * 8);
      eval_elements(op, result->dtype, type.dtype, addresses, out.data(), kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        const std::uint64_t operands[] = {bits[0][i], bits[1][i], bits[2][i]};
        std::uint64_t element = 0;
        std::memcpy(&element, out.data() + i * size_of(result->dtype), size_of(result->dtype));
        EXPECT_EQ(element, eval_scalar(op, result->dtype, type.dtype, operands)) << name_of(op);
      }
    }
  }
}

}  // namespace
}  // namespace tenon
