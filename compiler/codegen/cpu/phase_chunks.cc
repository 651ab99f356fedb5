// SPDX-License-Identifier: MIT
// Long reductions over lanes in the canonical inner order. A chunk of 2,048 is 8 rows of 256 partials; a vector of
// partials goes down the rows in registers, so the loop over a chunk is by columns of a few vectors.
#include <algorithm>

#include "compiler/codegen/cpu/phase.h"
#include "compiler/ir/reduction_order.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

constexpr int kPartials = static_cast<int>(kInnerPartials);
constexpr std::int64_t kRows = kInnerChunk / kInnerPartials;

}  // namespace

// Whether some chunk may end within a row of 256.
bool PhaseEmitter::ends_within_row() const { return known(task_.lane_count, 1) % kInnerPartials != 0; }

void PhaseEmitter::emit_chunks() {
  lanes_ = body_.lanes_up_to(body_.natural_lanes(64));
  const int unroll = unroll_factor(4);
  const std::int64_t max_chunks = (kernel_.lane_chunk + kInnerChunk - 1) / kInnerChunk;
  make_accumulators(unroll, lanes_);
  stacks_.resize(phase_.reductions.size());
  rows_.resize(phase_.reductions.size());
  for_blocked([&](int r) {
    stacks_[static_cast<std::size_t>(r)].emplace_back(ir_, reduction(r), kPartials, max_chunks);
    if (ends_within_row()) rows_[static_cast<std::size_t>(r)].emplace_back(ir_, reduction(r), kPartials);
  });
  reset_accumulators(unroll, false);
  Values values = body_.no_values();
  body_.emit(set_of(kOnTask, kOnSequence), point(task_.context.lane_begin), values);
  Value* chunks = ir_.b.CreateUDiv(ir_.b.CreateAdd(task_.lane_count, ir_.i64(kInnerChunk - 1)), ir_.i64(kInnerChunk));
  ir_.loop(ir_.i64(0), chunks, 1, [&](Value* chunk) { emit_chunk(values, chunk); });
  for (int r = 0; r < num_reductions(); ++r) {
    if (!is_blocked(r)) {
      finish_stream(r, unroll);
    } else if (reduction(r).result == Reduction::kPartials) {
      store_partials(r, chunks);
    } else {
      finish_chunks(r, chunks);
    }
  }
}

void PhaseEmitter::emit_chunk(const Values& outer, Value* chunk) {
  Value* base = ir_.b.CreateMul(chunk, ir_.i64(kInnerChunk));
  Value* left = ir_.b.CreateSub(task_.lane_count, base);
  Value* rows = ir_.min(ir_.i64(kRows), ir_.b.CreateUDiv(left, ir_.i64(kInnerPartials)));
  emit_chunk_rows(outer, base, rows, chunk);
  if (!ends_within_row()) return;
  Value* done = ir_.b.CreateMul(rows, ir_.i64(kInnerPartials));
  Value* is_full = ir_.b.CreateICmpEQ(rows, ir_.i64(kRows));
  Value* rest = ir_.b.CreateSelect(is_full, ir_.i64(0), ir_.b.CreateSub(left, done));
  emit_chunk_rest(outer, ir_.b.CreateAdd(base, done), rest);
  push_chunk(chunk);
}

