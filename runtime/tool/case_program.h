// SPDX-License-Identifier: MIT
// Builds the program of a case through the public API, one call a step.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/tool/case_file.h"
#include "runtime/tool/program_file.h"
#include "tenon/tensor.h"

namespace tenon::tool {

/// Why a case cannot be run here, decided from the names in its program alone: "op sort", "attr mode=wrap"; empty when
/// it can.
std::string unsupported(const Case& c);

/// All values of a case by name. `after_step` is called with each result as soon as it is built (each application of a
/// repeated step); it may evaluate it. Throws tenon::Error where the library refuses a call.
std::map<std::string, Tensor> build_case(const Case& c, void (*after_step)(const Tensor&) = nullptr);

/// One case as a program to run or explain.
absl::StatusOr<LoadedProgram> load_case(const std::string& path, const std::string& id);

}  // namespace tenon::tool
