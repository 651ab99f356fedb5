// SPDX-License-Identifier: MIT
// Construction and simplification of index expressions.
//
// Rules, with c > 0 and floor semantics; each stands at the place that applies it:
//   R1   floor(a/1) = a, mod(a,1) = 0, constants fold
//   R2   floor((c*a + b)/c) = a + floor(b/c)
//   R3   mod(c*a + b, c) = mod(b, c)
//   R4   q*c <= b < (q+1)*c:  floor(b/c) = q, mod(b, c) = b - q*c
//   R5   floor((floor(x/d) + k)/c) = floor((x + k*d)/(d*c))
//   R6   k*c*floor(x/c) + k*mod(x, c) = k*x
//   R7   g | c, 0 <= u < g:  floor((g*t + u)/c) = floor(t/(c/g)),  mod(g*t + u, c) = g*mod(t, c/g) + u
//   R8   c | d:  mod(mod(x, d), c) = mod(x, c)
//   R9   c | d:  floor(mod(x, d)/c) = mod(floor(x/c), d/c)
//   R10  k*c*mod(floor(x/c), d) + k*mod(x, c) = k*mod(x, c*d)
//   R11  loops a, b are one of a*n + b (n the extent of b) where every access uses them in that sum alone: can_merge
#include "compiler/ir/index_expr.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "compiler/ir/index_math.h"

