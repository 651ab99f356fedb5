// SPDX-License-Identifier: MIT
// See dependencies.h.
#include "compiler/schedule/dependencies.h"

#include <algorithm>
#include <iterator>

namespace tenon {
namespace {

constexpr std::int64_t kMaxSteps = 4096;  // of one end of a search for a path
constexpr std::int64_t kLabelGap = std::int64_t{1} << 32;

void sort_unique(std::vector<BufferId>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

std::vector<BufferId> without(const std::vector<BufferId>& all, const std::vector<BufferId>& some) {
  std::vector<BufferId> out;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(out));
  return out;
}

std::vector<BufferId> united(const std::vector<BufferId>& a, const std::vector<BufferId>& b) {
  std::vector<BufferId> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

}  // namespace

Dependencies::Dependencies(const LoweredGraph& lowered, absl::Span<const Group> groups)
    : producers_(lowered.buffers.size(), -1),
      readers_(lowered.buffers.size()),
      reads_(groups.size()),
      writes_(groups.size()),
      next_(groups.size() + 1),
      previous_(groups.size() + 1),
      labels_(groups.size() + 1) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const Member& m : groups[g].members) {
      writes_[g].push_back(m.write.buffer);
      for (const Access& read : m.reads) reads_[g].push_back(read.buffer);
    }
    sort_unique(reads_[g]);
    sort_unique(writes_[g]);
    reads_[g] = without(reads_[g], writes_[g]);
    for (BufferId b : writes_[g]) producers_[static_cast<std::size_t>(b)] = static_cast<int>(g);
    for (BufferId b : reads_[g]) readers_[static_cast<std::size_t>(b)].insert(static_cast<int>(g));
  }
  const int end = static_cast<int>(groups.size());
  for (int g = 0; g <= end; ++g) {
    next_[static_cast<std::size_t>(g)] = g == end ? 0 : g + 1;
    previous_[static_cast<std::size_t>(g)] = g == 0 ? end : g - 1;
    labels_[static_cast<std::size_t>(g)] = (g + 1) * kLabelGap;
  }
  for (auto& stamps : stamps_) stamps.assign(groups.size(), 0);
}

bool Dependencies::is_consumer(int a, int b) const {
  const auto& written = writes(a);
  return std::any_of(reads(b).begin(), reads(b).end(),
                     [&](BufferId r) { return std::binary_search(written.begin(), written.end(), r); });
}

template <class Visit>
void Dependencies::for_each_neighbour(int group, bool forward, const Visit& visit) const {
  if (forward) {
    for (BufferId b : writes(group)) {
      for (int reader : readers(b)) visit(reader);
    }
  } else {
    for (BufferId b : reads(group)) {
      if (producer(b) >= 0) visit(producer(b));
    }
  }
}

std::int64_t Dependencies::degree(int group, bool forward) const {
  if (!forward) return static_cast<std::int64_t>(reads(group).size());
  std::int64_t n = 0;
  for (BufferId b : writes(group)) n += static_cast<std::int64_t>(readers(b).size());
  return n;
}

/// One end of a search: the groups found from it, of which those from `next` on are still to be looked at.
struct Dependencies::Side {
  int start, target;
  bool forward;
  std::vector<int> found = {};
  std::size_t next = 0;
  std::int64_t steps = 0;
};

/// Looks from a forwards and from b backwards, at each turn from the end that has cost less. When one end has nothing
/// more to look at, `between` has the groups in the order's interval that are reached from it: `is_forward` says which.
Dependencies::Path Dependencies::search(int a, int b, std::vector<int>& between, bool& is_forward) const {
  ++epoch_;
  Side sides[2] = {{a, b, true}, {b, a, false}};
  bool meets = false;
  const auto look = [&](Side& side, int group) {
    side.steps += degree(group, side.forward) + 1;
    if (side.steps > kMaxSteps) return;
    for_each_neighbour(group, side.forward, [&](int g) {
      if (g == side.target) {
        meets |= group != side.start;
        return;
      }
      const bool is_beyond = side.forward ? !is_before(g, side.target) : !is_before(side.target, g);
      int& stamp = stamps_[side.forward ? 1 : 0][static_cast<std::size_t>(g)];
      if (is_beyond || stamp == epoch_) return;
      stamp = epoch_;
      meets |= stamps_[side.forward ? 0 : 1][static_cast<std::size_t>(g)] == epoch_;
      side.found.push_back(g);
    });
  };
  const auto cost_of_next = [&](const Side& side) {
    return side.steps + degree(side.next == 0 ? side.start : side.found[side.next - 1], side.forward);
  };
  while (true) {
    Side& side = cost_of_next(sides[0]) <= cost_of_next(sides[1]) ? sides[0] : sides[1];
    look(side, side.next == 0 ? side.start : side.found[side.next - 1]);
    ++side.next;
    if (meets || side.steps > kMaxSteps || side.next > side.found.size()) {
      steps_ += sides[0].steps + sides[1].steps;
      if (meets) return kThrough;
      if (side.steps > kMaxSteps) return kTooFar;
      between = std::move(side.found);
      is_forward = side.forward;
      return kNone;
    }
  }
}

