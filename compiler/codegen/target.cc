// SPDX-License-Identifier: MIT
// Target machines. The x86 back end is initialised once a process, on first use; no global option of LLVM is changed.
// Names that LLVM does not know are refused here, because LLVM itself only prints a warning and goes on.
#include "compiler/codegen/target.h"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace tenon::codegen {
namespace {

void initialize_back_end() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

bool is_known_feature(const llvm::MCSubtargetInfo& known, std::string_view feature) {
  if (feature.size() < 2 || (feature[0] != '+' && feature[0] != '-')) return false;
  const auto all = known.getAllProcessorFeatures();
  const llvm::StringRef name(feature.data() + 1, feature.size() - 1);
  return std::any_of(all.begin(), all.end(), [&](const auto& row) { return name == row.Key; });
}

absl::Status check_names(const llvm::Target& llvm_target, const TargetSpec& target) {
  const std::unique_ptr<llvm::MCSubtargetInfo> known(llvm_target.createMCSubtargetInfo(target.triple, "", ""));
  if (known == nullptr) return absl::InvalidArgumentError(absl::StrCat("target: no subtargets of ", target.triple));
  if (!known->isCPUStringValid(target.cpu))
    return absl::InvalidArgumentError(absl::StrCat("target: unknown cpu '", target.cpu, "'"));
  const std::vector<std::string> features = absl::StrSplit(target.features, ',', absl::SkipEmpty());
  for (const std::string& feature : features) {
    if (!is_known_feature(*known, feature))
      return absl::InvalidArgumentError(absl::StrCat("target: unknown feature '", feature, "'"));
  }
  return absl::OkStatus();
}

llvm::TargetOptions strict_options() {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.UnsafeFPMath = false;
  options.TrapUnreachable = false;
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const TargetSpec& target) {
  initialize_back_end();
  std::string problem;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(target.triple, problem);
  if (llvm_target == nullptr) return absl::InvalidArgumentError(absl::StrCat("target: ", problem));
  if (absl::Status status = check_names(*llvm_target, target); !status.ok()) return status;
  std::unique_ptr<llvm::TargetMachine> machine(
      llvm_target->createTargetMachine(target.triple, target.cpu, target.features, strict_options(), llvm::Reloc::PIC_,
                                       llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) return absl::InternalError(absl::StrCat("target: no machine for ", target.triple));
  return machine;
}

}  // namespace tenon::codegen
