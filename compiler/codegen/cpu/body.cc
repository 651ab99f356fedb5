// SPDX-License-Identifier: MIT
#include "compiler/codegen/cpu/body.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/codegen/cpu/ops.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

// Sizes of buffers: what a core's cache does not hold, and of what little is left in any cache for a later kernel.
constexpr std::int64_t kBeyondCache = std::int64_t{1} << 20;
constexpr std::int64_t kOutlivesCaches = std::int64_t{16} << 20;
constexpr int kHeldScalars = 12;

bool has_effect(const Instr& instr) {
  return instr.kind == Instr::kStore || instr.kind == Instr::kStoreLocal || instr.kind == Instr::kReduce ||
         instr.kind == Instr::kScan;
}

bool has_index(const Instr& instr) {
  return instr.kind == Instr::kIndex || instr.kind == Instr::kInRange || instr.kind == Instr::kLoad ||
         instr.kind == Instr::kStore;
}

// Bytes of a lane's value in a register.
int register_bytes(const Instr& instr) {
  if (instr.kind == Instr::kIndex || instr.kind == Instr::kInRange) return 4;
  return is_half(instr.dtype) ? 4 : static_cast<int>(size_of(instr.dtype));
}

Dependence join(Dependence a, Dependence b) { return static_cast<Dependence>(a | b); }

Value* both(llvm::IRBuilder<>& b, Value* x, Value* y) {
  if (x == nullptr) return y;
  return y == nullptr ? x : b.CreateAnd(x, y);
}

}  // namespace

BodyEmitter::BodyEmitter(KernelIr& ir, const Kernel& kernel, const Phase& phase, const TaskContext& task)
    : ir_(ir), kernel_(kernel), phase_(phase), task_(task) {
  for (const Instr& instr : phase.body) dependence_.push_back(dependence_of(instr));
  reloads_scalars_ = std::count_if(phase.body.begin(), phase.body.end(),
                                   [](const Instr& instr) { return instr.kind == Instr::kScalar; }) > kHeldScalars;
}

// ---- dependences ----

Dependence BodyEmitter::index_dependence(IndexExpr e) const {
  Dependence d = kOnTask;
  for (const auto& [coefficient, term] : e->terms) {
    if (term.kind == IndexTerm::kValue) {
      d = join(d, dependence_[static_cast<std::size_t>(term.id)]);
    } else if (term.kind != IndexTerm::kVar) {
      d = join(d, index_dependence(term.base));
    } else if (term.id == kernel_.lane_var()) {
      d = join(d, kOnLane);
    } else if (term.id == kernel_.sequence_var()) {
      d = join(d, kOnSequence);
    }
  }
  return d;
}

Dependence BodyEmitter::dependence_of(const Instr& instr) const {
  Dependence d = kOnTask;
  if (has_effect(instr)) d = kOnBoth;
  if (has_index(instr)) d = join(d, index_dependence(instr.index));
  if (instr.kind == Instr::kLoadLocal && local(instr.buffer).per_lane) d = join(d, kOnLane);
  if (instr.kind == Instr::kLoadLocal && (phase_.joined || local(instr.buffer).sequence > 1)) d = join(d, kOnSequence);
  for (InstrId id : instr.operands) {
    if (id >= 0) d = join(d, dependence_[static_cast<std::size_t>(id)]);
  }
  return d;
}

int BodyEmitter::size() const {
  return static_cast<int>(
      std::count_if(dependence_.begin(), dependence_.end(), [](Dependence d) { return d & kOnLane; }));
}

int BodyEmitter::weight() const {
  int weight = 0;
  for (std::size_t i = 0; i < phase_.body.size(); ++i) {
    const Instr& instr = phase_.body[i];
    if (dependence_[i] & kOnLane) weight += instr.kind == Instr::kApply ? op_weight(instr.op) : 1;
  }
  return weight;
}

int BodyEmitter::natural_lanes(int limit) const {
  if (!phase_.lanes) return 1;
  int widest = 1;
  for (std::size_t i = 0; i < phase_.body.size(); ++i) {
    if (dependence_[i] & kOnLane) widest = std::max(widest, register_bytes(phase_.body[i]));
  }
  return lanes_up_to(std::min(ir_.vector_bytes / widest, limit));
}

int BodyEmitter::lanes_up_to(int limit) const {
  int lanes = 1;
  while (lanes < std::min<std::int64_t>(limit, kernel_.lanes)) lanes *= 2;
  return lanes;
}

