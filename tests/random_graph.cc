// SPDX-License-Identifier: MIT
// See random_graph.h. Each step picks an op whose operands can be found (or made by casts and views) among the values.
#include "tests/random_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "compiler/ops/graph_builder.h"

namespace tenon::testing {
namespace {

constexpr std::int64_t kExtents[] = {0, 1, 1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 31, 33, 64, 130};
constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat32,  DType::kFloat32, DType::kInt32, DType::kBool,
                             DType::kInt64,   DType::kBFloat16, DType::kFloat16, DType::kUInt8, DType::kFloat64};
constexpr std::int64_t kMaxElements = 6000;

template <class T, std::size_t N>
T pick_of(std::mt19937_64& rng, const T (&list)[N]) {
  return list[rng() % N];
}

std::uint64_t random_bits(std::mt19937_64& rng, DType dtype) {
  static constexpr double kSpecial[] = {0.0, -0.0, 1.0, -1.0, 0.5, INFINITY, -INFINITY, NAN, 1e-40, 3e38, -2.5, 100};
  if (dtype == DType::kBool) return rng() % 2;
  if (is_float(dtype)) {
    const double v = rng() % 8 == 0 ? pick_of(rng, kSpecial) : std::normal_distribution<double>(0, 3)(rng);
    return bits_of(dtype, v);
  }
  const std::int64_t small = static_cast<std::int64_t>(rng() % 21) - (is_signed_int(dtype) ? 10 : 0);
  return bits_of(dtype, rng() % 10 == 0 ? static_cast<std::int64_t>(rng()) : small);
}

HostTensor random_tensor(std::mt19937_64& rng, const TensorType& type) {
  HostTensor value;
  value.type = type;
  const std::size_t size = size_of(type.dtype);
  value.data.resize(static_cast<std::size_t>(numel(type.shape)) * size);
  for (std::size_t at = 0; at < value.data.size(); at += size) {
    const std::uint64_t bits = random_bits(rng, type.dtype);
    std::memcpy(&value.data[at], &bits, size);
  }
  return value;
}

class Maker {
 public:
  Maker(std::uint64_t seed, int max_ops) : rng_(seed), max_ops_(max_ops) {}

  RandomProgram run() {
    const int inputs = 1 + below(3);
    for (int i = 0; i < inputs; ++i) add_input();
    if (below(3) == 0) add_scalar();
    const int ops = 1 + below(max_ops_);
    for (int i = 0; i < ops; ++i) add_op();
    choose_outputs();
    out_.graph = builder_.graph();
    return std::move(out_);
  }

 private:
  int below(int n) { return static_cast<int>(rng_() % static_cast<unsigned>(n)); }
  template <class T, std::size_t N>
  T pick(const T (&list)[N]) {
    return pick_of(rng_, list);
  }
  const TensorType& type(NodeId id) { return builder_.graph().node(id).type; }
  NodeId any() { return values_[static_cast<std::size_t>(below(static_cast<int>(values_.size())))]; }

  Shape random_shape() {
    Shape shape;
    for (int rank = below(4); rank > 0; --rank) shape.push_back(pick(kExtents));
    while (numel(shape) > kMaxElements) shape.pop_back();
    return shape;
  }

  void add_input() {
    Node node;
    node.op = Op::k_input;
    node.type = {pick(kDTypes), random_shape()};
    node.attrs.append(static_cast<std::int64_t>(out_.inputs.size()));
    out_.inputs.push_back(random_tensor(rng_, node.type));
    const NodeId id = builder_.append_copy(node, {});
    builder_.graph().inputs.push_back(id);
    builder_.graph().layouts.push_back({});
    values_.push_back(id);
  }

  void add_scalar() {
    Node node;
    node.op = Op::k_scalar;
    node.type.dtype = pick(kDTypes);
    node.attrs.append(static_cast<std::int64_t>(out_.scalars.size()));
    out_.scalars.push_back(random_bits(rng_, node.type.dtype));
    const NodeId id = builder_.append_copy(node, {});
    builder_.graph().scalars.push_back(id);
    values_.push_back(id);
  }

