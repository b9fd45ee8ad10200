// tests/compiler/test_types.cpp - types as text, and what operations make of
// them.

#include "tests/compiler/support.h"

#include <gtest/gtest.h>

namespace tilefold::tests {
namespace {

std::string type_of(std::string_view formula, std::string_view types) {
    const ir::Graph graph = graph_of(formula, types);
    return spelling_of(graph[graph.result].type);
}

TEST(Types, PrintDTypeShapeAndAxes) {
    EXPECT_EQ(spelling_of(Type{}), "f32 {}");
    EXPECT_EQ(spelling_of(Type{DType::F64, 1, Axes::IJ, 3, 1}), "f64[3] {i,j}");
    EXPECT_EQ(spelling_of(Type{DType::F64, 2, Axes::None, 2, 3}),
              "f64[2,3] {}");
    EXPECT_EQ(spelling_of(Type{DType::F32, 1, Axes::J, dynamic, 1}),
              "f32[?] {j}");
}

TEST(Types, EveryDTypeReadsBack) {
    for (int k = 0; k <= int(DType::Bool); ++k) {
        DType read = DType::F64;
        ASSERT_TRUE(parse_dtype(spelling_of(DType(k)), read));
        EXPECT_EQ(read, DType(k));
    }
    DType dtype = DType::I8;
    EXPECT_FALSE(parse_dtype("f128", dtype));
    EXPECT_EQ(dtype, DType::I8);
}

TEST(Types, ParametersAndLiteralsDoNotPromote) {
    EXPECT_EQ(type_of("x_i * l * 2", "x f32, l f64"), "f32 {i}");
    EXPECT_EQ(type_of("x_i * l * 2", "x f64, l f32"), "f64 {i}");
}

TEST(Types, ValuesOnNoAxisAreDouble) {
    EXPECT_EQ(type_of("√l * 2 + n", "l f32, n i32"), "f64 {}");
}

TEST(Types, IndexArithmeticIsExact) {
    EXPECT_EQ(type_of("x_i * 0 + (i - 2 * i)", "x f32"), "f32 {i}");
    EXPECT_EQ(type_of("where(x_i < 0, i - 2 * i, 1)", "x f32"), "f64 {i}");
    EXPECT_EQ(type_of("where(x_i < 0, (i - 3)², 1)", "x f32"), "f64 {i}");
    EXPECT_EQ(type_of("where(x_i < 0, i/2, 1)", "x f32"), "f32 {i}");
}

TEST(Types, IntegersAndTruthValuesKeepTheirKind) {
    EXPECT_EQ(type_of("where(a_i, i, n_i)", "a bool, n i32"), "i64 {i}");
    EXPECT_EQ(type_of("where(a_i, a_i, not a_i)", "a bool"), "bool {i}");
    EXPECT_EQ(type_of("max_j n_j", "n i32"), "i64 {}");
    EXPECT_EQ(type_of("a_i + a_i", "a bool"), "f64 {i}");
}

TEST(Types, ReductionsHaveTheirResults) {
    constexpr std::string_view xy = "x f32, y f32";
    EXPECT_EQ(type_of("sum_j x_i*y_j", xy), "f32 {i}");
    EXPECT_EQ(type_of("sum_j where(x_i < y_j, i-j, 1)", xy), "f64 {i}");
    EXPECT_EQ(type_of("sum_j n_j", "n i8"), "i64 {}");
    EXPECT_EQ(type_of("sum_j (n_i == n_j)", "n i8"), "i64 {i}");
    EXPECT_EQ(type_of("mean_j n_j", "n i8"), "f64 {}");
    EXPECT_EQ(type_of("prod_j n_j", "n i8"), "f64 {}");
    EXPECT_EQ(type_of("mean_j (n_i == n_j)", "n i8"), "f64 {i}");
    EXPECT_EQ(type_of("sum_j n_i*n_j", "n i8"), "f64 {i}");
    EXPECT_EQ(type_of("sum_j sum(n_j)", "n i8[3]"), "f64 {}");
    EXPECT_EQ(type_of("sum_j sum(x_i == x_j)", "x f32[3]"), "f64 {i}");
    EXPECT_EQ(type_of("sum_j x_j*(x_i < x_j)", "x f32"), "f32 {i}");
    EXPECT_EQ(type_of("sum_j n_i·n_j", "n i8[3]"), "f32 {i}");
    EXPECT_EQ(type_of("argmin_j x_i*y_j", xy), "i64 {i}");
    EXPECT_EQ(type_of("count_j(x_i < y_j)", xy), "i64 {i}");
    EXPECT_EQ(type_of("any_i(x_i < y_j)", xy), "bool {j}");
    EXPECT_EQ(type_of("kmin_j(x_i*y_j, 4)", xy), "f32[4] {i}");
    EXPECT_EQ(type_of("argkmin_j(x_i*y_j, 1)", xy), "i64[1] {i}");
    EXPECT_EQ(type_of("logsumexp_ij(x_i*y_j)", xy), "f32 {}");
    EXPECT_EQ(type_of("argmax_j (x_i*y_j)", "x f32[3], y f32[3]"),
              "i64[3] {i}");
}

TEST(Types, ScalarsGoWithVectorsMatricesWithVectors) {
    EXPECT_EQ(type_of("l * x_i", "x f32[3], l f64"), "f32[3] {i}");
    EXPECT_EQ(type_of("A @ x_i", "A f64[2,3], x f32[3]"), "f32[2] {i}");
    EXPECT_EQ(type_of("x_i @ A", "A f64[3,2], x f32[3]"), "f32[2] {i}");
    EXPECT_EQ(type_of("x_i @ x_i", "x f32[3]"), "f32 {i}");
    EXPECT_EQ(type_of("[x_i, 1, i]", "x f32[3]"), "f32[5] {i}");
}

} // namespace
} // namespace tilefold::tests
