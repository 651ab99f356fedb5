// SPDX-License-Identifier: MIT
// For tests of emission: loop programs written by hand, and running them through the whole way to machine code.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "compiler/codegen/target.h"
#include "compiler/ir/loop_ir.h"

namespace tenon::testing {

/// Builds a program of one kernel (finish()), a phase at a time. Everything returns the id of what it made.
class ProgramBuilder {
 public:
  ProgramBuilder(std::vector<std::int64_t> outer, std::int64_t lanes);

  LoopProgram program;
  Kernel kernel;
  IndexPool& pool;

  BufferId input(DType dtype, std::int64_t elements);
  BufferId output(DType dtype, std::int64_t elements);
  BufferId temporary(DType dtype, std::int64_t elements);
  int scalar(DType dtype);
  int local(DType dtype, bool per_lane = false);

  IndexExpr outer(int i) { return pool.var(i, kernel.outer[static_cast<std::size_t>(i)]); }
  IndexExpr lane() { return pool.var(kernel.lane_var(), kernel.lanes); }
  IndexExpr sequence() { return pool.var(kernel.sequence_var(), kernel.phases.back().sequence); }
  /// sum of terms
  IndexExpr sum(std::initializer_list<IndexExpr> terms);

  /// Starts a phase; what follows goes to it.
  Phase& phase(std::int64_t sequence = 1, bool lanes = true);
  InstrId append(const Instr& instr);
  InstrId constant(DType dtype, double value);
  InstrId scalar_value(int slot);
  InstrId load(BufferId buffer, IndexExpr index, InstrId mask = -1);
  InstrId load_local(int local);
  InstrId index(IndexExpr e);
  InstrId in_range(IndexExpr e, std::int64_t lo, std::int64_t hi);
  InstrId apply(Op op, DType dtype, InstrId x, InstrId y = -1, InstrId z = -1);
  void store(BufferId buffer, IndexExpr index, InstrId value, InstrId mask = -1);
  void store_local(int local, InstrId value);
  /// A reduction of the phase and the instruction that feeds it; local -1: stored partials.
  void reduce(ReduceKind kind, Reduction::Over over, InstrId value, int local);
  InstrId scan(ReduceKind kind, Reduction::Over over, InstrId value);
  Reduction& last_reduction() { return kernel.phases.back().reductions.back(); }
  DType dtype_of(InstrId id) const { return kernel.phases.back().body[static_cast<std::size_t>(id)].dtype; }

  /// Closes the kernel: places per-lane locals. Chunks of lanes: set kernel.lane_chunk before.
  void finish_kernel(const std::string& name = "tenon_test");
  void next_kernel(std::vector<std::int64_t> outer, std::int64_t lanes);
  LoopProgram& finish();

 private:
  Instr new_reduction(ReduceKind kind, Reduction::Over over, InstrId value);
};

/// Targets the tests run for: the native one and the plain levels of this machine.
const std::vector<codegen::TargetSpec>& targets();

/// Compiles and runs a program on inputs and outputs as raw memory; scalars as 8-byte slots. Tasks are run in ranges of
/// one, from the last to the first. On an error fails the current test and
/// returns false.
bool run(const LoopProgram& program, const codegen::TargetSpec& target, const std::vector<const void*>& inputs,
         const std::vector<void*>& outputs, const std::vector<std::uint64_t>& scalars = {});

/// Optimised LLVM IR or assembly of a program, for people.
std::string text_of(const LoopProgram& program, const codegen::TargetSpec& target, bool assembly);

}  // namespace tenon::testing
