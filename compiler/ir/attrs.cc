// SPDX-License-Identifier: MIT
// Checked reading of the flat words of attributes.
#include "compiler/ir/attrs.h"

namespace tenon {

bool Attrs::parse(absl::Span<const std::int64_t> words, int count, Attrs* out) {
  std::size_t at = 0;
  for (int i = 0; i < count; ++i) {
    if (at >= words.size() || words[at] < 0) return false;
    const auto length = static_cast<std::size_t>(words[at]);
    if (length > words.size() - at - 1) return false;
    at += 1 + length;
  }
  if (at != words.size()) return false;
  out->words_.assign(words.begin(), words.end());
  return true;
}

}  // namespace tenon
