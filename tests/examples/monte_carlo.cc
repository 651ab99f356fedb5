// SPDX-License-Identifier: MIT
// The price of a European call option by a million random paths, beside the closed form of Black and Scholes (1973).
//
// Random numbers are functions of the seed and the element's index, so they are made inside the kernel that uses them
// and the million paths are never in memory.
#include <tenon/tenon.h>

#include <cmath>
#include <cstdio>

#include "check.h"

namespace tn = tenon;

struct Market {
  double spot, strike, rate, volatility, years;
};

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

double closed_form(const Market& m) {
  const double spread = m.volatility * std::sqrt(m.years);
  const double d = (std::log(m.spot / m.strike) + (m.rate + m.volatility * m.volatility / 2) * m.years) / spread;
  return m.spot * normal_cdf(d) - m.strike * std::exp(-m.rate * m.years) * normal_cdf(d - spread);
}

/// What the option pays at the end of each path, in today's money: float32 [paths].
tn::Tensor payoffs(const Market& m, std::int64_t paths, std::uint64_t seed) {
  const tn::Tensor z = tn::random::normal({paths}, tn::seed(seed));
  const double drift = (m.rate - m.volatility * m.volatility / 2) * m.years;
  const tn::Tensor price = m.spot * tn::exp(m.volatility * std::sqrt(m.years) * z + drift);
  return tn::relu(price - m.strike) * std::exp(-m.rate * m.years);
}

int main() {
  const Market market = {.spot = 100, .strike = 105, .rate = 0.03, .volatility = 0.2, .years = 1};
  const std::int64_t paths = 1'000'000;
  const tn::Tensor payoff = payoffs(market, paths, 1);
  const tn::Tensor mean = tn::mean(payoff), spread = tn::std(payoff);
  tn::eval(mean, spread);

  const double price = mean.item<float>(), error = spread.item<float>() / std::sqrt(double(paths));
  std::printf("by paths %.4f +- %.4f, closed form %.4f\n", price, error, closed_form(market));
  check(std::abs(price - closed_form(market)) < 4 * error, "the price lies within four standard errors");

  // The seed and the market are arguments: other values, same program.
  const std::uint64_t before = tn::statistics().compiled;
  const tn::Tensor other = payoffs({.spot = 90, .strike = 105, .rate = 0.01, .volatility = 0.3, .years = 2}, paths, 2);
  const tn::Tensor other_mean = tn::mean(other), other_spread = tn::std(other);
  tn::eval(other_mean, other_spread);
  check(tn::statistics().compiled == before, "another market compiles nothing");
}
