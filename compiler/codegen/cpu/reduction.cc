// SPDX-License-Identifier: MIT
#include "compiler/codegen/cpu/reduction.h"

#include <bit>
#include <limits>
#include <numeric>

#include "compiler/codegen/cpu/ops.h"
#include "llvm/IR/Intrinsics.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

bool is_largest(ReduceKind kind) { return kind == ReduceKind::max || kind == ReduceKind::argmax; }

// The least value in the order of max, or the greatest for min.
llvm::Constant* extreme(KernelIr& ir, const Reduction& reduction, llvm::Type* type) {
  const bool least = is_largest(reduction.kind);
  if (is_float(reduction.dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return ir.real(type, least ? -infinity : infinity);
  }
  const unsigned width = type->getScalarSizeInBits();
  const bool sign = is_signed_int(reduction.dtype);
  const llvm::APInt bound = least ? (sign ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getMinValue(width))
                                  : (sign ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width));
  return llvm::ConstantInt::get(type, bound);
}

llvm::Constant* identity_value(KernelIr& ir, const Reduction& reduction, llvm::Type* type) {
  if (reduction.kind == ReduceKind::sum) return is_float(reduction.dtype) ? ir.real(type, -0.0) : ir.integer(type, 0);
  if (reduction.kind == ReduceKind::prod) return is_float(reduction.dtype) ? ir.real(type, 1.0) : ir.integer(type, 1);
  return extreme(ir, reduction, type);
}

Value* combine_values(KernelIr& ir, const Reduction& reduction, Value* a, Value* b) {
  const bool real = is_float(reduction.dtype);
  const bool flag = reduction.dtype == DType::kBool;
  switch (reduction.kind) {
    case ReduceKind::sum:
      return real ? ir.b.CreateFAdd(a, b) : flag ? ir.b.CreateOr(a, b) : ir.b.CreateAdd(a, b);
    case ReduceKind::prod:
      return real ? ir.b.CreateFMul(a, b) : flag ? ir.b.CreateAnd(a, b) : ir.b.CreateMul(a, b);
    case ReduceKind::max:
      return emit_maximum(ir, reduction.dtype, a, b);
    default:
      return emit_minimum(ir, reduction.dtype, a, b);
  }
}

// Whether b is the element to keep: a NaN before all, then the extreme value, then the lower position.
Value* second_wins(KernelIr& ir, const Reduction& reduction, const Partial& a, const Partial& b) {
  const bool sign = is_signed_int(reduction.dtype);
  const bool largest = reduction.kind == ReduceKind::argmax;
  Value* earlier = ir.b.CreateICmpULT(b.index, a.index);
  if (!is_float(reduction.dtype)) {
    Value* low = largest ? a.value : b.value;
    Value* high = largest ? b.value : a.value;
    Value* better = sign ? ir.b.CreateICmpSLT(low, high) : ir.b.CreateICmpULT(low, high);
    return ir.b.CreateOr(better, ir.b.CreateAnd(ir.b.CreateICmpEQ(a.value, b.value), earlier));
  }
  Value* a_nan = ir.b.CreateFCmpUNO(a.value, a.value);
  Value* b_nan = ir.b.CreateFCmpUNO(b.value, b.value);
  Value* beyond = largest ? ir.b.CreateFCmpOGT(b.value, a.value) : ir.b.CreateFCmpOLT(b.value, a.value);
  Value* better = ir.b.CreateOr(beyond, ir.b.CreateAnd(b_nan, ir.b.CreateNot(a_nan)));
  Value* same = ir.b.CreateOr(ir.b.CreateFCmpOEQ(a.value, b.value), ir.b.CreateAnd(a_nan, b_nan));
  return ir.b.CreateOr(better, ir.b.CreateAnd(same, earlier));
}

llvm::Type* index_type(KernelIr& ir, int lanes, int bits) {
  return KernelIr::with_lanes(ir.b.getIntNTy(static_cast<unsigned>(bits)), lanes);
}

Value* lane_range(KernelIr& ir, Value* x, int first, int count) {
  if (count == 1) return ir.b.CreateExtractElement(x, static_cast<std::uint64_t>(first));
  std::vector<int> lanes(static_cast<std::size_t>(count));
  std::iota(lanes.begin(), lanes.end(), first);
  return ir.b.CreateShuffleVector(x, lanes);
}

}  // namespace