bool BodyEmitter::has_cheap_masks() const {
  return std::all_of(phase_.body.begin(), phase_.body.end(), [&](const Instr& instr) {
    if (instr.kind != Instr::kLoad && instr.kind != Instr::kStore) return true;
    bool affine = false;
    const std::int64_t coefficient = coefficient_of(instr.index, kernel_.lane_var(), &affine);
    if ((index_dependence(instr.index) & kOnLane) == 0) return true;
    const bool is_adjacent = affine && std::abs(coefficient) == 1 && !is_indirect(instr.index);
    return is_adjacent ? size_of(instr.dtype) >= 4 || ir_.vector_bytes == 64
                       : size_of(instr.dtype) >= 4 && ir_.vector_bytes == 64;
  });
}

// ---- walking ----

void BodyEmitter::emit(DependenceSet set, const BodyPoint& point, Values& values) {
  for (std::size_t i = 0; i < phase_.body.size(); ++i) {
    if (has_effect(phase_.body[i]) || values[i] != nullptr || (set & set_of(dependence_[i])) == 0) continue;
    values[i] = emit_pure(static_cast<InstrId>(i), point, values);
  }
}

void BodyEmitter::emit_with_effects(DependenceSet set, std::span<BodyVector> vectors) {
  for (std::size_t i = 0; i < phase_.body.size(); ++i) {
    for (BodyVector& v : vectors) {
      if (has_effect(phase_.body[i])) {
        v.values[i] = emit_effect(static_cast<InstrId>(i), v.point, v.values, v.hooks);
      } else if (v.values[i] == nullptr && (set & set_of(dependence_[i])) != 0) {
        v.values[i] = emit_pure(static_cast<InstrId>(i), v.point, v.values);
      }
    }
  }
}

Value* BodyEmitter::emit_pure(InstrId id, const BodyPoint& point, const Values& values) {
  const Instr& instr = phase_.body[static_cast<std::size_t>(id)];
  const int lanes = dependence_[static_cast<std::size_t>(id)] & kOnLane ? point.lanes : 1;
  switch (instr.kind) {
    case Instr::kConst:
      return ir_.constant(instr.dtype, instr.bits);
    case Instr::kScalar:
      return emit_scalar(instr, task_.scalars);
    case Instr::kIndex: {
      Value* index = emit_index(ir_, instr.index, index_point(point, values), true);
      return ir_.b.CreateSExt(index, KernelIr::with_lanes(ir_.b.getInt64Ty(), KernelIr::lanes_of(index)));
    }
    case Instr::kInRange:
      return emit_in_range(instr, point, values);
    case Instr::kLoad:
      return emit_load(instr, point, values, lanes);
    case Instr::kLoadLocal:
      return emit_local_load(instr, point);
    case Instr::kApply: {
      Value* value = emit_apply(instr, values, lanes);
      if (value == nullptr && failed_ < 0) failed_ = id;
      return value == nullptr ? llvm::PoisonValue::get(ir_.type(instr.dtype, lanes)) : value;
    }
    case Instr::kRandom:
      return emit_philox(ir_, operand(instr, 0, values, lanes), operand(instr, 1, values, lanes),
                         static_cast<int>(instr.lo));
    default:
      return nullptr;
  }
}

Value* BodyEmitter::emit_effect(InstrId id, const BodyPoint& point, const Values& values, const ReductionHooks& hooks) {
  const Instr& instr = phase_.body[static_cast<std::size_t>(id)];
  if (instr.kind == Instr::kReduce) hooks.reduce(instr.reduction, operand(instr, 0, values, point.lanes));
  if (instr.kind == Instr::kScan) return hooks.scan(instr.reduction, operand(instr, 0, values, point.lanes));
  if (instr.kind == Instr::kStore) emit_store(instr, point, values);
  if (instr.kind == Instr::kStoreLocal) store_local(instr.buffer, operand(instr, 0, values, point.lanes), point);
  return nullptr;
}

