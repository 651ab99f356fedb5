// SPDX-License-Identifier: MIT
// Runs a loop program task by task. A body is run for all lanes of the task at once: every instruction has an array of
// its values, one a lane; reductions collect their operands and are folded when their loop ends.
#include "compiler/ops/loop_interpreter.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "compiler/ir/reduction_order.h"
#include "compiler/ir/text.h"
#include "compiler/ops/eval_loops.h"
#include "compiler/ops/interpreter_ops.h"
#include "compiler/ops/philox.h"
#include "compiler/ops/reduce_eval.h"
#include "compiler/ops/scalar_eval.h"

namespace tenon {
namespace {

using Bytes = std::vector<std::byte>;

/// A buffer of the program: positions lo .. hi from `data`, and which of them were written (inputs: all).
struct Memory {
  std::byte* data = nullptr;
  std::size_t size = 1;
  std::int64_t lo = 0, hi = -1;
  bool is_input = false;
  std::vector<bool> written;

  bool has(std::int64_t i) const { return i >= lo && i <= hi; }
  bool is_written(std::int64_t i) const { return is_input || written[static_cast<std::size_t>(i)]; }
  std::byte* at(std::int64_t i) const { return data + i * static_cast<std::int64_t>(size); }
  void write(std::int64_t i, const std::byte* element) {
    std::memcpy(at(i), element, size);
    written[static_cast<std::size_t>(i)] = true;
  }
};

Memory input_memory(const Buffer& buffer, const HostView& view) {
  Memory memory{static_cast<std::byte*>(const_cast<void*>(view.data)), size_of(buffer.dtype), 0, 0, true, {}};
  const Shape strides = view.strides.empty() ? row_major_strides(buffer.shape) : view.strides;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::int64_t reach = (buffer.shape[i] - 1) * strides[i];
    (reach < 0 ? memory.lo : memory.hi) += reach;
  }
  if (numel(buffer.shape) == 0) memory.hi = memory.lo - 1;
  return memory;
}

struct Machine {
  const LoopProgram& program;
  absl::Span<const std::uint64_t> scalars;
  std::vector<Memory> buffers;
};

/// A local buffer of the running task: its elements, none before the first write.
using Local = Bytes;

/// One task of a kernel with phases.
class Task {
 public:
  Task(Machine* machine, const Kernel& kernel, std::int64_t number, absl::Span<const std::int64_t> outer)
      : machine_(*machine), kernel_(kernel), number_(number), locals_(kernel.locals.size()) {
    vars_.assign(outer.begin(), outer.end());
    vars_.resize(outer.size() + 2, 0);
    lane_begin_ = number % kernel.chunks() * kernel.lane_chunk;
    lane_count_ = std::min(kernel.lane_chunk, kernel.lanes - lane_begin_);
  }

  void set_local(std::size_t id, Bytes elements) { locals_[id] = std::move(elements); }

  absl::Status run() {
    for (phase_number_ = 0; phase_number_ < kernel_.phases.size() && status_.ok(); ++phase_number_) {
      const bool is_nested = phase_number_ + 1 < kernel_.phases.size() && kernel_.phases[phase_number_ + 1].joined;
      is_nested ? run_nested() : run_phase();
    }
    return status_;
  }

 private:
  const Phase& phase() const { return kernel_.phases[phase_number_]; }
  std::int64_t& lane_var() { return vars_.back(); }
  std::size_t count() const { return static_cast<std::size_t>(phase().lanes ? lane_count_ : 1); }
  const Bytes& value(InstrId id) const { return values_[static_cast<std::size_t>(id)]; }

  template <class T>
  T element(InstrId id, std::size_t lane) const {
    return eval::load<T>(value(id).data(), static_cast<std::int64_t>(lane));
  }
  /// Whether the mask in that operand lets the lane through.
  bool is_on(InstrId mask, std::size_t lane) const { return mask < 0 || element<bool>(mask, lane); }

  template <class... Parts>
  void fail(std::size_t i, const Parts&... parts) {
    if (!status_.ok()) return;
    status_ = absl::InternalError(cat("kernel ", kernel_.name, ", task ", number_, ", phase ", phase_number_,
                                      ", instruction ", i, ": ", parts...));
  }

  void begin_phase() {
    values_.assign(phase().body.size(), {});
    collected_.assign(phase().reductions.size(), {});
    scans_.clear();
    scans_.resize(phase().reductions.size());
  }

  void run_body() {
    for (std::size_t i = 0; i < phase().body.size() && status_.ok(); ++i) run_instr(i);
  }

