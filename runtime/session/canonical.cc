// SPDX-License-Identifier: MIT
// See canonical.h.
#include "runtime/session/canonical.h"

#include <algorithm>

namespace tenon::session {
namespace {

using trace::NodeState;
using trace::TraceNode;

// Addresses take no part: kernels for the CPU load from any, so that all rows of a tensor are one program.
InputLayout layout_of(const TraceNode& node) { return {node.strides}; }

}  // namespace

TracedProgram Canonicaliser::run(std::span<TraceNode* const> wanted) {
  encoder_.clear();
  program_ = {};
  lazy_.clear();
  passed_.clear();
  next_ = 0;
  ++epoch_;
  for (TraceNode* node : wanted) visit(node);
  program_.outputs.assign(wanted.begin(), wanted.end());
  if (program_.waits_for) return std::move(program_);
  add_recomputed_outputs();
  for (TraceNode* node : program_.outputs) encoder_.output(node->walk_index);
  program_.key_bytes = encoder_.finish();
  return std::move(program_);
}

void Canonicaliser::visit(TraceNode* root) {
  if (root->walk_epoch == epoch_) return;
  root->walk_epoch = epoch_;
  stack_.push_back({root, 0});
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    TraceNode* node = frame.node;
    const bool is_lazy = node->state.load(std::memory_order_relaxed) == NodeState::kLazy;
    if (is_lazy && frame.next_operand < node->operands.size()) {
      TraceNode* operand = node->operands[frame.next_operand++].get();
      if (operand->walk_epoch == epoch_) continue;
      operand->walk_epoch = epoch_;
      stack_.push_back({operand, 0});
      continue;
    }
    number(node);
    stack_.pop_back();
  }
}

void Canonicaliser::number(TraceNode* node) {
  node->walk_index = next_++;
  switch (node->state.load(std::memory_order_relaxed)) {
    case NodeState::kReady:
      encoder_.input(node->type, layout_of(*node));
      program_.inputs.push_back(node);
      return;
    case NodeState::kScalar:
      encoder_.scalar(node->type.dtype);
      program_.scalars.push_back(node->scalar_bits);
      return;
    case NodeState::kLazy:
      if (node->in_flight) program_.waits_for = node;
      operand_ids_.clear();
      for (const trace::NodeRef& operand : node->operands) operand_ids_.push_back(operand->walk_index);
      encoder_.node(node->op, operand_ids_, node->attrs);
      node->walk_uses = 0;
      for (const trace::NodeRef& operand : node->operands) ++operand->walk_uses;
      lazy_.push_back(node);
  }
}

void Canonicaliser::add_recomputed_outputs() {
  for (TraceNode* node : lazy_) {
    const bool is_wanted = std::find(program_.outputs.begin(), program_.outputs.end(), node) != program_.outputs.end();
    if (is_wanted) continue;
    const bool is_held = node->references.load(std::memory_order_relaxed) > node->walk_uses;
    if (is_held && node->computed_in_passing) program_.outputs.push_back(node);
    passed_.push_back(node);
  }
}

void Canonicaliser::mark_computed() {
  for (TraceNode* node : passed_) node->computed_in_passing = true;
}

}  // namespace tenon::session