Dependencies::Path Dependencies::path_between(int a, int b) const {
  std::vector<int> between;
  bool is_forward = false;
  return search(a, b, between, is_forward);
}

int Dependencies::merge(int a, int b) {
  std::vector<int> between;
  bool is_forward = false;
  search(a, b, between, is_forward);
  std::sort(between.begin(), between.end(), [&](int x, int y) { return is_before(x, y); });
  // What leads to b goes before a, and the two take a's place; or what a leads to goes after b, and they take b's.
  const int kept = std::min(a, b), gone = std::max(a, b), place = is_forward ? b : a;
  for (int g : between) unlink(g);
  unlink(is_forward ? a : b);
  const int next = next_[static_cast<std::size_t>(place)];
  unlink(place);
  between.insert(is_forward ? between.begin() : between.end(), kept);
  link_before(between, next);
  const auto k = static_cast<std::size_t>(kept), n = static_cast<std::size_t>(gone);
  for (BufferId r : reads_[n]) readers_[static_cast<std::size_t>(r)].erase(gone);
  for (BufferId w : writes_[n]) producers_[static_cast<std::size_t>(w)] = kept;
  writes_[k] = united(writes_[k], writes_[n]);
  const std::vector<BufferId> all = united(reads_[k], reads_[n]);
  reads_[k] = without(all, writes_[k]);
  for (BufferId r : all) readers_[static_cast<std::size_t>(r)].erase(kept);
  for (BufferId r : reads_[k]) readers_[static_cast<std::size_t>(r)].insert(kept);
  reads_[n].clear();
  writes_[n].clear();
  return kept;
}

void Dependencies::unlink(int group) {
  const auto g = static_cast<std::size_t>(group);
  next_[static_cast<std::size_t>(previous_[g])] = next_[g];
  previous_[static_cast<std::size_t>(next_[g])] = previous_[g];
}

/// Puts `groups` before `next`, with labels spread over the gap there.
void Dependencies::link_before(absl::Span<const int> groups, int next) {
  const int end = static_cast<int>(next_.size()) - 1;
  int previous = previous_[static_cast<std::size_t>(next)];
  const std::int64_t low = previous == end ? 0 : label(previous);
  const std::int64_t step = (label(next) - low) / (static_cast<std::int64_t>(groups.size()) + 1);
  std::int64_t at = low;
  for (int g : groups) {
    labels_[static_cast<std::size_t>(g)] = at += step;
    previous_[static_cast<std::size_t>(g)] = previous;
    next_[static_cast<std::size_t>(previous)] = g;
    previous = g;
  }
  next_[static_cast<std::size_t>(previous)] = next;
  previous_[static_cast<std::size_t>(next)] = previous;
  if (step == 0) relabel();
}

void Dependencies::relabel() {
  const std::size_t end = next_.size() - 1;
  std::int64_t at = kLabelGap;
  for (auto g = static_cast<std::size_t>(next_[end]); g != end; g = static_cast<std::size_t>(next_[g])) {
    labels_[g] = at;
    at += kLabelGap;
  }
  labels_[end] = at;
}

std::vector<int> Dependencies::order() const {
  std::vector<int> out;
  const int end = static_cast<int>(next_.size()) - 1;
  for (int g = next_[static_cast<std::size_t>(end)]; g != end; g = next_[static_cast<std::size_t>(g)]) out.push_back(g);
  return out;
}

}  // namespace tenon