namespace tenon {
namespace {

bool is_saturated(std::int64_t bound) { return bound <= -kIndexBound || bound >= kIndexBound; }

std::int64_t saturate(__int128 v) {
  if (v > kIndexBound) return kIndexBound;
  if (v < -kIndexBound) return -kIndexBound;
  return static_cast<std::int64_t>(v);
}

/// A bound of floor(x/c) from that of x: one that says nothing goes on saying nothing.
std::int64_t divide_bound(std::int64_t bound, std::int64_t c) {
  return is_saturated(bound) ? bound : floor_divide(bound, c);
}

auto order_key(const IndexTerm& t) { return std::tuple(t.kind, t.id, t.base ? t.base->serial : 0, t.divisor); }
bool before(const IndexTerm& a, const IndexTerm& b) { return order_key(a) < order_key(b); }

void set_interval(IndexNode& n) {
  __int128 lo = n.constant, hi = n.constant;
  bool open_below = false, open_above = false;
  for (const auto& [k, t] : n.terms) {
    const std::int64_t low = k > 0 ? t.lo : t.hi, high = k > 0 ? t.hi : t.lo;
    lo += static_cast<__int128>(k) * low;
    hi += static_cast<__int128>(k) * high;
    open_below |= is_saturated(low);
    open_above |= is_saturated(high);
  }
  n.lo = open_below ? -kIndexBound : saturate(lo);
  n.hi = open_above ? kIndexBound : saturate(hi);
}

/// What is known of an expression from its terms.
void set_facts(IndexNode& n) {
  set_interval(n);
  n.gcd = std::abs(n.constant);
  std::int64_t divisions = 0;
  for (const auto& [k, t] : n.terms) {
    n.gcd = std::gcd(n.gcd, k);
    if (t.base) divisions += std::int64_t{1} + t.base->divisions;
    n.variables |= t.base ? t.base->variables : 0;
    n.indirect |= t.base ? t.base->indirect : t.kind == IndexTerm::kValue;
    if (t.kind == IndexTerm::kVar) n.variables |= std::uint64_t{1} << std::min(t.id, 63);
  }
  n.divisions = static_cast<std::int32_t>(std::min<std::int64_t>(divisions, std::numeric_limits<std::int32_t>::max()));
}

/// q where q*c <= n < (q+1)*c is known (R4).
std::optional<std::int64_t> known_quotient(const IndexNode& n, std::int64_t c) {
  if (is_saturated(n.lo) || is_saturated(n.hi)) return std::nullopt;
  const std::int64_t q = floor_divide(n.lo, c);
  return q == floor_divide(n.hi, c) ? std::optional(q) : std::nullopt;
}

/// The one term of a sum that is `1*term + constant`, or null.
const IndexTerm* only_term(const IndexNode& n, IndexTerm::Kind kind) {
  const bool is_one = n.terms.size() == 1 && n.terms[0].first == 1 && n.terms[0].second.kind == kind;
  return is_one ? &n.terms[0].second : nullptr;
}

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

std::int64_t IndexPool::checked(__int128 number) {
  if (number >= -kMaxIndexNumber && number <= kMaxIndexNumber) return static_cast<std::int64_t>(number);
  overflowed_ = true;
  return 1;
}

IndexExpr IndexPool::intern(IndexNode node) {
  if (auto it = table_.find(&node); it != table_.end()) return it->second;
  set_facts(node);
  node.serial = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(std::make_unique<IndexNode>(std::move(node)));
  IndexExpr e = nodes_.back().get();
  table_.emplace(e, e);
  return e;
}

IndexExpr IndexPool::constant(std::int64_t value) {
  IndexNode n;
  n.constant = checked(value);
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
  if (c == 0) return a;
  IndexNode n;
  n.terms = a->terms;
  n.constant = checked(static_cast<__int128>(a->constant) + c);
  return intern(std::move(n));
}

IndexExpr IndexPool::multiply(IndexExpr a, std::int64_t c) {
  if (c == 0) return constant(0);
  if (c == 1) return a;
  IndexNode n;
  n.constant = checked(static_cast<__int128>(a->constant) * c);
  for (const auto& [k, t] : a->terms) n.terms.emplace_back(checked(static_cast<__int128>(k) * c), t);
  return intern(std::move(n));
}

IndexExpr IndexPool::add(IndexExpr a, IndexExpr b) {
  if (a->is_constant()) return add(b, a->constant);
  if (b->is_constant()) return add(a, b->constant);
  IndexNode n;
  n.constant = checked(static_cast<__int128>(a->constant) + b->constant);
  auto i = a->terms.begin(), j = b->terms.begin();
  while (i != a->terms.end() || j != b->terms.end()) {
    if (j == b->terms.end() || (i != a->terms.end() && before(i->second, j->second))) {
      n.terms.push_back(*i++);
    } else if (i == a->terms.end() || before(j->second, i->second)) {
      n.terms.push_back(*j++);
    } else {
      if (i->first + j->first != 0) {
        n.terms.emplace_back(checked(static_cast<__int128>(i->first) + j->first), i->second);
      }
      ++i, ++j;
    }
  }
  const IndexExpr joined = join_division(n);
  return joined ? joined : intern(std::move(n));
}

/// R6, R10: a remainder beside its quotient, or beside the remainder of its quotient. Null where there is none.
IndexExpr IndexPool::join_division(const IndexNode& sum) {
  for (std::size_t m = 0; m < sum.terms.size(); ++m) {
    const auto& [k, t] = sum.terms[m];
    if (t.kind != IndexTerm::kMod) continue;
    const IndexExpr quotient = floor_div(t.base, t.divisor);
    for (std::size_t q = 0; q < sum.terms.size(); ++q) {
      const auto& [kq, tq] = sum.terms[q];
      if (q == m || kq != static_cast<__int128>(k) * t.divisor) continue;
      const bool is_quotient =
          quotient->constant == 0 && only_term(*quotient, tq.kind) && quotient->terms[0].second == tq;
      const bool is_digit = tq.kind == IndexTerm::kMod && tq.base == quotient &&
                            static_cast<__int128>(t.divisor) * tq.divisor <= kMaxIndexNumber;
      if (!is_quotient && !is_digit) continue;
      const IndexExpr whole = is_quotient ? t.base : mod(t.base, t.divisor * tq.divisor);
      IndexNode rest;
      rest.constant = sum.constant;
      for (std::size_t i = 0; i < sum.terms.size(); ++i) {
        if (i != m && i != q) rest.terms.push_back(sum.terms[i]);
      }
      return add(intern(std::move(rest)), multiply(whole, k));
    }
  }
  return nullptr;
}

namespace {

/// a = c*quotient + rest, the rest keeping the terms whose coefficients c does not divide (R2, R3).
struct Split {
  IndexNode quotient, rest;
};

Split split_multiple(const IndexNode& a, std::int64_t c) {
  Split s;
  s.quotient.constant = floor_divide(a.constant, c);
  s.rest.constant = floor_mod(a.constant, c);
  for (const auto& [k, t] : a.terms) {
    if (k % c == 0) {
      s.quotient.terms.emplace_back(k / c, t);
    } else {
      s.rest.terms.emplace_back(k, t);
    }
  }
  set_interval(s.rest);
  return s;
}

/// The largest divisor of g that divides the coefficient of every term too wide to lie in u of R7.
std::int64_t shrink_to_wide_terms(const IndexNode& a, std::int64_t g) {
  for (bool is_changed = true; is_changed && g > 1;) {
    is_changed = false;
    for (const auto& [k, t] : a.terms) {
      const __int128 span = static_cast<__int128>(std::abs(k)) * (static_cast<__int128>(t.hi) - t.lo);
      if (k % g == 0 || span < g) continue;
      g = std::gcd(g, k);
      is_changed = true;
    }
  }
  return g;
}

/// g > 1 with g | c, and a = g*t + u where 0 <= u < g (R7): t is the quotient, u the rest. 1 if there is none.
std::int64_t split_common_factor(const IndexNode& a, std::int64_t c, Split* split) {
  for (const auto& [k, term] : a.terms) {
    const std::int64_t g = shrink_to_wide_terms(a, std::gcd(k, c));
    if (g == 1) continue;
    *split = split_multiple(a, g);
    if (split->rest.lo >= 0 && split->rest.hi < g) return g;
  }
  return 1;
}

}  // namespace

IndexExpr IndexPool::floor_div(IndexExpr a, std::int64_t c) {
  if (c == 1) return a;  // R1
  Split whole = split_multiple(*a, c);
  IndexExpr q = intern(std::move(whole.quotient));  // R2
  IndexNode& rest = whole.rest;
  if (const auto known = known_quotient(rest, c)) return add(q, *known);  // R4
  Split common;
  if (const std::int64_t g = split_common_factor(rest, c, &common); g > 1) {  // R7
    return add(q, floor_div(intern(std::move(common.quotient)), c / g));
  }
  if (const IndexTerm* inner = only_term(rest, IndexTerm::kFloorDiv)) {  // R5
    const __int128 divisor = static_cast<__int128>(inner->divisor) * c;
    if (divisor <= kMaxIndexNumber) {  // and so is what is added, since 0 <= rest.constant < c
      const IndexExpr raised = add(inner->base, rest.constant * inner->divisor);
      return add(q, floor_div(raised, static_cast<std::int64_t>(divisor)));
    }
  }
  const IndexTerm* inner = rest.constant == 0 ? only_term(rest, IndexTerm::kMod) : nullptr;
  if (inner && inner->divisor % c == 0) return add(q, mod(floor_div(inner->base, c), inner->divisor / c));  // R9
  IndexTerm term;
  term.kind = IndexTerm::kFloorDiv;
  term.base = intern(std::move(rest));
  term.divisor = c;
  term.lo = divide_bound(term.base->lo, c);
  term.hi = divide_bound(term.base->hi, c);
  return add(q, of_term(term));
}

IndexExpr IndexPool::mod(IndexExpr a, std::int64_t c) {
  if (c == 1) return constant(0);               // R1
  if (a->gcd % c == 0) return constant(0);      // R3, of nothing else
  IndexNode rest = split_multiple(*a, c).rest;  // R3
  if (const auto known = known_quotient(rest, c)) return add(intern(std::move(rest)), -*known * c);  // R4
  Split common;
  if (const std::int64_t g = split_common_factor(rest, c, &common); g > 1) {  // R7
    const IndexExpr digit = mod(intern(std::move(common.quotient)), c / g);
    return add(multiply(digit, g), intern(std::move(common.rest)));
  }
  const IndexTerm* inner = rest.constant == 0 ? only_term(rest, IndexTerm::kMod) : nullptr;
  if (inner && inner->divisor % c == 0) return mod(inner->base, c);  // R8
  IndexTerm term;
  term.kind = IndexTerm::kMod;
  term.base = intern(std::move(rest));
  term.divisor = c;
  term.hi = term.base->lo >= 0 ? std::min(term.base->hi, c - 1) : c - 1;
  return of_term(term);
}

/// One substitution; an expression that occurs several times is made once.
class IndexPool::Substitution {
 public:
  using Values = std::function<IndexExpr(const IndexTerm&)>;
  Substitution(IndexPool& pool, absl::Span<const IndexExpr> vars, const Values& values)
      : pool_(pool), vars_(vars), values_(values) {}

