// SPDX-License-Identifier: MIT
// The bytes of a loop program. Not persisted: writer and reader are of one build. A header, the table of index
// expressions (each refers to earlier ones), buffers, scalars, kernels; lists as a 32-bit count and their items.
//
// The reader checks ranges of all numbers so that no later arithmetic overflows, and leaves the meaning to verify().
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "compiler/ir/byte_stream.h"
#include "compiler/ir/serialize.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"

namespace tenon {
namespace {

constexpr std::uint32_t kMagic = 0x504C4E54;  // "TNLP"
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kNoIndex = 0xffffffff;
constexpr std::int64_t kLimit = kMaxIndexNumber;

class LoopWriter {
 public:
  std::vector<std::byte> write(const LoopProgram& program) {
    for (const Kernel& kernel : program.kernels) collect(kernel);
    out_.put(kMagic);
    out_.put(kVersion);
    out_.put(program.num_inputs);
    out_.put(program.num_outputs);
    out_.put(program.arena_bytes);
    out_.put(static_cast<std::uint32_t>(indices_.size()));
    for (const IndexExpr e : indices_) put_expression(e);
    put_all(program.buffers, [&](const Buffer& b) { put_buffer(b); });
    put_all(program.scalars, [&](DType dtype) { out_.put(dtype); });
    put_all(program.kernels, [&](const Kernel& k) { put_kernel(k); });
    return out_.take();
  }

 private:
  void collect(const Kernel& kernel) {
    for (const Phase& phase : kernel.phases) {
      collect(phase.sequence_limit);
      for (const Instr& in : phase.body) collect(in.index);
    }
  }
  void collect(IndexExpr e) {
    if (!e || numbers_.contains(e)) return;
    for (const auto& [coefficient, term] : e->terms) collect(term.base);
    numbers_.emplace(e, static_cast<std::uint32_t>(indices_.size()));
    indices_.push_back(e);
  }

  template <class List, class F>
  void put_all(const List& list, F put_item) {
    out_.put(static_cast<std::uint32_t>(list.size()));
    for (const auto& item : list) put_item(item);
  }
  void put_bool(bool value) { out_.put(static_cast<std::uint8_t>(value)); }
  void put_index(IndexExpr e) { out_.put(e ? numbers_.at(e) : kNoIndex); }

  void put_expression(IndexExpr e) {
    out_.put(e->constant);
    out_.put(static_cast<std::uint32_t>(e->terms.size()));
    for (const auto& [coefficient, term] : e->terms) {
      out_.put(coefficient);
      out_.put(term.kind);
      out_.put(term.id);
      put_index(term.base);
      out_.put(term.divisor);
      out_.put(term.lo);
      out_.put(term.hi);
    }
  }

  void put_buffer(const Buffer& b) {
    out_.put(b.dtype);
    out_.put_list(b.shape);
    out_.put(b.space);
    out_.put(b.argument);
    out_.put(b.offset);
    out_.put(b.node);
  }

  void put_kernel(const Kernel& k) {
    out_.put(static_cast<std::uint32_t>(k.name.size()));
    out_.put_raw(k.name.data(), k.name.size());
    out_.put(k.kernel_class);
    out_.put_list(k.outer);
    for (const std::int64_t n : {k.lanes, k.lane_chunk, k.row_block, k.scratch_bytes, k.grain}) out_.put(n);
    put_all(k.locals, [&](const LocalBuffer& l) {
      out_.put(l.dtype);
      put_bool(l.per_lane);
      out_.put(l.scratch_offset);
      out_.put(l.sequence);
    });
    put_all(k.phases, [&](const Phase& p) { put_phase(p); });
    put_bool(k.matmul != nullptr);
    if (k.matmul) put_matmul(*k.matmul);
  }

  void put_phase(const Phase& p) {
    out_.put(p.sequence);
    put_index(p.sequence_limit);
    put_bool(p.joined);
    put_bool(p.lanes);
    put_all(p.reductions, [&](const Reduction& r) {
      out_.put(r.kind);
      out_.put(r.order);
      put_bool(r.tree_only);
      out_.put(r.over);
      out_.put(r.result);
      out_.put(r.dtype);
      out_.put(r.partials);
    });
    put_all(p.body, [&](const Instr& in) { put_instr(in); });
  }

