// SPDX-License-Identifier: MIT
// IR building blocks of the matmul emitter. Small integers are widened without regard to sign: sums of products are
// cut to the width of the dtype at the end, and the bits below do not depend on those above.
#include "compiler/codegen/cpu/matmul_ir.h"

#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace tenon::codegen {
namespace {

llvm::Type* compute_type(llvm::LLVMContext& context, DType compute) {
  switch (compute) {
    case DType::kFloat32:
      return llvm::Type::getFloatTy(context);
    case DType::kFloat64:
      return llvm::Type::getDoubleTy(context);
    case DType::kInt64:
      return llvm::Type::getInt64Ty(context);
    default:
      return llvm::Type::getInt32Ty(context);
  }
}

/// Rounds float32 to bfloat16 by integers: to nearest, ties to even; a NaN becomes 0x7fc0.
llvm::Value* round_to_bfloat16(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Type* words = x->getType()->getWithNewType(b.getInt32Ty());
  llvm::Value* bits = b.CreateBitCast(x, words);
  const auto word = [&](std::uint32_t value) { return llvm::ConstantInt::get(words, value); };
  llvm::Value* is_odd = b.CreateAnd(b.CreateLShr(bits, word(16)), word(1));
  llvm::Value* rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, word(0x7fff)), is_odd), word(16));
  llvm::Value* chosen = b.CreateSelect(b.CreateFCmpUNO(x, x), word(0x7fc0), rounded);
  return b.CreateTrunc(chosen, words->getWithNewType(b.getInt16Ty()));
}

}  // namespace

MatmulIr::MatmulIr(llvm::Module& module, const MatmulPlan& matmul_plan, std::string name)
    : b(module.getContext()),
      plan(matmul_plan),
      pointer(b.getPtrTy()),
      scalar(compute_type(module.getContext(), plan.compute)),
      vector(llvm::FixedVectorType::get(scalar, static_cast<unsigned>(plan.lanes))),
      module_(module),
      name_(std::move(name)) {}

llvm::Function* MatmulIr::begin_function(const std::string& suffix, const std::vector<llvm::Type*>& arguments) {
  auto* type = llvm::FunctionType::get(b.getVoidTy(), arguments, false);
  const auto linkage = suffix.empty() ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage;
  auto* function = llvm::Function::Create(type, linkage, name_ + suffix, module_);
  function->setDoesNotThrow();
  if (!suffix.empty()) function->addFnAttr(llvm::Attribute::NoInline);
  const std::string bits = std::to_string(vector->getPrimitiveSizeInBits().getFixedValue());
  function->addFnAttr("prefer-vector-width", bits);
  function->addFnAttr("min-legal-vector-width", bits);
  function->addFnAttr("no-builtins");  // no loop may become a call of memset or memcpy
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  return function;
}

MatmulIr::Values MatmulIr::loop(Value* first, Value* end, Values carried, const Body& body) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(b.getContext(), "head", before->getParent());
  auto* turn = llvm::BasicBlock::Create(b.getContext(), "turn", before->getParent());
  auto* done = llvm::BasicBlock::Create(b.getContext(), "done", before->getParent());
  b.CreateCondBr(b.CreateICmpSLT(first, end), head, done);

  b.SetInsertPoint(head);
  llvm::PHINode* index = b.CreatePHI(first->getType(), 2);
  index->addIncoming(first, before);
  std::vector<llvm::PHINode*> phis;
  for (Value* value : carried) {
    phis.push_back(b.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
  }
  Values current(phis.begin(), phis.end());
  Value* next = body(index, current);
  index->addIncoming(next, b.GetInsertBlock());
  for (std::size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(current[i], b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, end), head, turn);

  b.SetInsertPoint(turn);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  Values results;
  for (std::size_t i = 0; i < carried.size(); ++i) {
    llvm::PHINode* result = b.CreatePHI(carried[i]->getType(), 2);
    result->addIncoming(carried[i], before);
    result->addIncoming(current[i], turn);
    results.push_back(result);
  }
  return results;
}

void MatmulIr::for_each(Value* first, Value* end, std::int64_t step, const std::function<void(Value*)>& body) {
  loop(first, end, {}, [&](Value* index, Values&) {
    body(index);
    return b.CreateNSWAdd(index, i64(step));
  });
}

void MatmulIr::branch(Value* condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  auto* yes = llvm::BasicBlock::Create(b.getContext(), "then", function);
  auto* no = llvm::BasicBlock::Create(b.getContext(), "else", function);
  auto* done = llvm::BasicBlock::Create(b.getContext(), "join", function);
  b.CreateCondBr(condition, yes, no);
  b.SetInsertPoint(yes);
  if (then) then();
  b.CreateBr(done);
  b.SetInsertPoint(no);
  if (otherwise) otherwise();
  b.CreateBr(done);
  b.SetInsertPoint(done);
}

