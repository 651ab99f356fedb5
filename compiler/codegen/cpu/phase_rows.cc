// SPDX-License-Identifier: MIT
// Pointwise phases over blocks of rows, for reads that are adjacent along the rows and far apart along the lanes. A
// square of as many rows as lanes is read row-wise, transposed in registers and put into a small tile, from which the
// body, row by row, reads it along the lanes. So each cache line of a transposed operand is read whole.
#include "compiler/codegen/cpu/phase.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

// Exchanges the blocks off the diagonal of ever smaller squares.
void transpose(KernelIr& ir, std::vector<Value*>& rows) {
  const int n = static_cast<int>(rows.size());
  for (int d = n / 2; d >= 1; d /= 2) {
    std::vector<int> low, high;
    for (int j = 0; j < n; ++j) {
      low.push_back((j & d) == 0 ? j : n + j - d);
      high.push_back((j & d) == 0 ? j + d : n + j);
    }
    for (int i = 0; i < n; ++i) {
      if ((i & d) != 0) continue;
      Value*& a = rows[static_cast<std::size_t>(i)];
      Value*& b = rows[static_cast<std::size_t>(i + d)];
      Value* first = ir.b.CreateShuffleVector(a, b, low);
      b = ir.b.CreateShuffleVector(a, b, high);
      a = first;
    }
  }
}

// Beyond it a square takes more shuffles than it saves.
constexpr int kMostTileLanes = 16;

}  // namespace

bool PhaseEmitter::can_tile_rows() const {
  return phase_.reductions.empty() && phase_.sequence == 1 && phase_.sequence_limit == nullptr && phase_.lanes;
}

// For a vector of lanes all rows of the block before the next vector: the rows of an operand are then read a few cache
// lines at a time, and few pages are touched in a while.
absl::Status PhaseEmitter::emit_rows(Value* first, Value* end) {
  lanes_ = body_.natural_lanes(kMostTileLanes);
  const std::vector<InstrId> loads = body_.transposed_loads(row_var());
  const bool only_squares = kernel_.outer.back() % lanes_ == 0 && kernel_.row_block % lanes_ == 0;
  make_tiles(loads);
  for_lanes(1, [&](Points points) {
    Value* squares_end = first;
    if (!loads.empty() && lanes_ > 1 && points[0].mask == nullptr && points[0].lanes == lanes_) {
      Value* count = ir_.b.CreateAnd(ir_.b.CreateSub(end, first), ir_.i64(-lanes_));
      squares_end = ir_.b.CreateAdd(first, count);
      ir_.loop(first, squares_end, lanes_, [&](Value* row) { emit_square(loads, row, points); });
      if (only_squares) return;
    }
    ir_.loop(squares_end, end, 1, [&](Value* row) { emit_row(row, points, body_.no_values()); });
  });
  return finished();
}

void PhaseEmitter::make_tiles(const std::vector<InstrId>& loads) {
  for (InstrId id : loads) {
    const DType dtype = phase_.body[static_cast<std::size_t>(id)].dtype;
    tiles_.push_back(ir_.local(ir_.memory_type(dtype), std::int64_t{lanes_} * lanes_));
  }
}

void PhaseEmitter::emit_row(Value* row, Points points, Values values) {
  task_.context.vars[static_cast<std::size_t>(row_var())] = row;
  body_.emit(set_of(kOnTask, kOnSequence), points[0], values);
  emit_stream_vectors(values, ir_.i64(0), points);
}

void PhaseEmitter::emit_square(const std::vector<InstrId>& loads, Value* first, Points points) {
  task_.context.vars[static_cast<std::size_t>(row_var())] = first;
  Values values = body_.no_values();
  body_.emit(set_of(kOnTask, kOnSequence), points[0], values);
  const auto place = [&](std::size_t load, Value* row) {
    const DType dtype = phase_.body[static_cast<std::size_t>(loads[load])].dtype;
    return ir_.at(dtype, tiles_[load], ir_.b.CreateMul(row, ir_.i64(lanes_)));
  };
  for (std::size_t i = 0; i < loads.size(); ++i) {
    std::vector<Value*> rows = body_.load_rows(loads[i], points[0], values);
    transpose(ir_, rows);
    for (int r = 0; r < lanes_; ++r) ir_.b.CreateStore(rows[static_cast<std::size_t>(r)], place(i, ir_.i64(r)));
  }
  ir_.loop(ir_.i64(0), ir_.i64(lanes_), 1, [&](Value* row) {
    Values inner = body_.no_values();
    for (std::size_t i = 0; i < loads.size(); ++i) {
      const DType dtype = phase_.body[static_cast<std::size_t>(loads[i])].dtype;
      inner[static_cast<std::size_t>(loads[i])] = ir_.load(dtype, place(i, row), lanes_);
    }
    emit_row(ir_.b.CreateAdd(first, row), points, inner);
  });
}

}  // namespace tenon::codegen
