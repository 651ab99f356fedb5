// SPDX-License-Identifier: MIT
// The loop over k is not unrolled: a full tile has some 28 independent multiply-adds a turn, which hide both their
// latency and the loop.
#include "compiler/codegen/cpu/matmul_tile.h"

#include <algorithm>

namespace tenon::codegen {
namespace {

using Value = MatmulIr::Value;
using Values = MatmulIr::Values;

constexpr int kPrefetchedSteps = 8;  // of k, ahead in the panel of b, which lies in L2

/// How the tile sees an operand or c: dtype in memory and element strides.
struct View {
  DType dtype;
  std::int64_t row_stride;
  std::int64_t col_stride;
};

class TileEmitter {
 public:
  TileEmitter(MatmulIr& ir, int rows, std::int64_t cols)
      : ir_(ir), b_(ir.b), rows_(rows), cols_(cols), vectors_(static_cast<int>((cols + lanes() - 1) / lanes())) {
    const MatmulPlan& p = ir.plan;
    const MatmulSpec& s = p.problem;
    a_view_ = p.pack_a ? View{p.compute, 1, p.packed_rows} : View{s.dtype, s.a.row_stride, s.a.col_stride};
    b_view_ = p.pack_b ? View{p.compute, p.tile_cols(), 1} : View{s.dtype, s.b.row_stride, s.b.col_stride};
    c_view_ = p.through_scratch ? View{p.compute, p.col_block, 1} : View{p.compute, s.c.row_stride, 1};
  }

  llvm::Function* emit() {
    llvm::Type* pointer = ir_.pointer;
    const std::string suffix = ".tile_" + std::to_string(rows_) + "x" + std::to_string(cols_);
    llvm::Function* f = ir_.begin_function(suffix, {pointer, pointer, pointer, b_.getInt64Ty(), b_.getInt1Ty()});
    for (unsigned i = 0; i < 3; ++i) f->addParamAttr(i, llvm::Attribute::NoAlias);
    Value *a = f->getArg(0), *b = f->getArg(1), *c = f->getArg(2);
    Values state = begin_accumulators(c, f->getArg(4));
    state.push_back(a);
    state.push_back(b);
    Value *k = ir_.i64(0), *k_count = f->getArg(3);
    if (ir_.plan.transpose_b) {
      Value* whole = b_.CreateAnd(k_count, ir_.i64(-ir_.column_lanes()));
      state = loop_over_k(k, whole, ir_.column_lanes(), state, &TileEmitter::emit_transposed_steps);
      k = whole;
    }
    state = loop_over_k(k, k_count, 1, state, &TileEmitter::emit_step);
    for_each_vector(
        [&](int i, int v) { ir_.store_vector(c_view_.dtype, state[slot(i, v)], c_address(c, i, v), stored(v)); });
    ir_.end_function();
    return f;
  }

 private:
  int lanes() const { return ir_.plan.lanes; }
  std::size_t slot(int i, int v) const { return static_cast<std::size_t>(i * vectors_ + v); }
  std::size_t accumulators() const { return slot(rows_, 0); }
  int valid(int v) const { return static_cast<int>(std::min<std::int64_t>(lanes(), cols_ - v * lanes())); }
  /// Lanes of b and c that may be touched: all where they are padded in scratch.
  int loaded(int v) const { return ir_.plan.pack_b ? lanes() : valid(v); }
  int stored(int v) const { return ir_.plan.through_scratch ? lanes() : valid(v); }

  Value* c_address(Value* c, int i, int v) { return ir_.at(c_view_.dtype, c, i * c_view_.row_stride + v * lanes()); }

  template <class Fn>
  void for_each_vector(Fn fn) {
    for (int i = 0; i < rows_; ++i)
      for (int v = 0; v < vectors_; ++v) fn(i, v);
  }

  Values loop_over_k(Value* begin, Value* end, int step, const Values& state, void (TileEmitter::*body)(Values&)) {
    return ir_.loop(begin, end, state, [&](Value* k, Values& carried) {
      (this->*body)(carried);
      return b_.CreateNSWAdd(k, ir_.i64(step));
    });
  }

