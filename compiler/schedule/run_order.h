// SPDX-License-Identifier: MIT
// An order in which groups may run.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "compiler/schedule/dependencies.h"

namespace tenon {

/// `groups` (numbers of `dependencies`), each after what it reads; among ready ones the lowest number first. Fewer of
/// them when they have no order.
std::vector<int> run_order(const Dependencies& dependencies, absl::Span<const int> groups);

/// The groups in such an order, among ready ones that with the earliest node first; fewer when there is none.
std::vector<Group> in_run_order(const LoweredGraph& lowered, std::vector<Group> groups);

}  // namespace tenon
