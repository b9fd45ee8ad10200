// tests/compiler/test_shape_errors.cpp - what vectors and matrices can be
// refused for, with the whole message.

#include "tests/compiler/support.h"

#include <gtest/gtest.h>

namespace tilefold::tests {
namespace {

// ---- axes -------------------------------------------------------------------

TEST(Refusals, ReductionsOverOtherAxes) {
    EXPECT_EQ(refusal("sum_k x_k", "x f32[3]"),
              "'sum_k' is no reduction: points are on i and on j\n"
              "  sum_k x_k\n"
              "  ^~~~~\n"
              "write sum_i, sum_j or sum_ij, or pass sum_k=…");
    EXPECT_EQ(refusal("sum_j max_k x_j", "x f32[3], max_k f64"), "no error");
}

// ---- vectors ----------------------------------------------------------------

TEST(Refusals, VectorsSideBySide) {
    EXPECT_EQ(refusal("sum_j x_i y_j", xy),
              "two vectors side by side (3 components and 3 components)\n"
              "  sum_j x_i y_j\n"
              "        ^~~~~~~\n"
              "write · for the inner product, * for the product of components");
    EXPECT_EQ(refusal("sum_j x_i y_j", "x f32[1], y f32[1]"), "no error");
    EXPECT_EQ(refusal("sum_j x_i*y_j", xy), "no error");
}

TEST(Refusals, PowersOfVectors) {
    EXPECT_EQ(refusal("sum_j exp(-(x_i-y_j)²)", xy),
              "a power of a vector of 3 components\n"
              "  sum_j exp(-(x_i-y_j)²)\n"
              "             ^~~~~~~~~~\n"
              "write |v|² for the squared norm, v*v for the squares of "
              "components");
    EXPECT_EQ(refusal("sum_j (x_i^p + y_j)", "x f32[3], y f32[3], p f64")
                  .substr(0, 35),
              "a power of a vector of 3 components");
    EXPECT_EQ(refusal("sum_j (x_i-y_j)²", "x f32[1], y f32[1]"), "no error");
}

TEST(Refusals, ScalarsOverVectors) {
    EXPECT_EQ(refusal("exp(-|x-y|²/2l²)", "x f32[3], y f32[3], l f64[3]"),
              "a power of a vector of 3 components\n"
              "  exp(-|x-y|²/2l²)\n"
              "               ^~\n"
              "write |v|² for the squared norm, v*v for the squares of "
              "components");
    EXPECT_EQ(refusal("exp(-|x-y|²/l)", "x f32[3], y f32[3], l f64[3]"),
              "a scalar divided by a vector of 3 components\n"
              "  exp(-|x-y|²/l)\n"
              "       ^~~~~~~~\n"
              "for a length scale per dimension write |(x_i-y_j)/l|²/2");
    EXPECT_EQ(refusal("exp(-|(x-y)/l|²)", "x f32[3], y f32[3], l f64[3]"),
              "no error");
}

TEST(Refusals, DerivativesOfTooManyComponents) {
    EXPECT_EQ(refusal("laplacian(|x_i|², x_i)", "x f32[5000]"),
              "a vector of 5000 components is written out here, where 1 to "
              "4096 may be\n"
              "  laplacian(|x_i|², x_i)\n"
              "  ^~~~~~~~~~~~~~~~~~~~~~\n"
              "the gradient by a table has as many components as the table");
    EXPECT_EQ(refusal("jacobian(2x_i, x_i)", "x f32[2147483647]").substr(0, 33),
              "a vector of 2147483647 components");
}

TEST(Refusals, LengthsThatDiffer) {
    EXPECT_EQ(refusal("sum_j |x_i - y_j|²", "x f32[3], y f32[1]"),
              "'-' of a vector of 3 components and a vector of 1 component: "
              "the numbers of components differ\n"
              "  sum_j |x_i - y_j|²\n"
              "         ^~~~~~~~~\n"
              "components must agree, or one operand must be a scalar, such "
              "as a component, v[0]");
    EXPECT_EQ(refusal("sum_j A @ y_j", "A f64[2,3], y f32[2]"),
              "'@' of a matrix of 2 × 3 components and a vector of 2 "
              "components: the numbers of components differ\n"
              "  sum_j A @ y_j\n"
              "        ^~~~~~~\n"
              "components must agree, or one operand must be a scalar, such "
              "as a component, v[0]");
    EXPECT_EQ(refusal("sum_j y_j @ A", "A f64[2,3], y f32[3]").substr(0, 34),
              "'@' of a vector of 3 components an");
}

TEST(Refusals, DotsOfScalarsAndVectors) {
    EXPECT_EQ(refusal("sum_j a_i·y_j", "a f32, y f32[3]"),
              "'·' of a scalar and a vector of 3 components\n"
              "  sum_j a_i·y_j\n"
              "        ^~~~~~~\n"
              "write * for the product with a scalar");
    EXPECT_EQ(refusal("sum_j a_i·b_j", "a f32, b f32"), "no error");
}

TEST(Refusals, ScalarsWhereVectorsAreNeeded) {
    EXPECT_EQ(refusal("sum(exp(x_i·y_j))", xy),
              "'sum' of a scalar: it takes the components of a vector\n"
              "  sum(exp(x_i·y_j))\n"
              "  ^~~~~~~~~~~~~~~~~\n"
              "to reduce over points write sum_i, sum_j or sum_ij");
    EXPECT_EQ(refusal("a_i[0]", "a f32"),
              "a subscript takes a vector, not a scalar\n"
              "  a_i[0]\n"
              "  ^~~~~~");
    EXPECT_EQ(refusal("a_i @ x_i", "a f32, x f32[3]"),
              "@ takes a vector, not a scalar\n"
              "  a_i @ x_i\n"
              "  ^~~~~~~~~");
}

TEST(Refusals, ScalarsWhereMatricesAreNeeded) {
    EXPECT_EQ(refusal("x_i @ a_i", "a f32, x f32[3]"),
              "@ takes a matrix, not a scalar\n"
              "  x_i @ a_i\n"
              "  ^~~~~~~~~\n"
              "matrices are parameters of shape (R, C)");
}

TEST(Refusals, VectorsWhereScalarsAreNeeded) {
    EXPECT_EQ(refusal("logsumexp_j(x_i - y_j)", xy),
              "logsumexp_j takes a scalar, not a vector of 3 components\n"
              "  logsumexp_j(x_i - y_j)\n"
              "  ^~~~~~~~~~~~~~~~~~~~~~\n"
              "write |v|, v·w or one component, v[0]");
    EXPECT_EQ(refusal("argkmin_j(x_i - y_j, 3)", xy).substr(0, 55),
              "argkmin_j takes a scalar, not a vector of 3 components\n");
    EXPECT_EQ(refusal("softmax_j(x_i - y_j, 3)", xy).substr(0, 55),
              "softmax_j takes a scalar, not a vector of 3 components\n");
    EXPECT_EQ(refusal("logsumexp_j(x_i·y_j, y_j)", xy).substr(0, 57),
              "logsumexp_j takes a scalar, not a vector of 3 components\n");
}

TEST(Refusals, CrossProductsBeyondThreeComponents) {
    EXPECT_EQ(refusal("sum_j cross(x_i, y_j)", "x f32[2], y f32[2]"),
              "a cross product of a vector of 2 components and a vector of 2 "
              "components\n"
              "  sum_j cross(x_i, y_j)\n"
              "        ^~~~~~~~~~~~~~~\n"
              "both operands are vectors of 3 components");
    EXPECT_EQ(refusal("sum_j x_i × y_j", "x f32[2], y f32[2]"),
              "'×' of a vector of 2 components and a vector of 2 components\n"
              "  sum_j x_i × y_j\n"
              "        ^~~~~~~~~\n"
              "a cross product is of vectors of 3 components; write * to "
              "multiply component by component, · for the inner product");
}

TEST(Refusals, SubscriptsBeyondTheEnd) {
    EXPECT_EQ(refusal("x_i[3]", "x f32[3]"),
              "component 3 of a vector of 3 components\n"
              "  x_i[3]\n"
              "  ^~~~~~\n"
              "components count from 0; -1 is the last");
    EXPECT_EQ(refusal("x_i[-4]", "x f32[3]").substr(0, 20),
              "component -4 of a ve");
    EXPECT_EQ(refusal("x_i[2:1]", "x f32[3]"),
              "the range [2:1] of a vector of 3 components holds no component\n"
              "  x_i[2:1]\n"
              "  ^~~~~~~~");
    EXPECT_EQ(refusal("x_i[5:]", "x f32[3]").substr(0, 14), "the range [5:]");
    EXPECT_EQ(refusal("x_i[-9:9]", "x f32[3]"), "no error");
}

TEST(Refusals, NumbersWhereTruthIsNeeded) {
    EXPECT_EQ(refusal("where(a_i, 1, 0)", "a f32"),
              "'where' takes a truth value, not a scalar\n"
              "  where(a_i, 1, 0)\n"
              "  ^~~~~~~~~~~~~~~~\n"
              "write a comparison, as in f != 0");
    EXPECT_EQ(refusal("count_j(a_j)", "a f32").substr(0, 41),
              "'count_j' takes a truth value, not a scal");
    EXPECT_EQ(refusal("where(a_i, 1, 0)", "a bool"), "no error");
}

TEST(Refusals, MatricesElsewhereThanInProducts) {
    EXPECT_EQ(refusal("exp(-|x - y_j|²)", "x f32[100,3], y f32[3]"),
              "'x' is a parameter, but was given 100 rows\n"
              "  exp(-|x - y_j|²)\n"
              "        ^\n"
              "write x_i or x_j in the formula, or pass one value per "
              "component");
    EXPECT_EQ(refusal("A @ B", "A f64[2,2], B f64[2,2]").substr(0, 63),
              "@ after a matrix takes a vector, not a matrix of 2 × 2 compone");
    EXPECT_EQ(refusal("A", "A f64[2,2]").substr(0, 39),
              "'A' is a parameter, but was given 2 row");
    EXPECT_EQ(refusal("A[0:1]", "A f64[2,2]").substr(0, 39),
              "'A' is a parameter, but was given 2 row");
}

TEST(Refusals, VectorsOfMoreComponentsThanAreCounted) {
    EXPECT_EQ(refusal("sum_j [1, m][0]*x_j", "x f64, m f64[2147483647]"),
              "a vector of 2147483648 components; at most 2147483647 are made\n"
              "  sum_j [1, m][0]*x_j\n"
              "        ^~~~~~\n"
              "pass it as an array, or make a part of it");
    EXPECT_EQ(refusal("sum_j [1, m][0]*x_j", "x f64, m f64[2147483646]"),
              "no error");
    EXPECT_EQ(refusal("sum_j sum(outer(x_j, m))", "x f64[1025], m f64[1024]"),
              "a vector of 1049600 components; at most 1048576 are made\n"
              "  sum_j sum(outer(x_j, m))\n"
              "            ^~~~~~~~~~~~~\n"
              "pass it as an array, or make a part of it");
}

} // namespace
} // namespace tilefold::tests
