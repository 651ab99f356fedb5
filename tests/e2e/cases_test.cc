// SPDX-License-Identifier: MIT
// The conformance cases pass, by every way of running them: the tool's own check, on the files here and on the larger
// ones that TENON_CASES_DIR names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/e2e/process.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

using testing::Output;
using testing::run;

std::string case_files() {
  const std::string here = TENON_SOURCE_DIR "/tests/cases/";
  std::string files = here + "bugs.json " + here + "own.json";
  const char* more = std::getenv("TENON_CASES_DIR");
  for (const char* name : {"umath.json", "onnx.json", "stablehlo.json"}) {
    const fs::path path = fs::path(more ? more : "") / name;
    if (more && fs::exists(path)) {
      absl::StrAppend(&files, " ", path.string());
    } else {
      std::printf("%s is absent (TENON_CASES_DIR): its cases are not run\n", name);
    }
  }
  return files;
}

class Cases : public ::testing::TestWithParam<const char*> {};

TEST_P(Cases, Pass) {
  const Output out = run(absl::StrCat(TENON_BIN_DIR "/tenon check --reasons --mode ", GetParam(), " ", case_files()));
  EXPECT_EQ(out.status, 0) << out.text;
  const std::size_t last = out.text.rfind('\n', out.text.size() - 2);
  std::printf("%s: %s", GetParam(), out.text.substr(last + 1).c_str());
}

INSTANTIATE_TEST_SUITE_P(Modes, Cases, ::testing::Values("whole", "forced", "outputs", "cached"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Tool, BadInputIsOneLineAndStatus2) {
  for (const std::string command : {"run no_such_file.tir", "run", "frobnicate", "run --wrong x.tir", "check",
                                    "check no_such_file.json", "compile x.tir --emit nothing", "explain a.json#b"}) {
    const Output out = run(absl::StrCat(TENON_BIN_DIR "/tenon ", command));
    EXPECT_EQ(out.status, 2) << command << "\n" << out.text;
    EXPECT_FALSE(out.text.empty()) << command;
  }
}

TEST(Tool, HelpAndVersionAreAnswersNotErrors) {
  const std::string tool = TENON_BIN_DIR "/tenon ";
  for (const char* command : {"run", "explain", "check", "compile", "cache", "doctor"}) {
    const Output asked = run(absl::StrCat(tool, "help ", command));
    EXPECT_EQ(asked.status, 0) << asked.text;
    EXPECT_EQ(asked.text.find(absl::StrCat("usage: tenon ", command)), 0u) << asked.text;
    for (const char* flag : {" --help", " -h", " PROG --help --nonsense"}) {
      EXPECT_EQ(run(absl::StrCat(tool, command, flag)).text, asked.text) << command << flag;
    }
    EXPECT_NE(run(tool + "help").text.find(absl::StrCat("  ", command, " ")), std::string::npos) << command;
  }
  for (const char* words : {"help", "--help", "-h", "--version"}) {
    EXPECT_EQ(run(tool + words).status, 0) << words;
    EXPECT_EQ(run(absl::StrCat("(", tool, words, " >/dev/null)")).text, "") << "said on standard error";
  }
  EXPECT_EQ(run(tool + "--version").text.find("tenon "), 0u);
}

TEST(Tool, OutputThatGoesNowhereIsOneLineAndStatus2) {
  const std::string program = " " TENON_SOURCE_DIR "/tests/e2e/rms_norm.tir";
  for (const std::string& words : {"run" + program, "explain" + program, "compile --emit graph" + program,
                                   std::string("cache path"), std::string("doctor"), std::string("help")}) {
    for (const char* stream : {">/dev/full", ">&-"}) {
      const Output out = run(absl::StrCat("(" TENON_BIN_DIR "/tenon ", words, " 2>&1 ", stream, ")"));
      EXPECT_EQ(out.status, 2) << words << stream;
      EXPECT_EQ(out.text, "tenon: cannot write the output\n") << words << stream;
    }
  }
  EXPECT_EQ(run(absl::StrCat("(" TENON_BIN_DIR "/tenon run --quiet", program, " >&-)")).status, 0);
}

TEST(Tool, AnUnknownCommandListsTheValidOnes) {
  for (const char* words : {"frobnicate", "help frobnicate"}) {
    const Output out = run(absl::StrCat(TENON_BIN_DIR "/tenon ", words));
    EXPECT_EQ(out.status, 2);
    EXPECT_EQ(out.text, "tenon: no command 'frobnicate'; there are run, explain, check, compile, cache, doctor\n");
  }
}

TEST(Tool, ASecondProcessCompilesNothingAndOpensNoCompiler) {
  const fs::path root = fs::path(::testing::TempDir()) / "tenon-second-process";
  fs::remove_all(root);
  const std::string program = TENON_SOURCE_DIR "/tests/e2e/rms_norm.tir";
  const std::string command =
      absl::StrCat("TENON_CACHE_DIR=", root.string(), " " TENON_BIN_DIR "/tenon run --stats --quiet ", program);
  const Output cold = run(command), warm = run(command);
  EXPECT_NE(cold.text.find("\"compiled\":1"), std::string::npos) << cold.text;
  EXPECT_NE(warm.text.find("\"compiled\":0"), std::string::npos) << warm.text;
  EXPECT_NE(warm.text.find("\"disk_hits\":1"), std::string::npos) << warm.text;
  EXPECT_NE(warm.text.find("\"compiler_opened\":false"), std::string::npos) << warm.text;
  fs::remove_all(root);
}

TEST(Tool, AProgramThatIsNotCachedIsAnErrorWhereCompilingIsForbidden) {
  const fs::path root = fs::path(::testing::TempDir()) / "tenon-forbid";
  fs::remove_all(root);
  const Output out = run(absl::StrCat("TENON_COMPILE=forbid TENON_CACHE_DIR=", root.string(),
                                      " " TENON_BIN_DIR "/tenon run " TENON_SOURCE_DIR "/tests/e2e/rms_norm.tir"));
  EXPECT_EQ(out.status, 2) << out.text;
  EXPECT_NE(out.text.find("TENON_COMPILE=forbid"), std::string::npos) << out.text;
}

TEST(Tool, ABrokenCacheFolderCostsOneWarningAndNothingElse) {
  const std::string program = TENON_SOURCE_DIR "/tests/e2e/rms_norm.tir";
  for (const std::string root : {"/proc/no/such/folder", "/dev/null"}) {
    const Output out = run(absl::StrCat("TENON_CACHE_DIR=", root, " " TENON_BIN_DIR "/tenon run --quiet ", program));
    EXPECT_EQ(out.status, 0) << out.text;
    EXPECT_EQ(std::count(out.text.begin(), out.text.end(), '\n'), 1) << out.text;
  }
  const Output out = run(std::string("env -u HOME -u XDG_CACHE_HOME -u TENON_CACHE_DIR ") +
                         TENON_BIN_DIR "/tenon run --quiet " + program);
  EXPECT_EQ(out.status, 0) << out.text;
  EXPECT_EQ(std::count(out.text.begin(), out.text.end(), '\n'), 1) << out.text;
}

}  // namespace
}  // namespace tenon
