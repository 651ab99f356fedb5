// SPDX-License-Identifier: MIT
// The smallest program over an installed Tenon; exits with 0 when the sum is right.
#include <tenon/tenon.h>

int main() { return (tenon::ones({2, 3}) + 1.0).to_vector<float>() == std::vector<float>(6, 2.0f) ? 0 : 1; }
