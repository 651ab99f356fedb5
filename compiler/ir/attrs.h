// SPDX-License-Identifier: MIT
// Attribute values of a node: one list of 64-bit integers for each attribute of the op's row, in the row's order.
//
// Single values (int, bool, dtype, axis, mode) are lists of one. The flat words [count, values...]... are what the
// canonical bytes hold. Most ops have no attribute, so an empty value allocates nothing.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace tenon {

class Attrs {
 public:
  Attrs() = default;
  /// Attrs({{1, 0}, {1}}): the first attribute is the list 1, 0; the second is the single value 1.
  Attrs(std::initializer_list<absl::Span<const std::int64_t>> lists) {
    for (auto list : lists) append(list);
  }

  void append(absl::Span<const std::int64_t> list) {
    words_.push_back(static_cast<std::int64_t>(list.size()));
    for (const std::int64_t value : list) words_.push_back(value);
  }
  void append(std::int64_t value) { append(absl::Span<const std::int64_t>(&value, 1)); }

  /// The index-th attribute. The caller knows from the op's row that there is one.
  absl::Span<const std::int64_t> list(int index) const {
    std::size_t at = 0;
    for (; index > 0; --index) at += 1 + static_cast<std::size_t>(words_[at]);
    return absl::MakeConstSpan(words_).subspan(at + 1, static_cast<std::size_t>(words_[at]));
  }
  std::int64_t value(int index) const { return list(index)[0]; }

  absl::Span<const std::int64_t> words() const { return words_; }
  /// Takes flat words as words() gave them; false if they are not `count` well-formed lists.
  static bool parse(absl::Span<const std::int64_t> words, int count, Attrs* out);

  friend bool operator==(const Attrs& a, const Attrs& b) { return a.words_ == b.words_; }

 private:
  absl::InlinedVector<std::int64_t, 4> words_;
};

}  // namespace tenon
