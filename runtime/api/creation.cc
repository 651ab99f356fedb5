// SPDX-License-Identifier: MIT
// Tensors from data and from values. Values become scalar arguments of their op, in the dtype they are meant in.
#include "tenon/creation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "compiler/ir/text.h"
#include "runtime/api/call.h"
#include "runtime/device/cpu/allocator.h"
#include "runtime/device/cpu/parallel.h"

namespace tenon {

using api::attributes;
using api::call;
using api::Location;

namespace {

/// A storage for `type`, or Error (kOutOfMemory).
device::StorageRef allocate(const TensorType& type, std::string_view op, const Location& call_site) {
  const auto bytes = static_cast<std::size_t>(numel(type.shape)) * size_of(type.dtype);
  device::StorageRef storage = device::allocate(bytes);
  if (!storage) {
    throw Error(ErrorCode::kOutOfMemory, std::string(op), cat("no memory for ", to_string(type), ", ", bytes, " bytes"),
                call_site);
  }
  return storage;
}

TensorType checked_type(DType dtype, const Dims& shape, std::string_view op, const Location& call_site) {
  trace::check_dtype(op, dtype, call_site);
  if (!is_possible_shape(shape)) trace::fail(op, cat(to_string(shape), " is not a possible shape"), call_site);
  return {dtype, Shape(shape.begin(), shape.end())};
}

bool are_integers(std::initializer_list<Scalar> scalars) {
  return std::none_of(scalars.begin(), scalars.end(), [](Scalar s) { return s.is_float(); });
}

double as_double(Scalar s) {
  if (s.is_float()) return s.as_float();
  return s.kind() == Scalar::Kind::kUInt ? static_cast<double>(static_cast<std::uint64_t>(s.as_int()))
                                         : static_cast<double>(s.as_int());
}

/// How many i >= 0 have start + i*step before stop; -1 when it is not a count.
std::int64_t count_of_ints(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if ((step > 0) ? start >= stop : start <= stop) return 0;
  const auto distance = step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                                 : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
  const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const std::uint64_t count = (distance - 1) / stride + 1;
  return count >> 50 == 0 ? static_cast<std::int64_t>(count) : -1;
}

std::int64_t count_of_floats(double start, double stop, double step) {
  const double count = std::ceil((stop - start) / step);
  if (std::isnan(count) || count >= 0x1p50) return -1;
  return count <= 0 ? 0 : static_cast<std::int64_t>(count);
}

/// The dtype in which arguments of a float op are handed over.
DType wide(DType dtype) { return is_half(dtype) ? DType::kFloat32 : dtype; }

Tensor random_floats(Op op, std::string_view name, const Dims& shape, DType dtype, Seed seed,
                     std::initializer_list<Scalar> bounds, const Location& call_site) {
  checked_type(dtype, shape, name, call_site);
  if (!is_float(dtype)) trace::fail(name, cat("makes floats, not ", name_of(dtype)), call_site);
  absl::InlinedVector<trace::NodeRef, 3> held = {trace::make_scalar(DType::kUInt64, seed.value)};
  for (const Scalar bound : bounds) held.push_back(trace::scalar_argument(wide(dtype), bound, op, call_site));
  absl::InlinedVector<trace::Argument, 3> arguments;
  for (const trace::NodeRef& node : held) arguments.push_back({node.get(), 0});
  return api::finish(trace::apply(op, arguments, attributes(shape, dtype), call_site), call_site);
}

}  // namespace

namespace internal {

Tensor copy_in(const void* data, std::size_t count, DType dtype, const Dims& shape, const Location& call_site) {
  TensorType type = checked_type(dtype, shape, "asarray", call_site);
  if (numel(type.shape) != static_cast<std::int64_t>(count)) {
    trace::fail("asarray", cat(count, " elements do not fill ", to_string(type)), call_site);
  }
  if (count > 0 && !data) trace::fail("asarray", cat("a null pointer holds no ", to_string(type)), call_site);
  device::StorageRef storage = allocate(type, "asarray", call_site);
  if (count > 0) std::memcpy(storage->data, data, count * size_of(dtype));
  return Access::wrap(trace::make_ready(std::move(type), std::move(storage), {}, 0));
}

void NestedList::enter(std::size_t depth, std::size_t length) {
  const auto found = static_cast<std::int64_t>(length);
  if (depth == shape_.size()) {
    shape_.push_back(found);
  } else if (shape_[depth] != found) {
    trace::fail("asarray", cat("lists of one depth have lengths ", shape_[depth], " and ", found), call_site_);
  }
}

void NestedList::append(const void* data, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), first, first + bytes);
}