  IndexExpr apply(IndexExpr e) {
    IndexExpr sum = pool_.constant(e->constant);
    for (const auto& [k, t] : e->terms) sum = pool_.add(sum, pool_.multiply(image(t), k));
    return sum;
  }

 private:
  IndexExpr image(const IndexTerm& t) {
    switch (t.kind) {
      case IndexTerm::kVar:
        return vars_[static_cast<std::size_t>(t.id)];
      case IndexTerm::kFloorDiv:
        return pool_.floor_div(base_image(t.base), t.divisor);
      case IndexTerm::kMod:
        return pool_.mod(base_image(t.base), t.divisor);
      default:
        const IndexExpr other = values_ ? values_(t) : nullptr;
        return other ? other : pool_.of_term(t);
    }
  }

  IndexExpr base_image(IndexExpr base) {
    if (const auto it = made_.find(base); it != made_.end()) return it->second;
    const IndexExpr e = apply(base);
    made_.emplace(base, e);
    return e;
  }

  IndexPool& pool_;
  absl::Span<const IndexExpr> vars_;
  const Values& values_;
  absl::flat_hash_map<IndexExpr, IndexExpr> made_;
};

IndexExpr IndexPool::substitute(IndexExpr e, absl::Span<const IndexExpr> vars,
                                const std::function<IndexExpr(const IndexTerm&)>& values) {
  return Substitution(*this, vars, values).apply(e);
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

}  // namespace tenon