  void put_instr(const Instr& in) {
    out_.put(in.kind);
    out_.put(in.op);
    out_.put(in.dtype);
    for (const InstrId operand : in.operands) out_.put(operand);
    out_.put(in.buffer);
    out_.put(in.reduction);
    put_index(in.index);
    out_.put(in.lo);
    out_.put(in.hi);
    out_.put(in.bits);
  }

  void put_matmul(const MatmulNest& m) {
    out_.put(m.dtype);
    for (const std::int64_t n : {m.m, m.n, m.k}) out_.put(n);
    out_.put_list(m.batch);
    for (const auto* operand : {&m.a, &m.b, &m.c}) {
      out_.put(operand->buffer);
      for (const std::int64_t n : {operand->offset, operand->row_stride, operand->column_stride}) out_.put(n);
      out_.put_list(operand->batch_strides);
    }
  }

  ByteWriter out_;
  std::vector<IndexExpr> indices_;
  absl::flat_hash_map<IndexExpr, std::uint32_t> numbers_;
};

class LoopReader {
 public:
  explicit LoopReader(absl::Span<const std::byte> bytes) : in_(bytes) {}

  /// The program, or nothing when the bytes are malformed.
  std::optional<LoopProgram> read() {
    if (in_.get<std::uint32_t>() != kMagic || in_.get<std::uint32_t>() != kVersion) return std::nullopt;
    program_.num_inputs = in_.get<std::int32_t>();
    program_.num_outputs = in_.get<std::int32_t>();
    program_.arena_bytes = get_size();
    get_all<IndexExpr>(&indices_, 12, [&] { return get_expression(); });
    get_all<Buffer>(&program_.buffers, 22, [&] { return get_buffer(); });
    get_all<DType>(&program_.scalars, 1, [&] { return in_.get_enum<DType>(kNumDTypes); });
    get_all<Kernel>(&program_.kernels, 60, [&] { return get_kernel(); });
    if (!in_.at_end() || program_.pool->overflowed()) return std::nullopt;
    return std::move(program_);
  }

 private:
  template <class T, class F>
  void get_all(std::vector<T>* out, std::size_t least_size, F get_item) {
    const std::size_t count = in_.get_count(least_size);
    for (std::size_t i = 0; i < count && in_.ok(); ++i) out->push_back(get_item());
  }

  std::int64_t get_within(std::int64_t lo, std::int64_t hi) {
    const auto value = in_.get<std::int64_t>();
    if (value < lo || value > hi) in_.fail();
    return value;
  }
  std::int64_t get_size() { return get_within(0, kLimit); }
  std::int64_t get_offset() { return get_within(-kLimit, kLimit); }

  IndexExpr get_index() {
    const auto number = in_.get<std::uint32_t>();
    if (number == kNoIndex) return nullptr;
    if (number < indices_.size()) return indices_[number];
    in_.fail();
    return nullptr;
  }

  IndexExpr get_expression() {
    IndexExpr sum = program_.pool->constant(get_offset());
    const std::size_t terms = in_.get_count(41);
    for (std::size_t i = 0; i < terms && in_.ok(); ++i) {
      const std::int64_t coefficient = get_offset();
      const IndexExpr term = get_term();
      if (in_.ok()) sum = program_.pool->add(sum, program_.pool->multiply(term, coefficient));
    }
    return sum;
  }

  IndexExpr get_term() {
    const auto kind = in_.get_enum<IndexTerm::Kind>(IndexTerm::kMod + 1);
    const auto id = in_.get<std::int32_t>();
    const IndexExpr base = get_index();
    const std::int64_t divisor = get_within(1, kLimit);
    const std::int64_t lo = in_.get<std::int64_t>(), hi = in_.get<std::int64_t>();
    const bool has_base = kind == IndexTerm::kFloorDiv || kind == IndexTerm::kMod;
    if (has_base != (base != nullptr) || (kind == IndexTerm::kVar && (lo != 0 || hi > kLimit)) || lo > hi) in_.fail();
    if (!in_.ok()) return nullptr;
    IndexPool& pool = *program_.pool;
    if (kind == IndexTerm::kVar) return pool.var(id, hi + 1);
    if (kind == IndexTerm::kValue) return pool.value(id, lo, hi);
    return kind == IndexTerm::kFloorDiv ? pool.floor_div(base, divisor) : pool.mod(base, divisor);
  }

