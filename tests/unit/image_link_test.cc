// SPDX-License-Identifier: MIT
// Modules become images that run at any address, are the same bytes each time, and hold nothing that is not allowed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <thread>

#include "compiler/flat_image.h"
#include "runtime/device/cpu/host_cpu.h"
#include "runtime/device/cpu/image_loader.h"
#include "tests/unit/image_test_module.h"

namespace tenon {
namespace {

using device::LoadedImage;
using testing::image_of;
using testing::kModuleText;

using Kernel = void(void* const* buffers, const void* scalars, std::int64_t begin, std::int64_t end, void* scratch);

class ImageLink : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device::runnable_targets().empty()) GTEST_SKIP() << "the processor is below x86-64-v3";
  }
};

void expect_right_results(const LoadedImage& image) {
  std::array<float, 16> in, out;
  for (int i = 0; i < 16; ++i) in[i] = static_cast<float>(i);
  void* const buffers[] = {in.data(), out.data()};
  image.find_as<Kernel>("scale")(buffers, nullptr, 0, 2, nullptr);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], 3.0f * static_cast<float>(i) + static_cast<float>(i % 8) + 0.5f);

  EXPECT_EQ(image.find_as<std::int32_t(std::int64_t)>("lookup")(3), 40);
  EXPECT_EQ(image.find_as<float(float, float)>("modulo")(7.5f, 2.0f), 1.5f);
  EXPECT_EQ(image.find_as<float(float, float)>("modulo")(-7.5f, 2.0f), -1.5f);
  EXPECT_EQ(image.find_as<std::uint16_t(double)>("to_half")(-2.0), 0xc000);

  std::uint32_t from = 0x12345678, to = 0;
  image.find_as<void(void*, const void*, std::int64_t)>("copy")(&to, &from, 4);
  EXPECT_EQ(to, from);
}

TEST_F(ImageLink, RunsAtTwoAddresses) {
  const auto stored = image_of(kModuleText);
  ASSERT_TRUE(stored.ok()) << stored.status();
  const auto first = LoadedImage::load(*stored);
  const auto second = LoadedImage::load(*stored);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(first->find("scale"), second->find("scale"));
  expect_right_results(*first);
  expect_right_results(*second);
}

TEST_F(ImageLink, RunsForEveryTargetOfThisMachine) {
  for (const codegen::TargetSpec& target : device::runnable_targets()) {
    const auto stored = image_of(kModuleText, target);
    ASSERT_TRUE(stored.ok()) << target.cpu << " " << target.features << ": " << stored.status();
    const auto image = LoadedImage::load(*stored);
    ASSERT_TRUE(image.ok()) << image.status();
    expect_right_results(*image);
  }
}

TEST_F(ImageLink, ShowsExternalFunctionsOnly) {
  const auto stored = image_of(kModuleText);
  ASSERT_TRUE(stored.ok()) << stored.status();
  const auto image = parse_flat_image(*stored);
  ASSERT_TRUE(image.ok()) << image.status();
  std::vector<std::string> names;
  for (const auto& symbol : image->symbols) names.emplace_back(symbol.name);
  EXPECT_EQ(names, (std::vector<std::string>{"copy", "lookup", "modulo", "scale", "to_half"}));
  std::vector<ImportId> imports;
  for (const auto& import : image->imports) imports.push_back(import.id);
  std::sort(imports.begin(), imports.end());
  EXPECT_EQ(imports, (std::vector{ImportId::kMemcpy, ImportId::kFmodf, ImportId::kFloat64ToFloat16}));
}

TEST_F(ImageLink, SameModuleGivesSameBytes) {
  const auto first = image_of(kModuleText);
  ASSERT_TRUE(first.ok()) << first.status();
  std::array<absl::StatusOr<std::vector<std::byte>>, 4> others;
  {
    std::vector<std::jthread> threads;
    for (auto& other : others) threads.emplace_back([&other] { other = image_of(kModuleText); });
  }
  for (const auto& other : others) {
    ASSERT_TRUE(other.ok()) << other.status();
    EXPECT_TRUE(*other == *first);
  }
}