Value* BodyEmitter::operand(const Instr& instr, int number, const Values& values, int lanes) {
  const InstrId id = instr.operands[static_cast<std::size_t>(number)];
  if (id < 0) return nullptr;
  const Instr& source = phase_.body[static_cast<std::size_t>(id)];
  if (source.kind == Instr::kScalar && reloads_scalars_ && lanes > 1) {
    // An address that LLVM cannot know keeps the load where it is, a part of the instruction that uses it.
    Value* scalars = ir_.b.CreateLaunderInvariantGroup(task_.scalars);
    return ir_.spread(emit_scalar(source, scalars), lanes);
  }
  return ir_.spread(values[static_cast<std::size_t>(id)], lanes);
}

Value* BodyEmitter::optional_mask(const Instr& instr, int number, const BodyPoint& point, const Values& values,
                                  int lanes) {
  Value* exists = lanes == point.lanes ? point.mask : nullptr;
  return both(ir_.b, operand(instr, number, values, lanes), exists);
}

IndexPoint BodyEmitter::index_point(const BodyPoint& point, const Values& values) const {
  IndexPoint at;
  at.vars = task_.vars;
  at.vars[static_cast<std::size_t>(kernel_.sequence_var())] = point.sequence;
  at.vars[static_cast<std::size_t>(kernel_.lane_var())] = point.lane;
  at.lane_var = kernel_.lane_var();
  at.lanes = point.lanes;
  at.value = [&values](int id) { return values[static_cast<std::size_t>(id)]; };
  at.value_has_lanes = [this](int id) { return (dependence_[static_cast<std::size_t>(id)] & kOnLane) != 0; };
  return at;
}

// ---- elementwise ----

DType BodyEmitter::operand_dtype(const Instr& instr) const {
  if (instr.op == Op::k_where) return instr.dtype;
  return phase_.body[static_cast<std::size_t>(instr.operands[0])].dtype;
}

Value* BodyEmitter::emit_apply(const Instr& instr, const Values& values, int lanes) {
  if (instr.op == Op::k_divide && is_float(instr.dtype) && lanes > 1) {
    Value* divisor = values[static_cast<std::size_t>(instr.operands[1])];
    Value* x = operand(instr, 0, values, lanes);
    if (KernelIr::lanes_of(divisor) == 1)
      return ir_.round_to(instr.dtype, emit_divide_by_scalar(ir_, instr.dtype, x, divisor));
  }
  OpCall call{instr.op, instr.dtype, operand_dtype(instr), {}, lanes};
  for (int i = 0; i < 3; ++i) call.x[static_cast<std::size_t>(i)] = operand(instr, i, values, lanes);
  return emit_op(ir_, call);
}

Value* BodyEmitter::emit_in_range(const Instr& instr, const BodyPoint& point, const Values& values) {
  const bool fits = instr.lo >= INT32_MIN / 2 && instr.hi <= INT32_MAX / 2;
  Value* index = emit_index(ir_, instr.index, index_point(point, values), fits);
  Value* from_low = ir_.b.CreateSub(index, ir_.integer(index->getType(), instr.lo));
  return ir_.b.CreateICmpULT(from_low, ir_.integer(index->getType(), std::max<std::int64_t>(instr.hi - instr.lo, 0)));
}

// ---- memory ----

// Nothing writes scalars while a program runs, so that their loads may leave loops that store.
Value* BodyEmitter::emit_scalar(const Instr& instr, Value* scalars) {
  Value* slot = ir_.b.CreateConstGEP1_64(ir_.b.getInt64Ty(), scalars, static_cast<std::uint64_t>(instr.buffer));
  llvm::LoadInst* load = ir_.b.CreateAlignedLoad(ir_.memory_type(instr.dtype), slot, llvm::Align(8));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(ir_.b.getContext(), {}));
  return ir_.from_memory(instr.dtype, load);
}

Value* BodyEmitter::emit_load(const Instr& instr, const BodyPoint& point, const Values& values, int lanes) {
  const SplitIndex index = emit_split_index(ir_, instr.index, index_point(point, values));
  Value* base = ir_.at(instr.dtype, task_.buffers[static_cast<std::size_t>(instr.buffer)], index.uniform);
  const bool same = index.lanes == nullptr;
  Value* mask = optional_mask(instr, 0, point, values, same && instr.operands[0] < 0 ? 1 : lanes);
  if (same && KernelIr::lanes_of(mask == nullptr ? base : mask) == 1) return ir_.load(instr.dtype, base, 1, mask);
  if (same) return ir_.gather(instr.dtype, ir_.spread(base, lanes), mask);
  if (lanes == 1 || index.coefficient == 1)
    return ir_.load(instr.dtype, ir_.at(instr.dtype, base, index.lanes), lanes, mask);
  if (index.coefficient == -1) {
    Value* last = ir_.at(instr.dtype, ir_.at(instr.dtype, base, index.lanes), ir_.i64(1 - lanes));
    return ir_.reverse(ir_.load(instr.dtype, last, lanes, mask == nullptr ? nullptr : ir_.reverse(mask)));
  }
  return ir_.gather(instr.dtype, lane_addresses(instr.dtype, base, index, lanes), mask);
}