  Buffer get_buffer() {
    Buffer b;
    b.dtype = in_.get_enum<DType>(kNumDTypes);
    in_.get_list(&b.shape);
    b.space = in_.get_enum<Buffer::Space>(Buffer::kTemporary + 1);
    b.argument = in_.get<std::int32_t>();
    b.offset = get_offset();
    b.node = in_.get<std::int32_t>();
    return b;
  }

  Kernel get_kernel() {
    Kernel k;
    k.name.resize(in_.get_count(1));
    in_.get_raw(k.name.data(), k.name.size());
    k.kernel_class = in_.get_enum<KernelClass>(static_cast<std::int64_t>(KernelClass::kMatmul) + 1);
    in_.get_list(&k.outer);
    for (std::int64_t* n : {&k.lanes, &k.lane_chunk, &k.row_block, &k.scratch_bytes, &k.grain}) *n = get_size();
    get_all<LocalBuffer>(&k.locals, 18, [&] {
      LocalBuffer l;
      l.dtype = in_.get_enum<DType>(kNumDTypes);
      l.per_lane = in_.get_bool();
      l.scratch_offset = get_offset();
      l.sequence = get_size();
      return l;
    });
    get_all<Phase>(&k.phases, 22, [&] { return get_phase(); });
    if (in_.get_bool()) k.matmul = std::make_unique<MatmulNest>(get_matmul());
    return k;
  }

  Phase get_phase() {
    Phase p;
    p.sequence = get_size();
    p.sequence_limit = get_index();
    p.joined = in_.get_bool();
    p.lanes = in_.get_bool();
    get_all<Reduction>(&p.reductions, 24, [&] {
      Reduction r;
      r.kind = in_.get_enum<ReduceKind>(static_cast<std::int64_t>(ReduceKind::argmin) + 1);
      r.order = in_.get_enum<ReduceOrder>(static_cast<std::int64_t>(ReduceOrder::outer) + 1);
      r.tree_only = in_.get_bool();
      r.over = in_.get_enum<Reduction::Over>(Reduction::kSequence + 1);
      r.result = in_.get_enum<Reduction::Result>(Reduction::kPartials + 1);
      r.dtype = in_.get_enum<DType>(kNumDTypes);
      r.partials = in_.get<BufferId>();
      return r;
    });
    get_all<Instr>(&p.body, 52, [&] { return get_instr(); });
    return p;
  }

  Instr get_instr() {
    Instr in;
    in.kind = in_.get_enum<Instr::Kind>(Instr::kScan + 1);
    in.op = in_.get_enum<Op>(kNumOps);
    in.dtype = in_.get_enum<DType>(kNumDTypes);
    for (InstrId& operand : in.operands) operand = in_.get<InstrId>();
    in.buffer = in_.get<std::int32_t>();
    in.reduction = in_.get<std::int32_t>();
    in.index = get_index();
    in.lo = in_.get<std::int64_t>();
    in.hi = in_.get<std::int64_t>();
    in.bits = in_.get<std::uint64_t>();
    return in;
  }

  MatmulNest get_matmul() {
    MatmulNest m;
    m.dtype = in_.get_enum<DType>(kNumDTypes);
    for (std::int64_t* n : {&m.m, &m.n, &m.k}) *n = get_size();
    in_.get_list(&m.batch);
    for (auto* operand : {&m.a, &m.b, &m.c}) {
      operand->buffer = in_.get<BufferId>();
      for (std::int64_t* n : {&operand->offset, &operand->row_stride, &operand->column_stride}) *n = get_offset();
      in_.get_list(&operand->batch_strides);
    }
    return m;
  }

  ByteReader in_;
  LoopProgram program_;
  std::vector<IndexExpr> indices_;
};

}  // namespace

std::vector<std::byte> encode_loop_program(const LoopProgram& program) { return LoopWriter().write(program); }

absl::StatusOr<LoopProgram> parse_loop_program(absl::Span<const std::byte> bytes) {
  std::optional<LoopProgram> program = LoopReader(bytes).read();
  if (!program) return absl::InvalidArgumentError("the bytes of a loop program are malformed");
  if (auto status = verify(*program); !status.ok()) {
    return absl::InvalidArgumentError(cat("malformed bytes: ", std::string(status.message())));
  }
  return *std::move(program);
}

}  // namespace tenon
