// SPDX-License-Identifier: MIT
#include "compiler/codegen/cpu/index_ir.h"

#include <algorithm>

namespace tenon::codegen {

using llvm::Value;

namespace {

// 32-bit lanes are used where every part stays far from their ends, so that offsets for floor division fit too.
constexpr std::int64_t kNarrow = std::int64_t{1} << 29;

bool is_narrow(IndexExpr e) {
  if (e->lo < -kNarrow || e->hi > kNarrow) return false;
  return std::all_of(e->terms.begin(), e->terms.end(), [](const auto& part) {
    const IndexTerm& term = part.second;
    return term.base == nullptr || (is_narrow(term.base) && term.divisor <= kNarrow);
  });
}

bool term_has_lanes(const IndexTerm& term, const IndexPoint& point) {
  if (point.lanes == 1) return false;
  if (term.kind == IndexTerm::kVar) return term.id == point.lane_var;
  if (term.kind == IndexTerm::kValue) return point.value_has_lanes(term.id);
  return has_lanes(term.base, point);
}

class Emitter {
 public:
  Emitter(KernelIr& ir, const IndexPoint& point, int bits) : ir_(ir), point_(point), bits_(bits) {}

  // The sum of the terms that do (or do not) differ between lanes; null when there is none.
  Value* sum(IndexExpr e, bool lanes) {
    Value* total = nullptr;
    for (const auto& [coefficient, term] : e->terms) {
      if (term_has_lanes(term, point_) != lanes) continue;
      Value* part = value_of(term);
      if (coefficient != 1) part = ir_.b.CreateMul(part, ir_.integer(part->getType(), coefficient));
      total = total == nullptr ? part : ir_.b.CreateAdd(total, part);
    }
    return total;
  }

  Value* uniform(IndexExpr e) {
    Value* total = sum(e, false);
    if (total == nullptr) return ir_.i64(e->constant);
    return e->constant == 0 ? total : ir_.b.CreateAdd(total, ir_.i64(e->constant));
  }

  Value* whole(IndexExpr e) {
    Value* base = uniform(e);
    Value* lanes = sum(e, true);
    if (lanes == nullptr) return base;
    Value* narrowed = ir_.b.CreateTrunc(base, ir_.b.getIntNTy(static_cast<unsigned>(bits_)));
    return ir_.b.CreateAdd(lanes, ir_.spread(narrowed, point_.lanes));
  }

 private:
  Value* value_of(const IndexTerm& term) {
    if (term.kind == IndexTerm::kVar) return variable(term.id);
    if (term.kind == IndexTerm::kValue) return narrowed(point_.value(term.id));
    return divide(term);
  }

  Value* narrowed(Value* value) {
    if (!value->getType()->isVectorTy() || bits_ == 64) return value;
    return ir_.b.CreateTrunc(value, KernelIr::with_lanes(ir_.b.getInt32Ty(), point_.lanes));
  }

  Value* variable(int id) {
    Value* first = point_.vars[static_cast<std::size_t>(id)];
    if (id != point_.lane_var || point_.lanes == 1) return first;
    first = ir_.b.CreateTrunc(first, ir_.b.getIntNTy(static_cast<unsigned>(bits_)));
    return ir_.b.CreateAdd(ir_.spread(first, point_.lanes), ir_.iota(bits_, point_.lanes));
  }

  // Floor semantics by unsigned division: the dividend is raised by a multiple of the divisor.
  Value* divide(const IndexTerm& term) {
    Value* base = whole(term.base);
    const std::int64_t lift = term.base->lo >= 0 ? 0 : (-term.base->lo + term.divisor - 1) / term.divisor;
    Value* divisor = ir_.integer(base->getType(), term.divisor);
    if (lift != 0) base = ir_.b.CreateAdd(base, ir_.integer(base->getType(), lift * term.divisor));
    if (term.kind == IndexTerm::kMod) return ir_.b.CreateURem(base, divisor);
    Value* quotient = ir_.b.CreateUDiv(base, divisor);
    return lift == 0 ? quotient : ir_.b.CreateSub(quotient, ir_.integer(base->getType(), lift));
  }

  KernelIr& ir_;
  const IndexPoint& point_;
  const int bits_;
};

std::int64_t lane_coefficient(IndexExpr e, const IndexPoint& point) {
  const bool indirect = std::any_of(e->terms.begin(), e->terms.end(), [&](const auto& part) {
    return part.second.kind != IndexTerm::kVar && term_has_lanes(part.second, point);
  });
  bool affine = false;
  const std::int64_t coefficient = coefficient_of(e, point.lane_var, &affine);
  return affine && !indirect ? coefficient : 0;
}

}  // namespace

bool has_lanes(IndexExpr e, const IndexPoint& point) {
  return std::any_of(e->terms.begin(), e->terms.end(),
                     [&](const auto& part) { return term_has_lanes(part.second, point); });
}

SplitIndex emit_split_index(KernelIr& ir, IndexExpr e, const IndexPoint& point) {
  SplitIndex split;
  Emitter emitter(ir, point, is_narrow(e) ? 32 : 64);
  split.uniform = emitter.uniform(e);
  if (!has_lanes(e, point)) return split;
  split.coefficient = lane_coefficient(e, point);
  if (split.coefficient == 0) {
    split.lanes = emitter.sum(e, true);
  } else {
    Value* first = point.vars[static_cast<std::size_t>(point.lane_var)];
    split.lanes = ir.b.CreateMul(first, ir.i64(split.coefficient));
  }
  return split;
}

Value* emit_index(KernelIr& ir, IndexExpr e, const IndexPoint& point, bool narrow) {
  return Emitter(ir, point, narrow && is_narrow(e) ? 32 : 64).whole(e);
}

}  // namespace tenon::codegen
