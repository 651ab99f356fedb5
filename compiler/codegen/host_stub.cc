// SPDX-License-Identifier: MIT
#include "compiler/codegen/host_stub.h"

#include <algorithm>
#include <cstddef>

#include "compiler/codegen/runtime_table.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

// Scratch up to this size lies on the stub's stack.
constexpr std::int64_t kStackScratch = 4096;

enum Argument : unsigned { kRuntime, kInputs, kOutputs, kScalars, kArena };

class HostStub {
 public:
  HostStub(llvm::Module& module, const LoopProgram& program)
      : module_(module), program_(program), b_(module.getContext()) {}

  void emit(std::span<const KernelLaunch> launches) {
    llvm::Type* pointer = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer, pointer, pointer, pointer}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kProgramSymbol, module_);
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "", function_));
    make_table();
    make_stack_scratch(launches);
    for (const KernelLaunch& launch : launches) emit_launch(launch);
    b_.CreateRet(b_.getInt32(0));
  }

 private:
  Value* argument(Argument a) { return function_->getArg(a); }
  Value* i64(std::int64_t x) { return b_.getInt64(static_cast<std::uint64_t>(x)); }
  Value* slot(Value* table, std::size_t index) { return b_.CreateConstGEP1_64(b_.getPtrTy(), table, index); }

  Value* address_of(const Buffer& buffer) {
    if (buffer.space == Buffer::kTemporary) return b_.CreateGEP(b_.getInt8Ty(), argument(kArena), i64(buffer.offset));
    Value* table = argument(buffer.space == Buffer::kInput ? kInputs : kOutputs);
    return b_.CreateLoad(b_.getPtrTy(), slot(table, static_cast<std::size_t>(buffer.argument)));
  }

  void make_table() {
    const std::size_t count = std::max<std::size_t>(program_.buffers.size(), 1);
    table_ = b_.CreateAlloca(llvm::ArrayType::get(b_.getPtrTy(), count));
    for (std::size_t i = 0; i < program_.buffers.size(); ++i)
      b_.CreateStore(address_of(program_.buffers[i]), slot(table_, i));
  }

  static bool is_direct(const KernelLaunch& launch) { return launch.tasks <= launch.grain; }

  void make_stack_scratch(std::span<const KernelLaunch> launches) {
    std::int64_t most = 0;
    for (const KernelLaunch& launch : launches) {
      if (is_direct(launch) && launch.scratch_bytes <= kStackScratch) most = std::max(most, launch.scratch_bytes);
    }
    if (most == 0) return;
    stack_scratch_ = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<std::uint64_t>(most)));
    stack_scratch_->setAlignment(llvm::Align(64));
  }

  void emit_launch(const KernelLaunch& launch) {
    if (launch.tasks <= 0) return;
    llvm::Function* kernel = module_.getFunction(launch.function);
    if (is_direct(launch)) {
      b_.CreateCall(kernel, {table_, argument(kScalars), i64(0), i64(launch.tasks), scratch_of(launch)});
      return;
    }
    llvm::Type* p = b_.getPtrTy();
    llvm::Type* n = b_.getInt64Ty();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {p, p, p, n, n, n}, false);
    b_.CreateCall(
        type, runtime_entry(offsetof(RuntimeTable, parallel_for)),
        {kernel, table_, argument(kScalars), i64(launch.tasks), i64(launch.grain), i64(launch.scratch_bytes)});
  }

  Value* scratch_of(const KernelLaunch& launch) {
    if (launch.scratch_bytes == 0) return llvm::ConstantPointerNull::get(b_.getPtrTy());
    if (launch.scratch_bytes <= kStackScratch) return stack_scratch_;
    auto* type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getInt64Ty()}, false);
    Value* block = b_.CreateCall(type, runtime_entry(offsetof(RuntimeTable, scratch)), {i64(launch.scratch_bytes)});
    return_unless(b_.CreateIsNotNull(block), 1);
    return block;
  }

  void return_unless(Value* condition, std::uint32_t status) {
    llvm::BasicBlock* failed = llvm::BasicBlock::Create(b_.getContext(), "", function_);
    llvm::BasicBlock* next = llvm::BasicBlock::Create(b_.getContext(), "", function_);
    b_.CreateCondBr(condition, next, failed);
    b_.SetInsertPoint(failed);
    b_.CreateRet(b_.getInt32(status));
    b_.SetInsertPoint(next);
  }

  Value* runtime_entry(std::size_t offset) {
    Value* entry = b_.CreateConstGEP1_64(b_.getInt8Ty(), argument(kRuntime), offset);
    return b_.CreateLoad(b_.getPtrTy(), entry);
  }

  llvm::Module& module_;
  const LoopProgram& program_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::AllocaInst* table_ = nullptr;
  llvm::AllocaInst* stack_scratch_ = nullptr;
};

}  // namespace

void emit_host_stub(llvm::Module& module, const LoopProgram& program, std::span<const KernelLaunch> launches) {
  HostStub(module, program).emit(launches);
}

}  // namespace tenon::codegen
