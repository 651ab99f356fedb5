// SPDX-License-Identifier: MIT
// The public exception. It lies in the lowest layer that throws it.
#include "tenon/error.h"

#include <utility>

#include "compiler/ir/text.h"

namespace tenon {

Error::Error(ErrorCode code, std::string op, std::string message, const std::source_location& call_site)
    : std::runtime_error(cat(call_site.file_name(), ":", call_site.line(), ": ", op, ": ", message)),
      code_(code),
      op_(std::move(op)),
      message_(std::move(message)),
      call_site_(call_site) {}

Error::~Error() = default;

}  // namespace tenon
