// SPDX-License-Identifier: MIT
#include "compiler/codegen/cpu/kernel_ir.h"

#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

llvm::Align element_align(DType dtype) { return llvm::Align(size_of(dtype)); }

}  // namespace

KernelIr::KernelIr(llvm::Function& function, int bytes)
    : b(llvm::BasicBlock::Create(function.getContext(), "", &function)), vector_bytes(bytes), function_(function) {}

std::int64_t known(const Value* value, std::int64_t otherwise) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  return constant == nullptr ? otherwise : constant->getSExtValue();
}

// ---- types and constants ----

llvm::Type* KernelIr::with_lanes(llvm::Type* element, int lanes) {
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

int KernelIr::lanes_of(const Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

llvm::Type* KernelIr::type(DType dtype, int lanes) {
  if (dtype == DType::kBool) return with_lanes(b.getInt1Ty(), lanes);
  if (dtype == DType::kFloat64) return with_lanes(b.getDoubleTy(), lanes);
  if (is_float(dtype)) return with_lanes(b.getFloatTy(), lanes);
  return memory_type(dtype, lanes);
}

llvm::Type* KernelIr::memory_type(DType dtype, int lanes) {
  if (dtype == DType::kFloat32) return with_lanes(b.getFloatTy(), lanes);
  if (dtype == DType::kFloat64) return with_lanes(b.getDoubleTy(), lanes);
  return with_lanes(b.getIntNTy(static_cast<unsigned>(8 * size_of(dtype))), lanes);
}

llvm::Constant* KernelIr::integer(llvm::Type* type, std::int64_t value) {
  return llvm::ConstantInt::get(type, static_cast<std::uint64_t>(value), true);
}

llvm::Constant* KernelIr::real(llvm::Type* type, double value) { return llvm::ConstantFP::get(type, value); }

llvm::Constant* KernelIr::constant(DType dtype, std::uint64_t bits) {
  if (dtype == DType::kBool) return b.getInt1((bits & 1) != 0);
  const auto width = static_cast<unsigned>(8 * size_of(dtype));
  const llvm::APInt stored = llvm::APInt(64, bits).trunc(width);
  if (!is_float(dtype)) return b.getInt(stored);
  if (dtype == DType::kBFloat16)
    return llvm::ConstantFP::get(b.getContext(), llvm::APFloat(llvm::APFloat::IEEEsingle(), stored.zext(32).shl(16)));
  const llvm::fltSemantics& semantics = dtype == DType::kFloat64   ? llvm::APFloat::IEEEdouble()
                                        : dtype == DType::kFloat32 ? llvm::APFloat::IEEEsingle()
                                                                   : llvm::APFloat::IEEEhalf();
  llvm::APFloat value(semantics, stored);
  bool inexact = false;
  if (dtype == DType::kFloat16)
    value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return llvm::ConstantFP::get(b.getContext(), value);
}

llvm::Constant* KernelIr::iota(int bits, int lanes) {
  std::vector<llvm::Constant*> elements;
  for (int i = 0; i < lanes; ++i) elements.push_back(integer(b.getIntNTy(static_cast<unsigned>(bits)), i));
  return lanes == 1 ? elements[0] : llvm::ConstantVector::get(elements);
}

Value* KernelIr::first_lanes(Value* count, int lanes) {
  Value* narrow = b.CreateTrunc(count, b.getInt32Ty());
  return b.CreateICmpULT(iota(32, lanes), spread(narrow, lanes));
}

Value* KernelIr::spread(Value* value, int lanes) {
  if (lanes == 1 || value->getType()->isVectorTy()) return value;
  return b.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

// ---- dtypes ----

Value* KernelIr::round_to_bfloat16(Value* value) {
  llvm::Type* bits_type = with_lanes(b.getInt32Ty(), lanes_of(value));
  Value* bits = b.CreateBitCast(value, bits_type);
  Value* odd = b.CreateAnd(b.CreateLShr(bits, 16), integer(bits_type, 1));
  Value* rounded = b.CreateAdd(b.CreateAdd(bits, integer(bits_type, 0x7fff)), odd);
  Value* kept = b.CreateAnd(rounded, integer(bits_type, static_cast<std::int32_t>(0xffff0000u)));
  Value* result = b.CreateSelect(b.CreateFCmpUNO(value, value), integer(bits_type, 0x7fc00000), kept);
  return b.CreateBitCast(result, value->getType());
}

Value* KernelIr::round_to(DType dtype, Value* value) {
  if (dtype == DType::kBFloat16) return round_to_bfloat16(value);
  if (dtype != DType::kFloat16) return value;
  Value* half = b.CreateFPTrunc(value, with_lanes(b.getHalfTy(), lanes_of(value)));
  return b.CreateFPExt(half, value->getType());
}

Value* KernelIr::from_memory(DType dtype, Value* stored) {
  const int lanes = lanes_of(stored);
  if (dtype == DType::kBool) return b.CreateICmpNE(stored, integer(stored->getType(), 0));
  if (dtype == DType::kFloat16)
    return b.CreateFPExt(b.CreateBitCast(stored, with_lanes(b.getHalfTy(), lanes)), type(dtype, lanes));
  if (dtype != DType::kBFloat16) return stored;
  Value* wide = b.CreateZExt(stored, with_lanes(b.getInt32Ty(), lanes));
  return b.CreateBitCast(b.CreateShl(wide, 16), type(dtype, lanes));
}

Value* KernelIr::to_memory(DType dtype, Value* value) {
  const int lanes = lanes_of(value);
  if (dtype == DType::kBool) return b.CreateZExt(value, memory_type(dtype, lanes));
  if (dtype == DType::kFloat16)
    return b.CreateBitCast(b.CreateFPTrunc(value, with_lanes(b.getHalfTy(), lanes)), memory_type(dtype, lanes));
  if (dtype != DType::kBFloat16) return value;
  Value* bits = b.CreateBitCast(value, with_lanes(b.getInt32Ty(), lanes));
  return b.CreateTrunc(b.CreateLShr(bits, 16), memory_type(dtype, lanes));
}

// ---- memory ----

Value* KernelIr::at(DType dtype, Value* base, Value* elements) {
  return b.CreateGEP(memory_type(dtype), base, elements);
}

Value* KernelIr::load(DType dtype, Value* address, int lanes, Value* mask) {
  llvm::Type* memory = memory_type(dtype, lanes);
  if (mask != nullptr && lanes > 1)
    return from_memory(
        dtype, b.CreateMaskedLoad(memory, address, element_align(dtype), mask, llvm::Constant::getNullValue(memory)));
  if (mask != nullptr) address = b.CreateSelect(mask, address, zeros());
  return from_memory(dtype, b.CreateAlignedLoad(memory, address, element_align(dtype)));
}

void KernelIr::store(DType dtype, Value* value, Value* address, Value* mask) {
  Value* stored = to_memory(dtype, value);
  if (mask == nullptr) {
    b.CreateAlignedStore(stored, address, element_align(dtype));
  } else if (lanes_of(value) > 1) {
    b.CreateMaskedStore(stored, address, element_align(dtype), mask);
  } else {
    when(mask, [&] { b.CreateAlignedStore(stored, address, element_align(dtype)); });
  }
}

void KernelIr::stream(DType dtype, Value* value, Value* address) {
  Value* stored = to_memory(dtype, value);
  const auto bytes = static_cast<std::uint64_t>(lanes_of(value)) * size_of(dtype);
  llvm::StoreInst* store = b.CreateAlignedStore(stored, address, llvm::Align(bytes));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                     llvm::MDNode::get(b.getContext(), {llvm::ConstantAsMetadata::get(b.getInt32(1))}));
  has_streams_ = true;
}

void KernelIr::end_streams() {
  if (has_streams_) b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

Value* KernelIr::gather(DType dtype, Value* addresses, Value* mask) {
  llvm::Type* memory = memory_type(dtype, lanes_of(addresses));
  return from_memory(
      dtype, b.CreateMaskedGather(memory, addresses, element_align(dtype), mask, llvm::Constant::getNullValue(memory)));
}

void KernelIr::scatter(DType dtype, Value* value, Value* addresses, Value* mask) {
  b.CreateMaskedScatter(to_memory(dtype, value), addresses, element_align(dtype), mask);
}

Value* KernelIr::reverse(Value* value) { return lanes_of(value) == 1 ? value : b.CreateVectorReverse(value); }

llvm::AllocaInst* KernelIr::local(llvm::Type* type, std::int64_t count) {
  llvm::BasicBlock& entry = function_.getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  llvm::Type* whole = count == 1 ? type : llvm::ArrayType::get(type, static_cast<std::uint64_t>(count));
  llvm::AllocaInst* memory = at_entry.CreateAlloca(whole);
  if (count > 1) memory->setAlignment(llvm::Align(64));
  return memory;
}

Value* KernelIr::zeros() {
  if (zeros_ == nullptr) {
    zeros_ = local(b.getInt64Ty());
    llvm::IRBuilder<> after(zeros_->getParent(), std::next(zeros_->getIterator()));
    after.CreateStore(i64(0), zeros_);
  }
  return zeros_;
}

// ---- control flow ----

llvm::BasicBlock* KernelIr::new_block() { return llvm::BasicBlock::Create(b.getContext(), "", &function_); }

void KernelIr::when(Value* condition, const std::function<void()>& body) {
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (constant->isOne()) body();
    return;
  }
  llvm::BasicBlock* inside = new_block();
  llvm::BasicBlock* after = new_block();
  b.CreateCondBr(condition, inside, after);
  b.SetInsertPoint(inside);
  body();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void KernelIr::loop(Value* begin, Value* end, std::int64_t step, const std::function<void(Value*)>& body) {
  const bool constant = llvm::isa<llvm::ConstantInt>(begin) && llvm::isa<llvm::ConstantInt>(end);
  const std::int64_t count = constant ? (known(end, 0) - known(begin, 0) + step - 1) / step : 2;
  if (count <= 0) return;
  if (count == 1) return body(begin);
  when(b.CreateICmpSLT(begin, end), [&] {
    llvm::BasicBlock* before = b.GetInsertBlock();
    llvm::BasicBlock* inside = new_block();
    b.CreateBr(inside);
    b.SetInsertPoint(inside);
    llvm::PHINode* index = b.CreatePHI(b.getInt64Ty(), 2);
    index->addIncoming(begin, before);
    body(index);
    Value* next = b.CreateNSWAdd(index, i64(step));
    index->addIncoming(next, b.GetInsertBlock());
    llvm::BasicBlock* after = new_block();
    b.CreateCondBr(b.CreateICmpSLT(next, end), inside, after);
    b.SetInsertPoint(after);
  });
}

void KernelIr::loop_while(const std::function<Value*()>& condition, const std::function<void()>& body) {
  llvm::BasicBlock* head = new_block();
  b.CreateBr(head);
  b.SetInsertPoint(head);
  Value* again = condition();
  llvm::BasicBlock* inside = new_block();
  llvm::BasicBlock* after = new_block();
  b.CreateCondBr(again, inside, after);
  b.SetInsertPoint(inside);
  body();
  b.CreateBr(head);
  b.SetInsertPoint(after);
}

}  // namespace tenon::codegen