void BodyEmitter::prefetch(const Instr& load, std::int64_t elements, const BodyPoint& point) {
  BodyPoint first = point;
  if (first.sequence == nullptr) first.sequence = ir_.i64(0);
  const Values no_value;
  const SplitIndex index = emit_split_index(ir_, load.index, index_point(first, no_value));
  Value* position = ir_.b.CreateAdd(index.uniform, ir_.i64(elements));
  if (index.lanes != nullptr) position = ir_.b.CreateAdd(position, index.lanes);
  Value* address = ir_.at(load.dtype, task_.buffers[static_cast<std::size_t>(load.buffer)], position);
  constexpr int kRead = 0, kNearest = 3, kData = 1;
  ir_.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                        {address, ir_.b.getInt32(kRead), ir_.b.getInt32(kNearest), ir_.b.getInt32(kData)});
}

std::vector<InstrId> BodyEmitter::transposed_loads(int row_var) const {
  std::vector<InstrId> found;
  for (std::size_t i = 0; i < phase_.body.size(); ++i) {
    const Instr& instr = phase_.body[i];
    if (instr.kind != Instr::kLoad || instr.operands[0] >= 0 || is_indirect(instr.index)) continue;
    bool lane_affine = false, row_affine = false;
    const std::int64_t lane = coefficient_of(instr.index, kernel_.lane_var(), &lane_affine);
    const std::int64_t row = coefficient_of(instr.index, row_var, &row_affine);
    if (lane_affine && row_affine && row == 1 && std::abs(lane) > 1) found.push_back(static_cast<InstrId>(i));
  }
  return found;
}

std::vector<Value*> BodyEmitter::load_rows(InstrId id, const BodyPoint& point, const Values& values) {
  const Instr& instr = phase_.body[static_cast<std::size_t>(id)];
  BodyPoint first = point;
  first.lanes = 1;
  bool affine = false;
  const std::int64_t stride = coefficient_of(instr.index, kernel_.lane_var(), &affine);
  Value* buffer = task_.buffers[static_cast<std::size_t>(instr.buffer)];
  Value* address = ir_.at(instr.dtype, buffer, emit_index(ir_, instr.index, index_point(first, values), false));
  llvm::Type* type = ir_.memory_type(instr.dtype, point.lanes);
  std::vector<Value*> rows;
  for (int lane = 0; lane < point.lanes; ++lane) {
    Value* from = ir_.at(instr.dtype, address, ir_.i64(lane * stride));
    rows.push_back(ir_.b.CreateAlignedLoad(type, from, llvm::Align(size_of(instr.dtype))));
  }
  return rows;
}

void BodyEmitter::emit_store(const Instr& instr, const BodyPoint& point, const Values& values) {
  const int lanes = point.lanes;
  const SplitIndex index = emit_split_index(ir_, instr.index, index_point(point, values));
  Value* base = ir_.at(instr.dtype, task_.buffers[static_cast<std::size_t>(instr.buffer)], index.uniform);
  Value* value = operand(instr, 0, values, lanes);
  Value* mask = optional_mask(instr, 1, point, values, lanes);
  if (lanes == 1 || index.coefficient == 1) {
    if (index.lanes != nullptr) base = ir_.at(instr.dtype, base, index.lanes);
    if (mask == nullptr && can_stream(instr, lanes)) return ir_.stream(instr.dtype, value, base);
    ir_.store(instr.dtype, value, base, mask);
  } else if (index.lanes == nullptr) {
    ir_.scatter(instr.dtype, value, ir_.spread(base, lanes), mask);
  } else if (index.coefficient == -1) {
    Value* last = ir_.at(instr.dtype, ir_.at(instr.dtype, base, index.lanes), ir_.i64(1 - lanes));
    ir_.store(instr.dtype, ir_.reverse(value), last, mask == nullptr ? nullptr : ir_.reverse(mask));
  } else {
    ir_.scatter(instr.dtype, value, lane_addresses(instr.dtype, base, index, lanes), mask);
  }
}

