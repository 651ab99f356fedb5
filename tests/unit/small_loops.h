// SPDX-License-Identifier: MIT
// A small loop program written by hand, with an indirect index, a mask, locals, a reduction and a matrix product.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>

#include "compiler/ir/loop_ir.h"

namespace tenon {

/// Rows of 8 taken at an indirect index and scaled, minus their sum: two phases; then a matrix product of the result.
inline LoopProgram small_program() {
  LoopProgram p;
  IndexPool& pool = *p.pool;
  p.num_inputs = 2;
  p.num_outputs = 2;
  p.arena_bytes = 256;
  p.scalars = {DType::kFloat32};
  p.buffers.resize(5);
  p.buffers[0] = {DType::kFloat32, {4, 8}, Buffer::kInput, 0, 0, 0};
  p.buffers[1] = {DType::kInt64, {4}, Buffer::kInput, 1, 0, 1};
  p.buffers[2] = {DType::kFloat32, {4, 8}, Buffer::kOutput, 0, 0, 2};
  p.buffers[3] = {DType::kFloat32, {4, 4}, Buffer::kOutput, 1, 0, 3};
  p.buffers[4] = {DType::kFloat32, {4, 8}, Buffer::kTemporary, 0, 64, 4};
  Kernel k;
  k.name = "tenon_row_0";
  k.kernel_class = KernelClass::kInnerReduction;
  k.outer = {4};
  k.lanes = k.lane_chunk = 8;
  k.scratch_bytes = 128;
  k.locals = {{DType::kFloat32, true, 64}, {DType::kFloat32, false, -1}};
  const IndexExpr i = pool.var(0, 4), j = pool.var(2, 8);
  const IndexExpr at = pool.add(pool.multiply(i, 8), j);
  const auto instr = [](Instr::Kind kind, DType dtype, std::initializer_list<InstrId> operands = {}) {
    Instr in;
    in.kind = kind;
    in.dtype = dtype;
    std::copy(operands.begin(), operands.end(), in.operands.begin());
    return in;
  };
  Phase first;
  first.reductions.resize(1);
  first.body.push_back(instr(Instr::kIndex, DType::kInt64));
  first.body.back().index = i;
  first.body.push_back(instr(Instr::kLoad, DType::kInt64));
  first.body.back().buffer = 1;
  first.body.back().index = i;
  first.body.push_back(instr(Instr::kInRange, DType::kBool));
  first.body.back().index = pool.value(1, -4, 3);
  first.body.back().hi = 4;
  first.body.push_back(instr(Instr::kLoad, DType::kFloat32, {2}));
  first.body.back().index = pool.add(pool.multiply(pool.value(1, -4, 3), 8), pool.mod(pool.add(j, 3), 8));
  first.body.back().buffer = 0;
  first.body.push_back(instr(Instr::kScalar, DType::kFloat32));
  first.body.back().buffer = 0;
  first.body.push_back(instr(Instr::kApply, DType::kFloat32, {3, 4}));
  first.body.back().op = Op::k_multiply;
  first.body.push_back(instr(Instr::kStoreLocal, DType::kFloat32, {5}));
  first.body.back().buffer = 0;
  first.body.push_back(instr(Instr::kReduce, DType::kFloat32, {5}));
  first.body.back().buffer = 1;
  first.body.back().reduction = 0;
  Phase second;
  second.body.push_back(instr(Instr::kLoadLocal, DType::kFloat32));
  second.body.back().buffer = 0;
  second.body.push_back(instr(Instr::kLoadLocal, DType::kFloat32));
  second.body.back().buffer = 1;
  second.body.push_back(instr(Instr::kApply, DType::kFloat32, {0, 1}));
  second.body.back().op = Op::k_subtract;
  for (const BufferId buffer : {2, 4}) {
    second.body.push_back(instr(Instr::kStore, DType::kFloat32, {2}));
    second.body.back().buffer = buffer;
    second.body.back().index = at;
  }
  k.phases = {first, second};
  p.kernels.push_back(std::move(k));
  Kernel product;
  product.name = "tenon_matmul_1";
  product.kernel_class = KernelClass::kMatmul;
  product.matmul = std::make_unique<MatmulNest>();
  *product.matmul = {DType::kFloat32, 4, 4, 8, {}, {4, 0, 8, 1, {}}, {0, 0, 1, 8, {}}, {3, 0, 4, 1, {}}};
  p.kernels.push_back(std::move(product));
  return p;
}

}  // namespace tenon
