// SPDX-License-Identifier: MIT
// Three ways, by the strides: copy vectors of lanes, transpose small blocks in registers, or move single elements.
#include "compiler/codegen/cpu/matmul_pack.h"

#include <algorithm>

namespace tenon::codegen {
namespace {

using Value = MatmulIr::Value;
using Values = MatmulIr::Values;

class PackEmitter {
 public:
  PackEmitter(MatmulIr& ir, const PackSpec& spec)
      : ir_(ir), b_(ir.b), spec_(spec), source_type_(ir.plan.problem.dtype), panel_type_(ir.plan.compute) {}

  llvm::Function* emit() {
    llvm::Type *pointer = ir_.pointer, *i64 = b_.getInt64Ty();
    llvm::Function* f = ir_.begin_function(spec_.suffix, {pointer, pointer, i64, i64, i64});
    for (unsigned i = 0; i < 2; ++i) f->addParamAttr(i, llvm::Attribute::NoAlias);
    Value *source = f->getArg(0), *panels = f->getArg(1), *available = f->getArg(3), *panel_count = f->getArg(4);
    k_count_ = f->getArg(2);
    Value* first = ir_.i64(0);
    if (spec_.lane_stride == 1) {
      first = ir_.min(b_.CreateUDiv(available, ir_.i64(spec_.width)), panel_count);
      copy_panels(source, panels, first);
    }
    ir_.for_each(first, panel_count, 1, [&](Value* panel) {
      Value* lane = b_.CreateMul(panel, ir_.i64(spec_.used));
      Value* lanes = ir_.min(b_.CreateSub(available, lane), ir_.i64(spec_.used));
      pack_panel(source_at(source, lane, spec_.lane_stride), panel_begin(panels, panel), lanes);
    });
    ir_.end_function();
    return f;
  }

 private:
  int lanes() const { return ir_.plan.lanes; }
  Value* source_at(Value* base, Value* index, std::int64_t stride) {
    return ir_.at(source_type_, base, b_.CreateMul(index, ir_.i64(stride)));
  }
  Value* panel_at(Value* panel, Value* k) { return ir_.at(panel_type_, panel, b_.CreateMul(k, ir_.i64(spec_.width))); }
  Value* panel_begin(Value* panels, Value* index) {
    return ir_.at(panel_type_, panels, b_.CreateMul(index, ir_.i64(ir_.plan.k_most() * spec_.width)));
  }

  /// Panels all of whose width is available. k is the outer loop, so that the source is read as it lies.
  void copy_panels(Value* source, Value* panels, Value* count) {
    ir_.for_each(ir_.i64(0), k_count_, 1, [&](Value* k) {
      Value* row = source_at(source, k, spec_.k_stride);
      ir_.for_each(ir_.i64(0), count, 1, [&](Value* panel) {
        copy_vectors(source_at(row, panel, spec_.used), panel_at(panel_begin(panels, panel), k));
      });
    });
  }

  void copy_vectors(Value* from, Value* to) {
    for (std::int64_t lane = 0; lane < spec_.width; lane += lanes())
      ir_.store_vector(panel_type_, ir_.load_vector(source_type_, ir_.at(source_type_, from, lane), lanes()),
                       ir_.at(panel_type_, to, lane), lanes());
  }

  void pack_panel(Value* from, Value* to, Value* lane_count) {
    if (spec_.k_stride != 1 || ir_.plan.k_part < lanes()) return move_elements(from, to, lane_count);
    ir_.for_each(ir_.i64(0), lane_count, group_lanes(),
                 [&](Value* lane) { transpose_group(from, ir_.at(panel_type_, to, lane), lane, lane_count); });
  }

  void move_elements(Value* from, Value* to, Value* lane_count) {
    ir_.for_each(ir_.i64(0), k_count_, 1, [&](Value* k) {
      ir_.for_each(ir_.i64(0), lane_count, 1, [&](Value* lane) {
        Value* address = source_at(source_at(from, k, spec_.k_stride), lane, spec_.lane_stride);
        ir_.store_scalar(panel_type_, ir_.load_scalar(source_type_, address),
                         ir_.at(panel_type_, panel_at(to, k), lane));
      });
    });
  }

  /// Few lanes a time also keep lanes whose stride is a power of two from driving each other out of L1.
  int group_lanes() const { return ir_.column_lanes(); }

  /// The lanes of the next group are prefetched, since they often lie in other pages, where the hardware stops. Lanes
  /// beyond the last repeat it. The last vectors are moved back to end with k_count, so they pack some k again,
  /// with the same values.
  void transpose_group(Value* from, Value* to, Value* lane, Value* lane_count) {
    Values rows;
    Value* last_lane = b_.CreateSub(lane_count, ir_.i64(1));
    for (int i = 0; i < group_lanes(); ++i)
      rows.push_back(source_at(from, ir_.min(b_.CreateAdd(lane, ir_.i64(i)), last_lane), spec_.lane_stride));
    Value* last_start = b_.CreateSub(k_count_, ir_.i64(lanes()));
    ir_.for_each(ir_.i64(0), k_count_, lanes(), [&](Value* k) {
      Value* start = ir_.min(k, last_start);
      Values block;
      for (Value* row : rows) {
        Value* address = ir_.at(source_type_, row, start);
        block.push_back(ir_.load_vector(source_type_, address, lanes()));
        ir_.prefetch(ir_.at(source_type_, address, group_lanes() * spec_.lane_stride));
      }
      store_group(ir_.transpose_columns(block), panel_at(to, start));
    });
  }

  /// The 128-bit part q of block[i] holds the group's lanes at the k numbered q * size + i.
  void store_group(const Values& block, Value* to) {
    const int group = group_lanes();
    for (int k = 0; k < lanes(); ++k) {
      llvm::SmallVector<int> part;
      for (int i = 0; i < group; ++i) part.push_back(k / group * group + i);
      Value* lanes_of_k = b_.CreateShuffleVector(block[static_cast<std::size_t>(k % group)], part);
      b_.CreateAlignedStore(lanes_of_k, ir_.at(panel_type_, to, k * spec_.width), llvm::Align(size_of(panel_type_)));
    }
  }

  MatmulIr& ir_;
  llvm::IRBuilder<>& b_;
  const PackSpec& spec_;
  const DType source_type_, panel_type_;
  Value* k_count_ = nullptr;
};

}  // namespace

llvm::Function* emit_pack(MatmulIr& ir, const PackSpec& spec) { return PackEmitter(ir, spec).emit(); }

}  // namespace tenon::codegen
