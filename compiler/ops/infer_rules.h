// SPDX-License-Identifier: MIT
// What the shape and dtype rules of infer.cc and infer_structure.cc share: a rule a `result` name of the op table.
//
// A rule is called with the operand count, dtype class (column `promotion`) and the form of the attributes checked; it
// checks the rest and gives the result's type. Nothing here allocates unless a check fails.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/text.h"

namespace tenon::infer_rules {

/// One call of `infer`.
struct Call {
  Op op;
  absl::Span<const TensorType* const> operands;
  const Attrs& attrs;

  const TensorType& x() const { return *operands[0]; }
  const TensorType& y() const { return *operands[1]; }
  absl::Span<const std::int64_t> ints(std::string_view name) const { return attrs.list(attribute_index(op, name)); }
  std::int64_t value(std::string_view name) const { return attrs.value(attribute_index(op, name)); }
  DType dtype() const { return static_cast<DType>(value("dtype")); }
};

using Result = absl::StatusOr<TensorType>;

/// InvalidArgument "<op>: <parts>".
template <class... Parts>
absl::Status fail(const Call& call, const Parts&... parts) {
  return absl::InvalidArgumentError(cat(name_of(call.op), ": ", parts...));
}

inline std::int64_t rank_of(const TensorType& type) { return static_cast<std::int64_t>(type.shape.size()); }

/// The shape that a and b broadcast to by NumPy's rule; false when they do not.
bool broadcast(absl::Span<const std::int64_t> a, absl::Span<const std::int64_t> b, Shape* out);
/// True when `from` can be broadcast to exactly `to`.
bool broadcasts_to(absl::Span<const std::int64_t> from, absl::Span<const std::int64_t> to);

/// OK when all operands from `first` on have one dtype.
absl::Status check_equal_dtypes(const Call& call, std::size_t first = 0);
/// OK when operand i is 0-d.
absl::Status check_0d(const Call& call, std::size_t i);

#define TENON_RULE(name) Result infer_##name(const Call& call)
TENON_RULE(leaf);
TENON_RULE(same);
TENON_RULE(predicate);
TENON_RULE(integral);
TENON_RULE(cast);
TENON_RULE(arithmetic);
TENON_RULE(compare);
TENON_RULE(where);
TENON_RULE(reduce);
TENON_RULE(reduce_sum);
TENON_RULE(reduce_arg);
TENON_RULE(reduce_one);
TENON_RULE(scan_sum);
TENON_RULE(matmul);
TENON_RULE(reshape);
TENON_RULE(permute_dims);
TENON_RULE(broadcast_to);
TENON_RULE(slice);
TENON_RULE(expand_dims);
TENON_RULE(squeeze);
TENON_RULE(transpose);
TENON_RULE(tile);
TENON_RULE(concat);
TENON_RULE(stack);
TENON_RULE(pad);
TENON_RULE(take);
TENON_RULE(take_along_axis);
TENON_RULE(slice_update);
TENON_RULE(dynamic_slice);
TENON_RULE(one_hot);
TENON_RULE(full);
TENON_RULE(create);
TENON_RULE(arange);
TENON_RULE(eye);
TENON_RULE(random_bits);
TENON_RULE(random);
#undef TENON_RULE

}  // namespace tenon::infer_rules
