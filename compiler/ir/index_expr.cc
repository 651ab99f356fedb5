// SPDX-License-Identifier: MIT
// Construction and simplification of index expressions.
//
// Rules, with c > 0 and floor semantics; each stands at the place that applies it:
//   R1  floor(a/1) = a, mod(a,1) = 0, constants fold
//   R2  floor((c*a + b)/c) = a + floor(b/c)
//   R3  mod(c*a + b, c) = mod(b, c)
//   R4  0 <= b < c:  floor(b/c) = 0, mod(b, c) = b
//   R5  floor((floor(x/d) + k)/c) = floor((x + k*d)/(d*c))
//   R6  k*c*floor(x/c) + k*mod(x, c) = k*x
//   R7  g | c, 0 <= u < g:  floor((g*t + u)/c) = floor(t/(c/g)),  mod(g*t + u, c) = g*mod(t, c/g) + u
//   R8  c | d:  mod(mod(x, d), c) = mod(x, c)
#include "compiler/ir/index_expr.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

constexpr std::int64_t kLimit = std::int64_t{1} << 62;

std::int64_t saturate(__int128 v) {
  if (v > kLimit) return kLimit;
  if (v < -kLimit) return -kLimit;
  return static_cast<std::int64_t>(v);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t c) { return a / c - (a % c < 0 ? 1 : 0); }
std::int64_t floor_mod(std::int64_t a, std::int64_t c) { return a % c + (a % c < 0 ? c : 0); }

auto order_key(const IndexTerm& t) { return std::tuple(t.kind, t.id, t.base ? t.base->serial : 0, t.divisor); }
bool before(const IndexTerm& a, const IndexTerm& b) { return order_key(a) < order_key(b); }

void set_interval(IndexNode& n) {
  __int128 lo = n.constant, hi = n.constant;
  for (const auto& [k, t] : n.terms) {
    const __int128 a = static_cast<__int128>(k) * t.lo, b = static_cast<__int128>(k) * t.hi;
    lo += std::min(a, b);
    hi += std::max(a, b);
  }
  n.lo = saturate(lo);
  n.hi = saturate(hi);
}

bool within(const IndexNode& n, std::int64_t limit) { return n.lo >= 0 && n.hi < limit; }

}  // namespace

std::size_t IndexPool::Hash::operator()(const IndexNode* n) const {
  std::size_t h = absl::HashOf(n->constant, n->terms.size());
  for (const auto& [k, t] : n->terms) h = absl::HashOf(h, k, t.kind, t.id, t.base, t.divisor, t.lo, t.hi);
  return h;
}

bool IndexPool::Equal::operator()(const IndexNode* a, const IndexNode* b) const {
  return a->constant == b->constant && a->terms == b->terms;
}

IndexPool::IndexPool() = default;

IndexExpr IndexPool::intern(IndexNode node) {
  set_interval(node);
  if (auto it = table_.find(&node); it != table_.end()) return it->second;
  node.serial = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(std::make_unique<IndexNode>(std::move(node)));
  IndexExpr e = nodes_.back().get();
  table_.emplace(e, e);
  return e;
}

IndexExpr IndexPool::constant(std::int64_t value) {
  IndexNode n;
  n.constant = value;
  return intern(std::move(n));
}

IndexExpr IndexPool::of_term(const IndexTerm& term, std::int64_t coefficient) {
  IndexNode n;
  n.terms.emplace_back(coefficient, term);
  return intern(std::move(n));
}

IndexExpr IndexPool::var(std::int32_t id, std::int64_t extent) {
  if (extent <= 1) return constant(0);
  IndexTerm t;
  t.id = id;
  t.hi = extent - 1;
  return of_term(t);
}

IndexExpr IndexPool::value(std::int32_t id, std::int64_t lo, std::int64_t hi) {
  if (lo == hi) return constant(lo);
  IndexTerm t;
  t.kind = IndexTerm::kValue;
  t.id = id;
  t.lo = lo;
  t.hi = hi;
  return of_term(t);
}

IndexExpr IndexPool::add(IndexExpr a, std::int64_t c) {
  IndexNode n = *a;
  n.constant += c;
  return intern(std::move(n));
}

