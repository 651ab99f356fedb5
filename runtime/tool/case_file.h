// SPDX-License-Identifier: MIT
// Conformance cases: small tensor programs with known answers, as data (tests/cases/README.md has the format).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/tensor_type.h"

namespace tenon::tool {

/// A bool, an integer or a float, as written in a case.
using Number = std::variant<bool, std::int64_t, std::uint64_t, double>;

struct CaseTensor {
  std::string name;
  TensorType type;
  std::vector<std::byte> data;  ///< row-major
};

/// Name of a value, or a number that takes the other operand's dtype.
using CaseArgument = std::variant<std::string, Number>;

struct CaseAttribute {
  std::string name;
  std::vector<std::int64_t> ints;                               ///< a list, or one value
  std::vector<std::vector<std::optional<std::int64_t>>> lists;  ///< pad_width, slices
  std::string text;                                             ///< dtype, mode, approximate
  std::optional<Number> number;                                 ///< value, min, max, start, stop, step, epsilon
  bool is_list = false, is_null = false;
};

struct CaseStep {
  std::string op;
  std::vector<CaseArgument> arguments;
  std::vector<CaseAttribute> attributes;
  std::string out;
  int repeat = 1;

  const CaseAttribute* find(std::string_view name) const;
};

struct CaseOutput {
  CaseTensor want;
  double rtol = 0, atol = 0;
  std::optional<std::int64_t> ulp;
  bool signed_zero = false;
};

struct Case {
  std::string id;
  std::vector<CaseTensor> inputs;
  std::vector<CaseStep> steps;
  std::vector<CaseOutput> outputs;
};

/// All cases of a file; InvalidArgument with one clear sentence for malformed JSON, unknown fields, wrong sizes and
/// values, undefined and doubled names, and steps with operands or attributes that their op does not take. The steps
/// of an op that no case can use are not looked into, so that it can be reported by name.
absl::StatusOr<std::vector<Case>> read_cases(const std::string& path);

/// The dtype of that name, or nothing.
std::optional<DType> dtype_named(std::string_view name);

}  // namespace tenon::tool
