// SPDX-License-Identifier: MIT
// The entry of libtenon_compiler.so: checks the request, then emit, optimise, link, one after the other.
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/build_id.h"
#include "compiler/codegen/compiler_abi.h"
#include "compiler/codegen/emit.h"
#include "compiler/codegen/guarded_call.h"
#include "compiler/codegen/link_image.h"
#include "compiler/codegen/optimize.h"
#include "compiler/codegen/target.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace tenon::codegen {
namespace {

// Keeps LLVM's errors, which would otherwise be printed and end the process; lets remarks and warnings go.
struct ErrorCollector final : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string& text) : text(text) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error && text.empty()) {
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

  std::string& text;
};

// A request's own copy, so that it may outlive the caller's (guarded_call).
struct Job {
  TenonEmit emit;
  std::vector<std::byte> kernels;
  TargetSpec target;
  std::string result;
};

absl::StatusOr<std::string> finish(TenonEmit emit, llvm::Module& module, llvm::TargetMachine& machine) {
  if (emit == kTenonEmitAssembly) return print_assembly(module, machine);
  if (emit == kTenonEmitLlvm) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }
  auto image = link_image(module, machine);
  if (!image.ok()) return image.status();
  return std::string(reinterpret_cast<const char*>(image->data()), image->size());
}

absl::StatusOr<std::string> compile(const Job& job) {
  std::string errors;
  llvm::LLVMContext context;
  context.setDiscardValueNames(job.emit == kTenonEmitImage);
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  auto machine = make_target_machine(job.target);
  if (!machine.ok()) return machine.status();
  auto module = emit_module(context, job.kernels, job.target);
  if (!module.ok()) return module.status();
  if (absl::Status status = optimize(**module, **machine); !status.ok()) return status;
  auto result = finish(job.emit, **module, **machine);
  if (result.ok() && !errors.empty()) return absl::InternalError(errors);
  return result;
}

absl::Status check(const TenonCompileRequest& request) {
  if (request.abi_version != kTenonCompilerAbi)
    return absl::FailedPreconditionError(absl::StrCat("compiler library: ABI version ", request.abi_version,
                                                      " asked for, ", kTenonCompilerAbi, " present"));
  if (request.build_id == nullptr || std::strcmp(request.build_id, build_id()) != 0)
    return absl::FailedPreconditionError(absl::StrCat("compiler library: its build id is ", build_id(),
                                                      ", the caller's ",
                                                      request.build_id == nullptr ? "(none)" : request.build_id));
  if (request.emit > kTenonEmitAssembly) return absl::InvalidArgumentError("compiler library: unknown kind of output");
  if (request.triple == nullptr || request.cpu == nullptr || request.features == nullptr)
    return absl::InvalidArgumentError("compiler library: no target");
  if (request.kernels == nullptr && request.kernels_size != 0)
    return absl::InvalidArgumentError("compiler library: no kernels");
  return absl::OkStatus();
}

std::shared_ptr<Job> job_of(const TenonCompileRequest& request) {
  const auto* kernels = static_cast<const std::byte*>(request.kernels);
  return std::make_shared<Job>(Job{static_cast<TenonEmit>(request.emit),
                                   {kernels, kernels + request.kernels_size},
                                   {request.triple, request.cpu, request.features},
                                   {}});
}

absl::StatusOr<std::string> serve(const TenonCompileRequest& request) {
  if (absl::Status status = check(request); !status.ok()) return status;
  const std::shared_ptr<Job> job = job_of(request);
  const absl::Status status = guarded_call([job] {
    auto result = compile(*job);
    if (result.ok()) job->result = *std::move(result);
    return result.status();
  });
  if (!status.ok()) return status;
  return std::move(job->result);
}

}  // namespace
}  // namespace tenon::codegen

std::int32_t tenon_compiler_compile(const TenonCompileRequest* request, const TenonCompileSink* sink) {
  if (request == nullptr || sink == nullptr || sink->write == nullptr)
    return static_cast<std::int32_t>(absl::StatusCode::kInvalidArgument);
  const absl::StatusOr<std::string> result = tenon::codegen::serve(*request);
  const std::string message = result.ok() ? std::string() : std::string(result.status().message());
  const std::string& out = result.ok() ? *result : message;
  sink->write(sink->self, out.data(), out.size());
  return static_cast<std::int32_t>(result.status().code());
}
