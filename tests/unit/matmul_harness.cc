// SPDX-License-Identifier: MIT
#include "tests/unit/matmul_harness.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace tenon::codegen {
namespace {

template <class T>
T take(llvm::Expected<T> value) {
  if (!value) throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

void check(llvm::Error error) {
  if (error) throw std::runtime_error(llvm::toString(std::move(error)));
}

std::unique_ptr<llvm::orc::LLJIT> make_jit(int vector_bytes) {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::orc::JITTargetMachineBuilder builder(llvm::Triple("x86_64-unknown-linux-gnu"));
  builder.setCPU(vector_bytes == 64 ? "x86-64-v4" : "x86-64-v3");
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return take(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create());
}

void optimize(llvm::Module& module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) passes.run(function, functions);
}

}  // namespace

MatmulHarness::MatmulHarness(const MatmulSpec& spec, int vector_bytes) : jit_(make_jit(vector_bytes)) {
  const auto start = std::chrono::steady_clock::now();
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("matmul", *context);
  module->setDataLayout(jit_->getDataLayout());
  module->setTargetTriple(jit_->getTargetTriple().str());
  info_ = emit_matmul(*module, spec, vector_bytes, "matmul");
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*module, &stream)) throw std::runtime_error(problem);
  optimize(*module);
  if (const char* dump = std::getenv("MATMUL_DUMP")) {
    std::error_code error;
    llvm::raw_fd_ostream file(dump, error);
    module->print(file, nullptr);
  }
  check(jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  kernel_ = take(jit_->lookup(info_.function)).toPtr<Kernel>();
  compile_milliseconds_ = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

MatmulHarness::~MatmulHarness() = default;

void MatmulHarness::run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
  const std::size_t bytes = static_cast<std::size_t>(info_.scratch_bytes_per_worker) + 64;
  std::unique_ptr<void, decltype(&std::free)> scratch(std::aligned_alloc(64, bytes), &std::free);
  std::memset(scratch.get(), 0xff, bytes);
  kernel_(buffers, nullptr, begin, end, scratch.get());
}

MatmulSpec dense_matmul(DType dtype, std::vector<std::int64_t> batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  MatmulSpec s{dtype, dtype, m, n, k, batch, {0, 0, k, 1, {}}, {1, 0, n, 1, {}}, {2, 0, n, 1, {}}};
  std::int64_t matrices = 1;
  for (std::size_t d = batch.size(); d-- > 0; matrices *= batch[d]) {
    s.a.batch_strides.insert(s.a.batch_strides.begin(), matrices * m * k);
    s.b.batch_strides.insert(s.b.batch_strides.begin(), matrices * k * n);
    s.c.batch_strides.insert(s.c.batch_strides.begin(), matrices * m * n);
  }
  return s;
}

int host_vector_bytes() {
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? 64 : 32;
}

}  // namespace tenon::codegen
