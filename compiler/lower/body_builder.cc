// SPDX-License-Identifier: MIT
// See body_builder.h.
#include "compiler/lower/body_builder.h"

namespace tenon {
namespace {

bool is_effect(Instr::Kind kind) {
  return kind == Instr::kStore || kind == Instr::kStoreLocal || kind == Instr::kReduce || kind == Instr::kScan;
}

}  // namespace

InstrId BodyBuilder::append(const Instr& instr) {
  const auto next = static_cast<InstrId>(body_.size());
  if (!is_effect(instr.kind)) {
    auto [it, inserted] = seen_.try_emplace(Key{instr}, next);
    if (!inserted) return it->second;
  }
  body_.push_back(instr);
  return next;
}

InstrId BodyBuilder::constant(DType dtype, std::uint64_t bits) {
  Instr i;
  i.kind = Instr::kConst;
  i.dtype = dtype;
  i.bits = bits;
  return append(i);
}

InstrId BodyBuilder::index(IndexExpr e) {
  Instr i;
  i.kind = Instr::kIndex;
  i.dtype = DType::kInt64;
  i.index = e;
  return append(i);
}

InstrId BodyBuilder::in_range(IndexExpr e, std::int64_t lo, std::int64_t hi) {
  Instr i;
  i.kind = Instr::kInRange;
  i.dtype = DType::kBool;
  i.index = e;
  i.lo = lo;
  i.hi = hi;
  return append(i);
}

InstrId BodyBuilder::load(BufferId buffer, DType dtype, IndexExpr e, InstrId mask) {
  Instr i;
  i.kind = Instr::kLoad;
  i.dtype = dtype;
  i.buffer = buffer;
  i.index = e;
  i.operands[0] = mask;
  return append(i);
}

InstrId BodyBuilder::load_local(std::int32_t local, DType dtype) {
  Instr i;
  i.kind = Instr::kLoadLocal;
  i.dtype = dtype;
  i.buffer = local;
  return append(i);
}

InstrId BodyBuilder::apply(Op op, DType dtype, InstrId a, InstrId b, InstrId c) {
  Instr i;
  i.kind = Instr::kApply;
  i.op = op;
  i.dtype = dtype;
  i.operands = {a, b, c};
  return append(i);
}

InstrId BodyBuilder::cast(InstrId value, DType dtype) {
  return dtype_of(value) == dtype ? value : apply(Op::k_cast, dtype, value);
}

void BodyBuilder::store(BufferId buffer, DType dtype, IndexExpr e, InstrId value) {
  Instr i;
  i.kind = Instr::kStore;
  i.dtype = dtype;
  i.buffer = buffer;
  i.index = e;
  i.operands[0] = value;
  append(i);
}

void BodyBuilder::store_local(std::int32_t local, DType dtype, InstrId value) {
  Instr i;
  i.kind = Instr::kStoreLocal;
  i.dtype = dtype;
  i.buffer = local;
  i.operands[0] = value;
  append(i);
}

std::vector<InstrId> BodyBuilder::splice(const Body& body, absl::Span<const IndexExpr> vars,
                                         const std::function<InstrId(const Instr&)>& redirect) {
  std::vector<InstrId> image(body.size(), -1);
  const auto value_image = [&](const IndexTerm& t) {
    return pool_.value(image[static_cast<std::size_t>(t.id)], t.lo, t.hi);
  };
  for (std::size_t i = 0; i < body.size(); ++i) {
    Instr copy = body[i];
    if (copy.index) copy.index = pool_.substitute(copy.index, vars, value_image);
    for (InstrId& operand : copy.operands) {
      if (operand >= 0) operand = image[static_cast<std::size_t>(operand)];
    }
    const InstrId other = redirect ? redirect(copy) : -1;
    image[i] = other == -1 ? append(copy) : other;
  }
  return image;
}

}  // namespace tenon
