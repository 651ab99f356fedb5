// SPDX-License-Identifier: MIT
// The op enumeration and the table of ops, made from compiler/ops/op_table.def.
//
// Op numbers are persisted in canonical bytes. Everything here is constant data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon {

enum class Op : std::uint16_t {
#define TENON_OP(name, ...) k_##name,
#include "compiler/ops/op_table.def"
#undef TENON_OP
  kCount
};
inline constexpr int kNumOps = static_cast<int>(Op::kCount);

enum class OpKind : std::uint8_t { elementwise, reduce, scan, view, index, create, matmul, composite, leaf };
enum class Promotion : std::uint8_t { common, floating, boolean, none };
enum class OpForm : std::uint8_t { primitive, composite, internal };
/// exact: the bits follow from the definition; device: fixed by op, shapes, dtypes, device and options.
enum class OpBits : std::uint8_t { exact, device };

struct OpRow {
  std::string_view name;
  std::string_view operands;
  std::string_view attributes;
  OpKind kind;
  Promotion promotion;
  std::string_view result;
  OpForm form;
  OpBits bits;
  std::string_view documentation;
};

const OpRow& row_of(Op op);
inline std::string_view name_of(Op op) { return row_of(op).name; }
/// The op of that name, or nothing.
std::optional<Op> find_op(std::string_view name);

/// Position of an attribute in an op's row, e.g. attribute_index(Op::k_sum, "keepdims") == 1; -1 when it has none.
int attribute_index(Op op, std::string_view name);
int num_attributes(Op op);

/// Types of attributes, as op_table.def describes them.
enum class AttrType : std::uint8_t { kInt, kInts, kBool, kDType, kAxis, kAxes, kMode };
struct AttrSpec {
  std::string_view name;
  AttrType type = AttrType::kInt;
};
inline constexpr int kMaxAttributes = 4;
/// The index-th attribute of an op's row, index < num_attributes(op).
const AttrSpec& attribute(Op op, int index);

/// How many operands an op takes; max_operands is the largest int for "x..." rows.
int min_operands(Op op);
int max_operands(Op op);

/// Values of the attribute `kind` of reduce and scan (scan: only sum and prod). Persisted.
enum class ReduceKind : std::int64_t { sum = 0, prod = 1, max = 2, min = 3, argmax = 4, argmin = 5 };
/// Values of the attribute `order` of reduce (the canonical orders of compiler/ir/reduction_order.h). Persisted.
enum class ReduceOrder : std::int64_t { inner = 0, outer = 1 };

std::string_view name_of(ReduceKind kind);

/// Whether an op is an elementary function: some twenty instructions and more.
bool is_transcendental(Op op);
/// What an op costs beside an addition: in run time, and about as much in code.
int op_weight(Op op);

}  // namespace tenon
