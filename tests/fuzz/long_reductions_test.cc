// SPDX-License-Identifier: MIT
// Reductions and scans over long axes, as whole kernels and as partials with a finish: the bits of the graph
// interpreter, from the loop-IR interpreter and from compiled code.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/ir/graph_text.h"
#include "tests/fuzz/agreement.h"

namespace tenon {
namespace {

class LongReductions : public ::testing::TestWithParam<std::string> {};

TEST_P(LongReductions, HaveOneMeaning) {
  const absl::StatusOr<ProgramText> program = parse_program(GetParam());
  ASSERT_TRUE(program.ok()) << program.status();
  testing::RandomProgram p = testing::with_random_inputs(program->graph, 11);
  testing::expect_agreement(p, /*compiled=*/true);
}

std::string reduction(const std::string& op, const std::string& dtype, const std::string& from, const std::string& axis,
                      const std::string& to, const std::string& result) {
  return absl::StrCat("input x: ", dtype, from, "\n%1: ", result, to, " = ", op, "(x, axis=[", axis,
                      "], keepdims=false", op == "sum" || op == "prod" ? absl::StrCat(", dtype=", result) : "",
                      ")\noutput %1\n");
}

std::vector<std::string> programs() {
  std::vector<std::string> all;
  for (const std::string n : {"65535", "65536", "65537", "131072", "200001", "524289"}) {
    all.push_back(reduction("sum", "float32", absl::StrCat("[", n, "]"), "0", "", "float32"));
    all.push_back(reduction("max", "float32", absl::StrCat("[", n, "]"), "0", "", "float32"));
  }
  all.push_back(reduction("sum", "float32", "[3, 70000]", "1", "[3]", "float32"));
  all.push_back(reduction("sum", "bfloat16", "[2, 65536]", "1", "[2]", "bfloat16"));
  all.push_back(reduction("sum", "int32", "[70001]", "0", "", "int64"));
  all.push_back(reduction("mean", "float64", "[70001]", "0", "", "float64"));
  for (const std::string rows : {"4095", "4096", "4097", "5000", "20001"}) {
    all.push_back(reduction("sum", "float32", absl::StrCat("[", rows, ", 7]"), "0", "[7]", "float32"));
    all.push_back(reduction("min", "int16", absl::StrCat("[", rows, ", 3]"), "0", "[3]", "int16"));
  }
  all.push_back(reduction("sum", "float32", "[2, 4096, 33]", "1", "[2, 33]", "float32"));
  all.push_back(reduction("sum", "float32", "[300, 500]", "0", "[500]", "float32"));
  all.push_back(reduction("argmax", "float32", "[70001]", "0", "", "int64"));
  all.push_back(reduction("argmin", "float16", "[5000, 9]", "0", "[9]", "int64"));
  all.push_back("input x: float32[3, 5000]\n%1: float32[3, 5000] = cumsum(x, axis=1, dtype=float32)\noutput %1\n");
  all.push_back("input x: float32[5000, 3]\n%1: float32[5000, 3] = cumsum(x, axis=0, dtype=float32)\noutput %1\n");
  all.push_back("input x: float32[9, 4097]\n%1: float32[9, 4097] = softmax(x, axis=1)\noutput %1\n");
  all.push_back("input x: float32[4097, 9]\n%1: float32[4097, 9] = softmax(x, axis=0)\noutput %1\n");
  for (const std::string d : {"9", "64", "100", "300", "2100"}) {
    for (const std::string reduce : {"argmin(%3, axis=[1], keepdims=false)", "max(%3, axis=[1], keepdims=false)"}) {
      const std::string to = reduce[0] == 'a' ? "int64" : "float32";
      all.push_back(absl::StrCat("input x: float32[23, 1, ", d, "]\ninput c: float32[1, 11, ", d,
                                 "]\n%2: float32[23, 11, ", d,
                                 "] = multiply(x, c)\n%3: float32[23, 11] = sum(%2, axis=[2], keepdims=false, ",
                                 "dtype=float32)\n%4: ", to, "[23] = ", reduce, "\noutput %4, %3\n"));
    }
    all.push_back(
        absl::StrCat("input x: int16[3, 5, 7, ", d, "]\n%1: int16[3, 5, 7] = max(x, axis=[3], keepdims=false)\n",
                     "%2: int16[3, 5, 7] = negative(%1)\n%3: int64[3, 5] = sum(%2, axis=[2], keepdims=false, ",
                     "dtype=int64)\noutput %3\n"));
  }
  for (const std::string shape : {"[200, 300]", "[65, 17]", "[3000, 40]", "[8192, 33]"}) {
    all.push_back(
        absl::StrCat("input x: float32", shape, "\n%1: float32", shape, " = softmax(x, axis=0)\noutput %1\n"));
    const std::string columns = shape.substr(shape.find(' ') + 1);
    all.push_back(absl::StrCat(
        "input x: bfloat16", shape, "\n%1: float32", shape, " = cast(x, dtype=float32)\n%2: float32[1, ", columns,
        " = var(%1, axis=[0], keepdims=true, correction=0)\n%3: float32[1, ", columns, " = rsqrt(%2)\n%4: float32",
        shape, " = multiply(%1, %3)\n%5: bfloat16", shape, " = cast(%4, dtype=bfloat16)\noutput %5, %2\n"));
  }
  all.push_back("input x: float16[5, 3000]\n%1: float16[5, 3000] = log_softmax(x, axis=1)\noutput %1\n");
  all.push_back(
      "input x: float32[200, 300]\ninput y: float32[200, 300]\n%2: float32[300, 200] = permute_dims(y, axes=[1, 0])\n"
      "%3: float32[300, 300] = matmul(%2, x)\n%4: float32[300] = sum(%3, axis=[1], keepdims=false, "
      "dtype=float32)\noutput %4, %3\n");
  all.push_back(
      "input x: bfloat16[3, 33, 65]\ninput y: bfloat16[65, 17]\n%2: bfloat16[3, 33, 17] = matmul(x, y)\noutput %2\n");
  all.push_back("input x: int8[5]\ninput y: int8[5, 4]\n%2: int8[4] = matmul(x, y)\noutput %2\n");
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, LongReductions, ::testing::ValuesIn(programs()));

}  // namespace
}  // namespace tenon
