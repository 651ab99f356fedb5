// SPDX-License-Identifier: MIT
// Functions offered to flat images, in the calling convention that x86 code generation expects of their names.
#include "runtime/device/cpu/image_imports.h"

#include <emmintrin.h>

#include <cmath>
#include <cstring>

namespace tenon::device {
namespace {

// binary64 to binary16, rounded once to nearest even. `magnitude` must be finite and below 2^16.
std::uint32_t round_to_half(double magnitude) {
  // Adding a number whose last place is that of the result makes the adder round; a subnormal's is 2^-24.
  const int last_place = magnitude < 0x1p-14 ? -24 : std::ilogb(magnitude) - 10;
  const double shift = std::ldexp(1.5, last_place + 52);
  const double units = std::ldexp((magnitude + shift) - shift, -last_place);
  const auto count = static_cast<std::uint32_t>(units);  // at most 2^11
  // A full count carries into the exponent field by plain addition, up to infinity.
  return count + (static_cast<std::uint32_t>(last_place + 24) << 10);
}

std::uint32_t half_bits(double value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
  if (std::isnan(value)) return sign | 0x7e00u;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65536.0) return sign | 0x7c00u;
  return sign | round_to_half(magnitude);
}

// `half __truncdfhf2(double)`: the result lies in the low 16 bits of xmm0.
__m128i float64_to_float16(double value) { return _mm_cvtsi32_si128(static_cast<int>(half_bits(value))); }

template <class Function>
std::uint64_t address(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

}  // namespace

std::uint64_t address_of(ImportId id) {
  switch (id) {
    case ImportId::kMemset:
      return address(&std::memset);
    case ImportId::kMemcpy:
      return address(&std::memcpy);
    case ImportId::kMemmove:
      return address(&std::memmove);
    case ImportId::kFmod:
      return address(static_cast<double (*)(double, double)>(&std::fmod));
    case ImportId::kFmodf:
      return address(static_cast<float (*)(float, float)>(&std::fmod));
    case ImportId::kFloat64ToFloat16:
      return address(&float64_to_float16);
  }
  return 0;
}

}  // namespace tenon::device
