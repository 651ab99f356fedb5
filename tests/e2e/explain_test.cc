// SPDX-License-Identifier: MIT
// The reports as their readers take them: Graphviz draws the DOT form, a browser draws the page. Where the programs
// dot, node or chromium are absent those tests say so; what text alone can prove is always checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/e2e/process.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using testing::Output;
using testing::run;

bool is_installed(const char* program) { return run(absl::StrCat("command -v ", program)).status == 0; }

/// A folder of this process, removed at the end.
class Explain : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / absl::StrCat("tenon-explain-", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static constexpr const char* kRmsNorm = TENON_SOURCE_DIR "/tests/e2e/rms_norm.tir";
  static constexpr const char* kAttention = TENON_SOURCE_DIR "/tests/e2e/attention.tir";

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Output explain(const std::string& words) const { return run(absl::StrCat(TENON_BIN_DIR "/tenon explain ", words)); }

  /// The report of `program` as a file.
  std::string report(const std::string& program, const std::string& form) const {
    const std::string file = path("report." + form);
    const Output out = explain(absl::StrCat(program, " --", form, " -o ", file));
    EXPECT_EQ(out.status, 0) << out.text;
    EXPECT_EQ(out.text, "");
    return file;
  }

  static std::string read(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// What stands between the marks, from the first on.
  static std::string between(const std::string& text, const std::string& start, const std::string& end) {
    const std::size_t at = text.find(start);
    if (at == std::string::npos) return "";
    const std::size_t from = at + start.size();
    return text.substr(from, text.find(end, from) - from);
  }

  fs::path folder_;
};

TEST_F(Explain, ADirectQuestionHasAnAnswer) {
  const Output fused = explain(absl::StrCat(kRmsNorm, " --why-not %4,k0"));
  EXPECT_EQ(fused.status, 0);
  EXPECT_TRUE(fused.text.starts_with("FUSED: ")) << fused.text;
  const Output unknown = explain(absl::StrCat(kRmsNorm, " --why-not %4,mm1"));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.text.find("no node or kernel mm1"), std::string::npos) << unknown.text;
}

TEST_F(Explain, WrongUseIsOneLine) {
  for (const char* words : {"--json --dot", "--why-not %4", "-o /no/such/folder/file", "--html=x"}) {
    const Output out = explain(absl::StrCat(kRmsNorm, " ", words));
    EXPECT_EQ(out.status, 2) << words;
    EXPECT_EQ(std::count(out.text.begin(), out.text.end(), '\n'), 1) << out.text;
  }
}

TEST_F(Explain, MeasuredTimesStandBesideThePredicted) {
  const auto measured = nlohmann::json::parse(read(report(std::string(kAttention) + " --measure", "json")));
  for (const auto& kernel : measured["kernels"]) EXPECT_GT(kernel["measured_ps"], 0) << kernel;
  const Output text = explain(std::string(kAttention) + " --measure");
  EXPECT_NE(text.text.find("predicted  measured  error"), std::string::npos) << text.text;
}

TEST_F(Explain, ThePageNeedsNoOtherFileAndNoNetwork) {
  for (const std::string program : {kRmsNorm, kAttention}) {
    const std::string page = read(report(program, "html"));
    for (const char* address : {"http://", "https://", "src=", "@import", "url(", "fetch(", "<link"}) {
      const std::size_t at = page.find(address);
      const bool is_fragment = at != std::string::npos && page.compare(at, 5, "url(#") == 0;
      EXPECT_TRUE(at == std::string::npos || is_fragment) << address;
    }
    EXPECT_EQ(page.find("{{"), std::string::npos) << "a part was not filled in";
    const auto data = nlohmann::json::parse(between(page, "id=\"report\">", "</script>"), nullptr, false);
    ASSERT_FALSE(data.is_discarded());
    EXPECT_EQ(data["kernels"], nlohmann::json::parse(read(report(program, "json")))["kernels"]);
  }
}

TEST_F(Explain, ThePagesScriptIsWellFormed) {
  if (!is_installed("node")) GTEST_SKIP() << "node is not installed";
  const std::string page = read(report(kRmsNorm, "html"));
  std::ofstream(path("page.js")) << between(page, "<script>\n", "</script>");
  const Output out = run("node --check " + path("page.js"));
  EXPECT_EQ(out.status, 0) << out.text;
}

