// SPDX-License-Identifier: MIT
// A tour of the library on real data: what a program becomes, a network that learns to read digits, a picture of heat,
// and the bill: what was compiled, how long it took, and what the next run saves.
//
// Run it twice. Every claim that it prints is checked; it ends with status 1 if one does not hold.
#include <tenon/tenon.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "check.h"
#include "digits.h"
#include "png.h"

namespace tn = tenon;

void title(const char* text) { std::printf("\n-- %s\n\n", text); }

double milliseconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Programs that the process had to get ready, by compiling or from disk.
std::uint64_t programs() { return tn::statistics().compiled + tn::statistics().disk_hits; }

/// One line of the bill: a program's first result, and the median of ten more.
struct Bill {
  const char* what;
  int kernels;
  double first_ms, later_ms;
};
std::vector<Bill> bills;

/// Traces and computes what `make` says, eleven times.
void take_times(const char* what, const std::function<std::vector<tn::Tensor>()>& make) {
  const int kernels = tn::explain(make()).num_kernels();
  const auto once = [&] { tn::eval(make()); };
  const double first = milliseconds_of(once);
  std::array<double, 10> later;
  for (double& ms : later) ms = milliseconds_of(once);
  std::nth_element(later.begin(), later.begin() + 5, later.end());
  bills.push_back({what, kernels, first, later[5]});
}

// ---- 1. RMSNorm ----

tn::Tensor rms_norm_by_hand(const tn::Tensor& x, const tn::Tensor& weight) {
  return x * tn::rsqrt(tn::mean(x * x, {-1}, tn::keepdims) + 1e-6) * weight;
}

void show_rms_norm() {
  title("1. RMSNorm, written by hand: x * rsqrt(mean(x * x, {-1}, keepdims) + 1e-6) * w");
  const tn::Tensor x = tn::random::normal({2048, 1024}, tn::seed(7)), w = tn::ones({1024});
  tn::eval(x, w);
  const tn::Explanation why = tn::explain(rms_norm_by_hand(x, w));
  std::printf("%s", why.text().c_str());
  check(why.num_kernels() == 1, "RMSNorm is one kernel");
  std::printf(
      "\nOne kernel: the mean and its row are made and used row by row, so x is read once, y written once,\n"
      "and nothing between them has memory of its own.\n");
  take_times("RMSNorm of 2048 x 1024", [&] { return std::vector{rms_norm_by_hand(x, w)}; });
}

// ---- 2. digits ----

void draw(const tn::Tensor& image) {
  const std::vector<float> grey = image.to_vector<float>();
  for (int row = 0; row < 8; ++row) {
    std::printf("      ");
    for (int column = 0; column < 8; ++column) {
      const char shade = " .:-=+*#@"[static_cast<int>(grey[row * 8 + column] * 8)];
      std::printf("%c%c", shade, shade);
    }
    std::printf("\n");
  }
}

/// Forty times over the batches. The rate falls from one epoch to the next: a number is an argument of the program.
void train(digits::Network& net, const digits::Data& data) {
  const std::int64_t batches = data.images.length(0);
  constexpr int kEpochs = 40;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const double rate = 0.2 * (kEpochs - epoch) / kEpochs;
    double loss = 0;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const tn::Tensor batch_loss = digits::step(net, data.images[batch], data.targets[batch], rate);
      tn::eval(digits::results(net, batch_loss));
      loss += batch_loss.item<float>();
    }
    if (epoch % 13 == 0) std::printf("epoch %2d   rate %.3f   loss %.4f\n", epoch + 1, rate, loss / double(batches));
  }
}

void read_digits() {
  title("2. A network learns to read: 1,797 handwritten digits (UCI), every fifth held out");
  const digits::Data data = digits::load(TENON_SOURCE_DIR "/tests/examples/data");
  digits::Network net = digits::make_network();
  draw(data.held_out_images[0]);
  std::printf("      the first held-out image, a %d\n\n",
              static_cast<int>(data.held_out_labels[0].item<std::int64_t>()));

  take_times("a training step", [&] {
    digits::Network trial = net;
    return digits::results(trial, digits::step(trial, data.images[0], data.targets[0], 0.2));
  });
  const tn::Statistics before = tn::statistics();
  const double ms = milliseconds_of([&] { train(net, data); });
  const tn::Statistics after = tn::statistics();
  const std::uint64_t steps = after.memory_hits - before.memory_hits;
  check(after.compiled == before.compiled && after.disk_hits == before.disk_hits,
        "a training loop compiles its step once");
  std::printf("\n%d steps in %.1f ms, all by the one program that the first step made.\n", static_cast<int>(steps), ms);

  const float accuracy = digits::accuracy(net, data);
  std::printf("Held out: %.1f %% of 359 images read rightly.\n", 100 * accuracy);
  check(accuracy >= 0.95f, "at least 95 % of the held-out digits are read rightly");
}

