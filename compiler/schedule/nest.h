// SPDX-License-Identifier: MIT
// A reduction inside a reduction: one whose results another one reduces, in one kernel that stores none of them.
#pragma once

#include <optional>

#include "compiler/schedule/group.h"

namespace tenon {

/// Two groups of class inner reduction over the space (outer, sequence, lanes) of class nested reduction: the lanes are
/// what `inner` reduces, the sequence what `outer` reduces.
struct Nest {
  Group inner, outer;
};

/// `a` inside `b`, if b reduces, in any order, just the results of a: each of a's for one element of b, each group in
/// one pass.
std::optional<Nest> nest(const LoweredGraph& lowered, const Group& a, const Group& b);

}  // namespace tenon
