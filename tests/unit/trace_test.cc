// SPDX-License-Identifier: MIT
// Promotion is the one lattice of the design; scalars are weak; nodes are made, counted and freed as node.h promises.
#include "runtime/trace/trace.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "compiler/ir/graph.h"
#include "runtime/device/cpu/allocator.h"
#include "runtime/trace/node.h"
#include "runtime/trace/promote.h"
#include "tenon/error.h"

namespace tenon::trace {
namespace {

// Rows and columns: bool, int8..int64, uint8..uint64, float16, bfloat16, float32, float64. "--" is an error.
constexpr const char* kCodes = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8";
constexpr const char* kLattice[kNumDTypes] = {
    "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8",  // bool
    "i1 i1 i2 i4 i8 i2 i4 i8 -- f2 bf f4 f8",  // int8
    "i2 i2 i2 i4 i8 i2 i4 i8 -- f2 bf f4 f8",  // int16
    "i4 i4 i4 i4 i8 i4 i4 i8 -- f2 bf f4 f8",  // int32
    "i8 i8 i8 i8 i8 i8 i8 i8 -- f2 bf f4 f8",  // int64
    "u1 i2 i2 i4 i8 u1 u2 u4 u8 f2 bf f4 f8",  // uint8
    "u2 i4 i4 i4 i8 u2 u2 u4 u8 f2 bf f4 f8",  // uint16
    "u4 i8 i8 i8 i8 u4 u4 u4 u8 f2 bf f4 f8",  // uint32
    "u8 -- -- -- -- u8 u8 u8 u8 f2 bf f4 f8",  // uint64
    "f2 f2 f2 f2 f2 f2 f2 f2 f2 f2 f4 f4 f8",  // float16
    "bf bf bf bf bf bf bf bf bf f4 bf f4 f8",  // bfloat16
    "f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f4 f8",  // float32
    "f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8",  // float64
};

std::string code_of(std::optional<DType> dtype) {
  return dtype ? std::string(kCodes + 3 * static_cast<int>(*dtype), 2) : "--";
}

TEST(Trace, PromotesTensorsByTheLattice) {
  for (int a = 0; a < kNumDTypes; ++a) {
    for (int b = 0; b < kNumDTypes; ++b) {
      EXPECT_EQ(code_of(promote(static_cast<DType>(a), static_cast<DType>(b))), std::string(kLattice[a] + 3 * b, 2))
          << a << " with " << b;
    }
  }
}

TEST(Trace, ScalarsTakeTheTensorsDtypeUnlessTheirKindIsHigher) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(promote(dtype, true), dtype);
    EXPECT_EQ(promote(dtype, 1), dtype == DType::kBool ? DType::kInt64 : dtype);
    EXPECT_EQ(promote(dtype, 1u), dtype == DType::kBool ? DType::kInt64 : dtype);
    EXPECT_EQ(promote(dtype, 0.5), is_float(dtype) ? dtype : DType::kFloat32);
    EXPECT_EQ(promote(dtype, 0.5f), is_float(dtype) ? dtype : DType::kFloat32);
  }
}

