// SPDX-License-Identifier: MIT
// Random programs around a matrix product: operands in all orders and broadcast, elementwise readers of the product
// that may become its epilogue, and readers that may not. One meaning, however they are run.
#include <gtest/gtest.h>

#include <random>

#include "compiler/ops/graph_builder.h"
#include "tests/fuzz/agreement.h"
#include "tests/fuzz/seeds.h"

namespace tenon {
namespace {

class ProductMaker {
 public:
  ProductMaker(std::uint64_t seed, int most) : rng_(seed), most_(most) {}

  testing::RandomProgram run(std::uint64_t input_seed) {
    constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat32, DType::kBFloat16, DType::kFloat16,
                                 DType::kFloat64, DType::kInt8,    DType::kInt32,    DType::kUInt64};
    dtype_ = kDTypes[below(8)];
    const std::int64_t m = extent(), k = extent(), n = extent();
    Shape batch;
    for (int rank = below(3); rank > 0; --rank) batch.push_back(1 + below(3));
    const Value a = operand(below(3) ? batch : Shape{}, m, k), b = operand(below(2) ? batch : Shape{}, k, n);
    std::vector<Value> values = {apply(Op::k_matmul, {a, b})};
    for (int readers = 1 + below(5); readers > 0; --readers) values.push_back(reader(values));
    Graph& graph = builder_.graph();
    graph.outputs.push_back(values.back().id);
    for (const Value& v : values) {
      if (below(4) == 0 && v.id != values.back().id) graph.outputs.push_back(v.id);
    }
    return testing::with_random_inputs(graph, input_seed);
  }

 private:
  int below(int n) { return static_cast<int>(rng_() % static_cast<unsigned>(n)); }
  std::int64_t extent() { return below(8) ? 1 + below(most_) : 1; }

  Value input(DType dtype, const Shape& shape) {
    Node node;
    node.op = Op::k_input;
    node.type = {dtype, shape};
    node.attrs.append(static_cast<std::int64_t>(builder_.graph().inputs.size()));
    const NodeId id = builder_.append_copy(node, {});
    builder_.graph().inputs.push_back(id);
    builder_.graph().layouts.push_back({});
    return {&builder_, id};
  }

  /// [batch..., rows, columns], at times as the transpose of what lies in memory, or scaled before.
  Value operand(Shape shape, std::int64_t rows, std::int64_t columns) {
    const bool is_transposed = below(3) == 0;
    shape.push_back(is_transposed ? columns : rows);
    shape.push_back(is_transposed ? rows : columns);
    Value x = input(dtype_, shape);
    if (is_transposed) x = swapped(x);
    return below(4) ? x : x + x;
  }

  Value swapped(const Value& x) {
    Shape axes;
    for (int a = 0; a < x.rank(); ++a) axes.push_back(a);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return apply(Op::k_permute_dims, {x}, Attrs{axes});
  }

  /// Another operand: whole, a row, a column, or a value before it of the same shape.
  Value beside(const Value& x, const std::vector<Value>& values) {
    Shape shape = x.shape();
    const int way = below(4);
    if (way == 3) {
      const Value& other = values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
      if (other.shape() == shape) return cast(other, x.dtype());
    }
    if (way == 1) shape.erase(shape.begin(), shape.end() - 1);
    if (way == 2) shape.back() = 1;
    return input(x.dtype(), shape);
  }

  Value reader(const std::vector<Value>& values) {
    const Value& x =
        below(3) ? values.back() : values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
    const Shape shape(x.shape().begin(), x.shape().end()), flat = {numel(x.shape())}, axes = {x.rank() - 1};
    switch (below(10)) {
      case 0:
        return x * beside(x, values);
      case 1:
        return cast(cast(x, DType::kFloat32), x.dtype());
      case 2:
        return where(apply(Op::k_less, {x, beside(x, values)}), x, beside(x, values));
      case 3:
        return is_float(x.dtype()) ? apply(Op::k_tanh, {x}) : apply(Op::k_negative, {x});
      case 4:
        return reshape(reshape(x, flat) + constant_like(x, 3), shape);
      case 5:
        return x.rank() < 2 ? -x : swapped(x + beside(x, values));
      case 6:
        return apply(Op::k_subtract, {x, reduce_axes(x, ReduceKind::max, axes, true)});
      case 7:
        return x.rank() < 2 ? -x : apply(Op::k_matmul, {x, swapped(x)});
      default:
        return x + beside(x, values);
    }
  }

  std::mt19937_64 rng_;
  int most_;
  DType dtype_ = DType::kFloat32;
  GraphBuilder builder_;
};

void try_seeds(std::uint64_t offset, std::uint64_t sample, int most, bool compiled) {
  testing::for_seeds(offset, sample, [&](std::uint64_t seed) {
    testing::expect_agreement(ProductMaker(seed, most).run(seed), compiled);
  });
}

TEST(MatmulFuzz, SmallProductsByBothInterpreters) { try_seeds(0, 1500, 9, false); }
TEST(MatmulFuzz, SmallProductsCompiled) { try_seeds(1'000'000'000, 100, 9, true); }
TEST(MatmulFuzz, TiledProductsCompiled) { try_seeds(2'000'000'000, 40, 150, true); }

}  // namespace
}  // namespace tenon
