// SPDX-License-Identifier: MIT
#include "compiler/codegen/cpu/kernel.h"

#include <algorithm>

#include "compiler/codegen/cpu/kernel_ir.h"
#include "compiler/codegen/cpu/matmul.h"
#include "compiler/codegen/cpu/matmul_epilogue.h"
#include "compiler/codegen/cpu/phase.h"
#include "compiler/codegen/cpu/phase_nested.h"
#include "llvm/IR/Module.h"

namespace tenon::codegen {

using llvm::Value;

namespace {

llvm::Function* declare_kernel(llvm::Module& module, const std::string& name) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* integer = llvm::Type::getInt64Ty(context);
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, integer, integer, pointer}, false);
  return llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
}

class KernelEmitter {
 public:
  KernelEmitter(llvm::Function& function, const LoopProgram& program, const Kernel& kernel, int vector_bytes)
      : ir_(function, vector_bytes), function_(function), program_(program), kernel_(kernel) {}

  absl::Status emit() {
    load_buffers();
    place_locals();
    absl::Status status;
    ir_.loop(function_.getArg(2), function_.getArg(3), 1, [&](Value* task) {
      locate(task);
      status = emit_task();
    });
    ir_.end_streams();
    ir_.b.CreateRetVoid();
    return status;
  }

 private:
  void load_buffers() {
    context().scalars = function_.getArg(1);
    context().buffers = codegen::load_buffers(ir_, kernel_, program_.buffers.size(), function_.getArg(0));
    for (const Buffer& buffer : program_.buffers)
      context().buffer_bytes.push_back(numel(buffer.shape) * static_cast<std::int64_t>(size_of(buffer.dtype)));
  }

  void place_locals() {
    for (const LocalBuffer& local : kernel_.locals) {
      Value* place = local.per_lane
                         ? ir_.b.CreateGEP(ir_.b.getInt8Ty(), function_.getArg(4), ir_.i64(local.scratch_offset))
                         : static_cast<Value*>(ir_.local(ir_.type(local.dtype)));
      context().locals.push_back(place);
    }
  }

  std::int64_t row_blocks() const {
    return kernel_.outer.empty() ? 1 : (kernel_.outer.back() + kernel_.row_block - 1) / kernel_.row_block;
  }

  // Task number to outer variables (of the last one, the number of its block of rows) and lane range.
  void locate(Value* task) {
    task_.task = task;
    const std::int64_t chunks = kernel_.chunks();
    Value* chunk = chunks == 1 ? ir_.i64(0) : ir_.b.CreateURem(task, ir_.i64(chunks));
    Value* position = chunks == 1 ? task : ir_.b.CreateUDiv(task, ir_.i64(chunks));
    locate_lanes(chunk);
    context().vars.assign(kernel_.outer.size() + 2, ir_.i64(0));
    for (std::size_t i = kernel_.outer.size(); i-- > 0;) {
      const std::int64_t extent = i + 1 == kernel_.outer.size() ? row_blocks() : kernel_.outer[i];
      context().vars[i] = i == 0 ? position : ir_.b.CreateURem(position, ir_.i64(extent));
      if (i > 0) position = ir_.b.CreateUDiv(position, ir_.i64(extent));
    }
  }

  void locate_lanes(Value* chunk) {
    context().lane_begin = ir_.b.CreateMul(chunk, ir_.i64(kernel_.lane_chunk));
    Value* left = ir_.b.CreateSub(ir_.i64(kernel_.lanes), context().lane_begin);
    const bool even = kernel_.chunks() <= 1 || kernel_.lanes % kernel_.lane_chunk == 0;
    task_.lane_count =
        even ? ir_.i64(std::min(kernel_.lanes, kernel_.lane_chunk)) : ir_.min(left, ir_.i64(kernel_.lane_chunk));
  }

