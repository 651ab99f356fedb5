// SPDX-License-Identifier: MIT
// How large the body of a group is once its members are one: values are passed on, equal instructions are one.
#pragma once

#include <cstdint>

#include "compiler/schedule/group.h"

namespace tenon {

/// Distinct elements of buffers of other groups that `group` loads.
std::int64_t loads_of(const Group& group);

/// The weights of a body's ops (op_weight); 1 for what is no op.
std::int64_t weight_of(const Body& body);

/// The weights of its ops (op_weight), members counted one by one: never below what the joined body has.
std::int64_t weight_bound(const Group& group);

/// The weights of the ops of the joined body. Takes time in proportion to the bodies.
std::int64_t joined_weight(const LoweredGraph& lowered, const Group& group);

}  // namespace tenon