  void finish_phase() {
    for (std::size_t i = 0; i < phase().body.size() && status_.ok(); ++i) {
      if (phase().body[i].kind == Instr::kReduce) finish_reduction(phase().body[i]);
    }
  }

  /// This phase and the one that is joined to it, which keeps what it collects from step to step.
  void run_nested() {
    std::vector<Bytes> collected(kernel_.phases[phase_number_ + 1].reductions.size());
    for (std::int64_t s = 0; s < phase().sequence && status_.ok(); ++s) {
      vars_[vars_.size() - 2] = s;
      begin_phase();
      run_body();
      finish_phase();
      ++phase_number_;
      begin_phase();
      collected_.swap(collected);
      run_body();
      collected_.swap(collected);
      --phase_number_;
    }
    vars_[vars_.size() - 2] = 0;
    ++phase_number_;
    collected_ = std::move(collected);
    finish_phase();
  }

  void run_phase() {
    begin_phase();
    std::int64_t end = phase().sequence;
    if (phase().sequence_limit) end = std::min(end, evaluate(phase().sequence_limit, vars_));
    for (std::int64_t s = 0; s < end && status_.ok(); ++s) {
      vars_[vars_.size() - 2] = s;
      run_body();
    }
    vars_[vars_.size() - 2] = 0;
    finish_phase();
  }

  void run_instr(std::size_t i) {
    const Instr& in = phase().body[i];
    Bytes& out = values_[i];
    out.resize(count() * size_of(in.dtype));
    switch (in.kind) {
      case Instr::kConst:
        return fill(in, in.bits, &out);
      case Instr::kScalar:
        return fill(in, machine_.scalars[static_cast<std::size_t>(in.buffer)], &out);
      case Instr::kIndex:
        return std::memcpy(out.data(), positions(in.index).data(), out.size()), void();
      case Instr::kInRange:
        return run_in_range(in, &out);
      case Instr::kLoad:
        return run_load(i, in, &out);
      case Instr::kLoadLocal:
        return run_load_local(i, in, &out);
      case Instr::kApply:
        return run_apply(in, &out);
      case Instr::kRandom:
        return run_random(in, &out);
      case Instr::kStore:
        return run_store(i, in);
      case Instr::kStoreLocal:
        return run_store_local(in);
      case Instr::kReduce: {
        Bytes& line = collected_[static_cast<std::size_t>(in.reduction)];
        line.insert(line.end(), value(in.operands[0]).begin(), value(in.operands[0]).end());
        return;
      }
      case Instr::kScan:
        return run_scan(in, &out);
    }
  }

  void fill(const Instr& in, std::uint64_t bits, Bytes* out) const {
    const std::size_t size = size_of(in.dtype);
    for (std::size_t lane = 0; lane < count(); ++lane) std::memcpy(out->data() + lane * size, &bits, size);
  }

  /// The expression's value in every lane.
  std::vector<std::int64_t> positions(IndexExpr e) {
    std::vector<std::int64_t> result(count());
    bool is_affine = true;
    const std::int64_t step = coefficient_of(e, kernel_.lane_var(), &is_affine);
    const bool is_regular = is_affine && !is_indirect(e);
    for (std::size_t lane = 0; lane < result.size(); ++lane) {
      if (is_regular && lane > 0) {
        result[lane] = result[lane - 1] + step;
        continue;
      }
      lane_var() = phase().lanes ? lane_begin_ + static_cast<std::int64_t>(lane) : 0;
      result[lane] = evaluate(e, vars_, [&](std::int32_t id) { return element<std::int64_t>(id, lane); });
    }
    return result;
  }

  void run_in_range(const Instr& in, Bytes* out) {
    const auto at = positions(in.index);
    for (std::size_t lane = 0; lane < at.size(); ++lane)
      (*out)[lane] = std::byte{at[lane] >= in.lo && at[lane] < in.hi};
  }

  Memory& memory(const Instr& in) { return machine_.buffers[static_cast<std::size_t>(in.buffer)]; }
  bool check_access(std::size_t i, const Instr& in, std::int64_t at) {
    const Memory& m = memory(in);
    if (m.has(at)) return true;
    fail(i, "position ", at, " is outside ", m.lo, " .. ", m.hi, " of buffer ", in.buffer);
    return false;
  }

  void run_load(std::size_t i, const Instr& in, Bytes* out) {
    const Memory& m = memory(in);
    const auto at = positions(in.index);
    for (std::size_t lane = 0; lane < at.size(); ++lane) {
      std::byte* const to = out->data() + lane * m.size;
      if (!is_on(in.operands[0], lane)) {
        std::memset(to, 0, m.size);
        continue;
      }
      if (!check_access(i, in, at[lane])) return;
      if (!m.is_written(at[lane]))
        return fail(i, "position ", at[lane], " of buffer ", in.buffer, " was never written");
      std::memcpy(to, m.at(at[lane]), m.size);
    }
  }

