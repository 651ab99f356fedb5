// SPDX-License-Identifier: MIT
// The loops around the tiles of matmul: tasks, rows, blocks of k, panels, tiles.
//
// Consecutive tasks of one call with the same columns of c are done together, so that b is packed once for all of them.
#include "compiler/codegen/cpu/matmul.h"

#include <algorithm>

#include "compiler/codegen/cpu/matmul_ir.h"
#include "compiler/codegen/cpu/matmul_pack.h"
#include "compiler/codegen/cpu/matmul_plan.h"
#include "compiler/codegen/cpu/matmul_tile.h"

namespace tenon::codegen {
namespace {

using Value = MatmulIr::Value;
using Values = MatmulIr::Values;

class MatmulEmitter {
 public:
  MatmulEmitter(llvm::Module& module, const MatmulPlan& plan, const std::string& name)
      : plan_(plan), spec_(plan.problem), ir_(module, plan, name), b_(ir_.b) {}

  void emit(const EpilogueMaker& make_epilogue) {
    if (spec_.has_epilogue && plan_.tasks() > 0) epilogue_ = make_epilogue(plan_);
    emit_parts();
    llvm::Type *pointer = ir_.pointer, *i64 = b_.getInt64Ty();
    llvm::Function* f = ir_.begin_function("", {pointer, pointer, i64, i64, pointer});
    buffers_ = f->getArg(0);
    scalars_ = f->getArg(1);
    scratch_ = f->getArg(4);
    if (plan_.tasks() > 0) {
      Value* end = f->getArg(3);
      ir_.loop(f->getArg(2), end, {}, [&](Value* task, Values&) { return emit_tasks(task, end); });
    }
    ir_.end_function();
  }

 private:
  Value* i64(std::int64_t x) { return ir_.i64(x); }
  Value* times(Value* x, std::int64_t y) { return b_.CreateNSWMul(x, i64(y)); }
  Value* plus(Value* x, std::int64_t y) { return b_.CreateNSWAdd(x, i64(y)); }
  /// base + i * row_stride + j * col_stride, in elements of dtype.
  Value* element(DType dtype, Value* base, Value* i, std::int64_t row_stride, Value* j, std::int64_t col_stride) {
    return ir_.at(dtype, base, b_.CreateNSWAdd(times(i, row_stride), times(j, col_stride)));
  }

  void emit_parts() {
    if (plan_.tasks() == 0) return;
    for (const bool row_edge : {false, true}) {
      for (const bool col_edge : {false, true}) {
        const auto rows = static_cast<int>(row_edge ? spec_.m % plan_.tile_rows : plan_.tile_rows);
        const std::int64_t cols = col_edge ? spec_.n % plan_.tile_cols() : plan_.tile_cols();
        if (rows > 0 && cols > 0 && cols <= spec_.n) tiles_[row_edge][col_edge] = emit_tile(ir_, rows, cols);
      }
    }
    if (plan_.pack_a)
      pack_a_ = emit_pack(ir_, {".pack_a", spec_.a.row_stride, spec_.a.col_stride, plan_.tile_rows, plan_.packed_rows});
    if (plan_.pack_b)
      pack_b_ =
          emit_pack(ir_, {".pack_b", spec_.b.col_stride, spec_.b.row_stride, plan_.tile_cols(), plan_.tile_cols()});
  }

  /// Does the tasks from `task` on that have its columns, `end` at most; returns the task after them.
  Value* emit_tasks(Value* task, Value* end) {
    Value* group = b_.CreateUDiv(task, i64(plan_.row_blocks));
    Value* group_begin = times(group, plan_.row_blocks);
    Value* next = ir_.min(end, plus(group_begin, plan_.row_blocks));
    Value* batch = b_.CreateUDiv(group, i64(plan_.col_blocks));
    batch_ = batch;
    find_operands(batch);
    j_begin_ = times(b_.CreateURem(group, i64(plan_.col_blocks)), plan_.col_block);
    j_end_ = ir_.min(plus(j_begin_, plan_.col_block), i64(spec_.n));
    Value* i_begin = times(b_.CreateSub(task, group_begin), plan_.row_block);
    Value* i_end = ir_.min(times(b_.CreateSub(next, group_begin), plan_.row_block), i64(spec_.m));
    ir_.for_each(i_begin, i_end, plan_.max_rows,
                 [&](Value* i) { emit_rows(i, ir_.min(plus(i, plan_.max_rows), i_end)); });
    return next;
  }

