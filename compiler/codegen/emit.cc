// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/cpu/kernel.h"
#include "compiler/codegen/host_stub.h"
#include "compiler/codegen/runtime_table.h"
#include "compiler/ir/serialize.h"
#include "llvm/IR/Module.h"

namespace tenon::codegen {
namespace {

void set_attributes(llvm::Function& function, const TargetSpec& target) {
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr("target-cpu", target.cpu);
  if (!target.features.empty()) function.addFnAttr("target-features", target.features);
  const std::string width = absl::StrCat(8 * vector_bytes(target));
  function.addFnAttr("prefer-vector-width", width);
  function.addFnAttr("min-legal-vector-width", width);
}

}  // namespace

absl::StatusOr<std::unique_ptr<llvm::Module>> emit_module(llvm::LLVMContext& context, const LoopProgram& program,
                                                          const TargetSpec& target) {
  auto module = std::make_unique<llvm::Module>("tenon", context);
  std::vector<KernelLaunch> launches;
  for (const Kernel& kernel : program.kernels) {
    absl::StatusOr<KernelLaunch> launch = emit_kernel(*module, program, kernel, vector_bytes(target));
    if (!launch.ok()) return launch.status();
    launches.push_back(*std::move(launch));
  }
  emit_host_stub(*module, program, launches);
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    if (function.getName() != kProgramSymbol) function.setLinkage(llvm::GlobalValue::InternalLinkage);
    set_attributes(function, target);
  }
  return module;
}

absl::StatusOr<std::unique_ptr<llvm::Module>> emit_module(llvm::LLVMContext& context,
                                                          std::span<const std::byte> kernels,
                                                          const TargetSpec& target) {
  absl::StatusOr<LoopProgram> program = parse_loop_program(absl::MakeConstSpan(kernels.data(), kernels.size()));
  if (!program.ok()) return program.status();
  return emit_module(context, *program, target);
}

}  // namespace tenon::codegen
