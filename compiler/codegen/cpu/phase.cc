// SPDX-License-Identifier: MIT
#include "compiler/codegen/cpu/phase.h"

#include <algorithm>
#include <limits>

#include "compiler/ir/reduction_order.h"
#include "compiler/ir/text.h"

namespace tenon::codegen {

using llvm::Value;

PhaseEmitter::PhaseEmitter(KernelIr& ir, const Kernel& kernel, const Phase& phase, PhaseTask& task)
    : ir_(ir), kernel_(kernel), phase_(phase), task_(task), body_(ir, kernel, phase, task.context) {}

// ---- which schedule ----

bool PhaseEmitter::is_scan(int number) const {
  return std::any_of(phase_.body.begin(), phase_.body.end(),
                     [&](const Instr& instr) { return instr.kind == Instr::kScan && instr.reduction == number; });
}

bool PhaseEmitter::is_blocked(int number) const {
  const Reduction& r = reduction(number);
  return is_ordered(r) || r.result == Reduction::kPartials || is_scan(number);
}

void PhaseEmitter::for_blocked(const std::function<void(int)>& body) const {
  for (int r = 0; r < num_reductions(); ++r) {
    if (is_blocked(r)) body(r);
  }
}

bool PhaseEmitter::has(Reduction::Over over, bool scan) const {
  for (int r = 0; r < num_reductions(); ++r) {
    if (reduction(r).over == over && is_scan(r) == scan) return true;
  }
  return false;
}

// What an outer reduction gave is the same all along the sequence, and so is what is computed of it alone.
bool PhaseEmitter::is_later_pass() const {
  return kernel_.kernel_class == KernelClass::kOuterReduction && phase_.lanes && phase_.sequence > 1;
}

bool PhaseEmitter::needs_chunks() const {
  for (int r = 0; r < num_reductions(); ++r) {
    if (reduction(r).over != Reduction::kLanes || is_scan(r)) continue;
    const bool is_long = kernel_.lanes > kShortInnerExtent;
    if (reduction(r).result == Reduction::kPartials || (is_ordered(reduction(r)) && is_long)) return true;
  }
  return false;
}

absl::Status PhaseEmitter::check() const {
  const bool over_lanes = has(Reduction::kLanes, false) || has(Reduction::kLanes, true);
  const bool over_sequence = has(Reduction::kSequence, false) || has(Reduction::kSequence, true);
  const bool long_sequence = phase_.sequence != 1 || phase_.sequence_limit != nullptr;
  if (over_lanes && (over_sequence || long_sequence))
    return absl::UnimplementedError(cat(kernel_.name, ": a phase that reduces lanes and has a sequence"));
  if (has(Reduction::kLanes, true) && needs_chunks())
    return absl::UnimplementedError(cat(kernel_.name, ": a phase with a scan and a long sum over lanes"));
  return absl::OkStatus();
}

absl::Status PhaseEmitter::emit() {
  if (absl::Status status = check(); !status.ok()) return status;
  if (has(Reduction::kLanes, true)) {
    emit_lane_scans();
  } else if (needs_chunks()) {
    emit_chunks();
  } else if (has(Reduction::kSequence, false) || has(Reduction::kSequence, true) || is_later_pass()) {
    emit_columns();
  } else {
    emit_stream();
  }
  return finished();
}

absl::Status PhaseEmitter::emit_joined(const std::function<void(Value*)>& emit_step) {
  emit_step_ = emit_step;
  emit_columns();
  return finished();
}

absl::Status PhaseEmitter::finished() const {
  if (body_.failed() < 0) return absl::OkStatus();
  const Instr& instr = phase_.body[static_cast<std::size_t>(body_.failed())];
  return absl::UnimplementedError(
      cat(kernel_.name, ": no code for ", name_of(instr.op), " giving ", name_of(instr.dtype)));
}

// ---- parts of all schedules ----

BodyPoint PhaseEmitter::point(Value* lane, Value* mask) const { return {ir_.i64(0), lane, lanes_, mask}; }

// Several vectors at a time where the body is short, for its loop; and where it is so long that a processor does not
// see the next vector's instructions while it waits for this one's.
int PhaseEmitter::unroll_factor(int most) const {
  constexpr int kShortSize = 24, kLongWeight = 200, kMostWeight = 2000;
  if (!phase_.lanes) return 1;
  const auto fits = [&](int unroll) {
    if (kernel_.lane_chunk < std::int64_t{unroll} * lanes_) return false;
    return unroll * body_.size() <= kShortSize ||
           (body_.weight() > kLongWeight && unroll * body_.weight() <= kMostWeight);
  };
  int unroll = most;
  while (unroll > 1 && !fits(unroll)) unroll /= 2;
  return unroll;
}

void PhaseEmitter::for_lanes(int unroll, const std::function<void(Points)>& body) {
  if (!phase_.lanes) {
    const BodyPoint only = point(task_.context.lane_begin);
    return body(Points(&only, 1));
  }
  Value* begin = task_.context.lane_begin;
  const auto whole = [&](std::int64_t step) {
    return ir_.b.CreateMul(ir_.b.CreateUDiv(task_.lane_count, ir_.i64(step)), ir_.i64(step));
  };
  const auto at = [&](Value* offset) { return ir_.b.CreateAdd(begin, offset); };
  Value* grouped = whole(std::int64_t{unroll} * lanes_);
  Value* single = whole(lanes_);
  if (unroll > 1) {
    ir_.loop(ir_.i64(0), grouped, std::int64_t{unroll} * lanes_, [&](Value* offset) {
      std::vector<BodyPoint> points;
      for (int u = 0; u < unroll; ++u) points.push_back(point(at(ir_.b.CreateAdd(offset, ir_.i64(u * lanes_)))));
      body(points);
    });
  }
  ir_.loop(unroll > 1 ? grouped : ir_.i64(0), single, lanes_, [&](Value* offset) {
    const BodyPoint only = point(at(offset));
    body(Points(&only, 1));
  });
  if (lanes_ == 1) return;
  Value* rest = ir_.b.CreateSub(task_.lane_count, single);
  ir_.when(ir_.b.CreateICmpNE(rest, ir_.i64(0)), [&] { for_tail(at(single), rest, body); });
}

void PhaseEmitter::for_tail(Value* lane, Value* count, const std::function<void(Points)>& body) {
  if (body_.has_cheap_masks() || has(Reduction::kSequence, false) || has(Reduction::kSequence, true)) {
    const BodyPoint tail = point(lane, ir_.first_lanes(count, lanes_));
    return body(Points(&tail, 1));
  }
  ir_.loop(ir_.i64(0), count, 1, [&](Value* offset) {
    BodyPoint single = point(ir_.b.CreateAdd(lane, offset));
    single.lanes = 1;
    single.accumulator_lane = offset;
    body(Points(&single, 1));
  });
}

void PhaseEmitter::make_accumulators(int vectors, int ordered_lanes) {
  const bool is_narrow = std::max(kernel_.lanes, phase_.sequence) < std::numeric_limits<std::int32_t>::max();
  accumulators_.resize(phase_.reductions.size());
  for (int r = 0; r < num_reductions(); ++r) {
    const int lanes = is_ordered(reduction(r)) ? ordered_lanes : lanes_;
    for (int u = 0; u < vectors; ++u)
      accumulators_[static_cast<std::size_t>(r)].emplace_back(ir_, reduction(r), lanes, is_narrow ? 32 : 64);
  }
}

Accumulator& PhaseEmitter::accumulator(int number, int vector) {
  return accumulators_[static_cast<std::size_t>(number)][static_cast<std::size_t>(vector)];
}

void PhaseEmitter::reset_accumulators(int vectors, bool blocked) {
  for (int r = 0; r < num_reductions(); ++r) {
    for (int u = 0; u < vectors; ++u) {
      if (is_blocked(r) == blocked) accumulator(r, u).reset();
    }
  }
}

ReductionHooks PhaseEmitter::hooks(const BodyPoint& at, int vector) {
  ReductionHooks hooks;
  hooks.reduce = [this, at, vector](int number, Value* operand) {
    const bool over_lanes = reduction(number).over == Reduction::kLanes;
    Value* index = over_lanes ? at.lane : at.sequence;
    if (at.accumulator_lane == nullptr) return accumulator(number, vector).add(operand, index, over_lanes, at.mask);
    Value* lane = ir_.spread(at.accumulator_lane, lanes_);
    Value* only = ir_.b.CreateICmpEQ(ir_.iota(64, lanes_), lane);
    accumulator(number, vector).add(ir_.spread(operand, lanes_), index, false, only);
  };
  hooks.scan = [this, at, vector](int number, Value* operand) {
    accumulator(number, vector).add(operand, at.sequence, false, nullptr);
    const Partial carry = carries_[static_cast<std::size_t>(number)][static_cast<std::size_t>(vector)].get();
    const Partial inside = accumulator(number, vector).get();
    return result_of(ir_, reduction(number), combine(ir_, reduction(number), carry, inside), ir_.b.getFalse());
  };
  return hooks;
}

void PhaseEmitter::store_result(int number, Value* value, const BodyPoint& at) {
  for (const Instr& instr : phase_.body) {
    if (instr.kind == Instr::kReduce && instr.reduction == number) body_.store_local(instr.buffer, value, at);
  }
}

// ---- stream ----

void PhaseEmitter::emit_stream_vectors(const Values& outer, Value* sequence, Points points) {
  std::vector<BodyVector> vectors;
  for (BodyPoint at : points) {
    at.sequence = sequence;
    vectors.push_back({at, outer, hooks(at, static_cast<int>(vectors.size()))});
  }
  body_.emit_with_effects(set_of(kOnLane, kOnBoth), vectors);
}

void PhaseEmitter::emit_stream() {
  const bool is_short_sum =
      has(Reduction::kLanes, false) && std::any_of(phase_.reductions.begin(), phase_.reductions.end(), is_ordered);
  constexpr int kShort = static_cast<int>(kShortInnerPartials);
  lanes_ = body_.natural_lanes(64);
  if (is_short_sum && phase_.lanes) lanes_ = std::max(lanes_, body_.lanes_up_to(kShort));
  const int unroll = is_short_sum ? 1 : unroll_factor(4);
  make_accumulators(unroll, is_short_sum ? std::min(lanes_, kShort) : lanes_);
  reset_accumulators(unroll, true);
  reset_accumulators(unroll, false);
  Values values = body_.no_values();
  body_.emit(set_of(kOnTask), point(task_.context.lane_begin), values);
  ir_.loop(ir_.i64(0), sequence_count(), 1, [&](Value* sequence) {
    BodyPoint at = point(task_.context.lane_begin);
    at.sequence = sequence;
    Values inner = values;
    body_.emit(set_of(kOnSequence), at, inner);
    for_lanes(unroll, [&](Points points) {
      emit_prefetches(points);
      emit_stream_vectors(inner, sequence, points);
    });
  });
  for (int r = 0; r < num_reductions(); ++r) finish_stream(r, unroll);
}

void PhaseEmitter::finish_stream(int number, int vectors) {
  Partial total = accumulator(number, 0).get();
  for (int u = 1; u < vectors; ++u) total = combine(ir_, reduction(number), total, accumulator(number, u).get());
  total = combine_lanes(ir_, reduction(number), total);
  Value* is_empty = ir_.b.CreateICmpEQ(task_.lane_count, ir_.i64(0));
  store_result(number, result_of(ir_, reduction(number), total, is_empty), point(task_.context.lane_begin));
}

Value* PhaseEmitter::sequence_count() {
  if (phase_.sequence_limit == nullptr) return ir_.i64(phase_.sequence);
  IndexPoint at;
  at.vars = task_.context.vars;
  return ir_.min(ir_.i64(phase_.sequence), emit_index(ir_, phase_.sequence_limit, at, false));
}

}  // namespace tenon::codegen
