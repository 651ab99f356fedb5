// SPDX-License-Identifier: MIT
// Tensors from data, from a value, from a rule, and from random bits.
//
// asarray copies; the rest costs nothing until it is needed. Values (of full, arange, linspace, uniform, a seed) are
// arguments of the program, so other values compile nothing; shapes and dtypes are part of it. Mistakes throw Error
// (kInvalidArgument) at the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <vector>

#include "tenon/arguments.h"
#include "tenon/dtype.h"
#include "tenon/tensor.h"

namespace tenon {

namespace internal {
/// A tensor of `shape` with a copy of the `count` row-major elements at `data`; throws when shape has another count.
TENON_API Tensor copy_in(const void* data, std::size_t count, DType dtype, const Dims& shape,
                         const std::source_location& call_site);

/// Takes nested lists apart: their lengths a depth, and their elements in order.
class TENON_API NestedList {
 public:
  NestedList(DType dtype, const std::source_location& call_site) : dtype_(dtype), call_site_(call_site) {}
  template <class T>
  void read(std::initializer_list<T> list, std::size_t depth = 0) {
    enter(depth, list.size());
    append(list.begin(), list.size() * sizeof(T));
  }
  template <class T>
  void read(std::initializer_list<std::initializer_list<T>> lists, std::size_t depth = 0) {
    enter(depth, lists.size());
    for (const auto& list : lists) read(list, depth + 1);
  }
  Tensor finish() const;

 private:
  /// Throws when lists of one depth differ in length.
  void enter(std::size_t depth, std::size_t length);
  void append(const void* data, std::size_t bytes);

  DType dtype_;
  std::source_location call_site_;
  Dims shape_;
  std::vector<std::byte> bytes_;
};

template <class T, class List>
Tensor from_lists(const List& lists, const std::source_location& call_site) {
  NestedList reader(dtype_of<T>, call_site);
  reader.read(lists);
  return reader.finish();
}
}  // namespace internal

// ---- from data; the dtype is that of the elements' type ----

/// A copy of the row-major elements at `data`, as many as `shape` has.
template <internal::Element T>
Tensor asarray(const T* data, const Dims& shape,
               const std::source_location& call_site = std::source_location::current()) {
  std::size_t count = 1;
  for (const std::int64_t length : shape) count *= static_cast<std::size_t>(length);
  return internal::copy_in(data, count, dtype_of<T>, shape, call_site);
}

/// A copy of the elements, with `shape`, which must have as many.
template <internal::Element T>
Tensor asarray(std::span<const T> elements, const Dims& shape,
               const std::source_location& call_site = std::source_location::current()) {
  return internal::copy_in(elements.data(), elements.size(), dtype_of<T>, shape, call_site);
}
template <internal::Element T>
Tensor asarray(const std::vector<T>& elements, const Dims& shape,
               const std::source_location& call_site = std::source_location::current()) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<std::uint8_t> bytes(elements.begin(), elements.end());
    return internal::copy_in(bytes.data(), bytes.size(), DType::kBool, shape, call_site);
  } else {
    return internal::copy_in(elements.data(), elements.size(), dtype_of<T>, shape, call_site);
  }
}
/// A 1-d copy of the elements.
template <internal::Element T>
Tensor asarray(const std::vector<T>& elements,
               const std::source_location& call_site = std::source_location::current()) {
  return asarray(elements, Dims{static_cast<std::int64_t>(elements.size())}, call_site);
}