  /// Appends if the op's own check accepts it and the result is small enough.
  bool try_append(Op op, absl::Span<const NodeId> operands, Attrs attrs = {}) {
    absl::InlinedVector<const TensorType*, 4> types;
    for (NodeId id : operands) types.push_back(&type(id));
    absl::StatusOr<TensorType> result = infer(op, types, attrs);
    if (!result.ok() || numel(result->shape) > kMaxElements) return false;
    values_.push_back(builder_.append(op, operands, std::move(attrs)));
    return true;
  }

  NodeId as_dtype(NodeId id, DType dtype) {
    if (type(id).dtype == dtype) return id;
    Attrs attrs;
    attrs.append(static_cast<std::int64_t>(dtype));
    return builder_.append(Op::k_cast, {id}, std::move(attrs));
  }

  void add_op() {
    for (int tries = 0; tries < 20; ++tries) {
      const Op op = static_cast<Op>(below(kNumOps));
      const OpRow& row = row_of(op);
      if (row.form == OpForm::internal || row.kind == OpKind::leaf) continue;
      if (try_op(op, row)) return;
    }
  }

  bool try_op(Op op, const OpRow& row) {
    if (row.attributes.empty()) return try_plain(op, row);
    if (row.operands == "x" || row.operands == "x indices" || row.operands == "x y") return try_attributed(op, row);
    return try_special(op);
  }

  NodeId promoted(NodeId id, const OpRow& row) {
    if (row.promotion == Promotion::boolean) return as_dtype(id, DType::kBool);
    if (row.promotion == Promotion::floating && !is_float(type(id).dtype)) return as_dtype(id, DType::kFloat32);
    return id;
  }

  bool try_plain(Op op, const OpRow& row) {
    const auto count = 1 + std::count(row.operands.begin(), row.operands.end(), ' ');
    const NodeId x = promoted(any(), row);
    if (count == 1) return try_append(op, {x});
    if (row.result == "where")
      return try_append(op, {as_dtype(any(), DType::kBool), x, as_dtype(any(), type(x).dtype)});
    const NodeId y = as_dtype(any(), type(x).dtype);
    if (count == 2) return try_append(op, {x, y});
    return try_append(op, {x, y, as_dtype(any(), type(x).dtype)});
  }

  Shape random_axes(int rank) {
    Shape axes;
    for (int a = 0; a < rank; ++a) {
      if (below(2)) axes.push_back(a);
    }
    return axes;
  }

  bool try_attributed(Op op, const OpRow& row) {
    const NodeId x = promoted(any(), row);
    const int rank = static_cast<int>(type(x).shape.size());
    const bool has_axis = attribute_index(op, "axis") >= 0;
    if (op == Op::k_take || op == Op::k_take_along_axis) {
      if (rank == 0) return false;
      Attrs attrs;
      attrs.append(below(rank));
      return try_append(op, {x, as_dtype(any(), DType::kInt64)}, std::move(attrs));
    }
    switch (op) {
      case Op::k_cast: {
        Attrs attrs;
        attrs.append(static_cast<std::int64_t>(pick(kDTypes)));
        return try_append(op, {x}, std::move(attrs));
      }
      case Op::k_gelu: {
        Attrs attrs;
        attrs.append(below(2));
        return try_append(op, {x}, std::move(attrs));
      }
      case Op::k_reshape:
        return try_reshape(x);
      case Op::k_permute_dims: {
        Shape axes(static_cast<std::size_t>(rank));
        for (int a = 0; a < rank; ++a) axes[static_cast<std::size_t>(a)] = a;
        std::shuffle(axes.begin(), axes.end(), rng_);
        return try_append(op, {x}, Attrs{axes});
      }
      case Op::k_broadcast_to: {
        Shape shape = type(x).shape;
        for (auto& extent : shape) extent = extent == 1 ? pick(kExtents) : extent;
        if (below(2)) shape.insert(shape.begin(), pick(kExtents));
        return try_append(op, {x}, Attrs{shape});
      }
      case Op::k_slice:
        return try_slice(x);
      case Op::k_flip:
        return try_append(op, {x}, Attrs{random_axes(rank)});
      case Op::k_tril:
      case Op::k_triu: {
        Attrs attrs;
        attrs.append(below(5) - 2);
        return try_append(op, {x}, std::move(attrs));
      }
      default:
        break;
    }
    if (!has_axis) return try_drawn(op);
    return rank > 0 && try_axis_op(op, x, rank);
  }

