// SPDX-License-Identifier: MIT
#include "tests/unit/emit_harness.h"

#include <gtest/gtest.h>

#include "compiler/codegen/emit.h"
#include "compiler/codegen/link_image.h"
#include "compiler/codegen/optimize.h"
#include "compiler/codegen/runtime_table.h"
#include "compiler/ir/graph.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "runtime/device/cpu/host_cpu.h"
#include "runtime/device/cpu/image_loader.h"

namespace tenon::testing {

ProgramBuilder::ProgramBuilder(std::vector<std::int64_t> outer, std::int64_t lanes) : pool(*program.pool) {
  next_kernel(std::move(outer), lanes);
}

void ProgramBuilder::next_kernel(std::vector<std::int64_t> outer, std::int64_t lanes) {
  kernel = Kernel();
  kernel.outer = std::move(outer);
  kernel.lanes = kernel.lane_chunk = lanes;
}

namespace {

BufferId add_buffer(LoopProgram& program, DType dtype, std::int64_t elements, Buffer::Space space, int argument) {
  Buffer buffer;
  buffer.dtype = dtype;
  buffer.shape = {elements};
  buffer.space = space;
  buffer.argument = argument;
  program.buffers.push_back(buffer);
  return static_cast<BufferId>(program.buffers.size()) - 1;
}

std::int64_t align_up(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

BufferId ProgramBuilder::input(DType dtype, std::int64_t elements) {
  return add_buffer(program, dtype, elements, Buffer::kInput, program.num_inputs++);
}

BufferId ProgramBuilder::output(DType dtype, std::int64_t elements) {
  return add_buffer(program, dtype, elements, Buffer::kOutput, program.num_outputs++);
}

BufferId ProgramBuilder::temporary(DType dtype, std::int64_t elements) {
  const BufferId id = add_buffer(program, dtype, elements, Buffer::kTemporary, 0);
  program.buffers.back().offset = program.arena_bytes;
  program.arena_bytes += align_up(elements * static_cast<std::int64_t>(size_of(dtype)));
  return id;
}

int ProgramBuilder::scalar(DType dtype) {
  program.scalars.push_back(dtype);
  return static_cast<int>(program.scalars.size()) - 1;
}

int ProgramBuilder::local(DType dtype, bool per_lane) {
  kernel.locals.push_back({dtype, per_lane, -1});
  return static_cast<int>(kernel.locals.size()) - 1;
}

IndexExpr ProgramBuilder::sum(std::initializer_list<IndexExpr> terms) {
  IndexExpr total = pool.constant(0);
  for (IndexExpr term : terms) total = pool.add(total, term);
  return total;
}

Phase& ProgramBuilder::phase(std::int64_t sequence, bool lanes) {
  kernel.phases.emplace_back();
  kernel.phases.back().sequence = sequence;
  kernel.phases.back().lanes = lanes;
  return kernel.phases.back();
}

InstrId ProgramBuilder::append(const Instr& instr) {
  kernel.phases.back().body.push_back(instr);
  return static_cast<InstrId>(kernel.phases.back().body.size()) - 1;
}

InstrId ProgramBuilder::constant(DType dtype, double value) {
  Instr i{Instr::kConst};
  i.dtype = dtype;
  i.bits = bits_of(dtype, value);
  return append(i);
}

InstrId ProgramBuilder::scalar_value(int slot) {
  Instr i{Instr::kScalar};
  i.dtype = program.scalars[static_cast<std::size_t>(slot)];
  i.buffer = slot;
  return append(i);
}

InstrId ProgramBuilder::load(BufferId buffer, IndexExpr e, InstrId mask) {
  Instr i{Instr::kLoad};
  i.dtype = program.buffers[static_cast<std::size_t>(buffer)].dtype;
  i.buffer = buffer;
  i.index = e;
  i.operands[0] = mask;
  return append(i);
}

InstrId ProgramBuilder::load_local(int local) {
  Instr i{Instr::kLoadLocal};
  i.dtype = kernel.locals[static_cast<std::size_t>(local)].dtype;
  i.buffer = local;
  return append(i);
}

InstrId ProgramBuilder::index(IndexExpr e) {
  Instr i{Instr::kIndex};
  i.dtype = DType::kInt64;
  i.index = e;
  return append(i);
}

InstrId ProgramBuilder::in_range(IndexExpr e, std::int64_t lo, std::int64_t hi) {
  Instr i{Instr::kInRange};
  i.dtype = DType::kBool;
  i.index = e;
  i.lo = lo;
  i.hi = hi;
  return append(i);
}

InstrId ProgramBuilder::apply(Op op, DType dtype, InstrId x, InstrId y, InstrId z) {
  Instr i{Instr::kApply};
  i.op = op;
  i.dtype = dtype;
  i.operands = {x, y, z};
  return append(i);
}

void ProgramBuilder::store(BufferId buffer, IndexExpr e, InstrId value, InstrId mask) {
  Instr i{Instr::kStore};
  i.dtype = program.buffers[static_cast<std::size_t>(buffer)].dtype;
  i.buffer = buffer;
  i.index = e;
  i.operands = {value, mask, -1};
  append(i);
}

void ProgramBuilder::store_local(int local, InstrId value) {
  Instr i{Instr::kStoreLocal};
  i.dtype = kernel.locals[static_cast<std::size_t>(local)].dtype;
  i.buffer = local;
  i.operands[0] = value;
  append(i);
}

Instr ProgramBuilder::new_reduction(ReduceKind kind, Reduction::Over over, InstrId value) {
  Reduction reduction;
  reduction.kind = kind;
  reduction.over = over;
  reduction.order = over == Reduction::kLanes ? ReduceOrder::inner : ReduceOrder::outer;
  reduction.dtype = dtype_of(value);
  Instr i{Instr::kReduce};
  i.dtype = reduction.dtype;
  i.operands[0] = value;
  i.reduction = static_cast<std::int32_t>(kernel.phases.back().reductions.size());
  kernel.phases.back().reductions.push_back(reduction);
  return i;
}

void ProgramBuilder::reduce(ReduceKind kind, Reduction::Over over, InstrId value, int local) {
  Instr i = new_reduction(kind, over, value);
  i.buffer = local;
  append(i);
}

InstrId ProgramBuilder::scan(ReduceKind kind, Reduction::Over over, InstrId value) {
  Instr i = new_reduction(kind, over, value);
  i.kind = Instr::kScan;
  return append(i);
}

void ProgramBuilder::finish_kernel(const std::string& name) {
  kernel.name = name;
  for (LocalBuffer& local : kernel.locals) {
    if (!local.per_lane) continue;
    local.scratch_offset = kernel.scratch_bytes;
    kernel.scratch_bytes += align_up(kernel.lane_chunk * static_cast<std::int64_t>(size_of(local.dtype)));
  }
  program.kernels.push_back(std::move(kernel));
}

LoopProgram& ProgramBuilder::finish() {
  finish_kernel();
  return program;
}

// ---- running ----

const std::vector<codegen::TargetSpec>& targets() { return device::runnable_targets(); }

namespace {

void run_tasks_backwards(KernelFunction* kernel, void* const* buffers, const void* scalars, std::int64_t tasks,
                         std::int64_t, std::int64_t scratch_bytes) {
  std::vector<std::byte> scratch(static_cast<std::size_t>(scratch_bytes) + 64);
  void* block = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64);
  for (std::int64_t task = tasks; task-- > 0;) kernel(buffers, scalars, task, task + 1, block);
}

void* scratch_block(std::int64_t bytes) {
  static thread_local std::vector<std::byte> scratch;
  scratch.resize(static_cast<std::size_t>(bytes) + 64);
  return scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64);
}

constexpr RuntimeTable kTable = {kRuntimeTableAbi, run_tasks_backwards, scratch_block};

absl::StatusOr<std::vector<std::byte>> compile(const LoopProgram& program, const codegen::TargetSpec& target,
                                               std::string* text, bool assembly) {
  llvm::LLVMContext context;
  auto machine = codegen::make_target_machine(target);
  if (!machine.ok()) return machine.status();
  auto module = codegen::emit_module(context, program, target);
  if (!module.ok()) return module.status();
  if (absl::Status status = codegen::optimize(**module, **machine); !status.ok()) return status;
  if (text != nullptr && !assembly) llvm::raw_string_ostream(*text) << **module;
  if (text != nullptr && assembly) *text = *codegen::print_assembly(**module, **machine);
  return codegen::link_image(**module, **machine);
}

}  // namespace

bool run(const LoopProgram& program, const codegen::TargetSpec& target, const std::vector<const void*>& inputs,
         const std::vector<void*>& outputs, const std::vector<std::uint64_t>& scalars) {
  const auto image = compile(program, target, nullptr, false);
  EXPECT_TRUE(image.ok()) << image.status();
  if (!image.ok()) return false;
  const auto loaded = device::LoadedImage::load(*image);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  if (!loaded.ok()) return false;
  std::vector<void*> in;
  for (const void* p : inputs) in.push_back(const_cast<void*>(p));
  std::vector<std::byte> arena(static_cast<std::size_t>(program.arena_bytes) + 64);
  void* aligned = arena.data() + (64 - reinterpret_cast<std::uintptr_t>(arena.data()) % 64);
  auto* entry = loaded->find_as<ProgramFunction>(kProgramSymbol);
  return entry(&kTable, in.data(), outputs.data(), scalars.data(), aligned) == 0;
}

std::string text_of(const LoopProgram& program, const codegen::TargetSpec& target, bool assembly) {
  std::string text;
  const auto image = compile(program, target, &text, assembly);
  return image.ok() ? text : image.status().ToString() + "\n" + text;
}

}  // namespace tenon::testing