// ---- 3. heat ----

/// One explicit step of the heat equation on a plate whose rim is kept at 0. Opposite neighbours are added first, so
/// the rounding is the same from the left and from the right, from above and from below.
tn::Tensor heat_step(const tn::Tensor& u) {
  const tn::Slice inside = tn::slice(1, -1), before = tn::slice(tn::none, -2), behind = tn::slice(2, tn::none);
  const tn::Tensor centre = u[{inside, inside}];
  const tn::Tensor around = (u[{before, inside}] + u[{behind, inside}]) + (u[{inside, before}] + u[{inside, behind}]);
  return tn::pad(centre + 0.2 * (around - 4 * centre), {{1, 1}, {1, 1}});
}

/// A hot ring and a hot core, float32 [n, n], 0 to 1.
tn::Tensor hot_plate(std::int64_t n) {
  const tn::Tensor y = 2 * tn::iota({n, n}, 0) - (n - 1), x = 2 * tn::iota({n, n}, 1) - (n - 1);
  const tn::Tensor r = tn::sqrt((x * x + y * y).astype(tn::DType::kFloat32)) / n;
  return (((r < 0.75) & (r > 0.6)) | (r < 0.2)).astype(tn::DType::kFloat32);
}

/// Black over red and yellow to white: uint8 [h, w, 3].
tn::Tensor glow(const tn::Tensor& u) {
  const auto channel = [&](double from) { return tn::clip(3 * u - from, 0, 1); };
  return (255 * tn::stack({channel(0), channel(1), channel(2)}, -1)).astype(tn::DType::kUInt8);
}

void spread_heat(const std::string& folder) {
  constexpr std::int64_t kSize = 256;
  constexpr int kSteps = 2000;
  title("3. Heat spreads over a plate of 256 x 256, written with slices and pad");
  tn::Tensor u = hot_plate(kSize).eval();
  const float heat_before = tn::sum(u).item<float>();
  take_times("a heat step of 256 x 256", [&] { return std::vector{heat_step(u)}; });
  const std::uint64_t before = programs();
  const double ms = milliseconds_of([&] {
    for (int i = 0; i < kSteps; ++i) u = heat_step(u).eval();
  });
  check(programs() == before, "all steps are one program");

  const float heat = tn::sum(u).item<float>();
  check(tn::all((u >= 0) & (u <= 1)).item<bool>(), "heat stays between the first extremes");
  check(heat < heat_before, "heat leaves over the rim");
  check(tn::all((u == tn::flip(u, 0)) & (u == tn::flip(u, 1))).item<bool>(),
        "what was symmetric stays so, bit for bit");

  const std::string path = (std::filesystem::path(folder) / "heat.png").string();
  const tn::Tensor picture = glow(tn::sqrt(u));
  check(png::write(path, picture.data<std::uint8_t>(), kSize, kSize), "the picture can be written");
  std::printf("%d steps in %.1f ms; %.1f %% of the heat is left on the plate.\nPicture: %s\n", kSteps, ms,
              100 * heat / heat_before, path.c_str());
}

// ---- 4. the bill ----

void show_bill() {
  title("4. The bill");
  const tn::Statistics s = tn::statistics();
  std::printf("%-26s %7s %14s %13s\n", "", "kernels", "first result", "later ones");
  for (const Bill& bill : bills) {
    std::printf("%-26s %7d %11.2f ms %10.3f ms\n", bill.what, bill.kernels, bill.first_ms, bill.later_ms);
  }
  const auto count = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("\n%llu programs were compiled (%.1f ms), %llu loaded from disk (%.1f ms); they ran %llu times.\n",
              count(s.compiled), s.compile_ms, count(s.disk_hits), s.load_ms, count(programs() + s.memory_hits));
  if (s.compiled > 0) {
    std::printf("A run that finds them on disk saves the %.1f ms. Run the tour again.\n", s.compile_ms);
  } else if (!s.compiler_opened) {
    std::printf("Nothing was compiled, and LLVM was not loaded.\n");
  }
}

int main(int, char** argv) {
  show_rms_norm();
  read_digits();
  spread_heat(std::filesystem::path(argv[0]).parent_path().string());
  show_bill();
  tn::flush_cache();
}