IndexExpr IndexPool::multiply(IndexExpr a, std::int64_t c) {
  if (c == 0) return constant(0);
  IndexNode n = *a;
  n.constant *= c;
  for (auto& [k, t] : n.terms) k *= c;
  return intern(std::move(n));
}

IndexExpr IndexPool::add(IndexExpr a, IndexExpr b) {
  IndexNode n;
  n.constant = a->constant + b->constant;
  auto i = a->terms.begin(), j = b->terms.begin();
  while (i != a->terms.end() || j != b->terms.end()) {
    if (j == b->terms.end() || (i != a->terms.end() && before(i->second, j->second))) {
      n.terms.push_back(*i++);
    } else if (i == a->terms.end() || before(j->second, i->second)) {
      n.terms.push_back(*j++);
    } else {
      if (i->first + j->first != 0) n.terms.emplace_back(i->first + j->first, i->second);
      ++i, ++j;
    }
  }
  for (std::size_t m = 0; m < n.terms.size(); ++m) {  // R6
    const auto [k, t] = n.terms[m];
    if (t.kind != IndexTerm::kMod) continue;
    IndexExpr quotient = floor_div(t.base, t.divisor);
    if (quotient->terms.size() != 1 || quotient->constant != 0 || quotient->terms[0].first != 1) continue;
    for (std::size_t q = 0; q < n.terms.size(); ++q) {
      if (n.terms[q].second != quotient->terms[0].second || n.terms[q].first != k * t.divisor) continue;
      n.terms.erase(n.terms.begin() + static_cast<std::ptrdiff_t>(std::max(m, q)));
      n.terms.erase(n.terms.begin() + static_cast<std::ptrdiff_t>(std::min(m, q)));
      return add(intern(std::move(n)), multiply(t.base, k));
    }
  }
  return intern(std::move(n));
}

namespace {

/// a = c*quotient + rest, the rest keeping the terms whose coefficients c does not divide (R2, R3).
void split_multiple(const IndexNode& a, std::int64_t c, IndexNode* quotient, IndexNode* rest) {
  quotient->constant = floor_divide(a.constant, c);
  rest->constant = floor_mod(a.constant, c);
  for (const auto& [k, t] : a.terms) {
    if (k % c == 0) {
      quotient->terms.emplace_back(k / c, t);
    } else {
      rest->terms.emplace_back(k, t);
    }
  }
  set_interval(*quotient);
  set_interval(*rest);
}

/// Finds g > 1 with g | c and a = g*t + u, 0 <= u < g (R7). False if there is none.
bool split_common_factor(const IndexNode& a, std::int64_t c, std::int64_t* g, IndexNode* t, IndexNode* u) {
  for (const auto& term : a.terms) {
    *g = std::gcd(term.first, c);
    if (*g <= 1) continue;
    *t = IndexNode();
    *u = IndexNode();
    split_multiple(a, *g, t, u);
    if (within(*u, *g)) return true;
  }
  return false;
}

}  // namespace

IndexExpr IndexPool::floor_div(IndexExpr a, std::int64_t c) {
  if (c == 1) return a;  // R1
  IndexNode quotient, rest;
  split_multiple(*a, c, &quotient, &rest);
  IndexExpr q = intern(std::move(quotient));
  if (within(rest, c)) return q;  // R4
  std::int64_t g;
  IndexNode t, u;
  if (split_common_factor(rest, c, &g, &t, &u)) return add(q, floor_div(intern(std::move(t)), c / g));
  if (rest.terms.size() == 1 && rest.terms[0].first == 1 && rest.terms[0].second.kind == IndexTerm::kFloorDiv) {  // R5
    const IndexTerm inner = rest.terms[0].second;
    const __int128 divisor = static_cast<__int128>(inner.divisor) * c;
    if (divisor < kLimit) {
      return add(q, floor_div(add(inner.base, rest.constant * inner.divisor), static_cast<std::int64_t>(divisor)));
    }
  }
  IndexTerm term;
  term.kind = IndexTerm::kFloorDiv;
  term.base = intern(std::move(rest));
  term.divisor = c;
  term.lo = floor_divide(term.base->lo, c);
  term.hi = floor_divide(term.base->hi, c);
  return add(q, term.lo == term.hi ? constant(term.lo) : of_term(term));
}