/// asarray({1.0f, 2.0f}), asarray({{1, 2}, {3, 4}}), asarray<float>({{{1}, {2}}, {{3}, {4}}}).
template <internal::Element T>
Tensor asarray(std::initializer_list<T> list, const std::source_location& call_site = std::source_location::current()) {
  return internal::from_lists<T>(list, call_site);
}
template <internal::Element T>
Tensor asarray(std::initializer_list<std::initializer_list<T>> lists,
               const std::source_location& call_site = std::source_location::current()) {
  return internal::from_lists<T>(lists, call_site);
}
template <internal::Element T>
Tensor asarray(std::initializer_list<std::initializer_list<std::initializer_list<T>>> lists,
               const std::source_location& call_site = std::source_location::current()) {
  return internal::from_lists<T>(lists, call_site);
}
/// A 0-d tensor. Unlike a bare number it has a dtype of its own and promotes like any tensor.
template <internal::Element T>
Tensor asarray(T value, const std::source_location& call_site = std::source_location::current()) {
  return internal::copy_in(&value, 1, dtype_of<T>, {}, call_site);
}

// ---- from a value ----

/// Every element is value. The dtype is by default bool, int64 or float32, by the kind of number.
TENON_API Tensor full(const Dims& shape, Scalar value, std::optional<DType> dtype = {},
                      const std::source_location& call_site = std::source_location::current());
TENON_API Tensor zeros(const Dims& shape, DType dtype = DType::kFloat32,
                       const std::source_location& call_site = std::source_location::current());
TENON_API Tensor ones(const Dims& shape, DType dtype = DType::kFloat32,
                      const std::source_location& call_site = std::source_location::current());
/// With the shape of x, and its dtype unless another is given.
TENON_API Tensor full_like(const TensorArg& x, Scalar value, std::optional<DType> dtype = {});
TENON_API Tensor zeros_like(const TensorArg& x, std::optional<DType> dtype = {});
TENON_API Tensor ones_like(const TensorArg& x, std::optional<DType> dtype = {});

// ---- from a rule ----

/// start + i*step for every i with the value before stop (1-d). By default int64 if all three are integers, else
/// float32. Computed in float64 and rounded once for floats. step must not be 0; integers must fit int64.
TENON_API Tensor arange(Scalar start, Scalar stop, Scalar step = 1, std::optional<DType> dtype = {},
                        const std::source_location& call_site = std::source_location::current());
/// 0, 1, ... before stop.
TENON_API Tensor arange(Scalar stop, const std::source_location& call_site = std::source_location::current());
/// `count` evenly spaced values from start to stop (1-d); the last one is stop if `endpoint`. dtype is a float.
TENON_API Tensor linspace(Scalar start, Scalar stop, std::int64_t count, bool endpoint = true,
                          DType dtype = DType::kFloat32,
                          const std::source_location& call_site = std::source_location::current());
/// Ones where column - row == k, else zeros, of shape {n_rows, n_cols}; n_cols is n_rows by default.
TENON_API Tensor eye(std::int64_t n_rows, std::optional<std::int64_t> n_cols = {}, std::int64_t k = 0,
                     DType dtype = DType::kFloat32,
                     const std::source_location& call_site = std::source_location::current());
/// Every element is its index along axis.
TENON_API Tensor iota(const Dims& shape, std::int64_t axis, DType dtype = DType::kInt64,
                      const std::source_location& call_site = std::source_location::current());

// ---- random: functions of the seed and the element's index only (Philox4x32-10) ----

struct Seed {
  std::uint64_t value;
};
constexpr Seed seed(std::uint64_t value) { return {value}; }

namespace random {
/// Floats in [low, high).
TENON_API Tensor uniform(const Dims& shape, Seed seed, Scalar low = 0.0, Scalar high = 1.0,
                         DType dtype = DType::kFloat32,
                         const std::source_location& call_site = std::source_location::current());
/// Floats of mean 0 and variance 1, by Box-Muller.
TENON_API Tensor normal(const Dims& shape, Seed seed, DType dtype = DType::kFloat32,
                        const std::source_location& call_site = std::source_location::current());
/// uint32, all bits random; stream 0..3 picks one of four independent words for each element.
TENON_API Tensor bits(const Dims& shape, Seed seed, std::int64_t stream = 0,
                      const std::source_location& call_site = std::source_location::current());
}  // namespace random

}  // namespace tenon
