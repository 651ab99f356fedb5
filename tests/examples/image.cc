// SPDX-License-Identifier: MIT
// Image filters out of slices: a 3x3 box blur and Sobel's edges, beside plain loops over the pixels.
//
// Slices are index maps, not copies: the nine shifted images of a filter are nine loads in one kernel.
#include <tenon/tenon.h>

#include <vector>

#include "check.h"

namespace tn = tenon;

constexpr std::int64_t kHeight = 120, kWidth = 160;

/// Neighbour (dy, dx) of every inner pixel: an [h - 2, w - 2] view of an [h, w] image; dy and dx are -1, 0 or 1.
tn::Tensor neighbour(const tn::Tensor& image, std::int64_t dy, std::int64_t dx) {
  const std::int64_t h = image.length(0), w = image.length(1);
  return image[{tn::slice(1 + dy, h - 1 + dy), tn::slice(1 + dx, w - 1 + dx)}];
}

tn::Tensor box_blur(const tn::Tensor& image) {
  tn::Tensor sum = tn::zeros({image.length(0) - 2, image.length(1) - 2});
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) sum += neighbour(image, dy, dx);
  }
  return sum / 9;
}

tn::Tensor sobel(const tn::Tensor& image) {
  const auto at = [&](int dy, int dx) { return neighbour(image, dy, dx); };
  const tn::Tensor right = at(-1, 1) + 2 * at(0, 1) + at(1, 1), left = at(-1, -1) + 2 * at(0, -1) + at(1, -1);
  const tn::Tensor below = at(1, -1) + 2 * at(1, 0) + at(1, 1), above = at(-1, -1) + 2 * at(-1, 0) + at(-1, 1);
  return tn::sqrt(tn::square(right - left) + tn::square(below - above));
}

/// A grey disc on a slope, uint8, as a camera would give it.
std::vector<std::uint8_t> draw() {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const bool is_inside = (y - 60) * (y - 60) + (x - 80) * (x - 80) < 40 * 40;
      pixels.push_back(static_cast<std::uint8_t>(is_inside ? 200 : x / 2));
    }
  }
  return pixels;
}

/// The blur with loops. All sums are whole numbers below 2^24, so the two must agree to the last bit.
bool is_blur(const std::vector<float>& blurred, const std::vector<std::uint8_t>& pixels) {
  for (int y = 1; y < kHeight - 1; ++y) {
    for (int x = 1; x < kWidth - 1; ++x) {
      int sum = 0;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) sum += pixels[(y + dy) * kWidth + x + dx];
      }
      if (blurred[(y - 1) * (kWidth - 2) + x - 1] != float(sum) / 9.0f) return false;
    }
  }
  return true;
}

int main() {
  const std::vector<std::uint8_t> pixels = draw();
  const tn::Tensor image = tn::asarray(pixels, {kHeight, kWidth}).astype(tn::DType::kFloat32).eval();
  const tn::Tensor blurred = box_blur(image), edges = sobel(image);
  check(tn::explain(blurred).num_kernels() == 1 && tn::explain(edges).num_kernels() == 1, "a filter is one kernel");
  tn::eval(blurred, edges);

  check(is_blur(blurred.to_vector<float>(), pixels), "the blur is what loops over the pixels give");
  check(edges[{59, 79}].item<float>() == 0, "inside the disc there is no edge");
  check(tn::max(edges).item<float>() > 400, "the rim of the disc is an edge");
}