TEST(Trace, IntegersFitTheirDtypeOrAreRefused) {
  EXPECT_EQ(element_bits(DType::kInt8, 127), 127u);
  EXPECT_EQ(element_bits(DType::kInt8, -128), 0x80u);
  EXPECT_EQ(element_bits(DType::kInt8, 128), std::nullopt);
  EXPECT_EQ(element_bits(DType::kUInt8, 255), 255u);
  EXPECT_EQ(element_bits(DType::kUInt8, 256), std::nullopt);
  EXPECT_EQ(element_bits(DType::kUInt8, -1), std::nullopt);
  EXPECT_EQ(element_bits(DType::kUInt64, ~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(element_bits(DType::kInt64, ~std::uint64_t{0}), std::nullopt);
  EXPECT_EQ(element_bits(DType::kUInt64, std::int64_t{-1}), std::nullopt);
  EXPECT_EQ(element_bits(DType::kFloat32, std::uint64_t{1} << 63), 0x5f000000u);
  EXPECT_EQ(element_bits(DType::kFloat16, 1.5), 0x3e00u);
  EXPECT_EQ(element_bits(DType::kBFloat16, 1.5), 0x3fc0u);
  EXPECT_EQ(element_bits(DType::kFloat32, 0.1), 0x3dcccccdu);
  EXPECT_EQ(element_bits(DType::kBool, 2), 1u);
}

NodeRef value(DType dtype, Shape shape) {
  TensorType type{dtype, std::move(shape)};
  const auto bytes = static_cast<std::size_t>(numel(type.shape)) * size_of(dtype);
  return make_ready(std::move(type), device::allocate(bytes), {}, 0);
}

NodeRef binary(Op op, Argument x, Argument y) { return apply(op, {x, y}, {}, std::source_location::current()); }
Argument of(const NodeRef& node) { return {node.get(), 0}; }

TEST(Trace, OperandsOfOneDtypeAreNotCast) {
  const NodeRef x = value(DType::kFloat32, {2, 3}), y = value(DType::kFloat32, {3});
  const NodeRef sum = binary(Op::k_add, of(x), of(y));
  EXPECT_EQ(to_string(sum->type), "float32[2, 3]");
  EXPECT_EQ(sum->operands[0].get(), x.get());
  EXPECT_EQ(sum->operands[1].get(), y.get());
}

TEST(Trace, OperandsOfOtherDtypesAreCast) {
  const NodeRef x = value(DType::kInt32, {2}), y = value(DType::kFloat16, {2});
  const NodeRef sum = binary(Op::k_add, of(x), of(y));
  EXPECT_EQ(to_string(sum->type), "float16[2]");
  EXPECT_EQ(sum->operands[0]->op, Op::k_cast);
  EXPECT_EQ(sum->operands[0]->type.dtype, DType::kFloat16);
  EXPECT_EQ(sum->operands[1].get(), y.get());
}

TEST(Trace, FloatingOpsCastIntegersToFloat32) {
  const NodeRef x = value(DType::kInt64, {2});
  EXPECT_EQ(to_string(binary(Op::k_divide, of(x), of(x))->type), "float32[2]");
  EXPECT_EQ(to_string(apply(Op::k_exp, {of(x)}, {}, std::source_location::current())->type), "float32[2]");
}

TEST(Trace, ScalarsBecomeArgumentsInTheTensorsDtype) {
  const NodeRef x = value(DType::kBFloat16, {2});
  const NodeRef product = binary(Op::k_multiply, of(x), {nullptr, 0.5});
  EXPECT_EQ(product->type.dtype, DType::kBFloat16);
  EXPECT_EQ(product->operands[1]->state.load(), NodeState::kScalar);
  EXPECT_EQ(product->operands[1]->scalar_bits, 0x3f00u);
}

TEST(Trace, TheConditionOfWhereIsNotPromoted) {
  const NodeRef condition = value(DType::kBool, {2}), x = value(DType::kInt8, {2});
  const auto where = [&](Argument a, Argument b) {
    return to_string(apply(Op::k_where, {of(condition), a, b}, {}, std::source_location::current())->type);
  };
  EXPECT_EQ(where(of(x), {nullptr, 1}), "int8[2]");
  EXPECT_EQ(where({nullptr, 0.5}, of(x)), "float32[2]");
  EXPECT_EQ(where({nullptr, 1.0}, {nullptr, 0.0}), "float32[2]");
  EXPECT_EQ(where({nullptr, 1}, {nullptr, 0}), "int64[2]");
}

TEST(Trace, DepthCountsTheLongestChain) {
  const NodeRef x = value(DType::kFloat32, {1000});
  const NodeRef a = binary(Op::k_add, of(x), of(x)), b = binary(Op::k_add, of(a), of(x));
  EXPECT_EQ(x->depth, 0u);
  EXPECT_EQ(a->depth, 1u);
  EXPECT_EQ(b->depth, 2u);
  EXPECT_EQ(a->held_bytes, 8000);
  EXPECT_EQ(b->held_bytes, 12000);
}

TEST(Trace, AMillionNodesInAChainAreReleasedWithoutRecursion) {
  const std::int64_t before = live_nodes();
  {
    const NodeRef x = value(DType::kFloat32, {1});
    NodeRef chain = x;
    for (int i = 0; i < 1000000; ++i) chain = binary(Op::k_add, of(chain), of(x));
    EXPECT_EQ(live_nodes(), before + 1000001);
  }
  EXPECT_EQ(live_nodes(), before);
}

TEST(Trace, NodesMayBeFreedByAnotherThread) {
  const std::int64_t before = live_nodes();
  const NodeRef x = value(DType::kFloat32, {4});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&x] {
      std::vector<NodeRef> made;
      for (int i = 0; i < 10000; ++i) made.push_back(binary(Op::k_add, of(x), of(x)));
      std::thread([moved = std::move(made)]() mutable { moved.clear(); }).join();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(live_nodes(), before + 1);
  EXPECT_EQ(x->references.load(), 1u);
}

}  // namespace
}  // namespace tenon::trace
