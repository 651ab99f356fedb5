// SPDX-License-Identifier: MIT
// The loader without a compiler: hand-written machine code, W^X, hardened systems, and the functions it offers.
#include "runtime/device/cpu/image_loader.h"

#include <emmintrin.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "runtime/device/cpu/host_cpu.h"
#include "runtime/device/cpu/image_imports.h"
#include "tenon/dtype.h"

namespace tenon::device {
namespace {

// answer: mov eax, [rip + data]; ret        remainder: jmp [rip + slot]
// The data part lies one page after the start: the number 42 at 0, the slot of fmod at 8.
std::vector<std::byte> stored_image() {
  const auto text = std::to_array<unsigned char>({0x8b, 0x05, 0xfa, 0x0f, 0, 0, 0xc3, 0x90,  //
                                                  0xff, 0x25, 0xfa, 0x0f, 0, 0});
  const auto data = std::to_array<unsigned char>({42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const FlatImage image{std::as_bytes(std::span(text)),
                        std::as_bytes(std::span(data)),
                        {{"answer", 0}, {"remainder", 8}},
                        {{8, ImportId::kFmod}}};
  return serialize_flat_image(image).value();
}

bool works(const LoadedImage& image) {
  return image.find_as<int()>("answer")() == 42 && image.find_as<double(double, double)>("remainder")(7.5, 2.0) == 1.5;
}

TEST(ImageLoader, RunsHandWrittenCode) {
  const auto image = LoadedImage::load(stored_image());
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_TRUE(works(*image));
  EXPECT_EQ(image->mapped_bytes(), 2 * kImagePage);
  EXPECT_EQ(image->find("answe"), nullptr);
  EXPECT_EQ(image->find(""), nullptr);
}

TEST(ImageLoader, MovesWithoutMovingCode) {
  auto first = LoadedImage::load(stored_image());
  ASSERT_TRUE(first.ok());
  void* const address = first->find("answer");
  LoadedImage second = *std::move(first);
  EXPECT_EQ(second.find("answer"), address);
  auto third = LoadedImage::load(stored_image());
  ASSERT_TRUE(third.ok());
  *third = std::move(second);
  EXPECT_EQ(third->find("answer"), address);
  EXPECT_TRUE(works(*third));
}

TEST(ImageLoader, MalformedBytesAreAnError) {
  auto bytes = stored_image();
  bytes[0] ^= std::byte{1};
  EXPECT_EQ(LoadedImage::load(bytes).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(LoadedImage::load({}).status().code(), absl::StatusCode::kInvalidArgument);
}

// The protection ("r-xp") of the mapping that holds an address.
std::string protection_of(const void* at) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string protection;
    std::istringstream(line) >> std::hex >> begin >> dash >> end >> protection;
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    if (begin <= address && address < end) return protection;
  }
  return "unmapped";
}

TEST(ImageLoader, CodeIsNotWritableAndDataNotExecutable) {
  const auto image = LoadedImage::load(stored_image());
  ASSERT_TRUE(image.ok());
  const auto* text = static_cast<const std::byte*>(image->find("answer"));
  EXPECT_EQ(protection_of(text), "r-xp");
  EXPECT_EQ(protection_of(text + kImagePage), "r--p");
}

TEST(ImageLoader, UnmapsAtTheEnd) {
  const void* text = nullptr;
  {
    const auto image = LoadedImage::load(stored_image());
    ASSERT_TRUE(image.ok());
    text = image->find("answer");
  }
  EXPECT_EQ(protection_of(text), "unmapped");
}

// Runs in a child whose kernel denies making written memory executable; the child's exit status tells how it went.
TEST(ImageLoader, WorksWhereWrittenMemoryMayNotBecomeExecutable) {
  constexpr int kRefuseExecGain = 1, kSetPolicy = 65, kUnsupported = 77;
  const auto bytes = stored_image();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::prctl(kSetPolicy, kRefuseExecGain, 0, 0, 0) != 0) ::_exit(kUnsupported);
    const auto image = LoadedImage::load(bytes);
    ::_exit(image.ok() && works(*image) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kUnsupported) GTEST_SKIP() << "the kernel has no such policy";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

std::uint16_t to_half(double value) {
  const auto convert = reinterpret_cast<__m128i (*)(double)>(address_of(ImportId::kFloat64ToFloat16));
  return static_cast<std::uint16_t>(_mm_cvtsi128_si32(convert(value)));
}

double half_value(int bits) {
  float16 half;
  half.bits = static_cast<std::uint16_t>(bits);
  return static_cast<double>(static_cast<float>(half));
}

// Each half is itself, and around the middle to the next one rounding turns, the middle itself going to the even one.
TEST(ImageImports, Float64ToFloat16RoundsOnceToNearestEven) {
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const double low = half_value(bits), middle = (low + half_value(bits + 1)) / 2;
    ASSERT_EQ(to_half(low), bits);
    ASSERT_EQ(to_half(-low), bits | 0x8000);
    ASSERT_EQ(to_half(middle), bits + bits % 2);
    ASSERT_EQ(to_half(std::nextafter(middle, 0.0)), bits);
    ASSERT_EQ(to_half(std::nextafter(middle, 1e9)), bits + 1);
  }
}

TEST(ImageImports, Float64ToFloat16AtTheEnds) {
  EXPECT_EQ(to_half(65504.0), 0x7bff);
  EXPECT_EQ(to_half(std::nextafter(65520.0, 0.0)), 0x7bff);
  EXPECT_EQ(to_half(65520.0), 0x7c00);
  EXPECT_EQ(to_half(-1e300), 0xfc00);
  EXPECT_EQ(to_half(std::numeric_limits<double>::infinity()), 0x7c00);
  EXPECT_EQ(to_half(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(to_half(-0.0), 0x8000);
  EXPECT_GT(to_half(std::numeric_limits<double>::quiet_NaN()) & 0x7fff, 0x7c00);
}

TEST(HostCpu, TargetsGoFromNativeToBaseline) {
  const auto& targets = runnable_targets();
  if (targets.empty()) GTEST_SKIP() << "the processor is below x86-64-v3";
  EXPECT_EQ(targets.back(), (codegen::TargetSpec{"x86_64-unknown-linux-gnu", "x86-64-v3", ""}));
  for (std::size_t i = 1; i < targets.size(); ++i) {
    EXPECT_LE(targets[i].cpu, targets[i - 1].cpu);
    EXPECT_EQ(targets[i].features, "");
  }
}

TEST(HostCpu, AgreesWithTheCompilersBuiltins) {
  if (std::getenv("GLIBC_TUNABLES") != nullptr) GTEST_SKIP() << "features may be masked";
  __builtin_cpu_init();
  const bool level3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool level4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const auto& targets = runnable_targets();
  ASSERT_EQ(!targets.empty(), level3);
  if (!level3) return;
  EXPECT_EQ(codegen::vector_bytes(targets[0]), level4 ? 64 : 32);
  const std::string& features = targets[0].features;
  EXPECT_EQ(features.find("avx512vnni") != std::string::npos, level4 && __builtin_cpu_supports("avx512vnni"));
  EXPECT_EQ(features.find("avx512vbmi2") != std::string::npos, level4 && __builtin_cpu_supports("avx512vbmi2"));
  EXPECT_EQ(features.find("gfni") != std::string::npos, static_cast<bool>(__builtin_cpu_supports("gfni")));
}

}  // namespace
}  // namespace tenon::device
