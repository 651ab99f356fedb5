// SPDX-License-Identifier: MIT
// Philox4x32-10: the counter-based generator of random_bits (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011). A function of key and counter only, so any element can be computed anywhere.
//
// Written once, as a template over what a 32-bit word is: std::uint32_t for the interpreters, a vector of the code
// generator for kernels.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace tenon {

/// Host words: the Ops of philox4x32 below.
struct HostWords {
  using Word = std::uint32_t;
  Word constant(std::uint32_t value) const { return value; }
  Word add(Word x, Word y) const { return x + y; }
  Word exclusive_or(Word x, Word y) const { return x ^ y; }
  Word multiply_low(Word x, Word y) const { return x * y; }
  Word multiply_high(Word x, Word y) const { return static_cast<Word>((static_cast<std::uint64_t>(x) * y) >> 32); }
};

/// The four words of a counter under a key. random_bits: key = the seed's low and high half, counter = the element
/// index's low and high half, 0, 0. Ops has a copyable type Word and the five functions of HostWords.
template <class Ops>
std::array<typename Ops::Word, 4> philox4x32(Ops& ops, std::array<typename Ops::Word, 4> counter,
                                             std::array<typename Ops::Word, 2> key) {
  const auto m0 = ops.constant(0xD2511F53u), m1 = ops.constant(0xCD9E8D57u);
  const auto w0 = ops.constant(0x9E3779B9u), w1 = ops.constant(0xBB67AE85u);
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key = {ops.add(key[0], w0), ops.add(key[1], w1)};
    const auto high0 = ops.multiply_high(m0, counter[0]), low0 = ops.multiply_low(m0, counter[0]);
    const auto high1 = ops.multiply_high(m1, counter[2]), low1 = ops.multiply_low(m1, counter[2]);
    counter = {ops.exclusive_or(ops.exclusive_or(high1, counter[1]), key[0]), low1,
               ops.exclusive_or(ops.exclusive_or(high0, counter[3]), key[1]), low0};
  }
  return counter;
}

/// Word `stream` (0 .. 3) of element `index` under `seed`, on the host.
inline std::uint32_t random_word(std::uint64_t seed, std::uint64_t index, int stream) {
  HostWords ops;
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  return philox4x32(ops, {low(index), low(index >> 32), 0u, 0u},
                    {low(seed), low(seed >> 32)})[static_cast<std::size_t>(stream)];
}

}  // namespace tenon
