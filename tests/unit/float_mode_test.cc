// SPDX-License-Identifier: MIT
// The host program's floating-point mode (MXCSR and x87: rounding, flushing of subnormals) decides nothing: neither
// what is compiled, nor what is computed, nor on which thread. It is as it was afterwards.
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <bit>
#include <cfenv>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "compiler/ir/serialize.h"
#include "compiler/ops/decompose.h"
#include "compiler/ops/interpreter.h"
#include "runtime/api/access.h"
#include "runtime/session/session.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

constexpr unsigned kFlush = 0x8040;  // subnormal results and operands are zero

/// A host that rounds so and flushes subnormals, as long as it lives.
class HostMode {
 public:
  explicit HostMode(int rounding) {
    std::fegetenv(&before_);
    std::fesetround(rounding);
    _mm_setcsr(_mm_getcsr() | kFlush);
  }
  ~HostMode() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
};

constexpr int kRoundings[] = {FE_UPWARD, FE_DOWNWARD};

/// What a program is looked up by, is given, and gives.
struct Outcome {
  std::vector<std::byte> key_bytes;
  std::vector<std::uint64_t> scalars;
  std::vector<std::byte> result;
};

using Make = std::function<Tensor()>;

session::CapturedProgram captured(const Tensor& tensor) {
  trace::TraceNode* const node = internal::Access::node(tensor);
  return session::capture({&node, 1});
}

/// By the interpreter of graphs.
Outcome interpreted(const Make& make) {
  const Tensor tensor = make();
  const session::CapturedProgram program = captured(tensor);
  const Graph graph = decompose(*decode_graph(program.key_bytes)).value();
  std::vector<HostView> views;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    views.push_back(
        {static_cast<const std::byte*>(program.inputs[i]->data) + program.input_offsets[i], graph.layouts[i].strides});
  }
  return {program.key_bytes, program.scalars, interpret(graph, views, program.scalars).value()[0].data};
}

/// Compiled, in a process that has not compiled it before.
Outcome compiled(const Make& make) {
  const Tensor tensor = make();
  const session::CapturedProgram program = captured(tensor);
  tensor.eval();
  const trace::TraceNode& node = *internal::Access::node(tensor);
  const auto* first = static_cast<const std::byte*>(node.storage->data) + node.byte_offset;
  return {program.key_bytes,
          program.scalars,
          {first, first + static_cast<std::size_t>(tensor.size()) * size_of(tensor.dtype())}};
}

/// The same program for every host, but compiled anew for each, as its length is another.
void expect_same_for_every_host(const std::string& what, const std::function<Tensor(std::int64_t)>& make) {
  std::int64_t n = 1000;
  for (const int rounding : kRoundings) {
    const Make of_length = [&make, n] { return make(n); };
    const Outcome want = interpreted(of_length);
    Outcome got;
    {
      const HostMode host(rounding);
      got = compiled(of_length);
    }
    EXPECT_TRUE(got.key_bytes == want.key_bytes) << what << ", rounding " << rounding;
    EXPECT_EQ(got.scalars, want.scalars) << what << ", rounding " << rounding;
    EXPECT_TRUE(got.result == want.result) << what << ", rounding " << rounding;
    ++n;
  }
}

/// Values of every size, subnormal ones too.
Tensor wide(std::int64_t n, DType dtype = DType::kFloat32) {
  const Tensor exponents = random::uniform({n}, seed(1), -149.0, 100.0), signs = random::normal({n}, seed(2));
  return (exp2(exponents.astype(dtype)) * signs.astype(dtype));
}

Tensor rows(std::int64_t n) { return random::normal({n, 40}, seed(3)); }

TEST(HostFloatMode, ElementwiseFunctionsHaveTheSameBits) {
  expect_same_for_every_host("products", [](std::int64_t n) { return wide(n) * 1e-10 + wide(n) / 3; });
  expect_same_for_every_host("float64", [](std::int64_t n) { return sqrt(abs(wide(n, DType::kFloat64))) * 1e-300; });
  expect_same_for_every_host("functions", [](std::int64_t n) { return exp(sin(wide(n))) + log(abs(wide(n))); });
  expect_same_for_every_host("remainders", [](std::int64_t n) { return wide(n) % 0.7 + fmod(wide(n), 1e-40); });
  expect_same_for_every_host("gelu", [](std::int64_t n) { return gelu(random::normal({n}, seed(4))); });
  expect_same_for_every_host("halves", [](std::int64_t n) { return wide(n).astype(DType::kFloat16) / 3; });
  expect_same_for_every_host("bfloat16", [](std::int64_t n) { return tanh(wide(n).astype(DType::kBFloat16)); });
  expect_same_for_every_host("rounded", [](std::int64_t n) { return round(wide(n)) + wide(n).astype(DType::kInt32); });
}