  void run_store(std::size_t i, const Instr& in) {
    Memory& m = memory(in);
    const auto at = positions(in.index);
    for (std::size_t lane = 0; lane < at.size(); ++lane) {
      if (!is_on(in.operands[1], lane)) continue;
      if (!check_access(i, in, at[lane])) return;
      m.write(at[lane], value(in.operands[0]).data() + lane * m.size);
    }
  }

  /// Where the values of the current step begin in a per-lane local.
  std::size_t local_offset(const Instr& in) const {
    const bool has_steps = kernel_.locals[static_cast<std::size_t>(in.buffer)].sequence > 1;
    return has_steps ? static_cast<std::size_t>(vars_[vars_.size() - 2]) * count() * size_of(in.dtype) : 0;
  }

  void run_store_local(const Instr& in) {
    Local& local = locals_[static_cast<std::size_t>(in.buffer)];
    const Bytes& from = value(in.operands[0]);
    const std::size_t at = local_offset(in);
    if (local.size() < at + from.size()) local.resize(at + from.size());
    std::copy(from.begin(), from.end(), local.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void run_load_local(std::size_t i, const Instr& in, Bytes* out) {
    const Local& local = locals_[static_cast<std::size_t>(in.buffer)];
    const std::size_t size = size_of(in.dtype);
    const bool per_lane = kernel_.locals[static_cast<std::size_t>(in.buffer)].per_lane;
    if (local.empty() && count() > 0) return fail(i, "local ", in.buffer, " was never written");
    if (per_lane) {
      const std::size_t at = local_offset(in);
      if (at + out->size() > local.size()) return fail(i, "local ", in.buffer, " was never written at this step");
      return void(std::memcpy(out->data(), local.data() + at, out->size()));
    }
    for (std::size_t lane = 0; lane < count(); ++lane) std::memcpy(out->data() + lane * size, local.data(), size);
  }

  void run_apply(const Instr& in, Bytes* out) const {
    absl::InlinedVector<const void*, 3> operands;
    DType dtype = in.dtype;
    for (int k = 0; k < min_operands(in.op); ++k) {
      const InstrId id = in.operands[static_cast<std::size_t>(k)];
      operands.push_back(value(id).data());
      dtype = phase().body[static_cast<std::size_t>(id)].dtype;
    }
    eval_elements(in.op, in.dtype, dtype, operands, out->data(), static_cast<std::int64_t>(count()));
  }

  void run_random(const Instr& in, Bytes* out) const {
    for (std::size_t lane = 0; lane < count(); ++lane) {
      const auto counter = static_cast<std::uint64_t>(element<std::int64_t>(in.operands[1], lane));
      const auto word = random_word(element<std::uint64_t>(in.operands[0], lane), counter, static_cast<int>(in.lo));
      eval::store<std::uint32_t>(out->data(), static_cast<std::int64_t>(lane), word);
    }
  }

  void run_scan(const Instr& in, Bytes* out) {
    const Reduction& r = phase().reductions[static_cast<std::size_t>(in.reduction)];
    const Bytes& x = value(in.operands[0]);
    if (r.over == Reduction::kLanes) {
      return scan_line(r.kind, r.dtype, x.data(), static_cast<std::int64_t>(count()), out->data());
    }
    std::vector<RunningScan>& lanes = scans_[static_cast<std::size_t>(in.reduction)];
    while (lanes.size() < count()) lanes.emplace_back(r.kind, r.dtype);
    for (std::size_t lane = 0; lane < count(); ++lane) {
      const std::size_t at = lane * size_of(r.dtype);
      lanes[lane].next(x.data() + at, out->data() + at);
    }
  }

  /// Folds what was collected: over lanes one line; over the sequence one line a lane, which lie interleaved.
  void finish_reduction(const Instr& in) {
    const Reduction& r = phase().reductions[static_cast<std::size_t>(in.reduction)];
    const Bytes& all = collected_[static_cast<std::size_t>(in.reduction)];
    const auto elements = static_cast<std::int64_t>(all.size() / size_of(r.dtype));
    if (r.result == Reduction::kPartials) return store_partials(r, all, elements);
    const std::int64_t lanes = r.over == Reduction::kLanes ? 1 : static_cast<std::int64_t>(count());
    const std::int64_t n = lanes == 0 ? 0 : elements / lanes;
    const std::size_t size = size_of(r.dtype), result_size = size_of(reduced_dtype(r.kind, r.dtype));
    Bytes line(static_cast<std::size_t>(n) * size), result(static_cast<std::size_t>(lanes) * result_size);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      for (std::int64_t s = 0; s < n; ++s) {
        std::memcpy(line.data() + static_cast<std::size_t>(s) * size,
                    all.data() + static_cast<std::size_t>(s * lanes + lane) * size, size);
      }
      std::byte* const to = result.data() + static_cast<std::size_t>(lane) * result_size;
      r.tree_only ? reduce_tree(r.kind, r.dtype, line.data(), n, to)
                  : reduce_line(r.kind, r.order, r.dtype, line.data(), n, to);
    }
    locals_[static_cast<std::size_t>(in.buffer)] = std::move(result);
  }

  void store_partials(const Reduction& r, const Bytes& line, std::int64_t n) {
    const std::size_t size = size_of(r.dtype);
    Bytes partials(static_cast<std::size_t>(kInnerPartials) * size);
    reduce_to_partials(r.kind, r.dtype, line.data(), n, partials.data());
    Memory& m = machine_.buffers[static_cast<std::size_t>(r.partials)];
    for (std::int64_t p = 0; p < kInnerPartials; ++p) {
      m.write(number_ * kInnerPartials + p, partials.data() + static_cast<std::size_t>(p) * size);
    }
  }

  Machine& machine_;
  const Kernel& kernel_;
  const std::int64_t number_;
  std::int64_t lane_begin_ = 0, lane_count_ = 0;
  std::vector<std::int64_t> vars_;
  std::vector<Local> locals_;

  std::size_t phase_number_ = 0;
  std::vector<Bytes> values_;     ///< of each instruction
  std::vector<Bytes> collected_;  ///< operands of each reduction
  std::vector<std::vector<RunningScan>> scans_;
  absl::Status status_;
};

/// Runs task `number`: with a row block, one Task for each value of the last outer index in it.
absl::Status run_task(Machine* machine, const Kernel& kernel, std::int64_t number) {
  std::vector<std::int64_t> outer(kernel.outer.size());
  std::int64_t position = number / kernel.chunks();
  std::int64_t rows = 1;
  for (std::size_t i = outer.size(); i-- > 0;) {
    const bool is_blocked = i + 1 == outer.size() && kernel.row_block > 1;
    const std::int64_t block = is_blocked ? kernel.row_block : 1;
    const std::int64_t blocks = (kernel.outer[i] + block - 1) / block;
    outer[i] = position % blocks * block;
    position /= blocks;
    if (is_blocked) rows = std::min(block, kernel.outer[i] - outer[i]);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    if (auto status = Task(machine, kernel, number, outer).run(); !status.ok()) return status;
    if (!outer.empty()) ++outer.back();
  }
  return absl::OkStatus();
}

/// One matrix of a nest: gathered row-major, or scattered back.
class Matrix {
 public:
  Matrix(Machine* machine, const MatmulNest::Operand& operand, std::int64_t batch_offset, std::int64_t rows,
         std::int64_t columns)
      : memory_(machine->buffers[static_cast<std::size_t>(operand.buffer)]),
        operand_(operand),
        start_(operand.offset + batch_offset),
        rows_(rows),
        columns_(columns) {}

