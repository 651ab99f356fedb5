// SPDX-License-Identifier: MIT
// Keeps LLVM 19 from merging a lane mask into a three-way bit operation.
//
// Where AVX-512's vpternlog is selected under a mask and an operand comes from memory, LLVM up to 22 swaps two truth
// tables (llvm/llvm-project issue 157929, fixed by pull request 209782), so the result has wrong bits. A value that
// could be selected so is made opaque, which costs at most a register copy.
#pragma once

namespace llvm {
class Module;
}

namespace tenon::codegen {

/// Run after the last pass, for targets with AVX-512.
void separate_masks_from_ternary_logic(llvm::Module& module);

}  // namespace tenon::codegen
