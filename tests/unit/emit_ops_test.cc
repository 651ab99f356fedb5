// SPDX-License-Identifier: MIT
// Emitted elementwise ops give the bits of scalar_eval.h, for every dtype they take, at edge values and at random.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compiler/ir/graph.h"
#include "compiler/ops/philox.h"
#include "compiler/ops/scalar_eval.h"
#include "tests/unit/emit_harness.h"

namespace tenon {
namespace {

using testing::ProgramBuilder;
using testing::run;
using testing::targets;

std::uint64_t next_random(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  std::uint64_t x = state ^ (state >> 33);
  x *= 0xff51afd7ed558ccdu;
  return x ^ (x >> 29);
}

std::vector<std::uint64_t> float_edges(DType dtype) {
  std::vector<std::uint64_t> bits;
  for (double v : {0.0,    -0.0,    1.0,    -1.0,    0.5,     -0.5,         1.5,           2.5,
                   -2.5,   3.0,     10.0,   -7.0,    0.1,     1e-3,         100.5,         127.5,
                   255.0,  256.0,   -128.5, 65504.0, 65520.0, 2147483648.0, -2147483648.0, 4294967295.0,
                   9.2e18, -9.3e18, 1.9e19, 1e-40,   3e-8,    HUGE_VAL,     -HUGE_VAL,     std::nan("")})
    bits.push_back(bits_of(dtype, v));
  bits.push_back(1);  // the least subnormal
  return bits;
}

std::vector<std::uint64_t> int_edges(DType dtype) {
  const int width = static_cast<int>(8 * size_of(dtype));
  const std::uint64_t all = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  std::vector<std::uint64_t> bits = {0,  1,  2,  3,   5,   7,       8,       15,      16,          31,         32,
                                     33, 63, 64, 100, all, all - 1, all - 6, all / 2, all / 2 + 1, all / 2 + 2};
  for (std::uint64_t& b : bits) b &= all;
  return bits;
}

std::vector<std::uint64_t> edges(DType dtype) {
  if (dtype == DType::kBool) return {0, 1};
  return is_float(dtype) ? float_edges(dtype) : int_edges(dtype);
}

std::uint64_t random_element(DType dtype, std::uint64_t& state) {
  if (dtype == DType::kBool) return next_random(state) & 1;
  const int width = static_cast<int>(8 * size_of(dtype));
  const std::uint64_t bits = next_random(state) >> (64 - width);
  if (is_float(dtype) && (next_random(state) & 1) != 0)
    return bits_of(dtype, std::ldexp(static_cast<double>(bits >> (width - 8)) - 100, static_cast<int>(bits % 12) - 6));
  return bits;
}

// x a whole multiple of y or a little beside it, where the quotients of divisions and remainders turn.
void push_multiples(DType dtype, std::vector<std::vector<std::uint64_t>>& columns, std::uint64_t& state) {
  for (int k = 0; k < 200; ++k) {
    const std::uint64_t y = bits_of(dtype, std::ldexp(static_cast<double>(next_random(state) >> 53) + 1, -5));
    const std::uint64_t times = bits_of(dtype, static_cast<std::int64_t>(next_random(state) % 200));
    const std::uint64_t product[] = {y, times};
    columns[0].push_back(eval_scalar(Op::k_multiply, dtype, dtype, product) + next_random(state) % 3);
    columns[1].push_back(y);
  }
}

// Operand columns: all pairs of edges, then random ones; an odd number of rows, so that there is a tail.
std::vector<std::vector<std::uint64_t>> operands_for(const std::vector<DType>& dtypes) {
  std::vector<std::vector<std::uint64_t>> columns(dtypes.size());
  const auto a = edges(dtypes[0]);
  const auto b = dtypes.size() > 1 ? edges(dtypes[1]) : std::vector<std::uint64_t>{0};
  std::uint64_t state = 12345;
  if (dtypes.size() == 2 && dtypes[0] == dtypes[1] && is_float(dtypes[0])) push_multiples(dtypes[0], columns, state);
  const auto push = [&](std::size_t i, std::size_t j) {
    columns[0].push_back(a[i]);
    if (dtypes.size() > 1) columns[1].push_back(b[j]);
    if (dtypes.size() > 2) columns[2].push_back(edges(dtypes[2])[(i + j) % edges(dtypes[2]).size()]);
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) push(i, j);
  }
  for (int k = 0; k < 500 || columns[0].size() % 2 == 0; ++k) {
    for (std::size_t c = 0; c < dtypes.size(); ++c) columns[c].push_back(random_element(dtypes[c], state));
  }
  return columns;
}

std::vector<std::uint8_t> pack(DType dtype, const std::vector<std::uint64_t>& words) {
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t word : words) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(&word);
    bytes.insert(bytes.end(), first, first + size_of(dtype));
  }
  return bytes;
}

