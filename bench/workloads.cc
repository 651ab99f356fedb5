// SPDX-License-Identifier: MIT
// The programs; see workloads.h. Each reads as its namesake in peers.py.
#include "bench/workloads.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace tenon::bench {
namespace {

constexpr double kSqrtHalf = 0.7071067811865476;

Tensor f32(const Tensor& x) { return x.astype(DType::kFloat32); }
Tensor bf16(const Tensor& x) { return x.astype(DType::kBFloat16); }
Tensor mean_of(const Tensor& x, std::int64_t axis) { return mean(x, {axis}, keepdims); }
Tensor normal_cdf(const Tensor& x) { return 0.5 * (1.0 + erf(x * kSqrtHalf)); }
Tensor exact_gelu(const Tensor& x) { return 0.5 * x * (1.0 + erf(x * kSqrtHalf)); }
Tensor rms(const Tensor& x, const Tensor& weight, std::int64_t axis) {
  const Tensor t = f32(x);
  return bf16(t * rsqrt(mean_of(t * t, axis) + 1e-6) * weight);
}
/// x[i], as structure of the program.
Tensor part(const Tensor& x, std::int64_t i) { return squeeze(x[{slice(i, i + 1)}], {0}); }

Tensors pointwise_chain(const Tensors& in) {
  const Tensor &x = in[0], &b = in[1], &c = in[2];
  return {tanh(x * 1.5 + b) * sigmoid(c) + x};
}

Tensors gelu_bias_residual(const Tensors& in) { return {bf16(exact_gelu(f32(in[0]) + f32(in[1])) + f32(in[2]))}; }

Tensors softmax_by_hand(const Tensors& in) {
  const Tensor e = exp(in[0] - max(in[0], {1}, keepdims));
  return {e / sum(e, {1}, keepdims)};
}

Tensors layernorm(const Tensors& in) {
  const Tensor x = f32(in[0]);
  const Tensor d = x - mean_of(x, 1);
  return {bf16(d * rsqrt(mean_of(d * d, 1) + 1e-5) * in[1] + in[2])};
}

Tensors rmsnorm(const Tensors& in) { return {rms(in[0], in[1], 1)}; }

Tensors black_scholes(const Tensors& in) {
  constexpr double kRate = 0.02, kSigma = 0.3;
  const Tensor &s = in[0], &k = in[1], &t = in[2];
  const Tensor st = kSigma * sqrt(t);
  const Tensor d1 = (log(s / k) + (kRate + 0.5 * kSigma * kSigma) * t) / st;
  const Tensor d2 = d1 - st;
  const Tensor kd = k * exp(-kRate * t);
  const Tensor call = s * normal_cdf(d1) - kd * normal_cdf(d2);
  return {call, call - s + kd};
}

Tensors sum_all(const Tensors& in) { return {sum(in[0])}; }

Tensors col_sum(const Tensors& in) { return {sum(in[0], {0})}; }

Tensors batch_normalize(const Tensors& in) {
  const Tensor d = in[0] - mean_of(in[0], 0);
  return {d / sqrt(mean_of(d * d, 0) + 1e-5)};
}

Tensors cross_entropy(const Tensors& in) {
  const Tensor x = f32(in[0]);
  const Tensor m = max(x, {1}, keepdims);
  const Tensor lse = log(sum(exp(x - m), {1})) + squeeze(m, {1});
  const Tensor picked = squeeze(take_along_axis(x, expand_dims(in[1], {1}), 1), {1});
  return {sum(lse - picked)};
}

Tensors adam_step(const Tensors& in) {
  const Tensor &p = in[0], &g = in[1];
  const Tensor m = 0.9 * in[2] + 0.1 * g;
  const Tensor v = 0.999 * in[3] + 0.001 * g * g;
  return {p - 0.001 * m / (sqrt(v) + 1e-8), m, v};
}

Tensor jacobi_step(const Tensor& u) {
  const Slice inner = slice(1, -1);
  return 0.25 * (u[{slice(none, -2), inner}] + u[{slice(2, none), inner}] + u[{inner, slice(none, -2)}] +
                 u[{inner, slice(2, none)}]);
}
Tensors jacobi2d(const Tensors& in) { return {jacobi_step(jacobi_step(in[0]))}; }

Tensors transpose_add(const Tensors& in) { return {in[0] * 2.0 + transpose(in[1])}; }

Tensors rope(const Tensors& in) {
  const Tensor &x = in[0], &cos = in[1], &sin = in[2];
  const std::int64_t half = x.length(-1) / 2;
  const Tensor x1 = f32(x[{all, all, all, slice(none, half)}]), x2 = f32(x[{all, all, all, slice(half, none)}]);
  return {bf16(concat({x1 * cos - x2 * sin, x2 * cos + x1 * sin}, -1))};
}

Tensors dequant(const Tensors& in) { return {bf16((f32(in[0]) - in[2]) * in[1])}; }

Tensors kmeans_assign(const Tensors& in) {
  const Tensor d = expand_dims(in[0], {1}) - expand_dims(in[1], {0});
  return {argmin(sum(d * d, {2}), {1})};
}

Tensors mandelbrot(const Tensors& in) {
  const Tensor &cr = in[0], &ci = in[1];
  Tensor zr = cr, zi = ci, n = cr * 0.0;
  for (int step = 0; step < 40; ++step) {
    const Tensor zr2 = zr * zr, zi2 = zi * zi;
    const Tensor live = (zr2 + zi2) < 4.0;
    n = n + where(live, 1.0, 0.0);
    zi = where(live, 2.0 * zr * zi + ci, zi);
    zr = where(live, zr2 - zi2 + cr, zr);
  }
  return {n};
}

Tensors small_chain(const Tensors& in) {
  Tensor x = in[0];
  for (int i = 0; i < 50; ++i) x = tanh(x * 1.01 + 0.001 * i);
  return {x};
}

Tensors mlp(const Tensors& in) {
  const Tensor h = f32(matmul(in[0], in[1])) + f32(in[2]);
  return {matmul(bf16(exact_gelu(h)), in[3])};
}

Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const std::int64_t n = q.length(-2);
  const double scale = 1 / std::sqrt(static_cast<double>(q.length(-1)));
  const Tensor scores = f32(matmul(q, transpose(k))) * scale;
  const Tensor s = where(tril(ones({n, n}, DType::kBool)), scores, -1e30);
  const Tensor e = exp(s - max(s, {-1}, keepdims));
  return matmul(bf16(e / sum(e, {-1}, keepdims)), v);
}
Tensors attention(const Tensors& in) { return {causal_attention(in[0], in[1], in[2])}; }

