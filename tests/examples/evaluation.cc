// SPDX-License-Identifier: MIT
// When does it evaluate? When a value is needed, and not before; and what makes a program another program.
#include <tenon/tenon.h>

#include "check.h"

namespace tn = tenon;

/// Programs that the process has had to get ready so far, compiled or loaded from disk.
std::uint64_t programs() {
  const tn::Statistics statistics = tn::statistics();
  return statistics.compiled + statistics.disk_hits;
}

tn::Tensor damped_wave(const tn::Tensor& t, double damping) { return tn::exp(-damping * t) * tn::sin(t); }

int main() {
  const tn::Tensor t = tn::linspace(0.0, 10.0, 1000).eval();
  const std::uint64_t before = programs();

  // A call checks its arguments and notes what is to be done.
  const tn::Tensor wave = damped_wave(t, 0.25);
  check(wave.shape() == tn::Dims{1000} && wave.dtype() == tn::DType::kFloat32, "shape and dtype are known at once");
  check_lazy(!wave.is_evaluated() && programs() == before, "a call computes nothing");

  // Reading does the work: item, to_vector, data, printing, save, and eval for its own sake.
  const float peak = tn::max(wave).item<float>();
  check(peak > 0.6f && peak < 0.8f, "the peak of exp(-t/4) sin(t) is 0.705");
  check_lazy(programs() == before + 1, "one program made the peak");

  // The number is an argument of the program, so another number is the same program.
  for (const double damping : {0.5, 0.75, 1.0}) tn::max(damped_wave(t, damping)).eval();
  check_lazy(programs() == before + 1, "other numbers compile nothing");

  // Shapes and dtypes are part of the program.
  tn::max(damped_wave(tn::linspace(0.0, 10.0, 500).eval(), 0.25)).eval();
  check(programs() > before + 1, "another shape is another program");

  // Several tensors that are needed together are best asked for together: one program, and what they share is shared.
  const std::uint64_t before_two = programs();
  const tn::Tensor low = tn::min(wave), mean = tn::mean(wave);
  tn::eval(low, mean);
  check_lazy(programs() == before_two + 1, "two values, one program");

  // A tensor is a value: += makes a new one, and other handles keep the old one.
  tn::Tensor sum = tn::zeros({2});
  const tn::Tensor old = sum;
  sum += 1;
  check(tn::all(old == 0).item<bool>() && tn::all(sum == 1).item<bool>(), "+= changes one handle only");
}