bool is_nan(DType dtype, std::uint64_t bits) {
  if (!is_float(dtype)) return false;
  const DType f = DType::kFloat64;
  const std::uint64_t wide = eval_scalar(Op::k_cast, f, dtype, &bits);
  return std::isnan(std::bit_cast<double>(wide));
}

// The operand dtypes of an op whose common dtype is `dtype`.
std::vector<DType> operand_dtypes(Op op, DType dtype) {
  std::vector<DType> dtypes(static_cast<std::size_t>(min_operands(op)), dtype);
  if (op == Op::k_where) dtypes[0] = DType::kBool;
  return dtypes;
}

absl::StatusOr<TensorType> result_type(Op op, const std::vector<DType>& dtypes, const Attrs& attrs) {
  std::vector<TensorType> types;
  for (DType dtype : dtypes) types.push_back({dtype, {8}});
  std::vector<const TensorType*> pointers;
  for (const TensorType& type : types) pointers.push_back(&type);
  return infer(op, pointers, attrs);
}

void expect_bits_of_eval(Op op, DType result, DType dtype, const codegen::TargetSpec& target) {
  const auto dtypes = operand_dtypes(op, dtype);
  const auto columns = operands_for(dtypes);
  const auto n = static_cast<std::int64_t>(columns[0].size());
  ProgramBuilder b({}, n);
  std::vector<BufferId> buffers;
  std::vector<std::vector<std::uint8_t>> packed;
  std::vector<const void*> inputs;
  for (std::size_t c = 0; c < dtypes.size(); ++c) {
    buffers.push_back(b.input(dtypes[c], n));
    packed.push_back(pack(dtypes[c], columns[c]));
  }
  for (const auto& bytes : packed) inputs.push_back(bytes.data());
  const BufferId y = b.output(result, n);
  b.phase();
  std::vector<InstrId> x = {-1, -1, -1};
  for (std::size_t c = 0; c < dtypes.size(); ++c) x[c] = b.load(buffers[c], b.lane());
  b.store(y, b.lane(), b.apply(op, result, x[0], x[1], x[2]));
  std::vector<std::uint8_t> out(static_cast<std::size_t>(n) * size_of(result));
  if (!run(b.finish(), target, inputs, {out.data()})) {
    ADD_FAILURE() << name_of(op) << " " << name_of(dtype);
    return;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    std::uint64_t words[3] = {0, 0, 0}, got = 0;
    for (std::size_t c = 0; c < dtypes.size(); ++c) words[c] = columns[c][i];
    std::memcpy(&got, out.data() + i * size_of(result), size_of(result));
    const std::uint64_t expected = eval_scalar(op, result, dtype, words);
    if (is_nan(result, expected) && is_nan(result, got)) continue;
    ASSERT_EQ(got, expected) << std::hex << name_of(op) << " " << name_of(dtype) << " -> " << name_of(result)
                             << " of 0x" << words[0] << " 0x" << words[1] << " 0x" << words[2] << " on " << target.cpu;
  }
}