/// Layers of RMSNorm with a residual: deep, with values that are read far below.
std::string residual_stack(int depth) {
  std::string text = "input x: float32[64, 256]\nscalar e: float32 = 1e-6\n", last = "x";
  for (int i = 0; i < depth; ++i) {
    const auto name = [&](int n) { return absl::StrCat("%", 5 * i + n + 2); };
    absl::StrAppend(&text, name(0), ": float32[64, 256] = multiply(", last, ", ", last, ")\n");
    absl::StrAppend(&text, name(1), ": float32[64, 1] = mean(", name(0), ", axis=[1], keepdims=true)\n");
    absl::StrAppend(&text, name(2), ": float32[64, 1] = rsqrt(", name(1), ")\n");
    absl::StrAppend(&text, name(3), ": float32[64, 256] = multiply(", last, ", ", name(2), ")\n");
    absl::StrAppend(&text, name(4), ": float32[64, 256] = add(", name(3), ", ", last, ")\n");
    last = name(4);
  }
  return absl::StrCat(text, "output ", last, "\n");
}

TEST_F(Explain, EveryViewIsPlacedSoThatItCanBeRead) {
  if (!is_installed("node")) GTEST_SKIP() << "node is not installed";
  std::ofstream(path("stack.tir")) << residual_stack(60);
  for (const std::string& program : {std::string(kRmsNorm), std::string(kAttention), path("stack.tir")}) {
    const Output out =
        run(absl::StrCat("node " TENON_SOURCE_DIR "/tests/e2e/layout_check.js ", report(program, "html")));
    EXPECT_EQ(out.status, 0) << program << "\n" << out.text;
    EXPECT_EQ(std::count(out.text.begin(), out.text.end(), '\n'), 5) << out.text;
  }
}

TEST_F(Explain, ABrowserDrawsEveryView) {
  if (!is_installed("chromium")) GTEST_SKIP() << "chromium is not installed";
  const std::string page = report(kAttention, "html");
  const auto data = nlohmann::json::parse(read(report(kAttention, "json")));
  const std::map<std::string, std::size_t> nodes = {{"trace", data["stages"][0]["nodes"].size()},
                                                    {"decompose", data["stages"][1]["nodes"].size()},
                                                    {"rewrite", data["stages"][2]["nodes"].size()},
                                                    {"lower", data["stages"][3]["out"].get<std::size_t>() + 3},
                                                    {"kernels", data["kernels"].size() + 3}};
  for (const auto& [view, count] : nodes) {
    const Output out =
        run(absl::StrCat("chromium --headless --no-sandbox --disable-gpu --user-data-dir=", path("profile"),
                         " --dump-dom 'file://", page, "#view=", view, "' 2>/dev/null"));
    ASSERT_EQ(out.status, 0) << view;
    EXPECT_EQ(between(out.text, "data-drawn=\"", "\""), std::to_string(count)) << view << ", with three inputs";
    EXPECT_NE(out.text.find(">must/output</td>"), std::string::npos) << "the realize table is filled";
  }
}

TEST_F(Explain, GraphvizDrawsTheDotForm) {
  const std::string file = report(kAttention, "dot");
  const auto data = nlohmann::json::parse(read(report(kAttention, "json")));
  const std::string text = read(file);
  std::size_t clusters = 0;
  for (std::size_t at = text.find("subgraph"); at != std::string::npos; at = text.find("subgraph", at + 1)) ++clusters;
  EXPECT_EQ(clusters, data["kernels"].size());
  if (!is_installed("dot")) GTEST_SKIP() << "dot is not installed";
  const Output out = run(absl::StrCat("dot -Tplain ", file));
  EXPECT_EQ(out.status, 0) << out.text;
  std::size_t nodes = 0;
  for (std::size_t at = out.text.find("\nnode "); at != std::string::npos; at = out.text.find("\nnode ", at + 1))
    ++nodes;
  EXPECT_EQ(nodes, data["stages"][2]["nodes"].size());
}

}  // namespace
}  // namespace tenon
