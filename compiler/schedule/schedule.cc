// SPDX-License-Identifier: MIT
// See schedule.h.
#include "compiler/schedule/schedule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/build_kernel.h"
#include "compiler/schedule/cost.h"
#include "compiler/schedule/fuse.h"
#include "compiler/schedule/memory_plan.h"

namespace tenon {
namespace {

constexpr std::size_t kNamedOps = 3;

/// "tenon_k2_exp_sum": the ops of the first members.
std::string kernel_name(const Graph& graph, const LoweredGraph& lowered, const Group& group, std::size_t number) {
  std::string name = absl::StrCat("tenon_k", number);
  for (std::size_t m = 0; m < std::min(group.members.size(), kNamedOps); ++m) {
    const NodeId node = lowered.nodes[static_cast<std::size_t>(group.members[m].node)].node;
    const Node& n = graph.node(node);
    const bool is_reduce = n.op == Op::k_reduce || n.op == Op::k_scan;
    absl::StrAppend(&name, "_",
                    std::string(is_reduce ? name_of(static_cast<ReduceKind>(n.value("kind"))) : name_of(n.op)));
  }
  return name;
}

KernelRecord describe(const LoweredGraph& lowered, const Group& group, const Kernel& kernel, const Work& work,
                      const CostTable& costs) {
  KernelRecord record;
  record.name = kernel.name;
  record.kernel_class = std::string(name_of(kernel.kernel_class));
  for (const Member& m : group.members) record.members.push_back(lowered.nodes[static_cast<std::size_t>(m.node)].node);
  record.read_bytes = work.read_bytes;
  record.write_bytes = work.write_bytes;
  record.predicted = kernel_cost(work, costs);
  record.tasks = kernel.tasks();
  record.phases = static_cast<int>(kernel.phases.size());
  return record;
}

}  // namespace

absl::StatusOr<LoopProgram> schedule(const Graph& graph, const LoweredGraph& lowered, const FusionOptions& options,
                                     DecisionLog* log) {
  LoopProgram program;
  program.pool = lowered.pool;
  program.buffers = lowered.buffers;
  program.scalars = lowered.scalars;
  program.num_inputs = lowered.num_inputs;
  program.num_outputs = lowered.num_outputs;
  const absl::StatusOr<FusionPlan> plan = fuse(lowered, options, log);
  if (!plan.ok()) return plan.status();
  const std::vector<Group>& groups = plan->groups;
  const Dependencies dependencies(lowered, groups);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto stored = [&](BufferId b) { return is_stored(lowered, dependencies, b, static_cast<int>(g)); };
    for (Kernel& kernel : build_kernels(lowered, groups[g], stored, program.buffers)) {
      kernel.name = kernel_name(graph, lowered, groups[g], program.kernels.size());
      if (log) {
        const Work work = work_of(lowered, dependencies, groups[g], options.costs, static_cast<int>(g));
        log->kernels.push_back(describe(lowered, groups[g], kernel, work, options.costs));
      }
      program.kernels.push_back(std::move(kernel));
    }
  }
  drop_virtual_buffers(program);
  plan_memory(program, log);
  return program;
}

}  // namespace tenon
