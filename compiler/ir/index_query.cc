// SPDX-License-Identifier: MIT
// What can be asked of an index expression.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/ir/index_expr.h"
#include "compiler/ir/index_math.h"

namespace tenon {

std::int64_t coefficient_of(IndexExpr e, std::int32_t id, bool* affine) {
  std::int64_t coefficient = 0;
  *affine = true;
  for (const auto& [k, t] : e->terms) {
    if (t.kind == IndexTerm::kVar && t.id == id) coefficient = k;
    if (t.base && depends_on(t.base, id)) *affine = false;
  }
  return coefficient;
}

bool depends_on(IndexExpr e, std::int32_t id) { return id >= 0 && (e->variables >> std::min(id, 63) & 1) != 0; }

bool can_merge(IndexExpr e, std::int32_t outer, std::int32_t inner, std::int64_t inner_extent) {
  std::int64_t outer_coefficient = 0, inner_coefficient = 0;
  for (const auto& [k, t] : e->terms) {
    if (t.base && !can_merge(t.base, outer, inner, inner_extent)) return false;
    if (t.kind != IndexTerm::kVar) continue;
    if (t.id == outer) outer_coefficient = k;
    if (t.id == inner) inner_coefficient = k;
  }
  return outer_coefficient == static_cast<__int128>(inner_coefficient) * inner_extent;
}

std::int64_t evaluate(IndexExpr e, absl::Span<const std::int64_t> vars,
                      const std::function<std::int64_t(std::int32_t)>& values) {
  auto sum = static_cast<std::uint64_t>(e->constant);
  for (const auto& [k, t] : e->terms) {
    std::int64_t v = 0;
    switch (t.kind) {
      case IndexTerm::kVar:
        v = vars[static_cast<std::size_t>(t.id)];
        break;
      case IndexTerm::kValue:
        v = values(t.id);
        break;
      case IndexTerm::kFloorDiv:
        v = floor_divide(evaluate(t.base, vars, values), t.divisor);
        break;
      case IndexTerm::kMod:
        v = floor_mod(evaluate(t.base, vars, values), t.divisor);
        break;
    }
    sum += static_cast<std::uint64_t>(k) * static_cast<std::uint64_t>(v);
  }
  return static_cast<std::int64_t>(sum);
}

std::string to_string(IndexExpr e) {
  std::string out;
  for (const auto& [k, t] : e->terms) {
    if (!out.empty()) out += " + ";
    if (k != 1) absl::StrAppend(&out, k, "*");
    switch (t.kind) {
      case IndexTerm::kVar:
        absl::StrAppend(&out, "i", t.id);
        break;
      case IndexTerm::kValue:
        absl::StrAppend(&out, "%", t.id);
        break;
      case IndexTerm::kFloorDiv:
        absl::StrAppend(&out, "floor((", to_string(t.base), ")/", t.divisor, ")");
        break;
      case IndexTerm::kMod:
        absl::StrAppend(&out, "mod(", to_string(t.base), ", ", t.divisor, ")");
        break;
    }
  }
  if (out.empty()) return absl::StrCat(e->constant);
  if (e->constant != 0) absl::StrAppend(&out, " + ", e->constant);
  return out;
}

}  // namespace tenon
