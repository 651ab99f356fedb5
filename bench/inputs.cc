// SPDX-License-Identifier: MIT
// Inputs of the workloads; see workloads.h. Every step rounds as NumPy's float32 arithmetic in peers.py does.
#include <cstddef>

#include "bench/workloads.h"

namespace tenon::bench {
namespace {

std::uint32_t hash(std::size_t index, std::uint32_t seed) {
  auto x = static_cast<std::uint32_t>(index) + 0x9E3779B9u * seed;
  x ^= x >> 16;
  x *= 0x85EBCA6Bu;
  x ^= x >> 13;
  x *= 0xC2B2AE35u;
  return x ^ (x >> 16);
}

float uniform(std::size_t index, const InputSpec& spec) {
  const float unit = static_cast<float>(hash(index, spec.seed) >> 8) * 0x1p-24f;
  return unit * static_cast<float>(spec.high - spec.low) + static_cast<float>(spec.low);
}

template <class T, class Element>
Tensor generate(const Dims& shape, const Element& element) {
  std::size_t count = 1;
  for (const std::int64_t length : shape) count *= static_cast<std::size_t>(length);
  std::vector<T> elements(count);
  for (std::size_t i = 0; i < count; ++i) elements[i] = static_cast<T>(element(i));
  return asarray(elements, shape);
}

}  // namespace

Tensor make_input(const InputSpec& spec) {
  const auto integer = [&](std::size_t i) { return hash(i, spec.seed) % static_cast<std::uint32_t>(spec.high); };
  const auto real = [&](std::size_t i) { return uniform(i, spec); };
  switch (spec.kind) {
    case InputSpec::Kind::kInt64:
      return generate<std::int64_t>(spec.shape, integer);
    case InputSpec::Kind::kUInt8:
      return generate<std::uint8_t>(spec.shape, integer);
    case InputSpec::Kind::kBFloat16:
      return generate<bfloat16>(spec.shape, real);
    case InputSpec::Kind::kFloat32:
      break;
  }
  return generate<float>(spec.shape, real);
}

Tensors make_inputs(const Workload& workload) {
  Tensors inputs;
  for (const InputSpec& spec : workload.inputs) inputs.push_back(make_input(spec));
  return inputs;
}

std::int64_t bytes_moved(const Tensors& inputs, const Tensors& outputs) {
  std::int64_t bytes = 0;
  for (const Tensors* tensors : {&inputs, &outputs})
    for (const Tensor& t : *tensors) bytes += t.size() * static_cast<std::int64_t>(size_of(t.dtype()));
  return bytes;
}

}  // namespace tenon::bench
