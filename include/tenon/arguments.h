// SPDX-License-Identifier: MIT
// The types of parameters: what numbers, braces and tensors convert to at a call. Nobody names them; they borrow, so
// they live for the call only.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <source_location>
#include <type_traits>
#include <vector>

#include "tenon/export.h"
#include "tenon/scalar.h"

namespace tenon {

class Tensor;
namespace trace {
class TraceNode;
}

/// Lengths of axes, as in {2, 3}; also other lists of integers.
using Dims = std::vector<std::int64_t>;

/// Writes "nothing given": an absent bound of a slice or of clip.
struct None {};
inline constexpr None none;

namespace internal {
/// The integer, or the largest int64 for what is beyond it: no axis reaches that far, so both mean the same.
constexpr std::int64_t saturate(std::integral auto value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if constexpr (std::is_unsigned_v<decltype(value)> && sizeof(value) >= sizeof(kMost)) {
    if (value > static_cast<std::make_unsigned_t<std::int64_t>>(kMost)) return kMost;
  }
  return static_cast<std::int64_t>(value);
}
}  // namespace internal

/// Axes of a reduction: absent or {} means all of them, {0, -1} these. Negative values count from the end.
/// Axes(Dims{}) means no axis at all.
class Axes {
 public:
  Axes() = default;
  Axes(None) {}
  Axes(std::integral auto axis) : axes_(1, internal::saturate(axis)), is_all_(false) {}
  Axes(std::initializer_list<std::int64_t> axes) : axes_(axes), is_all_(false) {}
  Axes(Dims axes) : axes_(static_cast<Dims&&>(axes)), is_all_(false) {}

  bool is_all() const { return is_all_; }
  const Dims& list() const { return axes_; }

 private:
  Dims axes_;
  bool is_all_ = true;
};

/// Whether reduced axes stay, with length 1: write tenon::keepdims, or a bool.
class KeepDims {
 public:
  constexpr KeepDims(bool value) : value_(value) {}
  constexpr explicit operator bool() const { return value_; }

 private:
  bool value_;
};
inline constexpr KeepDims keepdims{true};

/// A tensor or a number given to a function, with the place of the call.
class Operand {
 public:
  /// Throws Error (kInvalidArgument) if the handle is empty.
  TENON_API Operand(const Tensor& tensor, const std::source_location& call_site = std::source_location::current());
  template <class T>
    requires std::is_arithmetic_v<T>
  Operand(T value, const std::source_location& call_site = std::source_location::current())
      : scalar_(value), call_site_(call_site) {}
  Operand(Scalar value, const std::source_location& call_site = std::source_location::current())
      : scalar_(value), call_site_(call_site) {}

  /// Null for a number.
  trace::TraceNode* node() const { return node_; }
  Scalar scalar() const { return scalar_; }
  const std::source_location& call_site() const { return call_site_; }

 private:
  trace::TraceNode* node_ = nullptr;
  Scalar scalar_ = 0;
  std::source_location call_site_;
};

/// A tensor given to a function, with the place of the call.
class TensorArg : public Operand {
 public:
  TensorArg(const Tensor& tensor, const std::source_location& call_site = std::source_location::current())
      : Operand(tensor, call_site), tensor_(&tensor) {}

  const Tensor& tensor() const { return *tensor_; }

 private:
  const Tensor* tensor_;
};

/// Start or stop of a slice: an integer (negative counts from the end), or none.
class Bound {
 public:
  constexpr Bound(None) {}
  constexpr Bound(std::integral auto value) : value_(internal::saturate(value)) {}
  constexpr std::optional<std::int64_t> value() const { return value_; }

 private:
  std::optional<std::int64_t> value_;
};

/// Python's start:stop:step. Made by slice(start, stop, step).
struct Slice {
  Bound start = none, stop = none;
  std::int64_t step = 1;
};

/// slice(1, none), slice(none, none, -1): part of an axis, for index lists. Bounds beyond the axis are cut to it.
template <std::integral Step = int>
constexpr Slice slice(Bound start, Bound stop, Step step = 1) {
  return {start, stop, internal::saturate(step)};
}

struct All;

/// What is done to one axis by an index list: an integer drops it, a slice keeps a part, tenon::all keeps it.
class Index {
 public:
  Index(std::integral auto position) : slice_{position, none}, is_position_(true) {}
  Index(Slice part) : slice_(part) {}
  Index(const All&) {}

  bool is_position() const { return is_position_; }
  std::int64_t position() const { return *slice_.start.value(); }
  const Slice& part() const { return slice_; }

 private:
  Slice slice_;
  bool is_position_ = false;
};

/// An index list, {0, -1} or {i, tenon::all, tenon::slice(2, none)}, or a single index. Axes beyond its end are kept.
class IndexList {
 public:
  IndexList(std::initializer_list<Index> list, const std::source_location& call_site = std::source_location::current())
      : list_(list), call_site_(call_site) {}
  IndexList(std::vector<Index> list, const std::source_location& call_site = std::source_location::current())
      : list_(static_cast<std::vector<Index>&&>(list)), call_site_(call_site) {}
  template <class T>
    requires std::is_convertible_v<const T&, Index>
  IndexList(const T& index, const std::source_location& call_site = std::source_location::current())
      : list_{Index(index)}, call_site_(call_site) {}

  const std::vector<Index>& list() const { return list_; }
  const std::source_location& call_site() const { return call_site_; }

 private:
  std::vector<Index> list_;
  std::source_location call_site_;
};

}  // namespace tenon
