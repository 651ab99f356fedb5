// SPDX-License-Identifier: MIT
// The rules: the shortest digits that give the number back in its own dtype, at most 8 after the point; all in
// scientific form when the largest is 1e8 or more, the smallest below 1e-4, or their quotient above 1000.
#include "runtime/api/print_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "compiler/ir/text.h"

namespace tenon::api {
namespace {

constexpr int kPrecision = 8;

template <class T>
T read(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

double as_double(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kFloat16:
      return static_cast<double>(static_cast<float>(read<float16>(element)));
    case DType::kBFloat16:
      return static_cast<double>(static_cast<float>(read<bfloat16>(element)));
    case DType::kFloat32:
      return static_cast<double>(read<float>(element));
    default:
      return read<double>(element);
  }
}

/// Digits of a finite number: d.ddd times 10 to the exponent; digits without trailing zeros, "0" for zero.
struct Decimal {
  std::string digits;
  int exponent = 0;
  bool is_negative = false;
};

Decimal parse(std::string_view text) {
  Decimal d;
  if (text.front() == '-') {
    d.is_negative = true;
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c != '.') d.digits += c;
  }
  const char* exponent = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent, text.data() + text.size(), d.exponent);
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  return d;
}

template <class T, class... Precision>
Decimal scientific(T value, Precision... precision) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, precision...).ptr;
  return parse({text, static_cast<std::size_t>(end - text)});
}

/// The shortest digits that a half type reads back as the same number.
template <class Half>
Decimal shortest_half(Half value) {
  const auto exact = static_cast<float>(value);
  for (int precision = 0;; ++precision) {
    char text[64];
    char* end = std::to_chars(text, text + sizeof text, exact, std::chars_format::scientific, precision).ptr;
    float back = 0;
    std::from_chars(text, end, back);
    if (Half(back) == value || precision == kPrecision) return parse({text, static_cast<std::size_t>(end - text)});
  }
}

Decimal shortest(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kFloat16:
      return shortest_half(read<float16>(element));
    case DType::kBFloat16:
      return shortest_half(read<bfloat16>(element));
    case DType::kFloat32:
      return scientific(read<float>(element));
    default:
      return scientific(read<double>(element));
  }
}

/// A number cut into what stands before and after the point, and the exponent if there is one.
struct Columns {
  std::string whole, fraction, exponent;
};

std::string exponent_text(int exponent) {
  const std::string digits = cat(std::abs(exponent));
  return cat(exponent < 0 ? "e-" : "e+", digits.size() < 2 ? "0" : "", digits);
}

Columns in_scientific(const Decimal& d) {
  return {cat(d.is_negative ? "-" : "", d.digits.substr(0, 1)), d.digits.substr(1), exponent_text(d.exponent)};
}

Columns positional(const Decimal& d) {
  std::string all = d.digits;
  if (d.exponent < 0) all.insert(0, static_cast<std::size_t>(-d.exponent), '0');
  const auto whole = static_cast<std::size_t>(std::max(d.exponent, 0)) + 1;
  if (all.size() < whole) all.append(whole - all.size(), '0');
  return {cat(d.is_negative ? "-" : "", all.substr(0, whole)), all.substr(whole), ""};
}

Columns in_positions(DType dtype, const std::byte* element, const Decimal& d) {
  const int decimals = static_cast<int>(d.digits.size()) - 1 - d.exponent;
  if (decimals <= kPrecision) return positional(d);
  char text[64];
  const double value = as_double(dtype, element);
  const std::string fixed(text,
                          std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, kPrecision).ptr);
  const std::size_t point = fixed.find('.'), last = fixed.find_last_not_of('0');
  return {fixed.substr(0, point), fixed.substr(point + 1, last - point), ""};
}

std::string not_finite(double value) { return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf"; }

bool wants_scientific(DType dtype, const std::vector<const std::byte*>& elements) {
  double largest = 0, smallest = INFINITY;
  for (const std::byte* element : elements) {
    const double size = std::abs(as_double(dtype, element));
    if (!std::isfinite(size) || size == 0) continue;
    largest = std::max(largest, size);
    smallest = std::min(smallest, size);
  }
  return largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
}

std::string pad_left(const std::string& text, std::size_t width) {
  return text.size() < width ? cat(std::string(width - text.size(), ' '), text) : text;
}

std::vector<std::string> align(std::vector<std::string> texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) text = pad_left(text, width);
  return texts;
}

