// SPDX-License-Identifier: MIT
// The inside of a Tensor, for the layers above trace.
#pragma once

#include "runtime/trace/node.h"
#include "tenon/tensor.h"

namespace tenon::internal {

struct Access {
  static Tensor wrap(trace::NodeRef node) {
    Tensor tensor;
    tensor.node_ = node.detach();
    return tensor;
  }
  /// Borrowed; null for an empty handle.
  static trace::TraceNode* node(const Tensor& tensor) { return tensor.node_; }
};

}  // namespace tenon::internal
