// SPDX-License-Identifier: MIT
// Malformed program and case files are refused: one line that says what is wrong, and exit status 2, never a crash.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/e2e/process.h"
#include "tests/sanitized.h"

namespace tenon {
namespace {

using testing::Output;
using testing::run;

/// Runs the tool on a file of that text; ARGUMENTS names the file by %.
Output run_on(const std::string& text, const std::string& extension, std::string arguments) {
  const auto path = std::filesystem::temp_directory_path() / absl::StrCat("tenon_input_", getpid(), extension);
  std::ofstream(path) << text;
  arguments.replace(arguments.find('%'), 1, path.string());
  Output out = run(absl::StrCat(TENON_BIN_DIR "/tenon ", arguments));
  std::filesystem::remove(path);
  return out;
}

void expect_refused(const Output& out, const std::string& reason) {
  EXPECT_EQ(out.status, 2) << out.text;
  EXPECT_EQ(out.text.find('\n') + 1, out.text.size()) << out.text;
  EXPECT_NE(out.text.find(reason), std::string::npos) << out.text << "lacks: " << reason;
}

constexpr const char* kInput = R"({"name":"x","dtype":"float32","shape":[2],"data":[1,2]})";
constexpr const char* kStep = R"({"op":"negative","args":["x"],"attrs":{},"out":"y"})";
constexpr const char* kOutput = R"({"name":"y","dtype":"float32","shape":[2],"data":[-1,-2],"rtol":0})";

std::string case_of(const std::string& input, const std::string& step, const std::string& output) {
  return absl::StrCat(R"({"id":"A","inputs":[)", input, R"(],"program":[)", step, R"(],"outputs":[)", output, "]}");
}

void expect_file_refused(const std::string& file, const std::string& reason) {
  for (const char* command : {"check %", "run %#A", "explain %#A"}) {
    SCOPED_TRACE(absl::StrCat(command, ": ", file));
    expect_refused(run_on(file, ".json", command), reason);
  }
}

void expect_step_refused(const std::string& step, const std::string& reason) {
  expect_file_refused("[" + case_of(kInput, step, kOutput) + "]", reason);
}

void expect_input_refused(const std::string& input, const std::string& reason) {
  expect_file_refused("[" + case_of(input, kStep, kOutput) + "]", reason);
}

void expect_output_refused(const std::string& output, const std::string& reason) {
  expect_file_refused("[" + case_of(kInput, kStep, output) + "]", reason);
}

TEST(ToolInput, TheCaseThatTheOthersSpoilPasses) {
  const Output out = run_on("[" + case_of(kInput, kStep, kOutput) + "]", ".json", "check %");
  EXPECT_EQ(out.status, 0) << out.text;
}

TEST(ToolInput, StepsTakeTheOperandsOfTheirOp) {
  expect_step_refused(R"({"op":"negative","args":[],"attrs":{},"out":"y"})", "does not take 0 arguments");
  expect_step_refused(R"({"op":"add","args":["x"],"attrs":{},"out":"y"})", "does not take 1 arguments");
  expect_step_refused(R"({"op":"clip","args":["x","x","x"],"attrs":{},"out":"y"})", "does not take 3 arguments");
  expect_step_refused(R"({"op":"concat","args":[],"attrs":{},"out":"y"})", "does not take 0 arguments");
  expect_step_refused(R"({"op":"negative","args":[{"scalar":1}],"attrs":{},"out":"y"})", "is a scalar");
  expect_step_refused(R"({"op":"matmul","args":["x",{"scalar":1}],"attrs":{},"out":"y"})", "is a scalar");
  expect_step_refused(R"({"op":"add","args":[{"scalar":1},{"scalar":1}],"attrs":{},"out":"y"})", "scalars");
}

TEST(ToolInput, AttributesAreKnownAndOfTheirType) {
  const auto with = [](const std::string& op, const std::string& attributes) {
    return absl::StrCat(R"({"op":")", op, R"(","args":["x"],"attrs":{)", attributes, R"(},"out":"y"})");
  };
  expect_step_refused(with("cast", R"("dtype":"float99")"), "'dtype' is no dtype");
  expect_step_refused(with("cast", R"("dtype":3)"), "'dtype' is no dtype");
  expect_step_refused(with("cast", ""), "'dtype' is missing");
  expect_step_refused(with("sum", R"("dtype":"float99")"), "'dtype' is no dtype");
  expect_step_refused(with("sum", R"("axes":[0])"), "unknown attribute 'axes'");
  expect_step_refused(with("clip", R"("min":"low")"), "'min' is no number");
  expect_step_refused(with("pad", R"("pad_width":[[1]])"), "'pad_width' is no lists");
  expect_step_refused(with("reshape", R"("shape":[1.5])"), "'shape' is no ints");
}

TEST(ToolInput, NamesAreDefinedOnceAndBeforeUse) {
  expect_step_refused(R"({"op":"negative","args":["z"],"attrs":{},"out":"y"})",
                      "case A: step 'y' uses 'z', which is not defined");
  expect_step_refused(R"({"op":"negative","args":["x"],"attrs":{},"out":"x"})", "'x' is defined twice");
  expect_step_refused(R"({"op":"negative","args":["x"],"attrs":{},"out":"w"})", "output 'y' is no step");
  expect_output_refused(absl::StrCat(kOutput, ",", kOutput), "output 'y' is given twice");
  const std::string one = case_of(kInput, kStep, kOutput);
  expect_file_refused(absl::StrCat("[", one, ",", one, "]"), "case A is defined twice");
}

TEST(ToolInput, RepeatIsAnIntegerOfAtMostAMillion) {
  for (const char* n : {"0", "-1", "1000001", "99999999999999999999", "1.5", "\"2\""}) {
    expect_step_refused(absl::StrCat(R"({"op":"negative","args":["x"],"attrs":{},"out":"y","repeat":)", n, "}"),
                        "repeat is");
  }
}

TEST(ToolInput, TensorsHoldWhatTheySay) {
  const auto input = [](const char* dtype, const char* shape, const char* data) {
    return absl::StrCat(R"({"name":"x","dtype":")", dtype, R"(","shape":)", shape, R"(,"data":)", data, "}");
  };
  expect_input_refused(input("float32", "2", "[1,2]"), "shape is not an array");
  expect_input_refused(input("float32", "[1.5]", "[1]"), "a length is no integer");
  expect_input_refused(input("float32", "[-1]", "[]"), "a tensor of shape");
  expect_input_refused(input("float32", "[3]", "[1,2]"), "data does not have the shape");
  expect_input_refused(input("float32", "[0]", "[1]"), "data does not have the shape");
  expect_input_refused(input("float32", "[1]", "[true]"), "true is no number");
  expect_input_refused(input("int8", "[1]", "[128]"), "128 is no int8");
  expect_input_refused(input("int8", "[1]", "[-129]"), "-129 is no int8");
  expect_input_refused(input("int64", "[1]", "[9223372036854775808]"), "is no int64");
  expect_input_refused(input("int32", "[1]", "[1.5]"), "1.5 is no int32");
  expect_input_refused(input("uint8", "[1]", "[-1]"), "-1 is no uint8");
  expect_input_refused(input("bool", "[1]", "[1]"), "1 is neither true nor false");
}

TEST(ToolInput, TolerancesAreNotNegative) {
  const auto output = [](const char* tolerance) {
    return absl::StrCat(R"({"name":"y","dtype":"float32","shape":[2],"data":[-1,-2],)", tolerance, "}");
  };
  expect_output_refused(output(R"("rtol":-1)"), "rtol is no number of at least 0");
  expect_output_refused(output(R"("atol":true)"), "atol is no number of at least 0");
  expect_output_refused(output(R"("ulp":-1)"), "ulp is negative");
  expect_output_refused(output(R"("ulp":0.5)"), "ulp is no integer");
}

TEST(ToolInput, WhatIsNoJsonIsShownByLineAndColumn) {
  expect_file_refused("[", ".json:1:2: the JSON ends too early");
  expect_file_refused("", ".json:1:1: the JSON ends too early");
  expect_file_refused("[{\"id\": \"A\",\n  \"inputs\" []}]",
                      R"(.json:2:12: the JSON is wrong at the end of '  \"inputs\" [')");
  expect_file_refused("[]\n\nx", ".json:3:1: the JSON is wrong at the end of 'x'");
  expect_file_refused("[1,\n 1e999]", ".json:2:6: the number is too large at the end of ' 1e999'");
  expect_file_refused("[\"a\nb\"]", R"(.json:1:4: the JSON is wrong at the end of '[\"a\n')");
  expect_file_refused("[\"\xff\"]", R"(.json:1:3: the JSON is wrong at the end of '[\"\xff')");
  expect_file_refused(std::string(100, '[') + "}", ".json:1:101: the JSON is wrong at the end of '...[");
}

TEST(ToolInput, FieldsAreThereAndOfTheirType) {
  expect_file_refused("[{}]", "the field 'id' is missing");
  expect_file_refused(R"([{"id":3}])", "'id' is no text: 3");
  expect_file_refused(R"([{"id":"A"}])", "case A: the field 'inputs' is missing");
  expect_input_refused(R"({"name":"x","shape":[2],"data":[1,2]})", "the field 'dtype' is missing");
  expect_step_refused(R"({"op":"negative","args":["x"],"out":"y"})", "the field 'attrs' is missing");
  expect_output_refused(R"({"name":"y","dtype":"float32","shape":[1],"data":[1],"signed_zero":1})",
                        "signed_zero is neither true nor false");
}

TEST(ToolInput, ProgramsHaveAnOutput) {
  for (const char* command : {"run %", "explain %"}) {
    for (const char* text : {"", "input x: float32[2] = fill(1, -1, 1)\n"}) {
      expect_refused(run_on(text, ".tir", command), "the program has no output line");
    }
  }
}

TEST(ToolInput, AProgramThatTheInterpreterHasNoMemoryForIsRefused) {
  if (!testing::kNewThrows) GTEST_SKIP() << "a sanitizer ends the process where new would throw";
  const std::string text =
      "scalar v: float32 = 0\n%1: float32[281474976710656] = full(v, shape=[281474976710656])\n"
      "%2: float32[4] = slice(%1, starts=[0], lengths=[4], steps=[1])\noutput %2\n";
  setenv("TENON_JIT", "0", 1);
  expect_refused(run_on(text, ".tir", "run %"), "no memory");
  unsetenv("TENON_JIT");
}

TEST(ToolInput, FilesAreNamedAndAreRegularOrPipes) {
  expect_refused(run(TENON_BIN_DIR "/tenon run ''"), "cannot read ''");
  for (const char* path : {"/dev/zero", "/dev/null", "/"}) {
    expect_refused(run(absl::StrCat(TENON_BIN_DIR "/tenon run ", path)), "is neither a regular file nor a pipe");
  }
  expect_refused(run("yes | " TENON_BIN_DIR "/tenon run /dev/stdin"), "is larger than 268435456 bytes");
  const Output piped = run("echo 'input x: float32[2] = fill(1, -1, 1)' | " TENON_BIN_DIR "/tenon run /dev/stdin");
  expect_refused(piped, "the program has no output line");
}

}  // namespace
}  // namespace tenon