  Values begin_accumulators(Value* c, Value* first) {
    Values loaded_values, results;
    llvm::BasicBlock *zero_from = b_.GetInsertBlock(), *load_from = nullptr;
    ir_.branch(
        first, [&] { zero_from = b_.GetInsertBlock(); },
        [&] {
          for_each_vector([&](int i, int v) {
            loaded_values.push_back(ir_.load_vector(c_view_.dtype, c_address(c, i, v), stored(v)));
          });
          load_from = b_.GetInsertBlock();
        });
    for (Value* value : loaded_values) {
      llvm::PHINode* phi = b_.CreatePHI(ir_.vector, 2);
      phi->addIncoming(llvm::Constant::getNullValue(ir_.vector), zero_from);
      phi->addIncoming(value, load_from);
      results.push_back(phi);
    }
    return results;
  }

  Value* load_a(Value* a, int i) {
    Value* x = ir_.load_scalar(a_view_.dtype, ir_.at(a_view_.dtype, a, i * a_view_.row_stride));
    return b_.CreateVectorSplat(static_cast<unsigned>(lanes()), x);
  }
  Value* load_b(Value* b, int v) {
    if (!ir_.plan.transpose_b) return ir_.load_vector(b_view_.dtype, ir_.at(b_view_.dtype, b, v * lanes()), loaded(v));
    Values elements;
    for (int lane = 0; lane < lanes(); ++lane) elements.push_back(lane_address(b, v, lane));
    return ir_.load_parts(b_view_.dtype, elements);
  }
  /// Of a lane of b; lanes that are not valid repeat the last one that is.
  Value* lane_address(Value* b, int v, int lane) {
    return ir_.at(b_view_.dtype, b, (v * lanes() + std::min(lane, valid(v) - 1)) * b_view_.col_stride);
  }

  void prefetch_b(Value* b) {
    for (int v = 0; v < vectors_; ++v)
      ir_.prefetch(ir_.at(b_view_.dtype, b, kPrefetchedSteps * b_view_.row_stride + v * lanes()));
  }

  /// One k: the fewer operands are held in registers, the others pass through one.
  void emit_step(Values& state) {
    Value *&a = state[accumulators()], *&b = state[accumulators() + 1];
    const auto update = [&](int i, int v, Value* x, Value* y) {
      state[slot(i, v)] = ir_.multiply_add(x, y, state[slot(i, v)]);
    };
    if (ir_.plan.pack_b) prefetch_b(b);
    Values held;
    if (vectors_ <= rows_) {
      for (int v = 0; v < vectors_; ++v) held.push_back(load_b(b, v));
      for (int i = 0; i < rows_; ++i) {
        Value* x = load_a(a, i);
        for (int v = 0; v < vectors_; ++v) update(i, v, x, held[static_cast<std::size_t>(v)]);
      }
    } else {
      for (int i = 0; i < rows_; ++i) held.push_back(load_a(a, i));
      for (int v = 0; v < vectors_; ++v) {
        Value* y = load_b(b, v);
        for (int i = 0; i < rows_; ++i) update(i, v, held[static_cast<std::size_t>(i)], y);
      }
    }
    a = ir_.at(a_view_.dtype, a, a_view_.col_stride);
    b = ir_.at(b_view_.dtype, b, b_view_.row_stride);
  }

  /// As many k as there are lanes in 128 bits: each lane's are one load.
  void emit_transposed_steps(Values& state) {
    Value *&a = state[accumulators()], *&b = state[accumulators() + 1];
    const int steps = ir_.column_lanes();
    for (int v = 0; v < vectors_; ++v) {
      Values block;
      for (int i = 0; i < steps; ++i) {
        Values parts;
        for (int lane = i; lane < lanes(); lane += steps) parts.push_back(lane_address(b, v, lane));
        block.push_back(ir_.load_parts(b_view_.dtype, parts));
      }
      block = ir_.transpose_columns(block);
      for (int k = 0; k < steps; ++k)
        for (int i = 0; i < rows_; ++i) {
          Value* x = load_a(ir_.at(a_view_.dtype, a, k * a_view_.col_stride), i);
          state[slot(i, v)] = ir_.multiply_add(x, block[static_cast<std::size_t>(k)], state[slot(i, v)]);
        }
    }
    a = ir_.at(a_view_.dtype, a, steps * a_view_.col_stride);
    b = ir_.at(b_view_.dtype, b, steps * b_view_.row_stride);
  }

  MatmulIr& ir_;
  llvm::IRBuilder<>& b_;
  const int rows_;
  const std::int64_t cols_;
  const int vectors_;
  View a_view_{}, b_view_{}, c_view_{};
};

}  // namespace

llvm::Function* emit_tile(MatmulIr& ir, int rows, std::int64_t cols) { return TileEmitter(ir, rows, cols).emit(); }

}  // namespace tenon::codegen
