// SPDX-License-Identifier: MIT
// The runtime's side of the import list: the address of each function that a flat image may call.
#pragma once

#include <cstdint>

#include "compiler/flat_image.h"

namespace tenon::device {

/// The address to put in a slot for `id`. Total over ImportId.
std::uint64_t address_of(ImportId id);

}  // namespace tenon::device
