// SPDX-License-Identifier: MIT
// The compiler library's entry: every request gets one answer, and a malformed one a refusal.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/build_id.h"
#include "compiler/codegen/compiler_abi.h"

namespace tenon {
namespace {

struct Answer {
  int writes = 0;
  std::string text;
  absl::StatusCode code = absl::StatusCode::kOk;
};

Answer ask(const TenonCompileRequest& request) {
  Answer answer;
  const TenonCompileSink sink{&answer, [](void* self, const void* bytes, std::size_t size) {
                                auto* to = static_cast<Answer*>(self);
                                ++to->writes;
                                to->text.assign(static_cast<const char*>(bytes), size);
                              }};
  answer.code = static_cast<absl::StatusCode>(tenon_compiler_compile(&request, &sink));
  return answer;
}

TenonCompileRequest request_of(const std::vector<std::byte>& kernels) {
  return {kTenonCompilerAbi,          kTenonEmitImage, build_id(), kernels.data(), kernels.size(),
          "x86_64-unknown-linux-gnu", "x86-64-v3",     ""};
}

void expect_refused(const TenonCompileRequest& request, absl::StatusCode code, const std::string& reason) {
  const Answer answer = ask(request);
  EXPECT_EQ(answer.writes, 1);
  EXPECT_EQ(answer.code, code) << answer.text;
  EXPECT_NE(answer.text.find(reason), std::string::npos) << answer.text;
}

class CompilerLibrary : public ::testing::Test {
 protected:
  std::vector<std::byte> kernels_ = std::vector<std::byte>(16);
  TenonCompileRequest request_ = request_of(kernels_);
};

TEST_F(CompilerLibrary, RefusesMissingPieces) {
  const TenonCompileSink no_sink{};
  EXPECT_NE(tenon_compiler_compile(nullptr, nullptr), 0);
  EXPECT_NE(tenon_compiler_compile(&request_, &no_sink), 0);
  for (const char* TenonCompileRequest::* field :
       {&TenonCompileRequest::triple, &TenonCompileRequest::cpu, &TenonCompileRequest::features}) {
    TenonCompileRequest broken = request_;
    broken.*field = nullptr;
    expect_refused(broken, absl::StatusCode::kInvalidArgument, "no target");
  }
  request_.kernels = nullptr;
  expect_refused(request_, absl::StatusCode::kInvalidArgument, "no kernels");
}

TEST_F(CompilerLibrary, RefusesAnotherBuild) {
  request_.build_id = "somebody else's";
  expect_refused(request_, absl::StatusCode::kFailedPrecondition, "somebody else's");
  request_.build_id = nullptr;
  expect_refused(request_, absl::StatusCode::kFailedPrecondition, "build id");
}

TEST_F(CompilerLibrary, RefusesAnotherAbi) {
  request_.abi_version += 1;
  expect_refused(request_, absl::StatusCode::kFailedPrecondition, "ABI version");
}

TEST_F(CompilerLibrary, RefusesUnknownOutputAndTarget) {
  request_.emit = 99;
  expect_refused(request_, absl::StatusCode::kInvalidArgument, "output");
  request_ = request_of(kernels_);
  request_.cpu = "z80";
  expect_refused(request_, absl::StatusCode::kInvalidArgument, "z80");
}

TEST_F(CompilerLibrary, AnswersNoiseOnceAndNeverCrashes) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<std::byte> noise(random() % 300);
    for (std::byte& b : noise) b = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 4);
    EXPECT_EQ(ask(request_of(noise)).writes, 1);
  }
}

}  // namespace
}  // namespace tenon
