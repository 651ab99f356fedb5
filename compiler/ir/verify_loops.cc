// SPDX-License-Identifier: MIT
// The invariants of loop programs: buffers, then kernel by kernel its shape, phases, reductions and instructions.
#include <algorithm>
#include <bit>

#include "absl/container/flat_hash_set.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/reduction_order.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"

namespace tenon {
namespace {

constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 50;

bool is_below(std::int64_t id, std::size_t count) { return id >= 0 && id < static_cast<std::int64_t>(count); }
bool is_extent(std::int64_t value) { return value >= 0 && value <= kMaxExtent; }
bool is_number_of(std::int64_t value, std::int64_t least) { return value >= least && value <= kMaxExtent; }

/// An aligned piece of a block of memory.
bool is_inside(std::int64_t offset, std::int64_t elements, DType dtype, std::int64_t block) {
  if (offset < 0 || offset % kAlignment != 0 || offset > block) return false;
  return elements <= (block - offset) / static_cast<std::int64_t>(size_of(dtype));
}

bool has_result(Instr::Kind kind) {
  return kind != Instr::kStore && kind != Instr::kStoreLocal && kind != Instr::kReduce;
}

class KernelVerifier {
 public:
  KernelVerifier(const LoopProgram& program, const Kernel& kernel) : program_(program), kernel_(kernel) {}