void expect_refused(const char* text, const char* reason) {
  const auto stored = image_of(text);
  ASSERT_FALSE(stored.ok()) << reason;
  EXPECT_NE(stored.status().message().find(reason), std::string::npos) << stored.status();
}

TEST_F(ImageLink, RefusesUnknownImportByName) {
  expect_refused(
      "declare double @launch_rocket(double)\n"
      "define double @f(double %x) nounwind { %y = call double @launch_rocket(double %x) ret double %y }",
      "'launch_rocket' may not be imported");
}

TEST_F(ImageLink, RefusesMathLibraryCallsByName) {
  expect_refused(
      "declare float @llvm.sin.f32(float)\n"
      "define float @f(float %x) nounwind { %y = call float @llvm.sin.f32(float %x) ret float %y }",
      "'sinf' may not be imported");
}

TEST_F(ImageLink, RefusesUnknownDataByName) {
  expect_refused(
      "@elsewhere = external global i32\n"
      "define i32 @f() nounwind { %x = load i32, ptr @elsewhere ret i32 %x }",
      "'elsewhere' may not be imported");
}

TEST_F(ImageLink, RefusesAbsoluteAddresses) {
  expect_refused(
      "@self = internal constant ptr @f\n"
      "define ptr @f(i64 %i) nounwind { %at = getelementptr ptr, ptr @self, i64 %i\n"
      "%x = load volatile ptr, ptr %at ret ptr %x }",
      ".data.rel.ro");
}

TEST_F(ImageLink, RefusesWritableVariables) {
  expect_refused(
      "@count = internal global i32 0\n"
      "define i32 @f() nounwind { %x = load volatile i32, ptr @count\n"
      "store volatile i32 1, ptr @count ret i32 %x }",
      "writable section .bss");
}

TEST_F(ImageLink, RefusesThreadLocalVariables) {
  expect_refused(
      "@mine = internal thread_local global i32 7\n"
      "define i32 @f() nounwind { %x = load volatile i32, ptr @mine\n"
      "store volatile i32 1, ptr @mine ret i32 %x }",
      "R_X86_64_TLS");
}

TEST_F(ImageLink, InvalidModuleIsAnErrorWithTheReason) {
  expect_refused("define i32 @f(i32 %x) { ret i32 %y\n next: %y = add i32 %x, 1 unreachable }",
                 "Instruction does not dominate all uses");
}

TEST_F(ImageLink, UnknownTargetsAreErrors) {
  EXPECT_FALSE(codegen::make_target_machine({"pdp11-unknown-none", "x86-64-v3", ""}).ok());
  EXPECT_FALSE(codegen::make_target_machine({"x86_64-unknown-linux-gnu", "z80", ""}).ok());
  EXPECT_FALSE(codegen::make_target_machine({"x86_64-unknown-linux-gnu", "x86-64-v3", "+warp"}).ok());
  EXPECT_FALSE(codegen::make_target_machine({"x86_64-unknown-linux-gnu", "x86-64-v3", "avx2"}).ok());
}

TEST_F(ImageLink, NeitherContractsNorReassociates) {
  // (1 + e)^2 - 1 with e = 2^-12: the product rounds to 1 + 2^-11 before the subtraction, which fma would not do.
  const auto stored = image_of(
      "define float @f(float %x, float %y) nounwind {\n"
      "%p = fmul float %x, %x %s = fsub float %p, %y ret float %s }");
  ASSERT_TRUE(stored.ok()) << stored.status();
  const auto image = LoadedImage::load(*stored);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->find_as<float(float, float)>("f")(1.0f + 0x1p-12f, 1.0f), 0x1p-11f);
}

}  // namespace
}  // namespace tenon
