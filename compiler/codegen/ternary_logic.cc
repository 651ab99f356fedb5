// SPDX-License-Identifier: MIT
// See ternary_logic.h.
#include "compiler/codegen/ternary_logic.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tenon::codegen {
namespace {

llvm::Value* without_casts(llvm::Value* value) {
  while (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) value = cast->getOperand(0);
  return value;
}

bool is_logic(llvm::Value* value) {
  auto* op = llvm::dyn_cast<llvm::BinaryOperator>(without_casts(value));
  return op && op->isBitwiseLogicOp();
}

/// A logic op of a logic op: what becomes one three-way operation.
bool is_ternary_logic(llvm::Value* value) {
  if (!is_logic(value)) return false;
  auto* op = llvm::cast<llvm::BinaryOperator>(without_casts(value));
  return is_logic(op->getOperand(0)) || is_logic(op->getOperand(1));
}

/// The same value through an empty assembly statement: in a vector register, or in a general one when it is narrow.
llvm::Value* opaque(llvm::IRBuilder<>& builder, llvm::Value* value) {
  const unsigned bits = static_cast<unsigned>(value->getType()->getPrimitiveSizeInBits().getFixedValue());
  llvm::Type* held = bits >= 128 ? value->getType() : builder.getIntNTy(bits);
  auto* type = llvm::FunctionType::get(held, {held}, false);
  auto* barrier = llvm::InlineAsm::get(type, "", bits >= 128 ? "=v,0" : "=r,0", false);
  return builder.CreateBitCast(builder.CreateCall(barrier, {builder.CreateBitCast(value, held)}), value->getType());
}

bool is_of_lane_size(llvm::Type* type) {
  const unsigned bits = type->getScalarSizeInBits();
  const auto total = type->getPrimitiveSizeInBits().getFixedValue();
  return type->isVectorTy() && (bits == 32 || bits == 64) && (total & (total - 1)) == 0;
}

}  // namespace

void separate_masks_from_ternary_logic(llvm::Module& module) {
  std::vector<llvm::SelectInst*> selects;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
      if (select && is_of_lane_size(select->getType())) selects.push_back(select);
    }
  }
  for (llvm::SelectInst* select : selects) {
    for (unsigned arm : {1u, 2u}) {
      if (!is_ternary_logic(select->getOperand(arm))) continue;
      llvm::IRBuilder<> builder(select);
      select->setOperand(arm, opaque(builder, select->getOperand(arm)));
    }
  }
}

}  // namespace tenon::codegen
