// SPDX-License-Identifier: MIT
// The table of ops as constant data. Attribute names and operand counts are read off the rows at compile time, so that
// looking one up while tracing costs a few comparisons.
#include "compiler/ir/op.h"

#include <array>
#include <limits>

#include "absl/container/flat_hash_map.h"

namespace tenon {
namespace {

constexpr std::array<OpRow, kNumOps> kRows = {{
#define TENON_OP(name, operands, attributes, kind, promotion, result, form, bits, documentation) \
  {#name, operands, attributes, OpKind::kind, Promotion::promotion, #result, OpForm::form, OpBits::bits, documentation},
#include "compiler/ops/op_table.def"
#undef TENON_OP
}};

/// Cuts the first word off `text`; empty when there is none.
constexpr std::string_view take_word(std::string_view* text) {
  while (!text->empty() && text->front() == ' ') text->remove_prefix(1);
  const std::size_t end = text->find(' ');
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(word.size());
  return word;
}

constexpr AttrType parse_attr_type(std::string_view name) {
  constexpr std::string_view kNames[] = {"int", "ints", "bool", "dtype", "axis", "axes", "mode"};
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<AttrType>(i);
  }
  throw "an attribute type that op_table.def does not describe";
}

struct Signature {
  std::array<AttrSpec, kMaxAttributes> attributes;
  int num_attributes = 0;
  int min_operands = 0;
  int max_operands = 0;
};

constexpr Signature parse_signature(const OpRow& row) {
  Signature s;
  std::string_view text = row.attributes;
  for (auto word = take_word(&text); !word.empty(); word = take_word(&text)) {
    const std::size_t colon = word.find(':');
    s.attributes[static_cast<std::size_t>(s.num_attributes++)] = {word.substr(0, colon),
                                                                  parse_attr_type(word.substr(colon + 1))};
  }
  text = row.operands;
  for (auto word = take_word(&text); !word.empty(); word = take_word(&text)) {
    if (word.ends_with("...")) {
      s.max_operands = std::numeric_limits<int>::max();
      continue;
    }
    ++s.max_operands;
    if (!word.ends_with("?")) ++s.min_operands;
  }
  return s;
}

constexpr auto kSignatures = [] {
  std::array<Signature, kNumOps> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = parse_signature(kRows[i]);
  return all;
}();

const Signature& signature_of(Op op) { return kSignatures[static_cast<std::size_t>(op)]; }

}  // namespace

const OpRow& row_of(Op op) { return kRows[static_cast<std::size_t>(op)]; }

std::optional<Op> find_op(std::string_view name) {
  static const auto* const kByName = [] {
    auto* map = new absl::flat_hash_map<std::string_view, Op>;
    for (int i = 0; i < kNumOps; ++i) map->emplace(kRows[static_cast<std::size_t>(i)].name, static_cast<Op>(i));
    return map;
  }();
  const auto found = kByName->find(name);
  if (found == kByName->end()) return std::nullopt;
  return found->second;
}

int attribute_index(Op op, std::string_view name) {
  const Signature& s = signature_of(op);
  for (int i = 0; i < s.num_attributes; ++i) {
    if (s.attributes[static_cast<std::size_t>(i)].name == name) return i;
  }
  return -1;
}

int num_attributes(Op op) { return signature_of(op).num_attributes; }
const AttrSpec& attribute(Op op, int index) { return signature_of(op).attributes[static_cast<std::size_t>(index)]; }
int min_operands(Op op) { return signature_of(op).min_operands; }
int max_operands(Op op) { return signature_of(op).max_operands; }

std::string_view name_of(ReduceKind kind) {
  constexpr std::string_view kNames[] = {"sum", "prod", "max", "min", "argmax", "argmin"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_transcendental(Op op) {
  switch (op) {
    case Op::k_exp:
    case Op::k_exp2:
    case Op::k_expm1:
    case Op::k_log:
    case Op::k_log2:
    case Op::k_log10:
    case Op::k_log1p:
    case Op::k_sin:
    case Op::k_cos:
    case Op::k_tan:
    case Op::k_asin:
    case Op::k_acos:
    case Op::k_atan:
    case Op::k_atan2:
    case Op::k_sinh:
    case Op::k_cosh:
    case Op::k_tanh:
    case Op::k_asinh:
    case Op::k_acosh:
    case Op::k_atanh:
    case Op::k_erf:
    case Op::k_erfc:
    case Op::k_pow:
    case Op::k_cbrt:
      return true;
    default:
      return false;
  }
}

int op_weight(Op op) {
  if (is_transcendental(op)) return 16;
  return op == Op::k_divide || op == Op::k_sqrt || op == Op::k_rsqrt ? 8 : 1;
}

}  // namespace tenon
