// SPDX-License-Identifier: MIT
// A step of the first phase is a phase of its own, of a kernel that has the sequence as its last outer loop; so every
// schedule of reductions over lanes serves here too.
#include "compiler/codegen/cpu/phase_nested.h"

namespace tenon::codegen {
namespace {

using llvm::Value;

/// The kernel whose last outer variable is the sequence of `kernel`, with the one phase.
Kernel kernel_of_step(const Kernel& kernel, const Phase& phase, IndexPool& pool) {
  Kernel step;
  step.name = kernel.name;
  step.kernel_class = KernelClass::kInnerReduction;
  step.outer = kernel.outer;
  step.outer.push_back(phase.sequence);
  step.lanes = kernel.lanes;
  step.lane_chunk = kernel.lane_chunk;
  step.locals = kernel.locals;
  step.phases = {phase};
  step.phases[0].sequence = 1;
  std::vector<IndexExpr> vars;
  for (std::size_t v = 0; v < step.outer.size(); ++v) vars.push_back(pool.var(static_cast<int>(v), step.outer[v]));
  vars.push_back(pool.var(step.lane_var(), step.lanes));
  for (Instr& instr : step.phases[0].body) {
    if (instr.index) instr.index = pool.substitute(instr.index, vars);
  }
  return step;
}

}  // namespace

absl::Status emit_nested(KernelIr& ir, const Kernel& kernel, const LoopProgram& program, std::size_t first,
                         PhaseTask& task) {
  const Kernel step = kernel_of_step(kernel, kernel.phases[first], *program.pool);
  PhaseTask at = task;
  at.context.vars.push_back(ir.i64(0));
  absl::Status step_status;
  const absl::Status status =
      PhaseEmitter(ir, kernel, kernel.phases[first + 1], task).emit_joined([&](Value* sequence) {
        at.context.vars[kernel.outer.size()] = sequence;
        step_status = PhaseEmitter(ir, step, step.phases[0], at).emit();
      });
  return step_status.ok() ? status : step_status;
}

}  // namespace tenon::codegen