bool is_arg(const Reduction& reduction) {
  return reduction.kind == ReduceKind::argmax || reduction.kind == ReduceKind::argmin;
}

bool is_ordered(const Reduction& reduction) {
  return is_float(reduction.dtype) && (reduction.kind == ReduceKind::sum || reduction.kind == ReduceKind::prod);
}

Partial identity(KernelIr& ir, const Reduction& reduction, int lanes, int index_bits) {
  Partial partial{identity_value(ir, reduction, ir.type(reduction.dtype, lanes)), nullptr};
  if (is_arg(reduction)) partial.index = ir.integer(index_type(ir, lanes, index_bits), -1);
  return partial;
}

Partial combine(KernelIr& ir, const Reduction& reduction, const Partial& a, const Partial& b) {
  if (!is_arg(reduction)) return {combine_values(ir, reduction, a.value, b.value), nullptr};
  Value* second = second_wins(ir, reduction, a, b);
  return {ir.b.CreateSelect(second, b.value, a.value), ir.b.CreateSelect(second, b.index, a.index)};
}

Partial combine_lanes(KernelIr& ir, const Reduction& reduction, Partial x) {
  for (int half = KernelIr::lanes_of(x.value) / 2; half >= 1; half /= 2) {
    const auto part = [&](int first) {
      return Partial{lane_range(ir, x.value, first, half),
                     x.index == nullptr ? nullptr : lane_range(ir, x.index, first, half)};
    };
    x = combine(ir, reduction, part(0), part(half));
  }
  return x;
}

Value* result_of(KernelIr& ir, const Reduction& reduction, const Partial& x, Value* is_empty) {
  if (is_arg(reduction)) return ir.b.CreateZExt(x.index, ir.type(DType::kInt64, KernelIr::lanes_of(x.index)));
  Value* value = ir.round_to(reduction.dtype, x.value);
  if (reduction.kind != ReduceKind::sum || !is_float(reduction.dtype)) return value;
  return ir.b.CreateSelect(is_empty, llvm::Constant::getNullValue(value->getType()), value);
}

// ---- accumulators ----

Accumulator::Accumulator(KernelIr& ir, const Reduction& reduction, int lanes, int index_bits)
    : ir_(&ir),
      reduction_(&reduction),
      lanes_(lanes),
      index_bits_(index_bits),
      value_(ir.local(ir.type(reduction.dtype, lanes))) {
  if (is_arg(reduction)) index_ = ir.local(index_type(ir, lanes, index_bits));
}

void Accumulator::reset() { set(identity(*ir_, *reduction_, lanes_, index_bits_)); }

Partial Accumulator::get() const {
  Partial partial{ir_->b.CreateLoad(value_->getAllocatedType(), value_), nullptr};
  if (index_ != nullptr) partial.index = ir_->b.CreateLoad(index_->getAllocatedType(), index_);
  return partial;
}

void Accumulator::set(const Partial& partial) {
  ir_->b.CreateStore(partial.value, value_);
  if (index_ != nullptr) ir_->b.CreateStore(partial.index, index_);
}

void Accumulator::add(Value* operand, Value* index, bool lanes_differ, Value* mask) {
  const int lanes = KernelIr::lanes_of(operand);
  const Partial none = identity(*ir_, *reduction_, lanes, index_bits_);
  Partial next{operand, nullptr};
  if (index_ != nullptr) {
    index = ir_->b.CreateTrunc(index, ir_->b.getIntNTy(static_cast<unsigned>(index_bits_)));
    next.index = ir_->spread(index, lanes);
    if (lanes_differ && lanes > 1) next.index = ir_->b.CreateAdd(next.index, ir_->iota(index_bits_, lanes));
    if (mask != nullptr) next.index = ir_->b.CreateSelect(mask, next.index, none.index);
  }
  if (mask != nullptr) next.value = ir_->b.CreateSelect(mask, next.value, none.value);
  for (int first = 0; first < lanes; first += lanes_) {
    Value* part = lanes == lanes_ ? next.value : lane_range(*ir_, next.value, first, lanes_);
    set(combine(*ir_, *reduction_, get(), {part, next.index}));
  }
}

