// SPDX-License-Identifier: MIT
// Why a program is compiled as it is: every decision, as text or JSON.
#pragma once

#include <iosfwd>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "tenon/export.h"
#include "tenon/tensor.h"

namespace tenon {

/// The decisions of one compilation. A value; cheap to copy.
class TENON_API Explanation {
 public:
  /// Tables: stages; the realize table (each value inlined into which others, or realized by which rule, with costs);
  /// every pair of kernels that was tested for fusion, with score and verdict; kernels; memory; the cache key.
  const std::string& text() const;
  /// The same as JSON, with the keys stages, realize, rounds, kernels, memory, key, environment.
  const std::string& json() const;
  /// Kernels of the program.
  int num_kernels() const;

  struct Data;
  explicit Explanation(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

 private:
  std::shared_ptr<const Data> data_;
};

/// Explains the program that would compute `tensors` together. They must not be evaluated yet (an evaluated tensor has
/// no program left; throws Error, kInvalidArgument). Compiles no machine code and computes nothing.
TENON_API Explanation explain(const std::vector<Tensor>& tensors,
                              const std::source_location& call_site = std::source_location::current());
TENON_API Explanation explain(const TensorArg& tensor);

TENON_API std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

}  // namespace tenon
