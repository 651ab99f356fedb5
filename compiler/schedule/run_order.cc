// SPDX-License-Identifier: MIT
// See run_order.h.
#include "compiler/schedule/run_order.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace tenon {

std::vector<int> run_order(const Dependencies& dependencies, absl::Span<const int> groups) {
  const int last = groups.empty() ? -1 : *std::max_element(groups.begin(), groups.end());
  std::vector<int> missing(static_cast<std::size_t>(last) + 1, 0), out;
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  const auto for_each_reader = [&](int g, const auto& visit) {
    for (BufferId buffer : dependencies.writes(g)) {
      for (int reader : dependencies.readers(buffer)) visit(reader);
    }
  };
  for (int g : groups) for_each_reader(g, [&](int reader) { ++missing[static_cast<std::size_t>(reader)]; });
  for (int g : groups) {
    if (missing[static_cast<std::size_t>(g)] == 0) ready.push(g);
  }
  while (!ready.empty()) {
    out.push_back(ready.top());
    ready.pop();
    for_each_reader(out.back(), [&](int reader) {
      if (--missing[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
    });
  }
  return out;
}

std::vector<Group> in_run_order(const LoweredGraph& lowered, std::vector<Group> groups) {
  std::ranges::sort(groups, {}, [](const Group& g) { return g.members.front().node; });
  std::vector<int> numbers(groups.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<Group> out;
  for (int g : run_order(Dependencies(lowered, groups), numbers))
    out.push_back(std::move(groups[static_cast<std::size_t>(g)]));
  return out;
}

}  // namespace tenon