  /// The elements, or nothing when one lies outside the buffer or was never written.
  std::optional<Bytes> read() const {
    Bytes out;
    for (std::int64_t i = 0; i < rows_ * columns_; ++i) {
      const std::int64_t at = position(i);
      if (!memory_.has(at) || !memory_.is_written(at)) return std::nullopt;
      out.insert(out.end(), memory_.at(at), memory_.at(at) + memory_.size);
    }
    return out;
  }
  bool write(const Bytes& elements) {
    for (std::int64_t i = 0; i < rows_ * columns_; ++i) {
      if (!memory_.has(position(i))) return false;
      memory_.write(position(i), elements.data() + static_cast<std::size_t>(i) * memory_.size);
    }
    return true;
  }

 private:
  std::int64_t position(std::int64_t i) const {
    return start_ + i / columns_ * operand_.row_stride + i % columns_ * operand_.column_stride;
  }

  Memory& memory_;
  const MatmulNest::Operand& operand_;
  std::int64_t start_, rows_, columns_;
};

/// Runs the epilogue on one matrix of the product, row by row.
absl::Status run_epilogue(Machine* machine, const Kernel& kernel, std::int64_t batch, const Bytes& product) {
  const MatmulNest& nest = *kernel.matmul;
  const DType dtype = kernel.locals[0].dtype;
  const std::size_t row_bytes = static_cast<std::size_t>(nest.n) * size_of(nest.dtype);
  std::vector<std::int64_t> outer(kernel.outer.size());
  for (std::size_t axis = nest.batch.size(); axis-- > 0; batch /= nest.batch[axis])
    outer[axis] = batch % nest.batch[axis];
  for (outer.back() = 0; outer.back() < nest.m; ++outer.back()) {
    Bytes row(static_cast<std::size_t>(nest.n) * size_of(dtype));
    const void* rounded = product.data() + static_cast<std::size_t>(outer.back()) * row_bytes;
    eval_elements(Op::k_cast, dtype, nest.dtype, {rounded}, row.data(), nest.n);
    Task task(machine, kernel, 0, outer);
    task.set_local(0, std::move(row));
    if (auto status = task.run(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status run_matmul(Machine* machine, const Kernel& kernel) {
  const MatmulNest& nest = *kernel.matmul;
  for (std::int64_t i = 0; i < numel(nest.batch); ++i) {
    const auto matrix = [&](const MatmulNest::Operand& operand, std::int64_t rows, std::int64_t columns) {
      std::int64_t rest = i, offset = 0;
      for (std::size_t axis = nest.batch.size(); axis-- > 0; rest /= nest.batch[axis]) {
        offset += rest % nest.batch[axis] * operand.batch_strides[axis];
      }
      return Matrix(machine, operand, offset, rows, columns);
    };
    const auto a = matrix(nest.a, nest.m, nest.k).read(), b = matrix(nest.b, nest.k, nest.n).read();
    Bytes c(static_cast<std::size_t>(nest.m * nest.n) * size_of(nest.dtype));
    if (a && b) interpreter::multiply_matrices(nest.dtype, nest.m, nest.n, nest.k, a->data(), b->data(), c.data());
    if (a && b && !kernel.phases.empty()) {
      if (auto status = run_epilogue(machine, kernel, i, c); !status.ok()) return status;
    } else if (!a || !b || !matrix(nest.c, nest.m, nest.n).write(c)) {
      return absl::InternalError(cat("kernel ", kernel.name, ": an operand leaves its buffer or was never written"));
    }
  }
  return absl::OkStatus();
}

absl::Status run_kernel(Machine* machine, const Kernel& kernel, const LoopInterpreterOptions& options) {
  if (kernel.matmul) return run_matmul(machine, kernel);
  const std::int64_t tasks = kernel.tasks();
  for (std::int64_t i = 0; i < tasks; ++i) {
    auto status = run_task(machine, kernel, options.reverse_tasks ? tasks - 1 - i : i);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

Memory own_memory(const Buffer& buffer, std::byte* data) {
  const std::int64_t count = numel(buffer.shape);
  return {data, size_of(buffer.dtype), 0, count - 1, false, std::vector<bool>(static_cast<std::size_t>(count))};
}

}  // namespace

absl::StatusOr<std::vector<HostTensor>> interpret_loops(const LoopProgram& program, absl::Span<const HostView> inputs,
                                                        absl::Span<const std::uint64_t> scalars,
                                                        const LoopInterpreterOptions& options) {
  if (static_cast<std::int64_t>(inputs.size()) != program.num_inputs || scalars.size() != program.scalars.size()) {
    return absl::InvalidArgumentError("the loop program takes another number of inputs or scalars");
  }
  std::vector<HostTensor> outputs(static_cast<std::size_t>(program.num_outputs));
  Bytes arena(static_cast<std::size_t>(program.arena_bytes));
  Machine machine{program, scalars, {}};
  for (const Buffer& buffer : program.buffers) {
    const auto argument = static_cast<std::size_t>(buffer.argument);
    if (buffer.space == Buffer::kInput) {
      machine.buffers.push_back(input_memory(buffer, inputs[argument]));
    } else if (buffer.space == Buffer::kTemporary) {
      machine.buffers.push_back(own_memory(buffer, arena.data() + buffer.offset));
    } else {
      HostTensor& output = outputs[argument];
      output.type = {buffer.dtype, buffer.shape};
      output.data.resize(static_cast<std::size_t>(numel(buffer.shape)) * size_of(buffer.dtype));
      machine.buffers.push_back(own_memory(buffer, output.data.data()));
    }
  }
  for (const Kernel& kernel : program.kernels) {
    if (auto status = run_kernel(&machine, kernel, options); !status.ok()) return status;
  }
  return outputs;
}

}  // namespace tenon