void PhaseEmitter::emit_chunk_rows(const Values& outer, Value* base, Value* rows, Value* chunk) {
  const int vectors = static_cast<int>(accumulators_[0].size());
  Value* begin = ir_.b.CreateAdd(task_.context.lane_begin, base);
  ir_.loop(ir_.i64(0), ir_.i64(kPartials), std::int64_t{vectors} * lanes_, [&](Value* column) {
    reset_accumulators(vectors, true);
    Value* first = ir_.b.CreateAdd(begin, column);
    ir_.loop(ir_.i64(0), rows, 1, [&](Value* row) {
      Value* lane = ir_.b.CreateAdd(first, ir_.b.CreateMul(row, ir_.i64(kInnerPartials)));
      std::vector<BodyPoint> points;
      for (int u = 0; u < vectors; ++u) points.push_back(point(ir_.b.CreateAdd(lane, ir_.i64(u * lanes_))));
      emit_stream_vectors(outer, ir_.i64(0), points);
    });
    for_blocked([&](int r) {
      std::vector<Value*> partials;
      for (int u = 0; u < vectors; ++u) partials.push_back(accumulator(r, u).get().value);
      if (!ends_within_row()) return stack(r, 0).push(chunk, column, partials);
      for (int u = 0; u < vectors; ++u)
        row(r).store(partials[static_cast<std::size_t>(u)], ir_.b.CreateAdd(column, ir_.i64(u * lanes_)));
    });
  });
}

// The elements base .. base + count - 1 (of the task) onto partials 0 .. count - 1, for count < 256.
void PhaseEmitter::emit_chunk_rest(const Values& outer, Value* base, Value* count) {
  Value* begin = ir_.b.CreateAdd(task_.context.lane_begin, base);
  const auto emit_at = [&](Value* partial, const std::function<void()>& vector) {
    for_blocked([&](int r) { accumulator(r, 0).set({row(r).load(partial, lanes_), nullptr}); });
    vector();
    for_blocked([&](int r) { row(r).store(accumulator(r, 0).get().value, partial); });
  };
  Value* whole = ir_.b.CreateAnd(count, ir_.i64(-lanes_));
  ir_.loop(ir_.i64(0), whole, lanes_, [&](Value* partial) {
    const BodyPoint at = point(ir_.b.CreateAdd(begin, partial));
    emit_at(partial, [&] { emit_stream_vectors(outer, ir_.i64(0), Points(&at, 1)); });
  });
  Value* tail = ir_.b.CreateSub(count, whole);
  ir_.when(ir_.b.CreateICmpNE(tail, ir_.i64(0)), [&] {
    const auto body = [&](Points points) { emit_stream_vectors(outer, ir_.i64(0), points); };
    emit_at(whole, [&] { for_tail(ir_.b.CreateAdd(begin, whole), tail, body); });
  });
}

void PhaseEmitter::push_chunk(Value* chunk) {
  ir_.loop(ir_.i64(0), ir_.i64(kPartials), lanes_, [&](Value* partial) {
    for_blocked([&](int r) {
      Value* vector = row(r).load(partial, lanes_);
      stack(r, 0).push(chunk, partial, {&vector, 1});
    });
  });
}

void PhaseEmitter::store_partials(int number, Value* chunks) {
  Value* base = task_.context.buffers[static_cast<std::size_t>(reduction(number).partials)];
  Value* first = ir_.b.CreateMul(task_.task, ir_.i64(kPartials));
  ir_.loop(ir_.i64(0), ir_.i64(kPartials), lanes_, [&](Value* partial) {
    Value* merged = stack(number, 0).total(chunks, partial, lanes_);
    ir_.store(reduction(number).dtype, merged, ir_.at(reduction(number).dtype, base, ir_.b.CreateAdd(first, partial)));
  });
}

void PhaseEmitter::finish_chunks(int number, Value* chunks) {
  std::vector<Value*> merged;
  for (int p = 0; p < kPartials; p += lanes_) merged.push_back(stack(number, 0).total(chunks, ir_.i64(p), lanes_));
  for (std::size_t half = merged.size() / 2; half >= 1; half /= 2) {
    for (std::size_t i = 0; i < half; ++i)
      merged[i] = combine(ir_, reduction(number), {merged[i], nullptr}, {merged[i + half], nullptr}).value;
  }
  const Partial total = combine_lanes(ir_, reduction(number), {merged[0], nullptr});
  store_result(number, result_of(ir_, reduction(number), total, ir_.b.getFalse()), point(task_.context.lane_begin));
}

}  // namespace tenon::codegen