Tensor NestedList::finish() const {
  return copy_in(bytes_.data(), bytes_.size() / size_of(dtype_), dtype_, shape_, call_site_);
}

}  // namespace internal

Tensor full(const Dims& shape, Scalar value, std::optional<DType> dtype, const Location& call_site) {
  const TensorType type = checked_type(dtype.value_or(value.default_dtype()), shape, "full", call_site);
  return call(Op::k_full, {trace::scalar_argument(type.dtype, value, Op::k_full, call_site)}, attributes(shape),
              call_site);
}

Tensor zeros(const Dims& shape, DType dtype, const Location& call_site) { return full(shape, 0, dtype, call_site); }
Tensor ones(const Dims& shape, DType dtype, const Location& call_site) { return full(shape, 1, dtype, call_site); }

Tensor full_like(const TensorArg& x, Scalar value, std::optional<DType> dtype) {
  return full(x.tensor().shape(), value, dtype.value_or(api::dtype_of(x)), x.call_site());
}
Tensor zeros_like(const TensorArg& x, std::optional<DType> dtype) { return full_like(x, 0, dtype); }
Tensor ones_like(const TensorArg& x, std::optional<DType> dtype) { return full_like(x, 1, dtype); }

Tensor arange(Scalar start, Scalar stop, Scalar step, std::optional<DType> dtype, const Location& call_site) {
  const device::DefaultFloatMode mode;
  const bool is_exact = are_integers({start, stop, step});
  if (as_double(step) == 0) trace::fail("arange", "the step is 0", call_site);
  // Rounded once from the exact values, whatever the dtype: float64 holds what a user writes, int64 every index.
  const DType exact = is_exact ? DType::kInt64 : DType::kFloat64;
  const auto argument = [&](Scalar s) { return trace::scalar_argument(exact, s, Op::k_arange, call_site); };
  const trace::NodeRef first = argument(start), stride = argument(step);
  argument(stop);  // the program is not given it, but the count comes from what it holds
  const std::int64_t count = is_exact ? count_of_ints(start.as_int(), stop.as_int(), step.as_int())
                                      : count_of_floats(as_double(start), as_double(stop), as_double(step));
  if (count < 0) trace::fail("arange", "start, stop and step give no possible length", call_site);
  const DType result = dtype.value_or(is_exact ? DType::kInt64 : DType::kFloat32);
  const Tensor values = call(Op::k_arange, {first, stride}, attributes(count), call_site);
  return values.astype(result, call_site);
}

Tensor arange(Scalar stop, const Location& call_site) { return arange(0, stop, 1, {}, call_site); }

Tensor linspace(Scalar start, Scalar stop, std::int64_t count, bool endpoint, DType dtype, const Location& call_site) {
  const device::DefaultFloatMode mode;
  checked_type(dtype, {count}, "linspace", call_site);
  if (!is_float(dtype)) trace::fail("linspace", cat("makes floats, not ", name_of(dtype)), call_site);
  const Tensor values = call(Op::k_linspace,
                             {trace::scalar_argument(DType::kFloat64, as_double(start), Op::k_linspace, call_site),
                              trace::scalar_argument(DType::kFloat64, as_double(stop), Op::k_linspace, call_site)},
                             attributes(count, endpoint), call_site);
  return values.astype(dtype, call_site);
}

Tensor eye(std::int64_t n_rows, std::optional<std::int64_t> n_cols, std::int64_t k, DType dtype,
           const Location& call_site) {
  return call(Op::k_eye, std::initializer_list<trace::NodeRef>{}, attributes(n_rows, n_cols.value_or(n_rows), k, dtype),
              call_site);
}

Tensor iota(const Dims& shape, std::int64_t axis, DType dtype, const Location& call_site) {
  const std::int64_t at = api::normalize_axis("iota", axis, static_cast<std::int64_t>(shape.size()), call_site);
  return call(Op::k_iota, std::initializer_list<trace::NodeRef>{}, attributes(shape, at, dtype), call_site);
}

namespace random {

Tensor uniform(const Dims& shape, Seed seed, Scalar low, Scalar high, DType dtype, const Location& call_site) {
  return random_floats(Op::k_random_uniform, "random::uniform", shape, dtype, seed, {low, high}, call_site);
}

Tensor normal(const Dims& shape, Seed seed, DType dtype, const Location& call_site) {
  return random_floats(Op::k_random_normal, "random::normal", shape, dtype, seed, {}, call_site);
}

Tensor bits(const Dims& shape, Seed seed, std::int64_t stream, const Location& call_site) {
  return call(Op::k_random_bits, {trace::make_scalar(DType::kUInt64, seed.value)}, attributes(shape, stream),
              call_site);
}

}  // namespace random

}  // namespace tenon
