// SPDX-License-Identifier: MIT
// The shape and dtype rules of views, of ops that move elements, and of creation.
//
// Attributes come normalised: axes count from 0; the start of a slice is the index of its first element.
#include <algorithm>

#include "compiler/ops/infer_rules.h"

namespace tenon::infer_rules {
namespace {

absl::Status check_length(const Call& call, std::string_view attribute, std::int64_t rank) {
  const auto found = static_cast<std::int64_t>(call.ints(attribute).size());
  if (found == rank) return absl::OkStatus();
  return fail(call, attribute, " has ", found, " entries for ", to_string(call.x()));
}

/// All elements of the slice lie in x.
absl::Status check_slice(const Call& call) {
  for (const std::string_view name : {"starts", "lengths", "steps"}) {
    if (auto status = check_length(call, name, rank_of(call.x())); !status.ok()) return status;
  }
  const auto starts = call.ints("starts"), lengths = call.ints("lengths"), steps = call.ints("steps");
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t extent = call.x().shape[i];
    if (lengths[i] < 0 || steps[i] == 0) return fail(call, "axis ", i, " has a negative length or a step of 0");
    if (lengths[i] == 0) continue;
    std::int64_t last = 0;
    const bool overflows =
        __builtin_mul_overflow(lengths[i] - 1, steps[i], &last) || __builtin_add_overflow(last, starts[i], &last);
    if (overflows || std::min(starts[i], last) < 0 || std::max(starts[i], last) >= extent) {
      return fail(call, "start ", starts[i], ", length ", lengths[i], " and step ", steps[i], " leave axis ", i, " of ",
                  to_string(call.x()));
    }
  }
  return absl::OkStatus();
}

bool is_permutation(absl::Span<const std::int64_t> axes) {
  Shape sorted(axes.begin(), axes.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

Shape shape_attribute(const Call& call, std::string_view name = "shape") {
  const auto list = call.ints(name);
  return Shape(list.begin(), list.end());
}

/// Padding by x's own elements needs enough of them.
absl::Status check_pad_mode(const Call& call) {
  const bool reflects = call.value("mode") == 1;
  const auto before = call.ints("before"), after = call.ints("after");
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::int64_t extent = call.x().shape[i], most = std::max(before[i], after[i]);
    if (most > 0 && (extent == 0 || (reflects && most >= extent))) {
      return fail(call, "axis ", i, " of ", to_string(call.x()), " is too short for a padding of ", most);
    }
  }
  return absl::OkStatus();
}

absl::Status check_indices(const Call& call) {
  if (is_int(call.y().dtype)) return absl::OkStatus();
  return fail(call, "indices must be integers, not ", to_string(call.y()));
}

absl::Status check_source(const Call& call, std::size_t axis, const Shape& result) {
  if (call.x().shape[axis] > 0 || numel(result) == 0) return absl::OkStatus();
  return fail(call, "axis ", axis, " of ", to_string(call.x()), " has no elements to take");
}

}  // namespace

Result infer_reshape(const Call& call) {
  Shape shape = shape_attribute(call);
  std::int64_t known = 1, unknown = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && unknown < 0) {
      unknown = static_cast<std::int64_t>(i);
    } else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known)) {
      return fail(call, to_string(shape), " is not a shape");
    }
  }
  const std::int64_t count = numel(call.x().shape);
  if (unknown >= 0 && known > 0 && count % known == 0) {
    shape[static_cast<std::size_t>(unknown)] = count / known;
    return TensorType{call.x().dtype, std::move(shape)};
  }
  if (unknown >= 0 || known != count) {
    return fail(call, to_string(call.x()), " has ", count, " elements and cannot have shape ", to_string(shape));
  }
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_permute_dims(const Call& call) {
  const auto axes = call.ints("axes");
  if (axes.size() != call.x().shape.size() || !is_permutation(axes)) {
    return fail(call, "axes ", to_string(axes), " are not a permutation of the axes of ", to_string(call.x()));
  }
  Shape shape;
  for (const std::int64_t axis : axes) shape.push_back(call.x().shape[static_cast<std::size_t>(axis)]);
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_broadcast_to(const Call& call) {
  Shape shape = shape_attribute(call);
  if (!broadcasts_to(call.x().shape, shape)) {
    return fail(call, to_string(call.x()), " does not broadcast to ", to_string(shape));
  }
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_slice(const Call& call) {
  if (auto status = check_slice(call); !status.ok()) return status;
  return TensorType{call.x().dtype, shape_attribute(call, "lengths")};
}

Result infer_expand_dims(const Call& call) {
  const auto axes = call.ints("axes");
  Shape shape(call.x().shape.size() + axes.size(), -1);
  for (const std::int64_t axis : axes) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size()) || shape[static_cast<std::size_t>(axis)] == 1) {
      return fail(call, "axes ", to_string(axes), " are not distinct axes of a result of rank ", shape.size());
    }
    shape[static_cast<std::size_t>(axis)] = 1;
  }
  auto extent = call.x().shape.begin();
  for (std::int64_t& slot : shape) {
    if (slot == -1) slot = *extent++;
  }
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_squeeze(const Call& call) {
  const auto axes = call.ints("axes");
  Shape shape;
  for (std::size_t i = 0; i < call.x().shape.size(); ++i) {
    const std::int64_t extent = call.x().shape[i];
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(i))) {
      shape.push_back(extent);
    } else if (extent != 1) {
      return fail(call, "axis ", i, " of ", to_string(call.x()), " has a length other than 1");
    }
  }
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_transpose(const Call& call) {
  if (rank_of(call.x()) < 2) return fail(call, "takes two axes or more, not ", to_string(call.x()));
  Shape shape = call.x().shape;
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_tile(const Call& call) {
  Shape times = shape_attribute(call, "repetitions");
  Shape shape = call.x().shape;
  while (times.size() < shape.size()) times.insert(times.begin(), 1);
  while (shape.size() < times.size()) shape.insert(shape.begin(), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (times[i] < 0 || __builtin_mul_overflow(shape[i], times[i], &shape[i])) {
      return fail(call, "repetitions ", to_string(times), " of ", to_string(call.x()), " are out of range");
    }
  }
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_concat(const Call& call) {
  if (auto status = check_equal_dtypes(call); !status.ok()) return status;
  const auto axis = static_cast<std::size_t>(call.value("axis"));
  Shape shape = call.x().shape;
  for (const TensorType* operand : call.operands.subspan(1)) {
    Shape expected = shape;
    if (operand->shape.size() == shape.size()) expected[axis] = operand->shape[axis];
    if (operand->shape != expected || __builtin_add_overflow(shape[axis], operand->shape[axis], &shape[axis])) {
      return fail(call, "shapes ", to_string(call.x()), " and ", to_string(*operand), " differ outside axis ", axis);
    }
  }
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_stack(const Call& call) {
  if (auto status = check_equal_dtypes(call); !status.ok()) return status;
  for (const TensorType* operand : call.operands) {
    if (operand->shape == call.x().shape) continue;
    return fail(call, "shapes ", to_string(call.x()), " and ", to_string(*operand), " differ");
  }
  Shape shape = call.x().shape;
  shape.insert(shape.begin() + call.value("axis"), static_cast<std::int64_t>(call.operands.size()));
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_pad(const Call& call) {
  if (call.op == Op::k_pad) {
    if (auto status = check_equal_dtypes(call); !status.ok()) return status;
    if (auto status = check_0d(call, 1); !status.ok()) return status;
  }
  for (const std::string_view name : {"before", "after"}) {
    if (auto status = check_length(call, name, rank_of(call.x())); !status.ok()) return status;
  }
  const auto before = call.ints("before"), after = call.ints("after");
  Shape shape = call.x().shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (before[i] < 0 || after[i] < 0) return fail(call, "a padding of axis ", i, " is negative");
    if (__builtin_add_overflow(shape[i], before[i], &shape[i]) ||
        __builtin_add_overflow(shape[i], after[i], &shape[i])) {
      return fail(call, "the padding of axis ", i, " is out of range");
    }
  }
  if (call.op == Op::k_pad_mode) {
    if (auto status = check_pad_mode(call); !status.ok()) return status;
  }
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_take(const Call& call) {
  if (auto status = check_indices(call); !status.ok()) return status;
  const auto axis = static_cast<std::size_t>(call.value("axis"));
  Shape shape = call.x().shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), call.y().shape.begin(), call.y().shape.end());
  if (auto status = check_source(call, axis, shape); !status.ok()) return status;
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_take_along_axis(const Call& call) {
  if (auto status = check_indices(call); !status.ok()) return status;
  const auto axis = static_cast<std::size_t>(call.value("axis"));
  Shape source = call.x().shape, shape;
  if (call.y().shape.size() == source.size()) source[axis] = call.y().shape[axis];
  if (call.y().shape.size() != source.size() || !broadcast(source, call.y().shape, &shape)) {
    return fail(call, "indices ", to_string(call.y()), " do not fit ", to_string(call.x()), " outside axis ", axis);
  }
  if (auto status = check_source(call, axis, shape); !status.ok()) return status;
  return TensorType{call.x().dtype, std::move(shape)};
}

Result infer_slice_update(const Call& call) {
  if (auto status = check_equal_dtypes(call); !status.ok()) return status;
  if (auto status = check_slice(call); !status.ok()) return status;
  if (!broadcasts_to(call.y().shape, call.ints("lengths"))) {
    return fail(call, to_string(call.y()), " does not broadcast to the slice ", to_string(call.ints("lengths")));
  }
  return call.x();
}

Result infer_dynamic_slice(const Call& call) {
  if (auto status = check_length(call, "lengths", rank_of(call.x())); !status.ok()) return status;
  if (call.operands.size() != 1 + call.x().shape.size()) {
    return fail(call, "takes one start for each axis of ", to_string(call.x()), ", not ", call.operands.size() - 1);
  }
  for (const TensorType* start : call.operands.subspan(1)) {
    if (start->dtype == DType::kInt64 && start->shape.empty()) continue;
    return fail(call, "starts must be int64[], not ", to_string(*start));
  }
  Shape lengths = shape_attribute(call, "lengths");
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] >= 0 && lengths[i] <= call.x().shape[i]) continue;
    return fail(call, "length ", lengths[i], " is out of range for axis ", i, " of ", to_string(call.x()));
  }
  return TensorType{call.x().dtype, std::move(lengths)};
}