/// Digits after the point with which the number that needs most is shown in scientific form.
int scientific_precision(DType dtype, const std::vector<const std::byte*>& elements) {
  int precision = 0;
  for (const std::byte* element : elements) {
    if (!std::isfinite(as_double(dtype, element))) continue;
    precision = std::max(precision, static_cast<int>(shortest(dtype, element).digits.size()) - 1);
  }
  return std::min(precision, kPrecision);
}

std::vector<Columns> columns_of(DType dtype, const std::vector<const std::byte*>& elements, bool is_scientific) {
  const int precision = is_scientific ? scientific_precision(dtype, elements) : 0;
  std::vector<Columns> columns;
  for (const std::byte* element : elements) {
    Columns& c = columns.emplace_back();
    const double value = as_double(dtype, element);
    if (!std::isfinite(value)) continue;
    c = is_scientific ? in_scientific(scientific(value, precision))
                      : in_positions(dtype, element, shortest(dtype, element));
  }
  return columns;
}

std::size_t widest(const std::vector<Columns>& columns, std::string Columns::* part) {
  std::size_t width = 0;
  for (const Columns& c : columns) width = std::max(width, (c.*part).size());
  return width;
}

std::vector<std::string> format_floats(DType dtype, const std::vector<const std::byte*>& elements) {
  const bool is_scientific = wants_scientific(dtype, elements);
  std::vector<Columns> columns = columns_of(dtype, elements, is_scientific);
  const std::size_t fraction = widest(columns, &Columns::fraction), exponent = widest(columns, &Columns::exponent);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Columns& c = columns[i];
    if (c.whole.empty()) {
      texts.push_back(not_finite(as_double(dtype, elements[i])));
      continue;
    }
    // Scientific numbers are filled with zeros, others with blanks.
    c.fraction.append(fraction - c.fraction.size(), is_scientific ? '0' : ' ');
    if (is_scientific) c.exponent.insert(2, exponent - c.exponent.size(), '0');
    texts.push_back(cat(c.whole, ".", c.fraction, c.exponent));
  }
  return align(std::move(texts));
}

std::string integer_text(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kBool:
      return read<std::uint8_t>(element) ? "True" : "False";
    case DType::kInt8:
      return cat(read<std::int8_t>(element) + 0);
    case DType::kInt16:
      return cat(read<std::int16_t>(element));
    case DType::kInt32:
      return cat(read<std::int32_t>(element));
    case DType::kInt64:
      return cat(read<std::int64_t>(element));
    case DType::kUInt8:
      return cat(read<std::uint8_t>(element) + 0);
    case DType::kUInt16:
      return cat(read<std::uint16_t>(element));
    case DType::kUInt32:
      return cat(read<std::uint32_t>(element));
    default:
      return cat(read<std::uint64_t>(element));
  }
}

}  // namespace

std::vector<std::string> format_elements(DType dtype, const std::vector<const std::byte*>& elements) {
  if (is_float(dtype)) return format_floats(dtype, elements);
  std::vector<std::string> texts;
  for (const std::byte* element : elements) texts.push_back(integer_text(dtype, element));
  return align(std::move(texts));
}

std::string format_element(DType dtype, const std::byte* element) {
  if (!is_float(dtype)) return integer_text(dtype, element);
  const double value = as_double(dtype, element);
  if (!std::isfinite(value)) return not_finite(value);
  const Decimal d = shortest(dtype, element);
  if (value != 0 && (std::abs(value) >= 1e16 || std::abs(value) < 1e-4)) {
    const Columns c = in_scientific(d);
    return cat(c.whole, c.fraction.empty() ? "" : ".", c.fraction, c.exponent);
  }
  const Columns c = positional(d);
  return cat(c.whole, ".", c.fraction.empty() ? "0" : c.fraction);
}

}  // namespace tenon::api
