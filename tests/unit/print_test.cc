// SPDX-License-Identifier: MIT
// Tensors print as NumPy 2 prints the same arrays: the expected texts are NumPy's.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
namespace {

std::size_t size_of_shape(const Dims& shape) {
  return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

Tensor counted(const Dims& shape) {
  std::vector<std::int64_t> values(size_of_shape(shape));
  std::iota(values.begin(), values.end(), 0);
  return asarray(values, shape);
}

Tensor sevenths(const Dims& shape) {
  std::vector<float> values(size_of_shape(shape));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 7;
  return asarray(values, shape);
}

TEST(Print, PointsStandBelowEachOther) {
  EXPECT_EQ(to_string(asarray<float>({{1.5f, 2, 3}, {4, 5.25f, -6}})), R"([[ 1.5   2.    3.  ]
 [ 4.    5.25 -6.  ]])");
}

TEST(Print, LargeTensorsAreCut) { EXPECT_EQ(to_string(counted({2000})), R"([   0    1    2 ... 1997 1998 1999])"); }

TEST(Print, RanksAreNestedBrackets) {
  EXPECT_EQ(to_string(counted({2, 4, 5})), R"([[[ 0  1  2  3  4]
  [ 5  6  7  8  9]
  [10 11 12 13 14]
  [15 16 17 18 19]]

 [[20 21 22 23 24]
  [25 26 27 28 29]
  [30 31 32 33 34]
  [35 36 37 38 39]]])");
}

TEST(Print, WideRangesAreScientific) {
  EXPECT_EQ(to_string(asarray<double>({1e10, 1.5, NAN, INFINITY})), R"([1.0e+10 1.5e+00     nan     inf])");
}

TEST(Print, NanAndInfinityAreAligned) {
  EXPECT_EQ(to_string(asarray<float>({1, NAN, -INFINITY})), R"([  1.  nan -inf])");
}

TEST(Print, Bools) { EXPECT_EQ(to_string(asarray({true, false})), R"([ True False])"); }

TEST(Print, LongRowsAreWrapped) {
  EXPECT_EQ(to_string(linspace(0, 1, 30)), R"([0.         0.03448276 0.06896552 0.10344828 0.13793103 0.1724138
 0.20689656 0.2413793  0.27586207 0.31034482 0.3448276  0.37931034
 0.41379312 0.44827586 0.4827586  0.51724136 0.55172414 0.5862069
 0.62068963 0.6551724  0.6896552  0.7241379  0.7586207  0.79310346
 0.82758623 0.86206895 0.8965517  0.9310345  0.9655172  1.        ])");
}

TEST(Print, CutRowsAreWrappedToo) {
  EXPECT_EQ(to_string(sevenths({2, 600})), R"([[0.0000000e+00 1.4285715e-01 2.8571430e-01 ... 8.5285713e+01
  8.5428574e+01 8.5571426e+01]
 [8.5714287e+01 8.5857140e+01 8.6000000e+01 ... 1.7100000e+02
  1.7114285e+02 1.7128572e+02]])");
}

TEST(Print, AtMostEightDigitsAfterThePoint) {
  EXPECT_EQ(to_string(asarray<double>({0.1, 1 / 3., 2 / 3.})), R"([0.1        0.33333333 0.66666667])");
}

TEST(Print, SmallNumbersAreScientific) { EXPECT_EQ(to_string(asarray<float>({1e-5f, 1})), R"([1.e-05 1.e+00])"); }

TEST(Print, Float16HasItsOwnShortestDigits) {
  EXPECT_EQ(to_string(asarray<float16>({float16(65504), float16(1 / 3.f)})), R"([6.550e+04 3.333e-01])");
}

TEST(Print, NoElements) { EXPECT_EQ(to_string(zeros({0, 3})), R"([])"); }

TEST(Print, Integers) { EXPECT_EQ(to_string(asarray<std::int8_t>({-128, 127})), R"([-128  127])"); }

TEST(Print, EveryAxisIsCut) {
  EXPECT_EQ(to_string(counted({30, 30, 30})), R"([[[    0     1     2 ...    27    28    29]
  [   30    31    32 ...    57    58    59]
  [   60    61    62 ...    87    88    89]
  ...
  [  810   811   812 ...   837   838   839]
  [  840   841   842 ...   867   868   869]
  [  870   871   872 ...   897   898   899]]

 [[  900   901   902 ...   927   928   929]
  [  930   931   932 ...   957   958   959]
  [  960   961   962 ...   987   988   989]
  ...
  [ 1710  1711  1712 ...  1737  1738  1739]
  [ 1740  1741  1742 ...  1767  1768  1769]
  [ 1770  1771  1772 ...  1797  1798  1799]]

 [[ 1800  1801  1802 ...  1827  1828  1829]
  [ 1830  1831  1832 ...  1857  1858  1859]
  [ 1860  1861  1862 ...  1887  1888  1889]
  ...
  [ 2610  2611  2612 ...  2637  2638  2639]
  [ 2640  2641  2642 ...  2667  2668  2669]
  [ 2670  2671  2672 ...  2697  2698  2699]]

 ...

 [[24300 24301 24302 ... 24327 24328 24329]
  [24330 24331 24332 ... 24357 24358 24359]
  [24360 24361 24362 ... 24387 24388 24389]
  ...
  [25110 25111 25112 ... 25137 25138 25139]
  [25140 25141 25142 ... 25167 25168 25169]
  [25170 25171 25172 ... 25197 25198 25199]]

 [[25200 25201 25202 ... 25227 25228 25229]
  [25230 25231 25232 ... 25257 25258 25259]
  [25260 25261 25262 ... 25287 25288 25289]
  ...
  [26010 26011 26012 ... 26037 26038 26039]
  [26040 26041 26042 ... 26067 26068 26069]
  [26070 26071 26072 ... 26097 26098 26099]]

 [[26100 26101 26102 ... 26127 26128 26129]
  [26130 26131 26132 ... 26157 26158 26159]
  [26160 26161 26162 ... 26187 26188 26189]
  ...
  [26910 26911 26912 ... 26937 26938 26939]
  [26940 26941 26942 ... 26967 26968 26969]
  [26970 26971 26972 ... 26997 26998 26999]]])");
}

TEST(Print, LongExponents) { EXPECT_EQ(to_string(asarray<double>({1e300, 1e-300})), R"([1.e+300 1.e-300])"); }

TEST(Print, SignsOfZeros) { EXPECT_EQ(to_string(asarray<float>({0.0f, -0.0f})), R"([ 0. -0.])"); }

TEST(Print, RatiosAboveAThousandAreScientific) {
  EXPECT_EQ(to_string(asarray<double>({123456.789, 0.001})), R"([1.23456789e+05 1.00000000e-03])");
}

TEST(Print, ScalarsAreBareNumbers) {
  EXPECT_EQ(to_string(asarray(1.5f)), "1.5");
  EXPECT_EQ(to_string(asarray(3.0)), "3.0");
  EXPECT_EQ(to_string(asarray(1e20)), "1e+20");
  EXPECT_EQ(to_string(asarray(9e-5)), "9e-05");
  EXPECT_EQ(to_string(asarray(0.1f)), "0.1");
  EXPECT_EQ(to_string(asarray(std::int8_t{-5})), "-5");
  EXPECT_EQ(to_string(asarray(true)), "True");
}

}  // namespace
}  // namespace tenon
