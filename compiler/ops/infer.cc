// SPDX-License-Identifier: MIT
// The shape and dtype check of one op: `infer`, and the rules of elementwise ops, reductions and matmul. The rules of
// views, structure and creation are in infer_structure.cc.
//
// `infer` runs at every traced call, so the checks that all ops need are table look-ups, and equal shapes are taken
// first. Messages name the op and the types.
#include <algorithm>
#include <array>
#include <limits>

#include "compiler/ir/reduction_order.h"
#include "compiler/ops/infer_rules.h"

namespace tenon {
namespace infer_rules {
namespace {

/// Values a `mode` attribute may take: lowest .. highest.
struct ModeRange {
  std::int64_t lowest, highest;
};
ModeRange mode_range(Op op, std::string_view attribute) {
  if (op == Op::k_pad_mode) return {1, 2};
  if (op == Op::k_reduce && attribute == "kind") return {0, static_cast<std::int64_t>(ReduceKind::argmin)};
  return {0, 1};  // order of reduce, kind of scan, approximate of gelu
}

bool is_axis_list(absl::Span<const std::int64_t> axes, std::int64_t rank) {
  std::int64_t previous = -1;
  for (const std::int64_t axis : axes) {
    if (axis <= previous || axis >= rank) return false;
    previous = axis;
  }
  return true;
}

/// The rank that an op's axis attributes count in.
std::int64_t axis_rank(const Call& call) {
  if (call.op == Op::k_iota) return static_cast<std::int64_t>(call.ints("shape").size());
  const std::int64_t rank = rank_of(call.x());
  return call.op == Op::k_stack ? rank + 1 : rank;
}

absl::Status check_axes(const Call& call, const AttrSpec& spec, absl::Span<const std::int64_t> axes) {
  if (call.operands.empty() && call.op != Op::k_iota) return fail(call, "takes at least one operand");
  if (is_axis_list(axes, axis_rank(call))) return absl::OkStatus();
  const std::string found = spec.type == AttrType::kAxis ? cat(axes[0]) : to_string(axes);
  if (call.operands.empty()) return fail(call, spec.name, " ", found, " is out of range for rank ", axis_rank(call));
  return fail(call, spec.name, " ", found, " is not valid for ", to_string(call.x()));
}

absl::Status check_attribute(const Call& call, const AttrSpec& spec, absl::Span<const std::int64_t> list) {
  const bool is_list = spec.type == AttrType::kInts || spec.type == AttrType::kAxes;
  if (!is_list && list.size() != 1) return fail(call, "attribute ", spec.name, " is not a single value");
  switch (spec.type) {
    case AttrType::kInt:
    case AttrType::kInts:
      return absl::OkStatus();
    case AttrType::kBool:
      if (list[0] == 0 || list[0] == 1) return absl::OkStatus();
      return fail(call, spec.name, " must be false or true");
    case AttrType::kDType:
      if (list[0] >= 0 && list[0] < kNumDTypes) return absl::OkStatus();
      return fail(call, "there is no dtype of number ", list[0]);
    case AttrType::kAxis:
    case AttrType::kAxes:
      return check_axes(call, spec, list);
    case AttrType::kMode: {
      const ModeRange range = mode_range(call.op, spec.name);
      if (list[0] >= range.lowest && list[0] <= range.highest) return absl::OkStatus();
      return fail(call, spec.name, " ", list[0], " is not one of ", range.lowest, " .. ", range.highest);
    }
  }
  return absl::OkStatus();
}

absl::Status check_attributes(const Call& call) {
  for (int i = 0; i < num_attributes(call.op); ++i) {
    if (auto status = check_attribute(call, attribute(call.op, i), call.attrs.list(i)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status check_operand_count(const Call& call) {
  const int least = min_operands(call.op), most = max_operands(call.op);
  const auto count = static_cast<int>(call.operands.size());
  if (count >= least && count <= most) return absl::OkStatus();
  if (least == most) return fail(call, "takes ", least, " operands, not ", count);
  if (most == std::numeric_limits<int>::max()) return fail(call, "takes at least ", least, " operands, not ", count);
  return fail(call, "takes ", least, " to ", most, " operands, not ", count);
}

/// Operands have been through the row's promotion.
absl::Status check_promoted(const Call& call) {
  const Promotion promotion = row_of(call.op).promotion;
  if (promotion != Promotion::floating && promotion != Promotion::boolean) return absl::OkStatus();
  for (const TensorType* operand : call.operands) {
    const bool fits = promotion == Promotion::floating ? is_float(operand->dtype) : operand->dtype == DType::kBool;
    if (fits) continue;
    return fail(call, "takes ", promotion == Promotion::floating ? "floats" : "bool", ", not ", to_string(*operand));
  }
  return absl::OkStatus();
}

absl::Status check_size(const Call& call, absl::Span<const std::int64_t> shape) {
  if (is_possible_shape(shape)) return absl::OkStatus();
  if (shape.size() > kMaxRank) return fail(call, "the result has ", shape.size(), " axes; ", kMaxRank, " are possible");
  const bool is_negative = std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; });
  return fail(call, "the result's shape ", to_string(shape), is_negative ? " has a negative length" : " is too large");
}

using Rule = Result (*)(const Call&);
constexpr std::array<Rule, kNumOps> kRules = {
#define TENON_OP(name, operands, attributes, kind, promotion, result, ...) &infer_##result,
#include "compiler/ops/op_table.def"
#undef TENON_OP
};

/// Ops whose result has the operand's dtype but that have no meaning for bool.
bool is_numeric_only(Op op) {
  switch (op) {
    case Op::k_negative:
    case Op::k_sign:
    case Op::k_square:
    case Op::k_relu:
    case Op::k_subtract:
    case Op::k_floor_divide:
    case Op::k_remainder:
    case Op::k_fmod:
    case Op::k_pow:
    case Op::k_scan:
      return true;
    default:
      return false;
  }
}

absl::Status check_numeric(const Call& call) {
  if (is_numeric_only(call.op) && call.x().dtype == DType::kBool) {
    return fail(call, "is not defined for bool: ", to_string(call.x()));
  }
  return absl::OkStatus();
}

/// weight and bias of a normalisation: dtype of x and the shape of its axes axis..last.
absl::Status check_normalisation(const Call& call) {
  if (!is_float(call.x().dtype)) return fail(call, "takes floats, not ", to_string(call.x()));
  if (auto status = check_0d(call, 1); !status.ok()) return status;
  if (!is_float(call.y().dtype)) return fail(call, "epsilon must be a float, not ", to_string(call.y()));
  const auto axes = absl::MakeConstSpan(call.x().shape).subspan(static_cast<std::size_t>(call.value("axis")));
  for (const TensorType* parameter : call.operands.subspan(2)) {
    if (parameter->dtype == call.x().dtype && absl::MakeConstSpan(parameter->shape) == axes) continue;
    return fail(call, "weight and bias must be ", to_string({call.x().dtype, Shape(axes.begin(), axes.end())}),
                ", not ", to_string(*parameter));
  }
  return absl::OkStatus();
}

/// What ops of rule `same` need besides.
absl::Status check_same(const Call& call) {
  switch (call.op) {
    case Op::k_layer_norm:
    case Op::k_rms_norm:
      return check_normalisation(call);
    case Op::k_tril:
    case Op::k_triu:
      if (rank_of(call.x()) < 2) return fail(call, "takes two axes or more, not ", to_string(call.x()));
      return absl::OkStatus();
    case Op::k_scan:
      if (is_half(call.x().dtype)) return fail(call, "accumulates in float32; ", to_string(call.x()), " must be cast");
      return check_numeric(call);
    default:
      return check_numeric(call);
  }
}

Result broadcast_all(const Call& call, DType dtype) {
  if (call.operands.size() == 2 && call.x().shape == call.y().shape) return TensorType{dtype, call.x().shape};
  Shape shape = call.x().shape;
  for (const TensorType* operand : call.operands.subspan(1)) {
    Shape joined;
    if (!broadcast(shape, operand->shape, &joined)) {
      std::string types;
      for (const TensorType* t : call.operands) types += cat(types.empty() ? "" : " and ", to_string(*t));
      return fail(call, "shapes ", types, " do not broadcast");
    }
    shape = std::move(joined);
  }
  return TensorType{dtype, std::move(shape)};
}

/// x's shape without the axes, or with them as lengths 1.
Shape reduced_shape(const Call& call, absl::Span<const std::int64_t> axes, bool keepdims) {
  Shape shape;
  std::size_t next = 0;
  for (std::int64_t i = 0; i < rank_of(call.x()); ++i) {
    if (next < axes.size() && axes[next] == i) {
      ++next;
      if (keepdims) shape.push_back(1);
    } else {
      shape.push_back(call.x().shape[static_cast<std::size_t>(i)]);
    }
  }
  return shape;
}

Result reduced(const Call& call, DType dtype) {
  return TensorType{dtype, reduced_shape(call, call.ints("axis"), call.value("keepdims") != 0)};
}

/// max, min, argmax, argmin need an element for each result.
absl::Status check_nonempty(const Call& call, absl::Span<const std::int64_t> axes) {
  for (const std::int64_t axis : axes) {
    if (call.x().shape[static_cast<std::size_t>(axis)] == 0) {
      return fail(call, "axis ", axis, " of ", to_string(call.x()), " has no elements");
    }
  }
  return absl::OkStatus();
}

absl::Status no_product(const Call& call) {
  return fail(call, "shapes ", to_string(call.x()), " and ", to_string(call.y()), " have no matrix product");
}

}  // namespace

bool broadcast(absl::Span<const std::int64_t> a, absl::Span<const std::int64_t> b, Shape* out) {
  if (a.size() < b.size()) std::swap(a, b);
  out->assign(a.begin(), a.end());
  const std::size_t lead = a.size() - b.size();
  for (std::size_t i = 0; i < b.size(); ++i) {
    std::int64_t& extent = (*out)[lead + i];
    if (extent == b[i] || b[i] == 1) continue;
    if (extent != 1) return false;
    extent = b[i];
  }
  return true;
}

bool broadcasts_to(absl::Span<const std::int64_t> from, absl::Span<const std::int64_t> to) {
  Shape joined;
  return broadcast(from, to, &joined) && absl::MakeConstSpan(joined) == to;
}

absl::Status check_equal_dtypes(const Call& call, std::size_t first) {
  for (std::size_t i = first + 1; i < call.operands.size(); ++i) {
    if (call.operands[i]->dtype == call.operands[first]->dtype) continue;
    return fail(call, "dtypes of ", to_string(*call.operands[first]), " and ", to_string(*call.operands[i]), " differ");
  }
  return absl::OkStatus();
}

absl::Status check_0d(const Call& call, std::size_t i) {
  if (call.operands[i]->shape.empty()) return absl::OkStatus();
  return fail(call, "operand ", i, " must be 0-d, not ", to_string(*call.operands[i]));
}

Result infer_leaf(const Call& call) { return fail(call, "the type of a leaf is given, not inferred"); }

Result infer_same(const Call& call) {
  if (auto status = check_same(call); !status.ok()) return status;
  return call.x();
}

Result infer_predicate(const Call& call) { return TensorType{DType::kBool, call.x().shape}; }

Result infer_integral(const Call& call) {
  const DType dtype = call.x().dtype;
  const bool takes_bool = call.op == Op::k_bitwise_and || call.op == Op::k_bitwise_or || call.op == Op::k_bitwise_xor;
  if (!is_int(dtype) && !(takes_bool && dtype == DType::kBool)) {
    return fail(call, "takes integers", takes_bool ? " or bool" : "", ", not ", to_string(call.x()));
  }
  if (auto status = check_equal_dtypes(call); !status.ok()) return status;
  return broadcast_all(call, dtype);
}

Result infer_cast(const Call& call) { return TensorType{call.dtype(), call.x().shape}; }

Result infer_arithmetic(const Call& call) {
  if (auto status = check_equal_dtypes(call); !status.ok()) return status;
  if (auto status = check_numeric(call); !status.ok()) return status;
  return broadcast_all(call, call.x().dtype);
}

Result infer_compare(const Call& call) {
  if (auto status = check_equal_dtypes(call); !status.ok()) return status;
  return broadcast_all(call, DType::kBool);
}

Result infer_where(const Call& call) {
  if (call.x().dtype != DType::kBool) return fail(call, "the condition must be bool, not ", to_string(call.x()));
  if (auto status = check_equal_dtypes(call, 1); !status.ok()) return status;
  return broadcast_all(call, call.y().dtype);
}

Result infer_reduce(const Call& call) {
  const bool needs_elements = call.op == Op::k_max || call.op == Op::k_min || call.op == Op::k_logsumexp;
  if (needs_elements) {
    if (auto status = check_nonempty(call, call.ints("axis")); !status.ok()) return status;
  }
  return reduced(call, call.x().dtype);
}

Result infer_reduce_sum(const Call& call) {
  if (call.dtype() == DType::kBool) return fail(call, "the result cannot be bool");
  return reduced(call, call.dtype());
}

Result infer_reduce_arg(const Call& call) {
  if (call.op != Op::k_count_nonzero) {
    const auto axes = call.ints("axis");
    if (auto status = check_nonempty(call, axes); !status.ok()) return status;
    if (axes.size() != 1 && axes.size() != call.x().shape.size()) {
      return fail(call, "takes one axis or all of ", to_string(call.x()), ", not ", to_string(axes));
    }
  }
  return reduced(call, DType::kInt64);
}

Result infer_reduce_one(const Call& call) {
  const auto kind = static_cast<ReduceKind>(call.value("kind"));
  const bool adds = kind == ReduceKind::sum || kind == ReduceKind::prod;
  const DType dtype = call.x().dtype;
  if (adds && (is_half(dtype) || dtype == DType::kBool)) {
    return fail(call, name_of(kind), " has no accumulator of ", name_of(dtype), "; ", to_string(call.x()),
                " must be cast");
  }
  if (!adds) {
    if (auto status = check_nonempty(call, call.ints("axis")); !status.ok()) return status;
  }
  return TensorType{reduced_dtype(kind, dtype), reduced_shape(call, call.ints("axis"), false)};
}

Result infer_scan_sum(const Call& call) {
  if (call.dtype() == DType::kBool) return fail(call, "the result cannot be bool");
  return TensorType{call.dtype(), call.x().shape};
}

Result infer_matmul(const Call& call) {
  if (auto status = check_equal_dtypes(call); !status.ok()) return status;
  if (call.x().dtype == DType::kBool) return fail(call, "is not defined for bool: ", to_string(call.x()));
  absl::Span<const std::int64_t> a = call.x().shape, b = call.y().shape;
  if (a.empty() || b.empty()) return no_product(call);
  const bool a_is_vector = a.size() == 1, b_is_vector = b.size() == 1;
  if (a.back() != b[b_is_vector ? 0 : b.size() - 2]) return no_product(call);
  Shape shape;
  const auto a_batch = a.first(a_is_vector ? 0 : a.size() - 2), b_batch = b.first(b_is_vector ? 0 : b.size() - 2);
  if (!broadcast(a_batch, b_batch, &shape)) return no_product(call);
  if (!a_is_vector) shape.push_back(a[a.size() - 2]);
  if (!b_is_vector) shape.push_back(b.back());
  return TensorType{call.x().dtype, std::move(shape)};
}

}  // namespace infer_rules

absl::StatusOr<TensorType> infer(Op op, absl::Span<const TensorType* const> operands, const Attrs& attrs) {
  using namespace infer_rules;
  const Call call{op, operands, attrs};
  if (auto status = check_operand_count(call); !status.ok()) return status;
  if (auto status = check_promoted(call); !status.ok()) return status;
  if (auto status = check_attributes(call); !status.ok()) return status;
  Result result = kRules[static_cast<std::size_t>(op)](call);
  if (!result.ok() || (operands.size() == 1 && result->shape == operands[0]->shape)) return result;
  if (operands.size() == 2 && result->shape == operands[0]->shape) return result;
  if (auto status = check_size(call, result->shape); !status.ok()) return status;
  return result;
}

}  // namespace tenon
