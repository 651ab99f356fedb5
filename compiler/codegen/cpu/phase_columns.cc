// SPDX-License-Identifier: MIT
// Reductions and scans over the sequence loop: a tile of lanes at a time, partial results in registers, in blocks of
// rows that merge by the dyadic tree. Also scans over lanes, which go one lane at a time in the same blocks.
#include <algorithm>

#include "compiler/codegen/cpu/phase.h"
#include "compiler/ir/reduction_order.h"

namespace tenon::codegen {

using llvm::Value;

DyadicStack& PhaseEmitter::stack(int number, int vector) {
  return stacks_[static_cast<std::size_t>(number)][static_cast<std::size_t>(vector)];
}

std::int64_t PhaseEmitter::block_length() const {
  const bool tree_only =
      std::any_of(phase_.reductions.begin(), phase_.reductions.end(), [](const Reduction& r) { return r.tree_only; });
  return tree_only ? 1 : kOuterBlock;
}

void PhaseEmitter::make_stacks(int vectors, std::int64_t extent) {
  stacks_.resize(phase_.reductions.size());
  carries_.resize(phase_.reductions.size());
  const std::int64_t blocks = (extent + block_length() - 1) / block_length();
  for (int r = 0; r < num_reductions(); ++r) {
    for (int u = 0; u < vectors && is_blocked(r); ++u) {
      stacks_[static_cast<std::size_t>(r)].emplace_back(ir_, reduction(r), lanes_, blocks);
      if (is_scan(r)) carries_[static_cast<std::size_t>(r)].emplace_back(ir_, reduction(r), lanes_);
    }
  }
}

void PhaseEmitter::reset_carries(int vectors) {
  for (int r = 0; r < num_reductions(); ++r) {
    for (int u = 0; u < vectors && is_scan(r); ++u)
      carries_[static_cast<std::size_t>(r)][static_cast<std::size_t>(u)].reset();
  }
}

void PhaseEmitter::end_block(Value* block, int vectors) {
  Value* done = ir_.b.CreateAdd(block, ir_.i64(1));
  for (int r = 0; r < num_reductions(); ++r) {
    for (int u = 0; u < vectors && is_blocked(r); ++u) {
      Value* partial = accumulator(r, u).get().value;
      stack(r, u).push(block, ir_.i64(0), {&partial, 1});
      if (!is_scan(r)) continue;
      Value* carry = stack(r, u).carry(done, ir_.i64(0), lanes_);
      carries_[static_cast<std::size_t>(r)][static_cast<std::size_t>(u)].set({carry, nullptr});
    }
  }
}

// Runs rows(first, end) over [0, count), by blocks where some reduction is blocked. Returns the number of blocks.
Value* PhaseEmitter::for_blocks(Value* count, int vectors, const std::function<void(Value*, Value*)>& rows) {
  reset_accumulators(vectors, false);
  reset_carries(vectors);
  const std::int64_t length = block_length();
  bool blocked = false;
  for (int r = 0; r < num_reductions(); ++r) blocked = blocked || is_blocked(r);
  if (!blocked) {
    rows(ir_.i64(0), count);
    return ir_.i64(0);
  }
  Value* blocks = ir_.b.CreateUDiv(ir_.b.CreateAdd(count, ir_.i64(length - 1)), ir_.i64(length));
  ir_.loop(ir_.i64(0), blocks, 1, [&](Value* block) {
    reset_accumulators(vectors, true);
    Value* first = ir_.b.CreateMul(block, ir_.i64(length));
    rows(first, ir_.min(count, ir_.b.CreateAdd(first, ir_.i64(length))));
    end_block(block, vectors);
  });
  return blocks;
}

// ---- over the sequence ----

void PhaseEmitter::emit_columns() {
  lanes_ = body_.natural_lanes(64);
  const int unroll = unroll_factor(8);
  make_accumulators(unroll, lanes_);
  make_stacks(unroll, phase_.sequence);
  Values values = body_.no_values();
  body_.emit(set_of(kOnTask), point(task_.context.lane_begin), values);
  Value* count = sequence_count();
  for_lanes(unroll, [&](Points points) { emit_column_tile(values, count, points); });
}

void PhaseEmitter::emit_column_tile(const Values& outer, Value* count, Points points) {
  std::vector<Values> columns(points.size(), outer);
  for (std::size_t u = 0; u < points.size(); ++u) body_.emit(set_of(kOnLane), points[u], columns[u]);
  const int vectors = static_cast<int>(points.size());
  Value* blocks = for_blocks(count, vectors, [&](Value* first, Value* end) {
    ir_.loop(first, end, 1, [&](Value* row) {
      if (emit_step_) emit_step_(row);
      emit_column_row(columns, row, points);
    });
  });
  for (int u = 0; u < vectors; ++u) {
    for (int r = 0; r < num_reductions(); ++r) {
      if (!is_scan(r)) finish_column(r, u, count, blocks, points[static_cast<std::size_t>(u)]);
    }
  }
}

void PhaseEmitter::emit_column_row(const std::vector<Values>& columns, Value* row, Points points) {
  BodyPoint at = points[0];
  at.sequence = row;
  Values shared = columns[0];
  body_.emit(set_of(kOnSequence), at, shared);
  std::vector<BodyVector> vectors;
  for (std::size_t u = 0; u < points.size(); ++u) {
    at = points[u];
    at.sequence = row;
    vectors.push_back({at, columns[u], hooks(at, static_cast<int>(u))});
    Values& values = vectors.back().values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == nullptr) values[i] = shared[i];
    }
  }
  body_.emit_with_effects(set_of(kOnBoth), vectors);
}

void PhaseEmitter::finish_column(int number, int vector, Value* count, Value* blocks, const BodyPoint& at) {
  Partial total = accumulator(number, vector).get();
  if (is_blocked(number)) total.value = stack(number, vector).total(blocks, ir_.i64(0), lanes_);
  Value* is_empty = ir_.b.CreateICmpEQ(count, ir_.i64(0));
  store_result(number, result_of(ir_, reduction(number), total, is_empty), at);
}

// ---- over lanes, one by one ----

void PhaseEmitter::emit_lane_scans() {
  lanes_ = 1;
  make_accumulators(1, 1);
  make_stacks(1, kernel_.lanes);
  Values values = body_.no_values();
  body_.emit(set_of(kOnTask, kOnSequence), point(task_.context.lane_begin), values);
  for_blocks(task_.lane_count, 1, [&](Value* first, Value* end) {
    ir_.loop(first, end, 1, [&](Value* offset) {
      const BodyPoint at = point(ir_.b.CreateAdd(task_.context.lane_begin, offset));
      emit_stream_vectors(values, ir_.i64(0), Points(&at, 1));
    });
  });
  for (int r = 0; r < num_reductions(); ++r) {
    if (!is_scan(r)) finish_stream(r, 1);
  }
}

}  // namespace tenon::codegen
