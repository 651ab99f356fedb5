// SPDX-License-Identifier: MIT
// Reductions, scans and matrix products in the graph interpreter.
#include <algorithm>
#include <cmath>

#include "compiler/ops/eval_loops.h"
#include "compiler/ops/interpreter_ops.h"
#include "compiler/ops/reduce_eval.h"

namespace tenon::interpreter {
namespace {

template <class T>
void multiply_typed(std::int64_t m, std::int64_t n, std::int64_t k, const std::byte* a, const std::byte* b,
                    std::byte* c) {
  using C = eval::Computed<T>;
  std::vector<C> row(static_cast<std::size_t>(n)), b_row(row.size());
  for (std::int64_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), C{});
    for (std::int64_t p = 0; p < k; ++p) {
      const C x = eval::load<T>(a, i * k + p);
      for (std::int64_t j = 0; j < n; ++j) {
        C& sum = row[static_cast<std::size_t>(j)];
        const C y = eval::load<T>(b, p * n + j);
        if constexpr (std::is_floating_point_v<C>) {
          sum = std::fma(x, y, sum);
        } else {
          sum = static_cast<C>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y) +
                               static_cast<std::uint64_t>(sum));
        }
      }
    }
    for (std::int64_t j = 0; j < n; ++j) eval::store<T>(c, i * n + j, row[static_cast<std::size_t>(j)]);
  }
}

}  // namespace

void multiply_matrices(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const std::byte* a,
                       const std::byte* b, std::byte* c) {
  eval::with_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) multiply_typed<T>(m, n, k, a, b, c);
  });
}

void run_reduce(const Call& call) {
  const DType dtype = call.x().type.dtype;
  const auto kind = static_cast<ReduceKind>(call.node.value("kind"));
  const AroundAxis x(call.x().type.shape, call.node.value("axis"));
  const bool is_scan = call.node.op == Op::k_scan;
  const auto order = is_scan ? ReduceOrder::inner : static_cast<ReduceOrder>(call.node.value("order"));
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> line(static_cast<std::size_t>(x.length) * size), scanned(is_scan ? line.size() : 0);
  const Shape lines{x.length};
  for (std::int64_t i = 0; i < x.before * x.after; ++i) {
    const std::int64_t start = i / x.after * x.length * x.after + i % x.after;
    copy_box(lines, size, {line.data(), {1}}, {element_at(call.x(), start), {x.after}});
    if (is_scan) {
      scan_line(kind, dtype, line.data(), x.length, scanned.data());
      copy_box(lines, size, {call.out_at(start), {x.after}}, {scanned.data(), {1}});
    } else {
      reduce_line(kind, order, dtype, line.data(), x.length, call.out_at(i));
    }
  }
}

void run_matmul(const Call& call) {
  Shape a = call.x().type.shape, b = call.y().type.shape, c = call.node.type.shape;
  const std::int64_t m = a.size() == 1 ? 1 : a[a.size() - 2], k = a.back();
  const std::int64_t n = b.size() == 1 ? 1 : b.back();
  c.resize(c.size() - (a.size() > 1) - (b.size() > 1));  // the batch axes
  const auto matrices = [&](const HostTensor& x, std::int64_t rows, std::int64_t columns) {
    Shape own = x.type.shape, shape = c;
    own.resize(own.size() < 2 ? 0 : own.size() - 2);
    for (Shape* s : {&own, &shape}) {
      s->push_back(rows);
      s->push_back(columns);
    }
    return broadcast_value({{x.type.dtype, own}, x.data}, shape);
  };
  const HostTensor x = matrices(call.x(), m, k), y = matrices(call.y(), k, n);
  for (std::int64_t i = 0; i < numel(c); ++i) {
    multiply_matrices(call.node.type.dtype, m, n, k, element_at(x, i * m * k), element_at(y, i * k * n),
                      call.out_at(i * m * n));
  }
}

}  // namespace tenon::interpreter