// ---- the dyadic tree ----

// A half keeps its unrounded float32; a bool needs a byte, for vectors of i1 are packed.
PartialArray::PartialArray(KernelIr& ir, const Reduction& reduction, std::int64_t size)
    : ir_(ir),
      dtype_(is_half(reduction.dtype) ? DType::kFloat32 : reduction.dtype),
      memory_(ir.local(ir.memory_type(dtype_), size)) {}

Value* PartialArray::load(Value* first, int lanes) { return ir_.load(dtype_, ir_.at(dtype_, memory_, first), lanes); }

void PartialArray::store(Value* value, Value* first) { ir_.store(dtype_, value, ir_.at(dtype_, memory_, first)); }

DyadicStack::DyadicStack(KernelIr& ir, const Reduction& reduction, int width, std::int64_t max_blocks)
    : ir_(ir),
      reduction_(reduction),
      width_(width),
      levels_(std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(max_blocks))))),
      memory_(ir, reduction, std::int64_t{levels_} * width) {}

Value* DyadicStack::add(Value* a, Value* b) { return combine_values(ir_, reduction_, a, b); }

Value* DyadicStack::position(Value* level, Value* first) {
  return ir_.b.CreateAdd(ir_.b.CreateMul(level, ir_.i64(width_)), first);
}

Value* DyadicStack::has_level(Value* blocks, Value* level) {
  return ir_.b.CreateTrunc(ir_.b.CreateLShr(blocks, level), ir_.b.getInt1Ty());
}

void DyadicStack::push(Value* block, Value* first, std::span<Value* const> vectors) {
  const int lanes = KernelIr::lanes_of(vectors[0]);
  llvm::AllocaInst* level = ir_.local(ir_.b.getInt64Ty());
  const auto get_level = [&] { return ir_.b.CreateLoad(ir_.b.getInt64Ty(), level); };
  const auto place = [&](std::size_t u) { return ir_.b.CreateAdd(first, ir_.i64(static_cast<int>(u) * lanes)); };
  std::vector<llvm::AllocaInst*> merged;
  for (Value* vector : vectors) {
    merged.push_back(ir_.local(vector->getType()));
    ir_.b.CreateStore(vector, merged.back());
  }
  ir_.b.CreateStore(ir_.i64(0), level);
  ir_.loop_while([&] { return has_level(block, get_level()); },
                 [&] {
                   for (std::size_t u = 0; u < vectors.size(); ++u) {
                     Value* current = ir_.b.CreateLoad(vectors[u]->getType(), merged[u]);
                     ir_.b.CreateStore(add(memory_.load(position(get_level(), place(u)), lanes), current), merged[u]);
                   }
                   ir_.b.CreateStore(ir_.b.CreateAdd(get_level(), ir_.i64(1)), level);
                 });
  for (std::size_t u = 0; u < vectors.size(); ++u) {
    Value* current = ir_.b.CreateLoad(vectors[u]->getType(), merged[u]);
    memory_.store(current, position(get_level(), place(u)));
  }
}

Value* DyadicStack::total(Value* blocks, Value* first, int lanes) {
  Value* lowest = ir_.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, blocks, ir_.b.getFalse());
  lowest = ir_.min(lowest, ir_.i64(levels_ - 1));
  Value* merged = memory_.load(position(lowest, first), lanes);
  for (int i = 1; i < levels_; ++i) {
    Value* level = ir_.i64(i);
    Value* higher = ir_.b.CreateAnd(has_level(blocks, level), ir_.b.CreateICmpSGT(level, lowest));
    if (llvm::isa<llvm::ConstantInt>(higher) && known(higher, 0) == 0) continue;
    merged = ir_.b.CreateSelect(higher, add(memory_.load(position(level, first), lanes), merged), merged);
  }
  return merged;
}

Value* DyadicStack::carry(Value* blocks, Value* first, int lanes) {
  Value* merged = identity(ir_, reduction_, lanes).value;
  for (int i = levels_ - 1; i >= 0; --i) {
    Value* level = ir_.i64(i);
    merged =
        ir_.b.CreateSelect(has_level(blocks, level), add(merged, memory_.load(position(level, first), lanes)), merged);
  }
  return merged;
}

}  // namespace tenon::codegen
