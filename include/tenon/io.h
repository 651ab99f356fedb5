// SPDX-License-Identifier: MIT
// NumPy's .npy files.
#pragma once

#include <source_location>
#include <string>

#include "tenon/tensor.h"

namespace tenon {

/// Reads a .npy file of format 1.0, 2.0 or 3.0: little-endian (or one-byte) elements of any dtype of the library, C or
/// Fortran order. bfloat16 is what the ml_dtypes package writes: descr "<V2", "|V2" or "bfloat16". Throws Error (kFile)
/// with one line that says what is wrong; never reads or allocates more than the file's size warrants.
TENON_API Tensor load(const std::string& path, const std::source_location& call_site = std::source_location::current());

/// Writes the values as a .npy file of format 1.0, C order; bfloat16 as "<V2". Evaluates. The file is replaced only
/// once it is complete. Throws Error (kFile), or what Tensor::eval throws.
TENON_API void save(const std::string& path, const TensorArg& tensor);

}  // namespace tenon