llvm::Type* MatmulIr::storage(DType dtype) {
  if (dtype == DType::kFloat16) return b.getHalfTy();
  if (dtype == DType::kFloat32) return b.getFloatTy();
  if (dtype == DType::kFloat64) return b.getDoubleTy();
  return b.getIntNTy(static_cast<unsigned>(8 * size_of(dtype)));
}

MatmulIr::Value* MatmulIr::widen(DType dtype, Value* stored) {
  llvm::Type* to = stored->getType()->isVectorTy() ? static_cast<llvm::Type*>(vector) : scalar;
  if (dtype == DType::kFloat16) return b.CreateFPExt(stored, to);
  if (dtype == DType::kBFloat16) {
    Value* word = b.CreateZExt(stored, to->getWithNewType(b.getInt32Ty()));
    return b.CreateBitCast(b.CreateShl(word, 16), to);
  }
  return is_float(dtype) ? stored : b.CreateZExt(stored, to);
}

MatmulIr::Value* MatmulIr::narrow(DType dtype, Value* accumulators) {
  llvm::Type* to = accumulators->getType()->getWithNewType(storage(dtype));
  if (dtype == DType::kFloat16) return b.CreateFPTrunc(accumulators, to);
  if (dtype == DType::kBFloat16) return round_to_bfloat16(b, accumulators);
  return is_float(dtype) ? accumulators : b.CreateTrunc(accumulators, to);
}

MatmulIr::Value* MatmulIr::mask(int count) {
  llvm::SmallVector<llvm::Constant*> bits;
  for (int i = 0; i < plan.lanes; ++i) bits.push_back(b.getInt1(i < count));
  return llvm::ConstantVector::get(bits);
}

MatmulIr::Value* MatmulIr::load_scalar(DType dtype, Value* address) {
  return widen(dtype, b.CreateAlignedLoad(storage(dtype), address, align(dtype)));
}

MatmulIr::Value* MatmulIr::load_vector(DType dtype, Value* address, int count) {
  auto* type = llvm::FixedVectorType::get(storage(dtype), static_cast<unsigned>(plan.lanes));
  if (count >= plan.lanes) return widen(dtype, b.CreateAlignedLoad(type, address, align(dtype)));
  Value* zeros = llvm::Constant::getNullValue(type);
  return widen(dtype, b.CreateMaskedLoad(type, address, align(dtype), mask(count), zeros));
}

MatmulIr::Value* MatmulIr::load_parts(DType dtype, const Values& addresses) {
  unsigned length = static_cast<unsigned>(plan.lanes) / static_cast<unsigned>(addresses.size());
  auto* type = llvm::FixedVectorType::get(storage(dtype), length);
  Values parts;
  for (Value* address : addresses) parts.push_back(b.CreateAlignedLoad(type, address, align(dtype)));
  for (; parts.size() > 1; length *= 2) {
    const auto all = llvm::to_vector(llvm::seq<int>(0, static_cast<int>(2 * length)));
    Values pairs;
    for (std::size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(b.CreateShuffleVector(parts[i], parts[i + 1], all));
    parts = std::move(pairs);
  }
  return widen(dtype, parts[0]);
}

MatmulIr::Values MatmulIr::transpose_columns(Values block) {
  const int size = column_lanes();
  llvm::SmallVector<int> low, high;
  for (int j = 0; j < plan.lanes; ++j) {
    low.push_back(j / size * size + j % size / 2 + j % 2 * plan.lanes);
    high.push_back(low.back() + size / 2);
  }
  for (int done = 1; done < size; done *= 2) {
    Values zipped;
    for (std::size_t i = 0; i < block.size() / 2; ++i) {
      Value *x = block[i], *y = block[i + block.size() / 2];
      zipped.push_back(b.CreateShuffleVector(x, y, low));
      zipped.push_back(b.CreateShuffleVector(x, y, high));
    }
    block = std::move(zipped);
  }
  return block;
}

void MatmulIr::store_scalar(DType dtype, Value* accumulator, Value* address) {
  b.CreateAlignedStore(narrow(dtype, accumulator), address, align(dtype));
}

void MatmulIr::store_vector(DType dtype, Value* accumulators, Value* address, int count) {
  Value* stored = narrow(dtype, accumulators);
  if (count >= plan.lanes) {
    b.CreateAlignedStore(stored, address, align(dtype));
  } else {
    b.CreateMaskedStore(stored, address, align(dtype), mask(count));
  }
}

void MatmulIr::prefetch(Value* address) {
  constexpr int kRead = 0, kIntoL1 = 3, kData = 1;
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer},
                    {address, b.getInt32(kRead), b.getInt32(kIntoL1), b.getInt32(kData)});
}

MatmulIr::Value* MatmulIr::multiply_add(Value* x, Value* y, Value* accumulator) {
  if (!is_float(plan.compute)) return b.CreateAdd(accumulator, b.CreateMul(x, y));
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, accumulator});
}

}  // namespace tenon::codegen
