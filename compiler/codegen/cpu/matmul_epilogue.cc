// SPDX-License-Identifier: MIT
// The plan may have folded batches into rows or exchanged rows and columns; the phase's indices follow it here, so that
// the lanes of the epilogue are those of the accumulators.
#include "compiler/codegen/cpu/matmul_epilogue.h"

#include "compiler/codegen/cpu/kernel.h"
#include "compiler/codegen/cpu/kernel_ir.h"
#include "compiler/codegen/cpu/phase.h"
#include "llvm/IR/Module.h"

namespace tenon::codegen {
namespace {

using llvm::Value;

/// The index (batch..., row, column) of the nest in terms of the one of the plan's problem.
std::vector<IndexExpr> nest_index(IndexPool& pool, const MatmulPlan& plan) {
  const MatmulSpec& p = plan.problem;
  std::vector<IndexExpr> at;
  for (const std::int64_t extent : p.batch) at.push_back(pool.var(static_cast<std::int32_t>(at.size()), extent));
  const auto row_var = static_cast<std::int32_t>(at.size());
  at.push_back(pool.var(row_var, p.m));
  at.push_back(pool.var(row_var + 2, p.n));
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    const auto row = at.end() - 2;
    switch (step->kind) {
      case MatmulPlan::Step::kDropBatch:
        at.insert(at.begin() + static_cast<std::ptrdiff_t>(step->axis), pool.constant(0));
        break;
      case MatmulPlan::Step::kFoldBatch: {
        const IndexExpr folded = *row;
        *row = pool.mod(folded, step->rows);
        at.insert(row, pool.floor_div(folded, step->rows));
        break;
      }
      case MatmulPlan::Step::kExchange:
        std::swap(*row, *(row + 1));
    }
  }
  return at;
}

/// The epilogue over the axes of the plan's problem.
Kernel follow_plan(const Kernel& kernel, const MatmulPlan& plan, IndexPool& pool) {
  Kernel out;
  out.name = kernel.name;
  out.kernel_class = kernel.kernel_class;
  out.outer = plan.problem.batch;
  out.outer.push_back(plan.problem.m);
  out.lanes = out.lane_chunk = plan.problem.n;
  out.locals = kernel.locals;
  out.phases = kernel.phases;
  std::vector<IndexExpr> vars = nest_index(pool, plan);
  vars.insert(vars.end() - 1, pool.constant(0));  // there is no sequence
  for (Instr& instr : out.phases[0].body) {
    if (instr.index) instr.index = pool.substitute(instr.index, vars);
  }
  return out;
}

class EpilogueEmitter {
 public:
  EpilogueEmitter(llvm::Function& function, const Kernel& kernel, const MatmulPlan& plan, int vector_bytes)
      : ir_(function, vector_bytes), function_(function), kernel_(kernel), plan_(plan) {}

  absl::Status emit(std::size_t buffer_count) {
    TaskContext& context = task_.context;
    context.buffers = load_buffers(ir_, kernel_, buffer_count, function_.getArg(0));
    context.scalars = function_.getArg(1);
    context.lane_begin = function_.getArg(6);
    task_.lane_count = ir_.b.CreateSub(function_.getArg(7), context.lane_begin);
    task_.task = ir_.i64(0);
    locate_batch(function_.getArg(3));
    absl::Status status;
    Value *first = function_.getArg(4), *end = function_.getArg(5);
    ir_.loop(first, end, 1, [&](Value* row) {
      context.vars[kernel_.outer.size() - 1] = row;
      Value* position = ir_.b.CreateMul(ir_.b.CreateSub(row, first), ir_.i64(plan_.col_block));
      context.locals = {ir_.at(plan_.compute, function_.getArg(2), position)};
      status = PhaseEmitter(ir_, kernel_, kernel_.phases[0], task_).emit();
    });
    ir_.b.CreateRetVoid();
    return status;
  }

 private:
  void locate_batch(Value* batch) {
    std::vector<Value*>& vars = task_.context.vars;
    vars.assign(kernel_.outer.size() + 2, ir_.i64(0));
    for (std::size_t axis = kernel_.outer.size() - 1; axis-- > 0;) {
      vars[axis] = ir_.b.CreateURem(batch, ir_.i64(kernel_.outer[axis]));
      batch = ir_.b.CreateUDiv(batch, ir_.i64(kernel_.outer[axis]));
    }
  }

  KernelIr ir_;
  llvm::Function& function_;
  const Kernel& kernel_;
  const MatmulPlan& plan_;
  PhaseTask task_;
};

llvm::Function* declare(llvm::Module& module, const std::string& name) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(module.getContext());
  llvm::Type* integer = llvm::Type::getInt64Ty(module.getContext());
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()),
                                       {pointer, pointer, pointer, integer, integer, integer, integer, integer}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  return function;
}

}  // namespace

llvm::Function* emit_epilogue(llvm::Module& module, const LoopProgram& program, const Kernel& kernel,
                              const MatmulPlan& plan, int vector_bytes, absl::Status* status) {
  const Kernel epilogue = follow_plan(kernel, plan, *program.pool);
  llvm::Function* function = declare(module, kernel.name + ".epilogue");
  *status = EpilogueEmitter(*function, epilogue, plan, vector_bytes).emit(program.buffers.size());
  return function;
}

}  // namespace tenon::codegen