  void find_operands(Value* batch) {
    a_matrix_ = operand(spec_.dtype, spec_.a, batch);
    b_matrix_ = operand(spec_.dtype, spec_.b, batch);
    if (!spec_.has_epilogue) c_matrix_ = operand(spec_.out, spec_.c, batch);
  }

  Value* operand(DType dtype, const MatmulOperand& x, Value* batch) {
    Value* slot = b_.CreateConstGEP1_64(ir_.pointer, buffers_, static_cast<std::uint64_t>(x.buffer));
    Value* offset = i64(x.offset);
    for (std::size_t d = spec_.batch.size(); d-- > 0;) {
      Value* extent = i64(spec_.batch[d]);
      offset = b_.CreateNSWAdd(offset, times(b_.CreateURem(batch, extent), x.batch_strides[d]));
      batch = b_.CreateUDiv(batch, extent);
    }
    return ir_.at(dtype, b_.CreateLoad(ir_.pointer, slot), offset);
  }

  void emit_rows(Value* i_begin, Value* i_end) {
    ir_.for_each(i64(0), i64(plan_.k_blocks), 1, [&](Value* block) { emit_k_block(block, i_begin, i_end); });
  }

  void emit_k_block(Value* block, Value* i_begin, Value* i_end) {
    Value* is_longer = b_.CreateICmpSLT(block, i64(plan_.k_longer));
    Value* k_begin = b_.CreateNSWAdd(times(block, plan_.k_part), ir_.min(block, i64(plan_.k_longer)));
    Value* k_count = plus(b_.CreateZExt(is_longer, b_.getInt64Ty()), plan_.k_part);
    Value* is_first = b_.CreateICmpEQ(block, i64(0));
    Value* is_last = b_.CreateICmpEQ(block, i64(plan_.k_blocks - 1));
    if (plan_.pack_b) {
      Value* panels =
          b_.CreateUDiv(plus(b_.CreateSub(j_end_, j_begin_), plan_.tile_cols() - 1), i64(plan_.tile_cols()));
      pack(pack_b_, b_source(k_begin, j_begin_), scratch_, k_count, b_.CreateSub(i64(spec_.n), j_begin_), panels);
    }
    ir_.for_each(i_begin, i_end, plan_.tile_rows, [&](Value* i) {
      Value* a = element(spec_.dtype, a_matrix_, i, spec_.a.row_stride, k_begin, spec_.a.col_stride);
      if (plan_.pack_a) {
        pack(pack_a_, a, a_panel(), k_count, b_.CreateSub(i64(spec_.m), i), i64(1));
        a = a_panel();
      }
      for_each_panel([&](Value* j) {
        Value* b = plan_.pack_b ? b_panel(j) : b_source(k_begin, j);
        call_tile(i, j, {a, b, accumulators(i, i_begin, j), k_count, is_first});
      });
      if (plan_.through_scratch) {
        ir_.branch(is_last, [&] { finish_rows(i, ir_.min(plus(i, plan_.tile_rows), i_end), i_begin); }, nullptr);
      }
    });
  }

  void finish_rows(Value* first, Value* end, Value* i_begin) {
    if (epilogue_ == nullptr) return write_out(first, end, i_begin);
    b_.CreateCall(epilogue_,
                  {buffers_, scalars_, accumulators(first, i_begin, j_begin_), batch_, first, end, j_begin_, j_end_});
  }

  void pack(llvm::Function* function, Value* source, Value* panels, Value* k_count, Value* available, Value* count) {
    b_.CreateCall(function, {source, panels, k_count, available, count});
  }

  template <class Fn>
  void for_each_panel(Fn fn) {
    ir_.for_each(j_begin_, j_end_, plan_.tile_cols(), fn);
  }