TEST(HostFloatMode, RowProgramsAndProductsHaveTheSameBits) {
  expect_same_for_every_host("softmax", [](std::int64_t n) { return softmax(rows(n)); });
  expect_same_for_every_host("layer norm", [](std::int64_t n) { return layer_norm(rows(n)); });
  expect_same_for_every_host("deviation", [](std::int64_t n) { return tenon::std(rows(n), {0}); });
  expect_same_for_every_host("matmul", [](std::int64_t n) { return matmul(rows(n), transpose(rows(n))); });
}

TEST(HostFloatMode, ManyThreadsHaveTheSameBits) {
  expect_same_for_every_host("many elements", [](std::int64_t n) {
    const Tensor x = random::normal({300, n}, seed(5));
    return sum(x * 1e-40 + x / 3, {0});
  });
}

TEST(HostFloatMode, ArgumentsHaveTheSameBits) {
  expect_same_for_every_host("float scalar", [](std::int64_t n) { return ones({n}) * 0x1p-149f; });
  expect_same_for_every_host("double scalar", [](std::int64_t n) { return ones({n}) * 0.1; });
  expect_same_for_every_host("integer scalar", [](std::int64_t n) { return ones({n}) * 16777217; });
  expect_same_for_every_host("large scalar", [](std::int64_t n) { return full({n}, ~std::uint64_t{0} - 1024); });
  expect_same_for_every_host("half scalar", [](std::int64_t n) { return full({n}, 1e-7, DType::kFloat16); });
  expect_same_for_every_host("arange", [](std::int64_t n) { return arange(0.0, n, 0.7); });
  expect_same_for_every_host("least steps", [](std::int64_t n) { return arange(0.0, 0x1p-1070, 0x1p-1074) + n; });
  expect_same_for_every_host("linspace", [](std::int64_t n) { return linspace(std::int64_t{1} << 60, 0.1, n); });
}

TEST(HostFloatMode, ScalarsAreKeptExactly) {
  for (const std::uint32_t bits : {0u, 1u, 0x7fffffu, 0x800000u, 0x3f800001u, 0x7f800000u}) {
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      volatile float given = std::bit_cast<float>(sign | bits);
      volatile double kept = 0;
      {
        const HostMode host(FE_UPWARD);
        kept = Scalar(given).as_float();
      }
      EXPECT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(kept)), sign | bits);
    }
  }
}

TEST(HostFloatMode, HalvesRoundToNearestEven) {
  struct Row {
    float value;
    std::uint16_t bits;
  };
  const Row rows[] = {
      {0x1p-25f, 0},     {0x1.000002p-25f, 1},  {0x1.8p-24f, 2},       {0x1.4p-23f, 2},          {0x1.fffffep-26f, 0},
      {0x1p-24f, 1},     {0x1.ff8p-15f, 0x3ff}, {0x1.ffcp-15f, 0x400}, {0x1.ffbffep-15f, 0x3ff}, {0x1p-140f, 0},
      {0x1p-14f, 0x400}, {0x1.002p0f, 0x3c00},  {0x1.006p0f, 0x3c02},  {0x1.002002p0f, 0x3c01},  {65519.0f, 0x7bff},
      {65520.0f, 0x7c00}};
  for (const int rounding : kRoundings) {
    const HostMode host(rounding);
    for (const Row& row : rows) {
      volatile float value = row.value;
      EXPECT_EQ(float16(value).bits, row.bits) << std::bit_cast<std::uint32_t>(row.value);
      EXPECT_EQ(float16(-value).bits, row.bits | 0x8000) << std::bit_cast<std::uint32_t>(row.value);
    }
  }
}

TEST(HostFloatMode, IsAsItWas) {
  const HostMode host(FE_UPWARD);
  const unsigned before = _mm_getcsr() & ~0x3fu;
  const Tensor x = random::normal({300, 999}, seed(6));
  (void)to_string(sum(x, {0}) + arange(0.0, 99.9, 0.1));
  (void)explain(x * 2 + 0.1);
  EXPECT_EQ(_mm_getcsr() & ~0x3fu, before);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
}

}  // namespace
}  // namespace tenon
