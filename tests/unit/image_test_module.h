// SPDX-License-Identifier: MIT
// A module that uses everything a flat image can hold, as IR text, and its way to a stored image.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/link_image.h"
#include "compiler/codegen/optimize.h"
#include "compiler/codegen/target.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

namespace tenon::testing {

/// scale: out[i] = 3 * in[i] + table[i % 8], eight at a time, by an internal function and a constant vector.
/// lookup: an element of a constant table by index. modulo, to_half, copy: an import each.
inline constexpr char kModuleText[] = R"(
@table = internal constant [5 x i32] [i32 10, i32 20, i32 30, i32 40, i32 50]

define internal <8 x float> @triple(<8 x float> %x) noinline nounwind {
  %y = fmul <8 x float> %x, splat (float 3.0)
  ret <8 x float> %y
}
define void @scale(ptr %buffers, ptr %scalars, i64 %begin, i64 %end, ptr %scratch) nounwind {
entry:
  %slot = getelementptr ptr, ptr %buffers, i64 1
  %in = load ptr, ptr %buffers
  %out = load ptr, ptr %slot
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %from = getelementptr <8 x float>, ptr %in, i64 %i
  %to = getelementptr <8 x float>, ptr %out, i64 %i
  %x = load <8 x float>, ptr %from, align 4
  %y = call <8 x float> @triple(<8 x float> %x)
  %z = fadd <8 x float> %y, <float 0.5, float 1.5, float 2.5, float 3.5, float 4.5, float 5.5, float 6.5, float 7.5>
  store <8 x float> %z, ptr %to, align 4
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
define i32 @lookup(i64 %i) nounwind {
  %at = getelementptr [5 x i32], ptr @table, i64 0, i64 %i
  %x = load i32, ptr %at
  ret i32 %x
}
define float @modulo(float %x, float %y) nounwind {
  %r = frem float %x, %y
  ret float %r
}
define i16 @to_half(double %x) nounwind {
  %h = fptrunc double %x to half
  %bits = bitcast half %h to i16
  ret i16 %bits
}
declare ptr @memcpy(ptr, ptr, i64) nounwind
define void @copy(ptr %to, ptr %from, i64 %size) nounwind {
  %r = call ptr @memcpy(ptr %to, ptr %from, i64 %size)
  ret void
}
)";

/// The plain level that every machine with these tests' vectors has.
inline codegen::TargetSpec test_target() { return {}; }

/// Optimises and links IR text. The status is that of the first step to fail.
inline absl::StatusOr<std::vector<std::byte>> image_of(const std::string& text,
                                                       const codegen::TargetSpec& target = test_target()) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(text, problem, context);
  if (module == nullptr) return absl::InvalidArgumentError(problem.getMessage().str());
  auto machine = codegen::make_target_machine(target);
  if (!machine.ok()) return machine.status();
  if (absl::Status status = codegen::optimize(*module, **machine); !status.ok()) return status;
  return codegen::link_image(*module, **machine);
}

}  // namespace tenon::testing
