// SPDX-License-Identifier: MIT
// Three ways, by the strides: copy vectors of lanes, transpose square blocks in registers, or move single elements.
#include "compiler/codegen/cpu/matmul_pack.h"

#include <algorithm>

namespace tenon::codegen {
namespace {

using Value = MatmulIr::Value;
using Values = MatmulIr::Values;

class PackEmitter {
 public:
  PackEmitter(MatmulIr& ir, const PackSpec& spec) : ir_(ir), b_(ir.b), spec_(spec), lanes_(ir.plan.lanes) {}

  llvm::Function* emit() {
    llvm::Function* f = ir_.begin_function(spec_.suffix, {ir_.pointer, ir_.pointer, b_.getInt64Ty(), b_.getInt64Ty()});
    for (unsigned i = 0; i < 2; ++i) f->addParamAttr(i, llvm::Attribute::NoAlias);
    Value *source = f->getArg(0), *panel = f->getArg(1), *available = f->getArg(3);
    k_count_ = f->getArg(2);
    Value* end = ir_.min(available, ir_.i64(spec_.used));
    ir_.for_each(ir_.i64(0), end, lanes_, [&](Value* lane) {
      Value* from = ir_.at(dtype(), source, b_.CreateMul(lane, ir_.i64(spec_.lane_stride)));
      Value* to = ir_.at(ir_.plan.compute, panel, lane);
      emit_group(from, to, b_.CreateSub(available, lane));
    });
    ir_.end_function();
    return f;
  }

 private:
  DType dtype() const { return ir_.plan.problem.dtype; }
  Value* source_at(Value* from, Value* k) { return ir_.at(dtype(), from, b_.CreateMul(k, ir_.i64(spec_.k_stride))); }
  Value* panel_at(Value* to, Value* k) { return ir_.at(ir_.plan.compute, to, b_.CreateMul(k, ir_.i64(spec_.width))); }

  void emit_group(Value* from, Value* to, Value* available) {
    if (spec_.k_stride == 1 && ir_.plan.k_part >= lanes_) return transpose(from, to, available);
    if (spec_.lane_stride != 1) return move_elements(from, to, available);
    ir_.branch(
        b_.CreateICmpSGE(available, ir_.i64(lanes_)), [&] { copy_vectors(from, to); },
        [&] { move_elements(from, to, available); });
  }

  void copy_vectors(Value* from, Value* to) {
    ir_.for_each(ir_.i64(0), k_count_, 1, [&](Value* k) {
      Value* x = ir_.load_vector(dtype(), source_at(from, k), lanes_);
      ir_.store_vector(ir_.plan.compute, x, panel_at(to, k), lanes_);
    });
  }

  void move_elements(Value* from, Value* to, Value* available) {
    Value* end = ir_.min(available, ir_.i64(lanes_));
    ir_.for_each(ir_.i64(0), k_count_, 1, [&](Value* k) {
      ir_.for_each(ir_.i64(0), end, 1, [&](Value* lane) {
        Value* address = ir_.at(dtype(), source_at(from, k), b_.CreateMul(lane, ir_.i64(spec_.lane_stride)));
        ir_.store_scalar(ir_.plan.compute, ir_.load_scalar(dtype(), address),
                         ir_.at(ir_.plan.compute, panel_at(to, k), lane));
      });
    });
  }

  /// The last block is moved back to end with k_count, so it packs some k again with the same values; lanes that are
  /// not available repeat the last one that is.
  void transpose(Value* from, Value* to, Value* available) {
    Values rows;
    Value* last_lane = b_.CreateSub(available, ir_.i64(1));
    for (int lane = 0; lane < lanes_; ++lane) {
      Value* row = ir_.min(last_lane, ir_.i64(std::min<std::int64_t>(lane, spec_.used - 1)));
      rows.push_back(ir_.at(dtype(), from, b_.CreateMul(row, ir_.i64(spec_.lane_stride))));
    }
    Value* last_block = b_.CreateSub(k_count_, ir_.i64(lanes_));
    ir_.for_each(ir_.i64(0), k_count_, lanes_, [&](Value* k) {
      Value* start = ir_.min(k, last_block);
      Values block;
      for (Value* row : rows) block.push_back(ir_.load_vector(dtype(), ir_.at(dtype(), row, start), lanes_));
      transpose_block(block);
      Value* target = panel_at(to, start);
      for (int i = 0; i < lanes_; ++i)
        ir_.store_vector(ir_.plan.compute, block[static_cast<std::size_t>(i)],
                         ir_.at(ir_.plan.compute, target, i * spec_.width), lanes_);
    });
  }

  /// Transposes a square of vectors by exchanging off-diagonal halves, quarters, and so on down to elements.
  void transpose_block(Values& block) {
    for (int half = lanes_ / 2; half > 0; half /= 2) {
      llvm::SmallVector<int> low, high;
      for (int j = 0; j < lanes_; ++j) {
        low.push_back((j & half) ? lanes_ + j - half : j);
        high.push_back((j & half) ? lanes_ + j : j + half);
      }
      for (int i = 0; i < lanes_; ++i) {
        if (i & half) continue;
        Value *&x = block[static_cast<std::size_t>(i)], *&y = block[static_cast<std::size_t>(i + half)];
        Value* upper = b_.CreateShuffleVector(x, y, high);
        x = b_.CreateShuffleVector(x, y, low);
        y = upper;
      }
    }
  }

  MatmulIr& ir_;
  llvm::IRBuilder<>& b_;
  const PackSpec& spec_;
  const int lanes_;
  Value* k_count_ = nullptr;
};

}  // namespace

llvm::Function* emit_pack(MatmulIr& ir, const PackSpec& spec) { return PackEmitter(ir, spec).emit(); }

}  // namespace tenon::codegen
