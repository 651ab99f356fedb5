// SPDX-License-Identifier: MIT
// Element types of tensors.
//
// DType numbers are persisted in cache keys and files: never renumber, only append.
// float16 and bfloat16 are storage types with exact conversions to and rounded conversions from float.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace tenon {

enum class DType : std::uint8_t {
  kBool = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kUInt8 = 5,
  kUInt16 = 6,
  kUInt32 = 7,
  kUInt64 = 8,
  kFloat16 = 9,
  kBFloat16 = 10,
  kFloat32 = 11,
  kFloat64 = 12,
  // 13 and 14 are kept for complex64 and complex128.
};

inline constexpr int kNumDTypes = 13;

/// Bytes one element takes in memory (bool: 1).
constexpr std::size_t size_of(DType t) {
  constexpr std::uint8_t kSizes[kNumDTypes] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return kSizes[static_cast<int>(t)];
}

constexpr bool is_float(DType t) { return t >= DType::kFloat16 && t <= DType::kFloat64; }
/// float16 and bfloat16, which compute in float32 and round once an op.
constexpr bool is_half(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }
constexpr bool is_signed_int(DType t) { return t >= DType::kInt8 && t <= DType::kInt64; }
constexpr bool is_unsigned_int(DType t) { return t >= DType::kUInt8 && t <= DType::kUInt64; }
constexpr bool is_int(DType t) { return t >= DType::kInt8 && t <= DType::kUInt64; }
/// Signed integers and floats: types with negative values.
constexpr bool is_signed(DType t) { return is_signed_int(t) || is_float(t); }

/// "float32", "bool", ... as in the Python array API standard.
constexpr std::string_view name_of(DType t) {
  constexpr std::string_view kNames[kNumDTypes] = {"bool",     "int8",    "int16",  "int32",  "int64",
                                                   "uint8",    "uint16",  "uint32", "uint64", "float16",
                                                   "bfloat16", "float32", "float64"};
  return kNames[static_cast<int>(t)];
}

/// IEEE binary16 as stored. Conversion from float rounds to nearest even; to float is exact.
struct float16 {
  std::uint16_t bits = 0;
  float16() = default;
  explicit float16(float value);
  explicit operator float() const;
  friend bool operator==(float16 a, float16 b) { return static_cast<float>(a) == static_cast<float>(b); }
};

/// The upper half of a binary32. Conversion from float rounds to nearest even and keeps subnormals; to float is exact.
struct bfloat16 {
  std::uint16_t bits = 0;
  bfloat16() = default;
  explicit bfloat16(float value) {
    const auto u = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (u & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<std::uint16_t>(is_nan ? 0x7fc0u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  friend bool operator==(bfloat16 a, bfloat16 b) { return static_cast<float>(a) == static_cast<float>(b); }
};

inline float16::float16(float value) {
  const auto u = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (u >> 16) & 0x8000u;
  const std::uint32_t mag = u & 0x7fffffffu;
  if (mag > 0x7f800000u) {
    bits = 0x7e00u;
  } else if (mag >= 0x477ff000u) {  // rounds to 65536 or more
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);
  } else if (mag <= 0x33000000u) {  // at most half of the least subnormal
    bits = static_cast<std::uint16_t>(sign);
  } else if (mag < 0x38800000u) {  // subnormal: a multiple of 2^-24, rounded in integers, whatever the host's mode
    const std::uint32_t significand = (mag & 0x7fffffu) | 0x800000u, shift = 126 - (mag >> 23);
    const std::uint32_t below_half = (1u << (shift - 1)) - 1 + ((significand >> shift) & 1u);
    bits = static_cast<std::uint16_t>(sign | ((significand + below_half) >> shift));
  } else {
    bits = static_cast<std::uint16_t>(sign | ((mag - 0x38000000u + 0xfffu + ((mag >> 13) & 1u)) >> 13));
  }
}

inline float16::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t mag = bits & 0x7fffu;
  if (mag >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((mag & 0x3ffu) << 13));
  const float value = std::bit_cast<float>((mag << 13) + 0x38000000u);
  if (mag >= 0x400u) return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  const float subnormal = static_cast<float>(mag) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
}

namespace internal {
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> : std::integral_constant<DType, DType::kBool> {};
template <>
struct DTypeOf<std::int8_t> : std::integral_constant<DType, DType::kInt8> {};
template <>
struct DTypeOf<std::int16_t> : std::integral_constant<DType, DType::kInt16> {};
template <>
struct DTypeOf<std::int32_t> : std::integral_constant<DType, DType::kInt32> {};
template <>
struct DTypeOf<std::int64_t> : std::integral_constant<DType, DType::kInt64> {};
template <>
struct DTypeOf<long long> : std::integral_constant<DType, DType::kInt64> {};
template <>
struct DTypeOf<std::uint8_t> : std::integral_constant<DType, DType::kUInt8> {};
template <>
struct DTypeOf<std::uint16_t> : std::integral_constant<DType, DType::kUInt16> {};
template <>
struct DTypeOf<std::uint32_t> : std::integral_constant<DType, DType::kUInt32> {};
template <>
struct DTypeOf<std::uint64_t> : std::integral_constant<DType, DType::kUInt64> {};
template <>
struct DTypeOf<unsigned long long> : std::integral_constant<DType, DType::kUInt64> {};
template <>
struct DTypeOf<float16> : std::integral_constant<DType, DType::kFloat16> {};
template <>
struct DTypeOf<bfloat16> : std::integral_constant<DType, DType::kBFloat16> {};
template <>
struct DTypeOf<float> : std::integral_constant<DType, DType::kFloat32> {};
template <>
struct DTypeOf<double> : std::integral_constant<DType, DType::kFloat64> {};
}  // namespace internal

/// The DType whose elements are stored as T, e.g. dtype_of<float> == DType::kFloat32.
template <class T>
inline constexpr DType dtype_of = internal::DTypeOf<T>::value;

}  // namespace tenon