  bool try_axis_op(Op op, NodeId x, int rank) {
    Attrs attrs;
    const bool one_axis =
        row_of(op).attributes.find("axis:axis ") != std::string_view::npos || row_of(op).attributes == "axis:axis";
    const bool is_arg = op == Op::k_argmax || op == Op::k_argmin;
    if (one_axis || is_arg) {
      attrs.append(below(rank));
    } else {
      attrs.append(random_axes(rank));
    }
    if (attribute_index(op, "keepdims") >= 0) attrs.append(below(2));
    if (attribute_index(op, "dtype") >= 0) {
      const DType own = type(x).dtype;
      const DType result = is_float(own) ? own : is_unsigned_int(own) ? DType::kUInt64 : DType::kInt64;
      attrs.append(static_cast<std::int64_t>(result));
    }
    if (attribute_index(op, "correction") >= 0) attrs.append(below(2));
    return try_append(op, {x}, std::move(attrs));
  }

  bool try_reshape(NodeId x) {
    Shape shape;
    std::int64_t rest = numel(type(x).shape);
    if (rest == 0) return try_append(Op::k_reshape, {x}, Attrs{Shape{0, pick(kExtents)}});
    for (int tries = 0; tries < 3; ++tries) {
      const std::int64_t f = pick(kExtents);
      if (f > 0 && rest % f == 0) {
        shape.push_back(f);
        rest /= f;
      }
    }
    shape.push_back(rest);
    std::shuffle(shape.begin(), shape.end(), rng_);
    return try_append(Op::k_reshape, {x}, Attrs{shape});
  }

  struct SliceAttrs {
    Shape starts, lengths, steps;
  };

  SliceAttrs random_slice(const Shape& shape) {
    SliceAttrs s;
    for (std::int64_t extent : shape) {
      const std::int64_t step = 1 + below(3);
      const std::int64_t start = extent > 0 ? below(static_cast<int>(extent)) : 0;
      std::int64_t length = extent > 0 ? (extent - start + step - 1) / step : 0;
      if (length > 0 && below(3) == 0) length = below(static_cast<int>(length) + 1);
      const bool reversed = below(4) == 0 && length > 0;
      s.starts.push_back(reversed ? start + (length - 1) * step : start);
      s.lengths.push_back(length);
      s.steps.push_back(reversed ? -step : step);
    }
    return s;
  }

  bool try_slice(NodeId x) {
    const SliceAttrs s = random_slice(type(x).shape);
    return try_append(Op::k_slice, {x}, Attrs{s.starts, s.lengths, s.steps});
  }

  bool try_special(Op op) {
    const NodeId x = any();
    const Shape shape = type(x).shape;
    const int rank = static_cast<int>(shape.size());
    switch (op) {
      case Op::k_concat: {
        if (rank == 0) return false;
        Attrs attrs;
        attrs.append(below(rank));
        return try_append(op, {x, as_dtype(any(), type(x).dtype), x}, std::move(attrs));
      }
      case Op::k_stack: {
        Attrs attrs;
        attrs.append(below(rank + 1));
        return try_append(op, {x, x}, std::move(attrs));
      }
      case Op::k_pad: {
        Shape before, after;
        for (int a = 0; a < rank; ++a) {
          before.push_back(below(3));
          after.push_back(below(3));
        }
        const NodeId value = builder_.constant(type(x).dtype, std::int64_t{1});
        return try_append(op, {x, value}, Attrs{before, after});
      }
      case Op::k_slice_update: {
        const SliceAttrs s = random_slice(shape);
        const NodeId v = as_dtype(any(), type(x).dtype);
        return try_append(op, {x, v}, Attrs{s.starts, s.lengths, s.steps}) ||
               try_append(op, {x, builder_.constant(type(x).dtype, std::int64_t{2})},
                          Attrs{s.starts, s.lengths, s.steps});
      }
      case Op::k_iota: {
        if (rank == 0) return false;
        Attrs attrs;
        attrs.append(shape);
        attrs.append(below(rank));
        attrs.append(static_cast<std::int64_t>(pick(kDTypes)));
        return try_append(op, {}, std::move(attrs));
      }
      case Op::k_random_bits: {
        Attrs attrs;
        attrs.append(shape);
        attrs.append(below(3));
        return try_append(op, {builder_.constant(DType::kUInt64, static_cast<std::int64_t>(rng_()))}, std::move(attrs));
      }
      case Op::k_random_uniform:
      case Op::k_random_normal: {
        const DType dtype = below(2) ? DType::kFloat32 : DType::kFloat64;
        Attrs attrs;
        attrs.append(shape);
        attrs.append(static_cast<std::int64_t>(dtype));
        const NodeId seed = builder_.constant(DType::kUInt64, static_cast<std::int64_t>(rng_()));
        if (op == Op::k_random_normal) return try_append(op, {seed}, std::move(attrs));
        return try_append(op, {seed, builder_.constant(dtype, -1.0), builder_.constant(dtype, 2.0)}, std::move(attrs));
      }
      default:
        return try_drawn(op);
    }
  }