// Whether the store is of the target's widest vectors, which fill cache lines, each at a multiple of its size. Ranges
// of lanes begin at multiples of lane_chunk and are walked from there in whole vectors.
bool BodyEmitter::can_stream(const Instr& store, int lanes) const {
  if (lanes == 1 || bytes_of(store.buffer) < kOutlivesCaches) return false;
  const auto size = static_cast<std::int64_t>(size_of(store.dtype));
  const std::int64_t bytes = lanes * size;
  const auto is_multiple = [&](std::int64_t elements) { return elements * size % bytes == 0; };
  const bool has_whole_ranges = kernel_.chunks() == 1 || is_multiple(kernel_.lane_chunk);
  return bytes == ir_.vector_bytes && has_whole_ranges && !is_loaded(store.buffer) &&
         is_multiple(store.index->constant) &&
         std::all_of(store.index->terms.begin(), store.index->terms.end(), [&](const auto& product) {
           const auto& [coefficient, term] = product;
           return term.kind == IndexTerm::kVar && (term.id == kernel_.lane_var() || is_multiple(coefficient));
         });
}

std::int64_t BodyEmitter::bytes_of(BufferId buffer) const {
  return task_.buffer_bytes.empty() ? 0 : task_.buffer_bytes[static_cast<std::size_t>(buffer)];
}

bool BodyEmitter::is_loaded(BufferId buffer) const {
  return std::any_of(kernel_.phases.begin(), kernel_.phases.end(), [&](const Phase& phase) {
    return std::any_of(phase.body.begin(), phase.body.end(),
                       [&](const Instr& instr) { return instr.kind == Instr::kLoad && instr.buffer == buffer; });
  });
}

std::vector<const Instr*> BodyEmitter::streamed_loads() const {
  std::vector<const Instr*> found;
  for (const Instr& instr : phase_.body) {
    if (instr.kind != Instr::kLoad || is_indirect(instr.index)) continue;
    bool affine = false;
    const std::int64_t coefficient = coefficient_of(instr.index, kernel_.lane_var(), &affine);
    if (!affine || coefficient != 1) continue;
    if (bytes_of(instr.buffer) < kBeyondCache) continue;
    const auto same_walk = std::find_if(found.begin(), found.end(), [&](const Instr* other) {
      return other->buffer == instr.buffer && other->index->terms == instr.index->terms;
    });
    if (same_walk == found.end()) {
      found.push_back(&instr);
    } else if (instr.index->constant > (*same_walk)->index->constant) {
      *same_walk = &instr;
    }
  }
  return found;
}

Value* BodyEmitter::lane_addresses(DType dtype, Value* base, const SplitIndex& index, int lanes) {
  if (index.coefficient == 0) return ir_.at(dtype, base, index.lanes);
  Value* steps = ir_.b.CreateMul(ir_.iota(64, lanes), ir_.spread(ir_.i64(index.coefficient), lanes));
  return ir_.at(dtype, ir_.at(dtype, base, index.lanes), steps);
}

Value* BodyEmitter::local_address(int id, const BodyPoint& point) {
  Value* base = task_.locals[static_cast<std::size_t>(id)];
  Value* at = ir_.b.CreateSub(point.lane, task_.lane_begin);
  if (local(id).sequence > 1) at = ir_.b.CreateAdd(at, ir_.b.CreateMul(point.sequence, ir_.i64(kernel_.lane_chunk)));
  return ir_.at(local(id).dtype, base, at);
}

Value* BodyEmitter::emit_local_load(const Instr& instr, const BodyPoint& point) {
  const DType dtype = local(instr.buffer).dtype;
  if (local(instr.buffer).per_lane) return ir_.load(dtype, local_address(instr.buffer, point), point.lanes, point.mask);
  return ir_.b.CreateLoad(ir_.type(dtype), task_.locals[static_cast<std::size_t>(instr.buffer)]);
}

void BodyEmitter::store_local(int id, Value* value, const BodyPoint& point) {
  if (local(id).per_lane) return ir_.store(local(id).dtype, value, local_address(id, point), point.mask);
  ir_.b.CreateStore(value, task_.locals[static_cast<std::size_t>(id)]);
}

}  // namespace tenon::codegen