IndexExpr IndexPool::mod(IndexExpr a, std::int64_t c) {
  if (c == 1) return constant(0);  // R1
  IndexNode quotient, rest;
  split_multiple(*a, c, &quotient, &rest);
  if (within(rest, c)) return intern(std::move(rest));  // R4
  std::int64_t g;
  IndexNode t, u;
  if (split_common_factor(rest, c, &g, &t, &u)) {
    return add(multiply(mod(intern(std::move(t)), c / g), g), intern(std::move(u)));
  }
  if (rest.terms.size() == 1 && rest.terms[0].first == 1 && rest.constant == 0) {  // R8
    const IndexTerm inner = rest.terms[0].second;
    if (inner.kind == IndexTerm::kMod && inner.divisor % c == 0) return mod(inner.base, c);
  }
  IndexTerm term;
  term.kind = IndexTerm::kMod;
  term.base = intern(std::move(rest));
  term.divisor = c;
  term.hi = term.base->lo >= 0 ? std::min(term.base->hi, c - 1) : c - 1;
  return of_term(term);
}

IndexExpr IndexPool::substitute(IndexExpr e, absl::Span<const IndexExpr> vars,
                                const std::function<IndexExpr(const IndexTerm&)>& values) {
  IndexExpr sum = constant(e->constant);
  for (const auto& [k, t] : e->terms) {
    IndexExpr image = nullptr;
    switch (t.kind) {
      case IndexTerm::kVar:
        image = vars[static_cast<std::size_t>(t.id)];
        break;
      case IndexTerm::kValue:
        image = values ? values(t) : nullptr;
        if (!image) image = of_term(t);
        break;
      case IndexTerm::kFloorDiv:
        image = floor_div(substitute(t.base, vars, values), t.divisor);
        break;
      case IndexTerm::kMod:
        image = mod(substitute(t.base, vars, values), t.divisor);
        break;
    }
    sum = add(sum, multiply(image, k));
  }
  return sum;
}

IndexExpr IndexPool::linearize(absl::Span<const IndexExpr> index, absl::Span<const std::int64_t> shape) {
  IndexExpr position = constant(0);
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
    position = add(position, multiply(index[i], stride));
  }
  return position;
}

std::vector<IndexExpr> IndexPool::delinearize(IndexExpr position, absl::Span<const std::int64_t> shape) {
  std::vector<IndexExpr> index(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(shape[i], 1);
    index[i] = mod(floor_div(position, stride), extent);
    stride *= extent;
  }
  return index;
}

std::int64_t coefficient_of(IndexExpr e, std::int32_t id, bool* affine) {
  std::int64_t coefficient = 0;
  *affine = true;
  for (const auto& [k, t] : e->terms) {
    if (t.kind == IndexTerm::kVar && t.id == id) coefficient = k;
    if (t.base && depends_on(t.base, id)) *affine = false;
  }
  return coefficient;
}

bool depends_on(IndexExpr e, std::int32_t id) {
  return std::any_of(e->terms.begin(), e->terms.end(), [&](const auto& kt) {
    const IndexTerm& t = kt.second;
    return t.base ? depends_on(t.base, id) : t.kind == IndexTerm::kVar && t.id == id;
  });
}

int division_count(IndexExpr e) {
  int n = 0;
  for (const auto& [k, t] : e->terms) n += t.base ? 1 + division_count(t.base) : 0;
  return n;
}

bool is_indirect(IndexExpr e) {
  return std::any_of(e->terms.begin(), e->terms.end(), [](const auto& kt) {
    const IndexTerm& t = kt.second;
    return t.base ? is_indirect(t.base) : t.kind == IndexTerm::kValue;
  });
}

std::int64_t evaluate(IndexExpr e, absl::Span<const std::int64_t> vars,
                      const std::function<std::int64_t(std::int32_t)>& values) {
  std::int64_t sum = e->constant;
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
    sum += k * v;
  }
  return sum;
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