  /// An operand of nobody knows which op: any value, the first operand again (most ops want equal types), or a number.
  NodeId any_operand(const std::vector<NodeId>& before) {
    const int choice = below(before.empty() ? 2 : 3);
    if (choice == 0) return any();
    if (choice == 2) return before[0];
    const DType dtype = !before.empty() && below(2) ? type(before[0]).dtype : pick(kDTypes);
    return builder_.constant(dtype, std::int64_t{below(9)} - 2);
  }

  Shape any_list(std::string_view name, const Shape& x) {
    if (name == "shape") return random_shape();
    Shape list = x;
    for (std::size_t axis = 0; axis < list.size() && (name != "lengths" || below(2)); ++axis) list[axis] = 1 + below(2);
    return list;
  }

  Attrs any_attrs(Op op, const Shape& x) {
    Attrs attrs;
    for (int i = 0; i < num_attributes(op); ++i) {
      const AttrSpec& spec = attribute(op, i);
      if (spec.type == AttrType::kInts) {
        attrs.append(any_list(spec.name, x));
      } else if (spec.type == AttrType::kAxes) {
        attrs.append(random_axes(static_cast<int>(x.size())));
      } else if (spec.type == AttrType::kDType) {
        attrs.append(static_cast<std::int64_t>(pick(kDTypes)));
      } else {
        attrs.append(below(spec.type == AttrType::kBool ? 2 : 4));
      }
    }
    return attrs;
  }

  /// Operands and attributes by the row alone, kept if the op's check accepts them.
  bool try_drawn(Op op) {
    const int least = min_operands(op), most = std::min(max_operands(op), least + 3);
    std::vector<NodeId> operands;
    for (int count = least + below(most - least + 1); count > 0; --count) operands.push_back(any_operand(operands));
    const Shape shape = operands.empty() ? random_shape() : type(operands[0]).shape;
    return try_append(op, operands, any_attrs(op, shape));
  }

  void choose_outputs() {
    std::vector<NodeId>& outputs = builder_.graph().outputs;
    outputs.push_back(values_.back());
    for (int extra = below(3); extra > 0; --extra) {
      const NodeId id = any();
      if (std::find(outputs.begin(), outputs.end(), id) == outputs.end()) outputs.push_back(id);
    }
  }

  std::mt19937_64 rng_;
  int max_ops_;
  GraphBuilder builder_;
  RandomProgram out_;
  std::vector<NodeId> values_;
};

}  // namespace

std::vector<HostView> RandomProgram::views() const {
  std::vector<HostView> views;
  for (const HostTensor& t : inputs) views.push_back(t.view());
  return views;
}

RandomProgram with_random_inputs(const Graph& graph, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  RandomProgram program;
  program.graph = graph;
  for (NodeId id : graph.inputs) program.inputs.push_back(random_tensor(rng, graph.node(id).type));
  for (NodeId id : graph.scalars) program.scalars.push_back(random_bits(rng, graph.node(id).type.dtype));
  return program;
}

RandomProgram random_program(std::uint64_t seed, int max_ops) { return Maker(seed, max_ops).run(); }

Graph random_graph(std::uint64_t seed, int max_ops) {
  Graph graph = random_program(seed, max_ops).graph;
  std::mt19937_64 rng(seed);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::size_t rank = graph.node(graph.inputs[i]).type.shape.size();
    graph.layouts[i].aligned64 = rng() % 2 == 0;
    if (rng() % 2 == 0) graph.layouts[i].strides = Shape(rank, static_cast<std::int64_t>(rng() % 5) - 2);
  }
  return graph;
}

}  // namespace tenon::testing