Result infer_one_hot(const Call& call) {
  if (!is_int(call.x().dtype)) return fail(call, "takes integers, not ", to_string(call.x()));
  Shape shape = call.x().shape;
  shape.push_back(call.value("classes"));
  return TensorType{call.dtype(), std::move(shape)};
}

Result infer_full(const Call& call) {
  if (auto status = check_0d(call, 0); !status.ok()) return status;
  return TensorType{call.x().dtype, shape_attribute(call)};
}

Result infer_create(const Call& call) {
  if (call.dtype() == DType::kBool) return fail(call, "the result cannot be bool");
  return TensorType{call.dtype(), shape_attribute(call)};
}

Result infer_arange(const Call& call) {
  if (auto status = check_equal_dtypes(call); !status.ok()) return status;
  for (std::size_t i = 0; i < 2; ++i) {
    if (auto status = check_0d(call, i); !status.ok()) return status;
  }
  if (call.x().dtype == DType::kBool) return fail(call, "the result cannot be bool");
  return TensorType{call.x().dtype, {call.value("length")}};
}

Result infer_eye(const Call& call) { return TensorType{call.dtype(), {call.value("n_rows"), call.value("n_cols")}}; }

Result infer_random_bits(const Call& call) {
  if (auto status = check_0d(call, 0); !status.ok()) return status;
  if (call.x().dtype != DType::kUInt64) return fail(call, "the seed must be uint64, not ", to_string(call.x()));
  const std::int64_t stream = call.value("stream");
  if (stream < 0 || stream > 3) return fail(call, "stream ", stream, " is not one of 0 .. 3");
  return TensorType{DType::kUInt32, shape_attribute(call)};
}

Result infer_random(const Call& call) {
  if (call.x().dtype != DType::kUInt64) return fail(call, "the seed must be uint64, not ", to_string(call.x()));
  if (!is_float(call.dtype())) return fail(call, "makes floats, not ", name_of(call.dtype()));
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (auto status = check_0d(call, i); !status.ok()) return status;
    if (i > 0 && !is_float(call.operands[i]->dtype)) {
      return fail(call, "bounds must be floats, not ", to_string(*call.operands[i]));
    }
  }
  return TensorType{call.dtype(), shape_attribute(call)};
}

}  // namespace tenon::infer_rules
