// SPDX-License-Identifier: MIT
// See compare.h.
#include "runtime/tool/compare.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tenon::tool {
namespace {

std::uint64_t bits_at(DType dtype, const void* data, std::int64_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(data) + static_cast<std::size_t>(i) * size_of(dtype),
              size_of(dtype));
  return bits;
}

double float_value(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::kFloat16: {
      float16 h;
      h.bits = static_cast<std::uint16_t>(bits);
      return static_cast<float>(h);
    }
    case DType::kBFloat16: {
      bfloat16 h;
      h.bits = static_cast<std::uint16_t>(bits);
      return static_cast<float>(h);
    }
    case DType::kFloat32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

/// Position on the dtype's number line; both zeros are 0.
std::int64_t position(DType dtype, std::uint64_t bits) {
  const int width = static_cast<int>(size_of(dtype)) * 8;
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

bool is_within(const CaseOutput& want, DType dtype, std::uint64_t got_bits, std::uint64_t want_bits) {
  const double got = float_value(dtype, got_bits), expected = float_value(dtype, want_bits);
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected);
  if (want.signed_zero && std::signbit(got) != std::signbit(expected)) return false;
  if (want.ulp) {
    const auto distance = static_cast<__int128>(position(dtype, got_bits)) - position(dtype, want_bits);
    return (distance < 0 ? -distance : distance) <= *want.ulp;
  }
  if (std::isinf(got) || std::isinf(expected)) return got == expected;
  return std::abs(got - expected) <= want.atol + want.rtol * std::abs(expected);
}

std::string value_text(DType dtype, std::uint64_t bits) {
  if (is_float(dtype)) return absl::StrFormat("%.17g", float_value(dtype, bits));
  if (!is_signed_int(dtype)) return absl::StrCat(bits);
  const int shift = 64 - static_cast<int>(size_of(dtype)) * 8;
  return absl::StrCat(static_cast<std::int64_t>(bits << shift) >> shift);
}

}  // namespace

std::string difference(const CaseOutput& want, const TensorType& type, const void* got) {
  if (!(type == want.want.type)) return absl::StrCat("got ", to_string(type), ", wanted ", to_string(want.want.type));
  for (std::int64_t i = 0; i < numel(type.shape); ++i) {
    const std::uint64_t a = bits_at(type.dtype, got, i), b = bits_at(type.dtype, want.want.data.data(), i);
    const bool ok = is_float(type.dtype) ? is_within(want, type.dtype, a, b) : a == b;
    if (!ok)
      return absl::StrCat("element ", i, " is ", value_text(type.dtype, a), ", wanted ", value_text(type.dtype, b));
  }
  return "";
}

bool same_bits(const TensorType& type, const void* a, const void* b) {
  for (std::int64_t i = 0; i < numel(type.shape); ++i) {
    const std::uint64_t x = bits_at(type.dtype, a, i), y = bits_at(type.dtype, b, i);
    if (x == y) continue;
    const bool both_nan =
        is_float(type.dtype) && std::isnan(float_value(type.dtype, x)) && std::isnan(float_value(type.dtype, y));
    if (!both_nan) return false;
  }
  return true;
}

}  // namespace tenon::tool
