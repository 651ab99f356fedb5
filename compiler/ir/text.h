// SPDX-License-Identifier: MIT
// Joining text: `cat` of anything that is text or an integer. (absl::StrCat does not take std::string_view where
// Abseil was built with its own string_view, as Debian's is.)
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/types/span.h"

namespace tenon {

template <class T>
void append(std::string* out, const T& part) {
  if constexpr (std::is_same_v<T, bool>) {
    out->append(part ? "true" : "false");
  } else if constexpr (std::is_same_v<T, char>) {
    out->push_back(part);
  } else if constexpr (std::is_integral_v<T>) {
    char digits[24];
    out->append(digits, std::to_chars(digits, digits + sizeof digits, part).ptr);
  } else {
    out->append(std::string_view(part));
  }
}

/// The parts one after the other: text as it is, integers in decimal, bool as true or false.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  (append(&out, parts), ...);
  return out;
}

/// "1, 2, 3"
template <class T>
std::string join(absl::Span<const T> values, std::string_view separator = ", ") {
  std::string out;
  for (const T& value : values) {
    if (&value != values.data()) out.append(separator);
    append(&out, value);
  }
  return out;
}

}  // namespace tenon
