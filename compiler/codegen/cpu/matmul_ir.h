// SPDX-License-Identifier: MIT
// What the parts of the matmul emitter share: an IR builder, the types of the plan, loops, and conversions between the
// dtypes in memory and the dtype of the accumulators.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/codegen/cpu/matmul_plan.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tenon::codegen {

class MatmulIr {
 public:
  using Value = llvm::Value;
  using Values = std::vector<llvm::Value*>;

  /// Functions are added to `module` and named `name` plus a suffix. Both references must outlive the object.
  MatmulIr(llvm::Module& module, const MatmulPlan& plan, std::string name);

  llvm::IRBuilder<> b;
  const MatmulPlan& plan;
  llvm::PointerType* const pointer;
  llvm::Type* const scalar;             ///< one accumulator
  llvm::FixedVectorType* const vector;  ///< plan.lanes accumulators

  /// A new void function, the builder at its entry; module-internal and never inlined unless the suffix is empty.
  llvm::Function* begin_function(const std::string& suffix, const std::vector<llvm::Type*>& arguments);
  void end_function() { b.CreateRetVoid(); }

  Value* i64(std::int64_t x) { return b.getInt64(static_cast<std::uint64_t>(x)); }
  Value* min(Value* x, Value* y) { return b.CreateSelect(b.CreateICmpSLT(x, y), x, y); }

  /// Body of a loop: gets the index and the carried values, replaces these, returns the next index.
  using Body = std::function<Value*(Value* index, Values& carried)>;
  /// Runs while index < end (signed), from `first`; returns the carried values after the last turn.
  Values loop(Value* first, Value* end, Values carried, const Body& body);
  /// loop() by `step` with nothing carried.
  void for_each(Value* first, Value* end, std::int64_t step, const std::function<void(Value*)>& body);
  /// Two-way branch; either part may be empty.
  void branch(Value* condition, const std::function<void()>& then, const std::function<void()>& otherwise);

  /// Type of one element in memory (bfloat16: its 16 bits).
  llvm::Type* storage(DType dtype);
  /// The address `elements` elements of dtype behind `base`.
  Value* at(DType dtype, Value* base, Value* elements) { return b.CreateGEP(storage(dtype), base, elements); }
  Value* at(DType dtype, Value* base, std::int64_t elements) { return at(dtype, base, i64(elements)); }

  /// Reads one element, or `count` <= lanes adjacent ones into the first lanes of a vector (zeros behind), as
  /// accumulator type; exact for every dtype.
  Value* load_scalar(DType dtype, Value* address);
  Value* load_vector(DType dtype, Value* address, int count);
  /// Reads lanes / addresses.size() adjacent elements at each address, one part behind the other.
  Value* load_parts(DType dtype, const Values& addresses);
  /// Writes an accumulator or the first `count` of a vector of them, rounded or wrapped to dtype.
  void store_scalar(DType dtype, Value* accumulator, Value* address);
  void store_vector(DType dtype, Value* accumulators, Value* address, int count);

  /// Asks for the cache line of an address, which may lie outside every operand.
  void prefetch(Value* address);

  /// Accumulators in 128 bits, the columns within which shuffles are cheap.
  int column_lanes() const { return 16 / static_cast<int>(size_of(plan.compute)); }
  /// Takes column_lanes() vectors and transposes each of their 128-bit columns as a square.
  Values transpose_columns(Values block);

  /// accumulator + x * y in the arithmetic of the plan: fused for floats, wrapping for integers.
  Value* multiply_add(Value* x, Value* y, Value* accumulator);

 private:
  Value* widen(DType dtype, Value* stored);
  Value* narrow(DType dtype, Value* accumulators);
  Value* mask(int count);
  llvm::Align align(DType dtype) { return llvm::Align(size_of(dtype)); }

  llvm::Module& module_;
  const std::string name_;
};

}  // namespace tenon::codegen