  absl::Status emit_task() {
    if (kernel_.row_block <= 1 || kernel_.outer.empty()) return emit_phases();
    Value*& row = context().vars[kernel_.outer.size() - 1];
    Value* first = ir_.b.CreateMul(row, ir_.i64(kernel_.row_block));
    Value* end = ir_.min(ir_.b.CreateAdd(first, ir_.i64(kernel_.row_block)), ir_.i64(kernel_.outer.back()));
    if (kernel_.phases.size() == 1) {
      PhaseEmitter phase(ir_, kernel_, kernel_.phases[0], task_);
      if (phase.can_tile_rows()) return phase.emit_rows(first, end);
    }
    absl::Status status;
    ir_.loop(first, end, 1, [&](Value* index) {
      row = index;
      status = emit_phases();
    });
    return status;
  }

  absl::Status emit_phases() {
    for (std::size_t i = 0; i < kernel_.phases.size(); ++i) {
      const bool is_nested = i + 1 < kernel_.phases.size() && kernel_.phases[i + 1].joined;
      const absl::Status status = is_nested ? emit_nested(ir_, kernel_, program_, i++, task_)
                                            : PhaseEmitter(ir_, kernel_, kernel_.phases[i], task_).emit();
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  TaskContext& context() { return task_.context; }

  KernelIr ir_;
  llvm::Function& function_;
  const LoopProgram& program_;
  const Kernel& kernel_;
  PhaseTask task_;
};

MatmulOperand operand_of(const MatmulNest::Operand& operand) {
  return {operand.buffer, operand.offset, operand.row_stride, operand.column_stride, operand.batch_strides};
}

absl::StatusOr<KernelLaunch> emit_matmul_kernel(llvm::Module& module, const LoopProgram& program, const Kernel& kernel,
                                                int vector_bytes) {
  // A thread is worth about as much work as this many floating-point operations.
  constexpr std::int64_t kFlopsPerThread = 200'000;
  const MatmulNest& nest = *kernel.matmul;
  const bool has_epilogue = !kernel.phases.empty();
  MatmulSpec spec{nest.dtype,         nest.dtype,         nest.m,      nest.n, nest.k, nest.batch, operand_of(nest.a),
                  operand_of(nest.b), operand_of(nest.c), has_epilogue};
  absl::Status status;
  const MatmulInfo info = emit_matmul(module, spec, vector_bytes, kernel.name, [&](const MatmulPlan& plan) {
    return emit_epilogue(module, program, kernel, plan, vector_bytes, &status);
  });
  if (!status.ok()) return status;
  const std::int64_t work =
      info.flops_per_task + (has_epilogue ? info.elements_per_task * std::ssize(kernel.phases[0].body) : 0);
  const std::int64_t grain = std::max<std::int64_t>(1, kFlopsPerThread / std::max<std::int64_t>(1, work));
  return KernelLaunch{info.function, info.tasks, grain, info.scratch_bytes_per_worker};
}

}  // namespace

std::vector<Value*> load_buffers(KernelIr& ir, const Kernel& kernel, std::size_t count, Value* addresses) {
  std::vector<Value*> buffers(count, nullptr);
  const auto load = [&](BufferId id) {
    Value*& buffer = buffers[static_cast<std::size_t>(id)];
    if (buffer != nullptr) return;
    Value* slot = ir.b.CreateConstGEP1_64(ir.b.getPtrTy(), addresses, static_cast<std::uint64_t>(id));
    buffer = ir.b.CreateLoad(ir.b.getPtrTy(), slot);
  };
  for (const Phase& phase : kernel.phases) {
    for (const Instr& instr : phase.body) {
      if (instr.kind == Instr::kLoad || instr.kind == Instr::kStore) load(instr.buffer);
    }
    for (const Reduction& reduction : phase.reductions) {
      if (reduction.result == Reduction::kPartials) load(reduction.partials);
    }
  }
  return buffers;
}

absl::StatusOr<KernelLaunch> emit_kernel(llvm::Module& module, const LoopProgram& program, const Kernel& kernel,
                                         int vector_bytes) {
  if (kernel.matmul != nullptr) return emit_matmul_kernel(module, program, kernel, vector_bytes);
  llvm::Function* function = declare_kernel(module, kernel.name);
  KernelEmitter emitter(*function, program, kernel, vector_bytes);
  if (absl::Status status = emitter.emit(); !status.ok()) return status;
  return KernelLaunch{function->getName().str(), kernel.tasks(), std::max<std::int64_t>(1, kernel.grain),
                      kernel.scratch_bytes};
}

}  // namespace tenon::codegen
