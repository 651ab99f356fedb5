// SPDX-License-Identifier: MIT
// Tensor: a cheap handle to a value that may not have been computed yet.
//
// Calls check shapes and dtypes at once and note what is to be done; the work is done when a value is needed: eval,
// item, to_vector, data, printing, save. Tensors are values: nothing done through one handle is seen through another.
// Different handles may be used from different threads, also when they share what they are made from; one handle may be
// read by many threads at once.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <new>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/arguments.h"
#include "tenon/dtype.h"
#include "tenon/error.h"
#include "tenon/export.h"

namespace tenon {

namespace internal {
struct Access;
template <class T>
concept Element = requires { DTypeOf<T>::value; };
}  // namespace internal

class TENON_API Tensor {
 public:
  using Location = std::source_location;

  /// An empty handle: it may be assigned, copied and destroyed; all else throws Error (kInvalidArgument).
  Tensor() = default;
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  /// Only to variables: x[0] = y would change nothing, so it does not compile; see slice_update.
  Tensor& operator=(const Tensor& other) &;
  Tensor& operator=(Tensor&& other) & noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Tensor();

  bool is_empty_handle() const { return node_ == nullptr; }

  /// Lengths of the axes; {} for a 0-d tensor.
  Dims shape(const Location& call_site = Location::current()) const;
  DType dtype(const Location& call_site = Location::current()) const;
  /// Number of axes.
  int ndim(const Location& call_site = Location::current()) const;
  /// Number of elements; 1 for a 0-d tensor.
  std::int64_t size(const Location& call_site = Location::current()) const;
  /// Length of one axis; negative counts from the end. Throws when there is no such axis.
  std::int64_t length(std::int64_t axis, const Location& call_site = Location::current()) const;

  /// A part, by NumPy's basic indexing: x[0], x[{0, -1}], x[{i, all}], x[{slice(1, none), slice(none, none, -1)}].
  /// Integers drop their axis and are arguments of the program, so another value compiles nothing; they must be in
  /// range. Bounds of slices are part of the program. Of a computed tensor, leading integers and whole rows cost
  /// nothing and copy nothing. Throws Error on too many indices, an integer out of range, or a step of 0.
  Tensor operator[](const IndexList& index) const;

  /// The same values in another dtype: integers wrap, floats round to nearest even, float to integer truncates and
  /// saturates with NaN to 0, to bool is x != 0. Itself when the dtype is the same.
  Tensor astype(DType dtype, const Location& call_site = Location::current()) const;

  /// Computes the value now if it is not; returns *this. Throws Error: kOutOfMemory, kNotCached, kInternal.
  const Tensor& eval(const Location& call_site = Location::current()) const;
  /// Whether the value lies in memory.
  bool is_evaluated() const;

  /// The only element. T must be the dtype's type exactly (float for float32, std::int64_t for int64 ...) and the size
  /// must be 1, else throws Error (kInvalidArgument). Evaluates.
  template <internal::Element T>
  T item(const Location& call_site = Location::current()) const {
    T value;
    copy_out(&value, 1, dtype_of<T>, "item", call_site);
    return value;
  }

  /// All elements in row-major order. T must be the dtype's type exactly, else throws Error. Evaluates.
  template <internal::Element T>
  std::vector<T> to_vector(const Location& call_site = Location::current()) const {
    using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
    const auto* first = static_cast<const Stored*>(elements(dtype_of<T>, "to_vector", call_site));
    const std::int64_t count = size(call_site);
    try {
      return std::vector<T>(first, first + count);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::kOutOfMemory, "to_vector", "no memory for " + std::to_string(count) + " elements",
                  call_site);
    }
  }

  /// The elements in memory, row-major, size() of them, 64-byte aligned unless it is a part of another tensor. Valid
  /// while this tensor or a copy of it lives. T must be the dtype's type exactly, else throws Error. Evaluates.
  template <internal::Element T>
  const T* data(const Location& call_site = Location::current()) const {
    return static_cast<const T*>(elements(dtype_of<T>, "data", call_site));
  }

