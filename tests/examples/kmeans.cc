// SPDX-License-Identifier: MIT
// k-means by Lloyd's rounds: points go to the nearest centre, centres to the mean of their points. One round is traced
// as array code without a loop over points or clusters, is compiled once, and runs until nothing moves.
#include <tenon/tenon.h>

#include <iostream>

#include "check.h"

namespace tn = tenon;

constexpr std::int64_t kPoints = 3000, kClusters = 3;

/// Squared distances [points, clusters]. The three-axis difference inside is never in memory.
tn::Tensor distances(const tn::Tensor& points, const tn::Tensor& centres) {
  return tn::sum(tn::square(tn::expand_dims(points, 1) - centres), {-1});
}

/// The mean of each centre's points: the sums are a product with the one-hot membership.
tn::Tensor move(const tn::Tensor& points, const tn::Tensor& centres) {
  const tn::Tensor member = tn::one_hot(tn::argmin(distances(points, centres), -1), kClusters);
  const tn::Tensor counts = tn::sum(member, {0});
  return tn::matmul(tn::transpose(member), points) / tn::expand_dims(tn::maximum(counts, 1), 1);
}

int main() {
  // Three clouds of spread 0.5, point i belonging to cloud i mod 3.
  const tn::Tensor truth = tn::asarray({{0.0f, 0.0f}, {4.0f, 0.0f}, {0.0f, 5.0f}});
  const tn::Tensor cloud = tn::arange(kPoints) % kClusters;
  const tn::Tensor points = tn::take(truth, cloud) + 0.5 * tn::random::normal({kPoints, 2}, tn::seed(3));
  points.eval();

  tn::Tensor centres = points[{tn::slice(0, kClusters)}];  // the first point of each cloud
  centres.eval();
  const tn::Statistics before = tn::statistics();
  int rounds = 0;
  for (float moved = 1; moved > 0 && rounds < 100; ++rounds) {
    const tn::Tensor next = move(points, centres);
    const tn::Tensor step = tn::max(tn::abs(next - centres));
    tn::eval(next, step);
    moved = step.item<float>();
    centres = next;
  }
  const tn::Statistics after = tn::statistics();

  std::cout << "centres after " << rounds << " rounds\n" << centres << "\n";
  check(rounds < 100, "the rounds come to rest");
  check(tn::max(tn::abs(centres - truth)).item<float>() < 0.1f, "centres are where the clouds were put");
  check_lazy(after.compiled + after.disk_hits == before.compiled + before.disk_hits + 1, "a round is one program");
}
