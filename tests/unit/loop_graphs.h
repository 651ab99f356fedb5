// SPDX-License-Identifier: MIT
// Lowered graphs made by hand, of any size, for tests of the fusion search: pointwise nodes over one vector.
#pragma once

#include <initializer_list>
#include <vector>

#include "compiler/lower/body_builder.h"
#include "compiler/lower/lower.h"

namespace tenon::testing {

class LoopGraph {
 public:
  explicit LoopGraph(std::int64_t elements) : elements_(elements) {}

  BufferId input() { return add_buffer(Buffer::kInput, graph_.num_inputs++, elements_); }

  /// A node that adds up elements i of `reads`; returns the buffer that it writes.
  BufferId sum(const std::vector<BufferId>& reads, bool is_output = false) { return sum(reads, elements_, is_output); }
  BufferId sum(const std::vector<BufferId>& reads, std::int64_t elements, bool is_output) {
    LoopNode node;
    node.node = static_cast<NodeId>(graph_.nodes.size());
    node.space = {elements};
    node.buffer =
        add_buffer(is_output ? Buffer::kOutput : Buffer::kTemporary, is_output ? graph_.num_outputs++ : 0, elements);
    node.element = graph_.pool->var(0, elements);
    BodyBuilder body(*graph_.pool);
    for (BufferId read : reads) {
      const InstrId value = body.load(read, DType::kFloat32, node.element);
      node.value = node.value < 0 ? value : body.apply(Op::k_add, DType::kFloat32, node.value, value);
    }
    if (reads.size() < 2) node.value = body.apply(Op::k_negative, DType::kFloat32, node.value);
    node.body = body.take();
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().buffer;
  }

  LoweredGraph& graph() { return graph_; }

 private:
  BufferId add_buffer(Buffer::Space space, std::int32_t argument, std::int64_t elements) {
    Buffer buffer;
    buffer.shape = {elements};
    buffer.space = space;
    buffer.argument = argument;
    buffer.node = static_cast<std::int32_t>(graph_.nodes.size());
    graph_.buffers.push_back(std::move(buffer));
    return static_cast<BufferId>(graph_.buffers.size()) - 1;
  }

  std::int64_t elements_;
  LoweredGraph graph_;
};

}  // namespace tenon::testing