Tensors transformer_block(const Tensors& in) {
  constexpr std::int64_t kHeads = 16;
  const Tensor &wqkv = in[1], &wo = in[2], &w1 = in[3], &w2 = in[4], &g1 = in[5], &g2 = in[6];
  Tensor x = in[0];
  const std::int64_t b = x.length(0), s = x.length(1), d = x.length(2);
  const Tensor qkv =
      permute_dims(reshape(matmul(rms(x, g1, -1), wqkv), {b, s, 3, kHeads, d / kHeads}), {2, 0, 3, 1, 4});
  const Tensor heads = causal_attention(part(qkv, 0), part(qkv, 1), part(qkv, 2));
  x += matmul(reshape(permute_dims(heads, {0, 2, 1, 3}), {b, s, d}), wo);
  return {x + matmul(bf16(exact_gelu(f32(matmul(rms(x, g2, -1), w1)))), w2)};
}

std::vector<Workload> make_workloads() {
  constexpr auto kF32 = InputSpec::Kind::kFloat32, kBF16 = InputSpec::Kind::kBFloat16;
  constexpr auto kU8 = InputSpec::Kind::kUInt8, kI64 = InputSpec::Kind::kInt64;
  constexpr std::int64_t n = 8 << 20, r = 2048, c = 4096, d = 256;
  return {
      {"pointwise_chain", pointwise_chain, {{kF32, {n}, 1}, {kF32, {n}, 2}, {kF32, {n}, 3}}},
      {"gelu_bias_residual", gelu_bias_residual, {{kBF16, {r, c}, 1}, {kBF16, {c}, 2}, {kBF16, {r, c}, 3}}},
      {"softmax", softmax_by_hand, {{kF32, {r, c}, 1, -4, 4}}},
      {"layernorm", layernorm, {{kBF16, {r, c}, 1}, {kF32, {c}, 2}, {kF32, {c}, 3}}},
      {"rmsnorm", rmsnorm, {{kBF16, {r, c}, 1}, {kF32, {c}, 2}}},
      {"black_scholes",
       black_scholes,
       {{kF32, {n / 2}, 1, 50, 150}, {kF32, {n / 2}, 2, 50, 150}, {kF32, {n / 2}, 3, 0.1, 2}}},
      {"sum_all", sum_all, {{kF32, {4 * n}, 1}}},
      {"col_sum", col_sum, {{kF32, {n / 64, 64}, 1}}},
      {"batch_normalize", batch_normalize, {{kF32, {n / 1024, 1024}, 1}}},
      {"cross_entropy", cross_entropy, {{kBF16, {512, 32000}, 1, -8, 8}, {kI64, {512}, 2, 0, 32000}}},
      {"adam_step", adam_step, {{kF32, {n / 2}, 1}, {kF32, {n / 2}, 2}, {kF32, {n / 2}, 3}, {kF32, {n / 2}, 4, 0, 1}}},
      {"jacobi2d", jacobi2d, {{kF32, {3000, 3000}, 1}}},
      {"transpose_add", transpose_add, {{kF32, {3000, 3000}, 1}, {kF32, {3000, 3000}, 2}}},
      {"rope", rope, {{kBF16, {1, 32, 2048, 128}, 1}, {kF32, {2048, 64}, 2}, {kF32, {2048, 64}, 3}}},
      {"dequant", dequant, {{kU8, {r, c}, 1, 0, 256}, {kF32, {r, 1}, 2}, {kF32, {r, 1}, 3}}},
      {"kmeans_assign", kmeans_assign, {{kF32, {4096, 64}, 1}, {kF32, {256, 64}, 2}}},
      {"mandelbrot", mandelbrot, {{kF32, {n / 4}, 1, -2, 0.5}, {kF32, {n / 4}, 2, -1.2, 1.2}}},
      {"small_chain", small_chain, {{kF32, {1024}, 1}}},
      {"mlp",
       mlp,
       {{kBF16, {256, 512}, 1},
        {kBF16, {512, 2048}, 2, -.02, .02},
        {kBF16, {2048}, 3},
        {kBF16, {2048, 512}, 4, -.02, .02}}},
      {"attention", attention, {{kBF16, {8, 256, 64}, 1}, {kBF16, {8, 256, 64}, 2}, {kBF16, {8, 256, 64}, 3}}},
      {"transformer_block",
       transformer_block,
       {{kBF16, {1, 128, d}, 1},
        {kBF16, {d, 3 * d}, 2, -.03, .03},
        {kBF16, {d, d}, 3, -.03, .03},
        {kBF16, {d, 4 * d}, 4, -.03, .03},
        {kBF16, {4 * d, d}, 5, -.03, .03},
        {kF32, {d}, 6},
        {kF32, {d}, 7}}},
  };
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> table = make_workloads();
  return table;
}

const Workload& workload(std::string_view name) {
  for (const Workload& w : workloads())
    if (w.name == name) return w;
  throw std::out_of_range("no workload " + std::string(name));
}

}  // namespace tenon::bench
