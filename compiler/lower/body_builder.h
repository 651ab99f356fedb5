// SPDX-License-Identifier: MIT
// Builds the body of a loop: equal pure instructions become one, so splicing a value in twice costs nothing.
#pragma once

#include <functional>

#include "absl/container/flat_hash_map.h"
#include "compiler/ir/loop_ir.h"

namespace tenon {

class BodyBuilder {
 public:
  explicit BodyBuilder(IndexPool& pool) : pool_(pool) {}

  InstrId append(const Instr& instr);
  InstrId constant(DType dtype, std::uint64_t bits);
  InstrId index(IndexExpr e);
  InstrId in_range(IndexExpr e, std::int64_t lo, std::int64_t hi);
  /// mask -1: always.
  InstrId load(BufferId buffer, DType dtype, IndexExpr e, InstrId mask = -1);
  InstrId load_local(std::int32_t local, DType dtype);
  InstrId apply(Op op, DType dtype, InstrId a, InstrId b = -1, InstrId c = -1);
  InstrId cast(InstrId value, DType dtype);
  void store(BufferId buffer, DType dtype, IndexExpr e, InstrId value);
  void store_local(std::int32_t local, DType dtype, InstrId value);

  const Instr& instr(InstrId id) const { return body_[static_cast<std::size_t>(id)]; }
  DType dtype_of(InstrId id) const { return instr(id).dtype; }
  IndexPool& pool() { return pool_; }
  Body take() { return std::move(body_); }
  const Body& body() const { return body_; }

  /// Appends a copy of `body` with loop variables replaced by vars[id]. `redirect` may give another instruction instead
  /// of one of the body's (-1: copy it; -2: drop it). Returns where each of its instructions went.
  std::vector<InstrId> splice(const Body& body, absl::Span<const IndexExpr> vars,
                              const std::function<InstrId(const Instr&)>& redirect);

 private:
  struct Key {
    Instr instr;
    friend bool operator==(const Key& a, const Key& b) = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& k) {
      const Instr& i = k.instr;
      return H::combine(std::move(h), i.kind, i.op, i.dtype, i.operands, i.buffer, i.reduction, i.index, i.lo, i.hi,
                        i.bits);
    }
  };
  IndexPool& pool_;
  Body body_;
  absl::flat_hash_map<Key, InstrId> seen_;
};

}  // namespace tenon
