// SPDX-License-Identifier: MIT
// Comparison of a result with a case's expected output, by the rules of the case format.
#pragma once

#include <string>

#include "runtime/tool/case_file.h"

namespace tenon::tool {

/// Empty when `got` (row-major elements of `type`) meets the expectation, else what differs first.
std::string difference(const CaseOutput& want, const TensorType& type, const void* got);

/// Whether two results have the same bits, a NaN being equal to a NaN.
bool same_bits(const TensorType& type, const void* a, const void* b);

}  // namespace tenon::tool
