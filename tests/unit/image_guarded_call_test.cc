// SPDX-License-Identifier: MIT
// LLVM giving up in a compile is an error of that compile and of nothing else.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "compiler/codegen/guarded_call.h"
#include "llvm/Support/ErrorHandling.h"

namespace tenon::codegen {
namespace {

TEST(GuardedCall, ReturnsTheStatusOfTheWork) {
  EXPECT_TRUE(guarded_call([] { return absl::OkStatus(); }).ok());
  EXPECT_EQ(guarded_call([] { return absl::NotFoundError("x"); }), absl::NotFoundError("x"));
}

TEST(GuardedCall, FatalErrorBecomesAStatusWithTheReason) {
  const absl::Status status = guarded_call([]() -> absl::Status { llvm::report_fatal_error("no such instruction"); });
  EXPECT_EQ(status, absl::InternalError("LLVM gave up: no such instruction"));
}

TEST(GuardedCall, OneFatalErrorLeavesOtherCallsAlone) {
  std::vector<absl::Status> results(16);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < results.size(); ++i) {
      threads.emplace_back([&results, i] {
        results[i] = guarded_call([i]() -> absl::Status {
          if (i % 4 == 0) llvm::report_fatal_error("every fourth");
          return absl::OkStatus();
        });
      });
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].ok(), i % 4 != 0) << i;
}

}  // namespace
}  // namespace tenon::codegen