TEST(EmitOps, GiveTheBitsOfScalarEval) {
  for (const auto& target : targets()) {
    for (int i = 0; i < kNumOps; ++i) {
      const Op op = static_cast<Op>(i);
      if (row_of(op).kind != OpKind::elementwise || op == Op::k_cast) continue;
      for (int d = 0; d < kNumDTypes; ++d) {
        const DType dtype = static_cast<DType>(d);
        const auto type = result_type(op, operand_dtypes(op, dtype), {});
        if (type.ok()) expect_bits_of_eval(op, type->dtype, dtype, target);
      }
    }
  }
}

TEST(EmitOps, CastsGiveTheBitsOfScalarEval) {
  for (const auto& target : targets()) {
    for (int from = 0; from < kNumDTypes; ++from) {
      for (int to = 0; to < kNumDTypes; ++to)
        expect_bits_of_eval(Op::k_cast, static_cast<DType>(to), static_cast<DType>(from), target);
    }
  }
}

// A divisor that all lanes share is divided by without a division where that gives the same bits.
TEST(EmitOps, DivisionByASharedValueIsDivision) {
  for (const auto& target : targets()) {
    for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
      const auto xs = operands_for({dtype, dtype});
      const auto n = static_cast<std::int64_t>(xs[0].size());
      const std::int64_t rows = 60;
      ProgramBuilder b({rows}, n);
      const BufferId x = b.input(dtype, n), y = b.input(dtype, rows), z = b.output(dtype, rows * n);
      b.phase();
      const InstrId quotient = b.apply(Op::k_divide, dtype, b.load(x, b.lane()), b.load(y, b.outer(0)));
      b.store(z, b.sum({b.pool.multiply(b.outer(0), n), b.lane()}), quotient);
      auto divisors = edges(dtype);
      std::uint64_t state = 99;
      while (divisors.size() < static_cast<std::size_t>(rows)) divisors.push_back(random_element(dtype, state));
      const auto in = pack(dtype, xs[0]), by = pack(dtype, divisors);
      std::vector<std::uint8_t> out(static_cast<std::size_t>(rows * n) * size_of(dtype));
      ASSERT_TRUE(run(b.finish(), target, {in.data(), by.data()}, {out.data()}));
      for (std::int64_t i = 0; i < rows * n; ++i) {
        const std::uint64_t words[] = {xs[0][static_cast<std::size_t>(i % n)],
                                       divisors[static_cast<std::size_t>(i / n)]};
        std::uint64_t got = 0;
        std::memcpy(&got, out.data() + static_cast<std::size_t>(i) * size_of(dtype), size_of(dtype));
        const std::uint64_t expected = eval_scalar(Op::k_divide, dtype, dtype, words);
        if (is_nan(dtype, expected) && is_nan(dtype, got)) continue;
        ASSERT_EQ(got, expected) << std::hex << name_of(dtype) << " 0x" << words[0] << " / 0x" << words[1];
      }
    }
  }
}

TEST(EmitOps, RandomWordsAreThoseOfPhilox) {
  const std::int64_t n = 77;
  ProgramBuilder b({}, n);
  const int seed = b.scalar(DType::kUInt64);
  const BufferId y = b.output(DType::kUInt32, n);
  b.phase();
  Instr random{Instr::kRandom};
  random.dtype = DType::kUInt32;
  random.operands = {b.scalar_value(seed), b.index(b.pool.add(b.lane(), 1000)), -1};
  random.lo = 2;
  b.store(y, b.lane(), b.append(random));
  std::vector<std::uint32_t> out(n);
  const LoopProgram& program = b.finish();
  for (const auto& target : targets()) {
    run(program, target, {}, {out.data()}, {0x123456789abcdefu});
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_EQ(out[static_cast<std::size_t>(i)],
                random_word(0x123456789abcdefu, static_cast<std::uint64_t>(i) + 1000, 2));
  }
}

}  // namespace
}  // namespace tenon
