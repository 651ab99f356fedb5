// SPDX-License-Identifier: MIT
// The one exception of the library.
//
// User errors (shapes, dtypes, axes, values) are thrown at the call that makes them, with the caller's file and line,
// never later. What fails while running is thrown where the value is needed. After any error the library stays usable.
#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>

#include "tenon/export.h"

namespace tenon {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  ///< a call that has no meaning: shapes, dtypes, axes, values, an empty handle
  kFile,             ///< a file that cannot be read or written, or is malformed
  kOutOfMemory,      ///< no memory for a result
  kNotCached,        ///< TENON_COMPILE=forbid and the program is not in the cache
  kInternal,         ///< a fault of the library
};

/// what() is "FILE:LINE: OP: MESSAGE", e.g. "main.cc:7: add: shapes float32[2, 3] and float32[4] do not broadcast".
class TENON_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string op, std::string message, const std::source_location& call_site);
  ~Error() override;

  ErrorCode code() const { return code_; }
  /// The function of the library that was called, e.g. "add".
  const std::string& op() const { return op_; }
  /// What is wrong, without op and place.
  const std::string& message() const { return message_; }
  /// The caller's file and line.
  const char* file() const { return call_site_.file_name(); }
  int line() const { return static_cast<int>(call_site_.line()); }

 private:
  ErrorCode code_;
  std::string op_, message_;
  std::source_location call_site_;
};

}  // namespace tenon
