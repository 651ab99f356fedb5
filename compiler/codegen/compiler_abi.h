// SPDX-License-Identifier: MIT
// The boundary of libtenon_compiler.so: one C function, plain data in, bytes or a message out.
//
// No exception and no type of any library but C crosses it. Caller and callee must come from the same build: the
// build id is compared, since the kernels' byte form is not kept stable between builds.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// What is made of the kernels.
enum TenonEmit : std::uint32_t {
  kTenonEmitImage = 0,     // a stored flat image (compiler/flat_image.h)
  kTenonEmitLlvm = 1,      // the optimised LLVM IR as text
  kTenonEmitAssembly = 2,  // the assembly as text
};

/// All pointers are borrowed for the call; strings end in NUL. Fields are only ever appended, with a new version.
struct TenonCompileRequest {
  std::uint32_t abi_version;  // kTenonCompilerAbi
  std::uint32_t emit;         // a TenonEmit
  const char* build_id;
  const void* kernels;  // serialised kernels, opaque here
  std::size_t kernels_size;
  const char* triple;  // the three fields of codegen::TargetSpec
  const char* cpu;
  const char* features;
};

/// Takes what a call yields. `write` is called exactly once, on the calling thread, and must not throw.
struct TenonCompileSink {
  void* self;
  void (*write)(void* self, const void* bytes, std::size_t size);
};

/// Compiles, and writes the result to the sink; or writes a message of what went wrong. Returns 0 for a result, else
/// the number of an absl::StatusCode. Malformed requests are refused, not crashed on. May be called from many threads
/// at once.
typedef std::int32_t TenonCompileFunction(const TenonCompileRequest* request, const TenonCompileSink* sink);

__attribute__((visibility("default"))) TenonCompileFunction tenon_compiler_compile;

}  // extern "C"

inline constexpr std::uint32_t kTenonCompilerAbi = 1;
/// The name to look tenon_compiler_compile up by.
inline constexpr char kTenonCompilerEntry[] = "tenon_compiler_compile";
