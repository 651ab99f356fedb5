// SPDX-License-Identifier: MIT
// See loop_text.h.
#include "compiler/ir/loop_text.h"

#include "compiler/ir/text.h"

namespace tenon {
namespace {

constexpr std::string_view kKinds[] = {"const", "scalar", "index", "in_range",    "load",   "load_local",
                                       "apply", "random", "store", "store_local", "reduce", "scan"};

std::string instr_text(const Instr& i) {
  std::string out(i.kind == Instr::kApply ? name_of(i.op) : kKinds[i.kind]);
  append(&out, ":");
  append(&out, name_of(i.dtype));
  for (InstrId operand : i.operands) {
    if (operand >= 0) append(&out, cat(" %", operand));
  }
  if (i.buffer >= 0) append(&out, cat(i.kind == Instr::kLoad || i.kind == Instr::kStore ? " b" : " l", i.buffer));
  if (i.index) append(&out, cat("[", to_string(i.index), "]"));
  if (i.kind == Instr::kInRange) append(&out, cat(" in ", i.lo, "..", i.hi));
  if (i.kind == Instr::kConst) append(&out, cat(" bits ", i.bits));
  if (i.reduction >= 0) append(&out, cat(" by r", i.reduction));
  return out;
}

std::string phase_text(const Phase& phase) {
  std::string out = cat("  phase sequence=", phase.sequence, " lanes=", phase.lanes, phase.joined ? " joined" : "", "\n");
  for (std::size_t r = 0; r < phase.reductions.size(); ++r) {
    const Reduction& reduction = phase.reductions[r];
    append(&out,
           cat("    r", r, " = ", name_of(reduction.kind), " ", name_of(reduction.dtype),
               reduction.over == Reduction::kLanes ? " over lanes" : " over sequence",
               reduction.tree_only ? " tree" : "", reduction.result == Reduction::kPartials ? " partials" : "", "\n"));
  }
  for (std::size_t i = 0; i < phase.body.size(); ++i)
    append(&out, cat("    %", i, " = ", instr_text(phase.body[i]), "\n"));
  return out;
}

}  // namespace

std::string print_loops(const LoopProgram& program) {
  std::string out;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    constexpr std::string_view kSpaces[] = {"input", "output", "temporary"};
    append(&out,
           cat("b", b, ": ", kSpaces[buffer.space], " ", to_string(TensorType{buffer.dtype, buffer.shape}), "\n"));
  }
  for (const Kernel& kernel : program.kernels) {
    append(&out, cat("kernel ", kernel.name, " ", name_of(kernel.kernel_class), " outer=[",
                     join(absl::MakeConstSpan(kernel.outer)), "] lanes=", kernel.lanes, " chunk=", kernel.lane_chunk,
                     " rows=", kernel.row_block, " grain=", kernel.grain, "\n"));
    for (const Phase& phase : kernel.phases) append(&out, phase_text(phase));
  }
  return out;
}

}  // namespace tenon