 private:
  friend struct internal::Access;
  friend class Operand;

  void copy_out(void* out, std::size_t count, DType dtype, const char* op, const Location& call_site) const;
  const void* elements(DType dtype, const char* op, const Location& call_site) const;

  trace::TraceNode* node_ = nullptr;
};

// ---- operators: elementwise with NumPy's broadcasting; see the functions of ops.h for dtypes and edge cases ----

TENON_API Tensor operator+(const Operand& x, const Operand& y);
TENON_API Tensor operator-(const Operand& x, const Operand& y);
TENON_API Tensor operator*(const Operand& x, const Operand& y);
/// Quotient of floats, also of integers (float32).
TENON_API Tensor operator/(const Operand& x, const Operand& y);
/// Python's %: the sign of y.
TENON_API Tensor operator%(const Operand& x, const Operand& y);
TENON_API Tensor operator&(const Operand& x, const Operand& y);
TENON_API Tensor operator|(const Operand& x, const Operand& y);
TENON_API Tensor operator^(const Operand& x, const Operand& y);
TENON_API Tensor operator==(const Operand& x, const Operand& y);
TENON_API Tensor operator!=(const Operand& x, const Operand& y);
TENON_API Tensor operator<(const Operand& x, const Operand& y);
TENON_API Tensor operator<=(const Operand& x, const Operand& y);
TENON_API Tensor operator>(const Operand& x, const Operand& y);
TENON_API Tensor operator>=(const Operand& x, const Operand& y);
TENON_API Tensor operator-(const TensorArg& x);
/// All bits flipped; for bool the logical not.
TENON_API Tensor operator~(const TensorArg& x);
/// Logical not of x != 0.
TENON_API Tensor operator!(const TensorArg& x);

// x += y is x = x + y: other handles of the old value keep it.
inline Tensor& operator+=(Tensor& x, const Operand& y) { return x = Operand(x, y.call_site()) + y; }
inline Tensor& operator-=(Tensor& x, const Operand& y) { return x = Operand(x, y.call_site()) - y; }
inline Tensor& operator*=(Tensor& x, const Operand& y) { return x = Operand(x, y.call_site()) * y; }
inline Tensor& operator/=(Tensor& x, const Operand& y) { return x = Operand(x, y.call_site()) / y; }
inline Tensor& operator%=(Tensor& x, const Operand& y) { return x = Operand(x, y.call_site()) % y; }
inline Tensor& operator&=(Tensor& x, const Operand& y) { return x = Operand(x, y.call_site()) & y; }
inline Tensor& operator|=(Tensor& x, const Operand& y) { return x = Operand(x, y.call_site()) | y; }
inline Tensor& operator^=(Tensor& x, const Operand& y) { return x = Operand(x, y.call_site()) ^ y; }

/// In index lists: the whole axis. Called: logical and over the elements != 0 along the axes, result bool; true when
/// nothing is reduced.
struct All {
  TENON_API Tensor operator()(const TensorArg& x, const Axes& axis = {}, KeepDims keep = false) const;
};
inline constexpr All all{};

/// Computes several tensors by one program; those that are computed already are left alone. Throws as Tensor::eval.
TENON_API void eval(const std::vector<Tensor>& tensors,
                    const std::source_location& call_site = std::source_location::current());
template <std::same_as<Tensor>... Rest>
void eval(const TensorArg& first, const Rest&... rest) {
  eval({first.tensor(), rest...}, first.call_site());
}

/// The values as NumPy prints them: aligned columns, shortest digits up to 8, "..." beyond 1,000 elements. Evaluates.
/// operator<< cannot know its caller: its errors carry the call that made the tensor.
TENON_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
TENON_API std::string to_string(const Tensor& tensor,
                                const std::source_location& call_site = std::source_location::current());

}  // namespace tenon