  Value* scratch_at(std::int64_t bytes) {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), scratch_, static_cast<std::uint64_t>(bytes));
  }
  Value* a_panel() { return scratch_at(plan_.a_panel_at); }
  Value* b_panel(Value* j) { return ir_.at(plan_.compute, scratch_, times(b_.CreateSub(j, j_begin_), plan_.k_most())); }
  Value* b_source(Value* k, Value* j) {
    return element(spec_.dtype, b_matrix_, k, spec_.b.row_stride, j, spec_.b.col_stride);
  }

  Value* accumulators(Value* i, Value* i_begin, Value* j) {
    if (!plan_.through_scratch) return element(spec_.out, c_matrix_, i, spec_.c.row_stride, j, 1);
    Value *row = b_.CreateSub(i, i_begin), *col = b_.CreateSub(j, j_begin_);
    return element(plan_.compute, scratch_at(plan_.accumulators_at), row, plan_.col_block, col, 1);
  }

  void call_tile(Value* i, Value* j, const Values& arguments) {
    choose(tiles_[1][0] || tiles_[1][1], plus(i, plan_.tile_rows), spec_.m, [&](bool row_edge) {
      choose(tiles_[row_edge][1], plus(j, plan_.tile_cols()), spec_.n, [&](bool col_edge) {
        if (llvm::Function* tile = tiles_[row_edge][col_edge]) b_.CreateCall(tile, arguments);
      });
    });
  }

  /// Emits fn(end > extent), both ways if the edge exists at all.
  template <class Fn>
  void choose(bool has_edge, Value* end, std::int64_t extent, Fn fn) {
    if (!has_edge) return fn(false);
    ir_.branch(b_.CreateICmpSGT(end, i64(extent)), [&] { fn(true); }, [&] { fn(false); });
  }

  /// Rounds the accumulators of rows [first, end) from scratch into c.
  void write_out(Value* first, Value* end, Value* i_begin) {
    Value* whole = b_.CreateAnd(b_.CreateSub(j_end_, j_begin_), i64(-plan_.lanes));
    Value* vectors_end = spec_.c.col_stride == 1 ? b_.CreateAdd(j_begin_, whole) : j_begin_;
    ir_.for_each(first, end, 1, [&](Value* i) {
      const auto target = [&](Value* j) {
        return element(spec_.out, c_matrix_, i, spec_.c.row_stride, j, spec_.c.col_stride);
      };
      ir_.for_each(j_begin_, vectors_end, plan_.lanes, [&](Value* j) {
        Value* x = ir_.load_vector(plan_.compute, accumulators(i, i_begin, j), plan_.lanes);
        ir_.store_vector(spec_.out, x, target(j), plan_.lanes);
      });
      ir_.for_each(vectors_end, j_end_, 1, [&](Value* j) {
        ir_.store_scalar(spec_.out, ir_.load_scalar(plan_.compute, accumulators(i, i_begin, j)), target(j));
      });
    });
  }

  const MatmulPlan& plan_;
  const MatmulSpec& spec_;
  MatmulIr ir_;
  llvm::IRBuilder<>& b_;
  llvm::Function* tiles_[2][2] = {};  // [row edge][column edge]; null where no such tile occurs
  llvm::Function *pack_a_ = nullptr, *pack_b_ = nullptr;
  llvm::Function* epilogue_ = nullptr;
  Value *buffers_ = nullptr, *scalars_ = nullptr, *scratch_ = nullptr;
  Value* batch_ = nullptr;                                                 // the number of the batch at hand
  Value *a_matrix_ = nullptr, *b_matrix_ = nullptr, *c_matrix_ = nullptr;  // the matrices of the batch at hand
  Value *j_begin_ = nullptr, *j_end_ = nullptr;                            // the columns of the task at hand
};

}  // namespace

MatmulInfo emit_matmul(llvm::Module& module, const MatmulSpec& spec, int vector_bytes, const std::string& name,
                       const EpilogueMaker& make_epilogue) {
  const MatmulPlan plan = plan_matmul(spec, vector_bytes);
  MatmulEmitter(module, plan, name).emit(make_epilogue);
  MatmulInfo info{name, plan.tasks(), plan.scratch_bytes, 0, 0};
  info.elements_per_task = std::min(plan.row_block, plan.problem.m) * std::min(plan.col_block, plan.problem.n);
  info.flops_per_task = 2 * info.elements_per_task * spec.k;
  return info;
}

}  // namespace tenon::codegen
