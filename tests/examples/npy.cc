// SPDX-License-Identifier: MIT
// Files of NumPy: what is saved is loaded again bit for bit, with its shape and dtype; real data is read.
#include <tenon/tenon.h>

#include <filesystem>
#include <iostream>
#include <string>

#include "check.h"

namespace tn = tenon;

void check_round_trip(const tn::Tensor& x, const std::string& path) {
  tn::save(path, x);
  const tn::Tensor y = tn::load(path);
  check(y.shape() == x.shape() && y.dtype() == x.dtype(), "shape and dtype come back");
  check(tn::all(x == y).item<bool>(), "every element comes back");
}

int main() {
  const auto path = (std::filesystem::temp_directory_path() / "tenon_example.npy").string();
  const tn::Tensor x = 100 * tn::random::normal({7, 5, 3}, tn::seed(1));
  for (const tn::DType dtype : {tn::DType::kBool, tn::DType::kInt8, tn::DType::kUInt16, tn::DType::kInt64,
                                tn::DType::kFloat16, tn::DType::kBFloat16, tn::DType::kFloat32, tn::DType::kFloat64}) {
    check_round_trip(x.astype(dtype), path);
  }
  check_round_trip(tn::transpose(x), path);   // a view is written in row-major order
  check_round_trip(tn::full({}, 2.5), path);  // 0-d
  check_round_trip(tn::zeros({0, 4}), path);  // nothing
  std::filesystem::remove(path);

  const tn::Tensor images = tn::load(TENON_SOURCE_DIR "/tests/examples/data/digits_images.npy");
  check(images.shape() == tn::Dims{1797, 8, 8} && images.dtype() == tn::DType::kUInt8, "the digits are there");
  std::cout << "the first digit, a nought:\n" << images[0] << "\n";

  // A file that cannot be read is one clear line.
  try {
    tn::load("no such file.npy");
    check(false, "a missing file throws");
  } catch (const tn::Error& error) {
    check(error.code() == tn::ErrorCode::kFile, "a file's fault is told as one");
  }
}
