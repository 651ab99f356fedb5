// SPDX-License-Identifier: MIT
// What every part of the kernel emitter builds with: an IR builder, the types of values, loops, and element access.
//
// A value of the loop IR lives in a register as a scalar or as a vector of lanes: bool as i1, float16 and bfloat16 as
// the float32 they are equal to, all others as themselves. In memory a bool is a byte 0 or 1 and a half its 16 bits.
#pragma once

#include <cstdint>
#include <functional>

#include "llvm/IR/IRBuilder.h"
#include "tenon/dtype.h"

namespace tenon::codegen {

/// Floating point is strict: nothing here sets a fast-math flag.
class KernelIr {
 public:
  /// Builds at the end of `function`, which has no blocks yet: an entry block is made, and the builder stands in it.
  /// `vector_bytes`: of the widest vectors of the target.
  KernelIr(llvm::Function& function, int vector_bytes);

  llvm::IRBuilder<> b;
  const int vector_bytes;

  /// The register type of a dtype: scalar for one lane, else a vector.
  llvm::Type* type(DType dtype, int lanes = 1);
  /// The memory type, in which halves are i16 and bools i8.
  llvm::Type* memory_type(DType dtype, int lanes = 1);
  /// `element` itself for one lane, else a vector of it.
  static llvm::Type* with_lanes(llvm::Type* element, int lanes);
  static int lanes_of(const llvm::Value* value);

  /// value as `lanes` lanes: splat if it is a scalar.
  llvm::Value* spread(llvm::Value* value, int lanes);
  llvm::Value* i64(std::int64_t x) { return b.getInt64(static_cast<std::uint64_t>(x)); }
  /// The element of a dtype whose stored bits are `bits`, as a scalar register value.
  llvm::Constant* constant(DType dtype, std::uint64_t bits);
  /// An integer or float constant of type `type` (vectors: splat).
  llvm::Constant* integer(llvm::Type* type, std::int64_t value);
  llvm::Constant* real(llvm::Type* type, double value);
  /// 0, 1, ... lanes-1 as integers of that width.
  llvm::Constant* iota(int bits, int lanes);
  /// The first `count` of `lanes` lanes: an i1 vector (one lane: i1).
  llvm::Value* first_lanes(llvm::Value* count, int lanes);

  /// Rounds a float32 to the nearest value of a half dtype (ties to even; NaN to a quiet NaN); others pass through.
  llvm::Value* round_to(DType dtype, llvm::Value* value);
  llvm::Value* from_memory(DType dtype, llvm::Value* stored);
  llvm::Value* to_memory(DType dtype, llvm::Value* value);

  /// Element access at an address. A vector takes adjacent elements. `mask` may be null (all) or i1 lanes: where false
  /// nothing is touched, and a load gives 0.
  llvm::Value* load(DType dtype, llvm::Value* address, int lanes, llvm::Value* mask = nullptr);
  void store(DType dtype, llvm::Value* value, llvm::Value* address, llvm::Value* mask = nullptr);
  /// A store past the caches, of a vector at an address that its size divides: what it writes is not read soon, and a
  /// cache would read each line before the first write to it.
  void stream(DType dtype, llvm::Value* value, llvm::Value* address);
  /// Orders the stores of `stream` before all later ones; nothing where there were none.
  void end_streams();
  /// The same at one address a lane.
  llvm::Value* gather(DType dtype, llvm::Value* addresses, llvm::Value* mask = nullptr);
  void scatter(DType dtype, llvm::Value* value, llvm::Value* addresses, llvm::Value* mask = nullptr);
  /// The lanes in opposite order.
  llvm::Value* reverse(llvm::Value* value);
  /// `elements` (scalar or lanes of integers) elements of dtype behind base.
  llvm::Value* at(DType dtype, llvm::Value* base, llvm::Value* elements);

  /// Stack memory of the function, reserved once whatever loop the builder stands in.
  llvm::AllocaInst* local(llvm::Type* type, std::int64_t count = 1);
  /// Stack memory, all zero, that is never written: what a load reads whose mask is false.
  llvm::Value* zeros();

  /// Runs body(i) for i = begin, begin + step, ... while i < end (signed). Known bounds with one turn make no loop.
  void loop(llvm::Value* begin, llvm::Value* end, std::int64_t step, const std::function<void(llvm::Value*)>& body);
  /// Runs body while condition() holds; both may emit blocks.
  void loop_while(const std::function<llvm::Value*()>& condition, const std::function<void()>& body);
  /// Runs body where the condition holds; a constant condition makes no branch.
  void when(llvm::Value* condition, const std::function<void()>& body);
  llvm::Value* min(llvm::Value* x, llvm::Value* y) { return b.CreateSelect(b.CreateICmpSLT(x, y), x, y); }

 private:
  llvm::Value* round_to_bfloat16(llvm::Value* value);
  llvm::BasicBlock* new_block();

  llvm::Function& function_;
  llvm::AllocaInst* zeros_ = nullptr;
  bool has_streams_ = false;
};

/// The value of a constant integer, or `otherwise`.
std::int64_t known(const llvm::Value* value, std::int64_t otherwise);

}  // namespace tenon::codegen