  absl::Status run() {
    const bool is_matmul = kernel_.kernel_class == KernelClass::kMatmul;
    if (kernel_.name.empty()) return broken("it has no name");
    if (is_matmul != (kernel_.matmul != nullptr)) return broken("its class does not say what it holds");
    const absl::Status shape = is_matmul ? verify_matmul(*kernel_.matmul) : verify_shape();
    if (!shape.ok()) return shape;
    for (phase_number_ = 0; phase_number_ < kernel_.phases.size(); ++phase_number_) {
      if (auto status = verify_phase(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  template <class... Parts>
  absl::Status broken(const Parts&... parts) const {
    return absl::InternalError(cat("kernel ", kernel_.name, " is broken: ", parts...));
  }
  template <class... Parts>
  absl::Status broken_at(std::size_t i, const Parts&... parts) const {
    return broken("phase ", phase_number_, ", instruction ", i, ": ", parts...);
  }

  const Phase& phase() const { return kernel_.phases[phase_number_]; }
  const Instr& instr(std::int64_t id) const { return phase().body[static_cast<std::size_t>(id)]; }
  const LocalBuffer& local(std::int32_t id) const { return kernel_.locals[static_cast<std::size_t>(id)]; }
  const Buffer& buffer(std::int32_t id) const { return program_.buffers[static_cast<std::size_t>(id)]; }

  absl::Status verify_matmul(const MatmulNest& nest) const {
    if (!is_extent(nest.m) || !is_extent(nest.n) || !is_extent(nest.k)) return broken("an extent is not possible");
    for (const std::int64_t extent : nest.batch) {
      if (!is_extent(extent)) return broken("an extent is not possible");
    }
    for (const auto* operand : {&nest.a, &nest.b, &nest.c}) {
      if (operand == &nest.c && !kernel_.phases.empty()) return verify_epilogue(nest);
      if (!is_below(operand->buffer, program_.buffers.size())) return broken("a matmul operand has no buffer");
      if (operand->batch_strides.size() != nest.batch.size()) return broken("batch strides do not fit the batch");
      if (buffer(operand->buffer).dtype != nest.dtype) return broken("a matmul operand has another dtype");
    }
    return buffer(nest.c.buffer).space == Buffer::kInput ? broken("it writes an input") : absl::OkStatus();
  }

  absl::Status verify_epilogue(const MatmulNest& nest) const {
    std::vector<std::int64_t> outer = nest.batch;
    outer.push_back(nest.m);
    const bool fits = kernel_.outer == outer && kernel_.lanes == nest.n && kernel_.lane_chunk >= kernel_.lanes;
    if (!fits || nest.c.batch_strides.size() != nest.batch.size()) return broken("an epilogue has other loops than c");
    const bool has_product = kernel_.locals.size() == 1 && kernel_.locals[0].per_lane &&
                             kernel_.locals[0].dtype == accumulator_dtype(nest.dtype);
    if (!has_product || nest.c.buffer != -1) return broken("an epilogue takes the product from local 0");
    const bool is_plain = kernel_.phases.size() == 1 && kernel_.phases[0].lanes && kernel_.phases[0].sequence == 1 &&
                          !kernel_.phases[0].sequence_limit && kernel_.phases[0].reductions.empty();
    return is_plain ? absl::OkStatus() : broken("an epilogue is one loop over the lanes");
  }

  absl::Status verify_shape() const {
    std::int64_t tasks = 1;
    for (const std::int64_t extent : kernel_.outer) {
      if (!is_extent(extent) || __builtin_mul_overflow(tasks, extent, &tasks) || tasks > kMaxExtent) {
        return broken("its outer loops are too large");
      }
    }
    if (!is_extent(kernel_.lanes) || !is_number_of(kernel_.lane_chunk, 1)) return broken("its lanes are not possible");
    if (!is_number_of(kernel_.row_block, 1) || !is_number_of(kernel_.grain, 0)) return broken("its blocking");
    if (!is_extent(kernel_.scratch_bytes)) return broken("its scratch is not possible");
    for (const LocalBuffer& l : kernel_.locals) {
      std::int64_t elements = kernel_.lane_chunk;
      if (!is_number_of(l.sequence, 1) || __builtin_mul_overflow(elements, l.sequence, &elements) ||
          (l.sequence > 1 && !l.per_lane)) {
        return broken("a local buffer's size is not possible");
      }
      if (l.per_lane && !is_inside(l.scratch_offset, elements, l.dtype, kernel_.scratch_bytes)) {
        return broken("a local buffer leaves the scratch block");
      }
    }
    return absl::OkStatus();
  }

  absl::Status verify_phase() {
    if (!is_extent(phase().sequence)) return broken("phase ", phase_number_, " has no possible sequence");
    if (phase().sequence_limit && !is_index(phase().sequence_limit, kernel_.sequence_var(), 0)) {
      return broken("the limit of phase ", phase_number_, " depends on more than outer variables");
    }
    for (const Reduction& reduction : phase().reductions) {
      if (auto status = verify_reduction(reduction); !status.ok()) return status;
    }
    if (phase().joined && !can_join()) return broken("phase ", phase_number_, " cannot join the one before");
    std::vector<int> uses(phase().reductions.size());
    for (std::size_t i = 0; i < phase().body.size(); ++i) {
      if (auto status = verify_instr(i); !status.ok()) return status;
      const Instr& in = phase().body[i];
      if (in.kind == Instr::kReduce || in.kind == Instr::kScan) ++uses[static_cast<std::size_t>(in.reduction)];
    }
    for (const int count : uses) {
      if (count != 1) return broken("a reduction of phase ", phase_number_, " has ", count, " instructions");
    }
    return absl::OkStatus();
  }

  bool can_join() const {
    if (phase_number_ == 0 || phase().lanes || phase().sequence_limit) return false;
    const Phase& before = kernel_.phases[phase_number_ - 1];
    const auto may_follow = [](const Reduction& r) {
      return r.over == Reduction::kSequence && !r.tree_only && is_free_of_order(r.kind, r.dtype);
    };
    const auto may_lead = [](const Reduction& r) {
      return r.over == Reduction::kLanes && r.result == Reduction::kValue;
    };
    return before.lanes && !before.joined && !before.sequence_limit && before.sequence == phase().sequence &&
           std::ranges::all_of(phase().reductions, may_follow) && std::ranges::all_of(before.reductions, may_lead);
  }

  absl::Status verify_reduction(const Reduction& r) const {
    const bool over_lanes = r.over == Reduction::kLanes, has_partials = r.result == Reduction::kPartials;
    const bool adds = r.kind == ReduceKind::sum || r.kind == ReduceKind::prod;
    if (adds && (is_half(r.dtype) || r.dtype == DType::kBool)) return broken("it adds in ", name_of(r.dtype));
    if (r.order != (over_lanes ? ReduceOrder::inner : ReduceOrder::outer))
      return broken("an order does not fit its loop");
    if (over_lanes && !phase().lanes) return broken("it reduces over lanes in a phase without");
    if (r.tree_only && (over_lanes || is_arg(r.kind))) return broken("tree_only does not fit its reduction");
    if (!has_partials) {
      const bool is_whole = !over_lanes || kernel_.lane_chunk >= kernel_.lanes;
      return is_whole ? absl::OkStatus() : broken("it reduces over a part of the lanes");
    }
    const std::int64_t blocks = kernel_.lane_chunk / kInnerChunk;
    const bool is_aligned =
        kernel_.lane_chunk % kInnerChunk == 0 && std::has_single_bit(static_cast<std::uint64_t>(blocks));
    if (!over_lanes || is_arg(r.kind) || !is_aligned) return broken("its partials are not those of aligned chunks");
    if (!is_below(r.partials, program_.buffers.size()) || buffer(r.partials).dtype != r.dtype ||
        buffer(r.partials).space == Buffer::kInput ||
        numel(buffer(r.partials).shape) / kInnerPartials < kernel_.tasks()) {
      return broken("its partials have no fitting buffer");
    }
    return absl::OkStatus();
  }

  /// Variables below `vars` with the extents of their loops; values that stand before instruction `at` of the body.
  bool is_index(IndexExpr e, std::int32_t vars, std::size_t at) const {
    if (!e) return false;
    for (const auto& [coefficient, term] : e->terms) {
      switch (term.kind) {
        case IndexTerm::kVar:
          if (term.id < 0 || term.id >= vars || term.lo > 0 || term.hi < extent_of(term.id) - 1) return false;
          break;
        case IndexTerm::kValue:
          if (!is_below(term.id, at) || !is_value(term.id, DType::kInt64)) return false;
          break;
        default:
          if (term.divisor <= 0 || !is_index(term.base, vars, at)) return false;
      }
    }
    return true;
  }

  std::int64_t extent_of(std::int32_t var) const {
    if (var < kernel_.sequence_var()) return kernel_.outer[static_cast<std::size_t>(var)];
    return var == kernel_.sequence_var() ? phase().sequence : kernel_.lanes;
  }

  bool is_value(InstrId id, DType dtype) const { return has_result(instr(id).kind) && instr(id).dtype == dtype; }
  bool is_operand(std::size_t i, int number, DType dtype) const {
    const InstrId id = phase().body[i].operands[static_cast<std::size_t>(number)];
    return is_below(id, i) && is_value(id, dtype);
  }
  /// An operand that may be absent, and is bool.
  bool is_mask(std::size_t i, int number) const {
    return phase().body[i].operands[static_cast<std::size_t>(number)] == -1 || is_operand(i, number, DType::kBool);
  }
  bool is_local(const Instr& in, DType dtype, bool per_lane) const {
    return is_below(in.buffer, kernel_.locals.size()) && local(in.buffer).dtype == dtype &&
           local(in.buffer).per_lane == per_lane && local(in.buffer).sequence == 1;
  }

  absl::Status verify_instr(std::size_t i) const {
    const Instr& in = phase().body[i];
    for (const InstrId id : in.operands) {
      if (id != -1 && !is_below(id, i)) return broken_at(i, "an operand does not stand before it");
    }
    const auto check = [&](bool holds, std::string_view what) { return holds ? absl::OkStatus() : broken_at(i, what); };
    const bool needs_index =
        in.kind == Instr::kIndex || in.kind == Instr::kInRange || in.kind == Instr::kLoad || in.kind == Instr::kStore;
    const std::int32_t vars = phase().lanes ? kernel_.lane_var() + 1 : kernel_.lane_var();
    if (needs_index && !is_index(in.index, vars, i)) return broken_at(i, "its index does not fit the loops");
    switch (in.kind) {
      case Instr::kConst:
        return check(is_element(in.dtype, in.bits), "a constant is wider than its dtype");
      case Instr::kScalar:
        return check(is_below(in.buffer, program_.scalars.size()) &&
                         program_.scalars[static_cast<std::size_t>(in.buffer)] == in.dtype,
                     "there is no such scalar");
      case Instr::kIndex:
        return check(in.dtype == DType::kInt64, "an index is int64");
      case Instr::kInRange:
        return check(in.dtype == DType::kBool, "a test is bool");
      case Instr::kLoad:
      case Instr::kStore:
        return verify_access(i);
      case Instr::kLoadLocal:
      case Instr::kStoreLocal:
        return verify_local_access(i);
      case Instr::kApply:
        return verify_apply(i);
      case Instr::kRandom:
        return check(in.dtype == DType::kUInt32 && is_operand(i, 0, DType::kUInt64) &&
                         is_operand(i, 1, DType::kInt64) && in.lo >= 0 && in.lo < 4,
                     "random takes a uint64 key, an int64 counter and a word 0 .. 3");
      case Instr::kReduce:
      case Instr::kScan:
        return verify_combine(i);
    }
    return broken_at(i, "it has no kind");
  }

  absl::Status verify_access(std::size_t i) const {
    const Instr& in = phase().body[i];
    if (!is_below(in.buffer, program_.buffers.size())) return broken_at(i, "there is no buffer ", in.buffer);
    const Buffer& b = buffer(in.buffer);
    if (b.dtype != in.dtype) return broken_at(i, "its buffer holds ", name_of(b.dtype), ", not ", name_of(in.dtype));
    if (in.kind == Instr::kLoad) return is_mask(i, 0) ? absl::OkStatus() : broken_at(i, "its mask is not bool");
    if (b.space == Buffer::kInput) return broken_at(i, "it writes an input");
    if (!is_operand(i, 0, in.dtype) || !is_mask(i, 1)) return broken_at(i, "its operands do not fit");
    return absl::OkStatus();
  }

  absl::Status verify_local_access(std::size_t i) const {
    const Instr& in = phase().body[i];
    if (!is_below(in.buffer, kernel_.locals.size())) return broken_at(i, "there is no local ", in.buffer);
    const LocalBuffer& l = local(in.buffer);
    if (l.dtype != in.dtype || (l.per_lane && !phase().lanes)) return broken_at(i, "its local does not fit");
    if (l.sequence > 1 && (l.sequence != phase().sequence || phase().sequence_limit))
      return broken_at(i, "its local has another sequence");
    if (in.kind == Instr::kLoadLocal) return absl::OkStatus();
    if (!l.per_lane && phase().lanes) return broken_at(i, "it stores a value a lane to a single local");
    return is_operand(i, 0, in.dtype) ? absl::OkStatus() : broken_at(i, "its operand does not fit");
  }

  absl::Status verify_apply(std::size_t i) const {
    const Instr& in = phase().body[i];
    if (in.op >= Op::kCount || row_of(in.op).kind != OpKind::elementwise)
      return broken_at(i, "it applies no element op");
    std::array<TensorType, 3> types;
    absl::InlinedVector<const TensorType*, 3> operands;
    for (std::size_t k = 0; k < static_cast<std::size_t>(min_operands(in.op)); ++k) {
      if (!is_below(in.operands[k], i) || !has_result(instr(in.operands[k]).kind))
        return broken_at(i, "no operand ", k);
      types[k].dtype = instr(in.operands[k]).dtype;
      operands.push_back(&types[k]);
    }
    Attrs attrs;
    if (in.op == Op::k_cast) attrs.append(static_cast<std::int64_t>(in.dtype));
    const auto type = infer(in.op, operands, attrs);
    if (!type.ok()) return broken_at(i, std::string(type.status().message()));
    return type->dtype == in.dtype ? absl::OkStatus() : broken_at(i, name_of(in.op), " gives ", name_of(type->dtype));
  }

  absl::Status verify_combine(std::size_t i) const {
    const Instr& in = phase().body[i];
    if (!is_below(in.reduction, phase().reductions.size())) return broken_at(i, "there is no reduction ", in.reduction);
    const Reduction& r = phase().reductions[static_cast<std::size_t>(in.reduction)];
    if (!is_operand(i, 0, r.dtype)) return broken_at(i, "its operand does not fit the reduction");
    if (in.kind == Instr::kScan) {
      const bool adds = r.kind == ReduceKind::sum || r.kind == ReduceKind::prod;
      return adds && in.dtype == r.dtype ? absl::OkStatus() : broken_at(i, "a scan is a sum or a product");
    }
    if (r.result == Reduction::kPartials) return absl::OkStatus();
    const bool per_lane = r.over == Reduction::kSequence && phase().lanes;
    if (is_local(in, reduced_dtype(r.kind, r.dtype), per_lane)) return absl::OkStatus();
    return broken_at(i, "its result has no fitting local");
  }

  const LoopProgram& program_;
  const Kernel& kernel_;
  std::size_t phase_number_ = 0;
};

absl::Status verify_buffers(const LoopProgram& program) {
  const auto broken = [](std::size_t i, std::string_view what) {
    return absl::InternalError(cat("buffer ", i, " of the loop program is broken: ", what));
  };
  std::vector<bool> written(static_cast<std::size_t>(std::max(program.num_outputs, 0)));
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    if (!is_possible_shape(b.shape)) return broken(i, "its shape is not possible");
    if (b.space == Buffer::kInput && !is_below(b.argument, static_cast<std::size_t>(std::max(program.num_inputs, 0)))) {
      return broken(i, "there is no such input");
    }
    if (b.space == Buffer::kTemporary && !is_inside(b.offset, numel(b.shape), b.dtype, program.arena_bytes)) {
      return broken(i, "it leaves the arena");
    }
    if (b.space != Buffer::kOutput) continue;
    if (!is_below(b.argument, written.size()) || written[static_cast<std::size_t>(b.argument)]) {
      return broken(i, "its output does not exist or has another buffer");
    }
    written[static_cast<std::size_t>(b.argument)] = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status verify(const LoopProgram& program) {
  if (auto status = verify_buffers(program); !status.ok()) return status;
  absl::flat_hash_set<std::string> names;
  for (const Kernel& kernel : program.kernels) {
    if (!names.insert(kernel.name).second) return absl::InternalError(cat("two kernels are named ", kernel.name));
    if (auto status = KernelVerifier(program, kernel).run(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace tenon
