// tests/c/test_wrapper.cpp - tilefold.hpp: handles that free themselves, errors
// as exceptions, C++ arrays as arguments.
#include <tilefold/tilefold.hpp>

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <stdexcept>

namespace {

using tilefold::Argument;
using tilefold::Arguments;
using tilefold::Array;

class CWrapper : public testing::Test {
protected:
    CWrapper() : session(in_memory()) {
        for (std::size_t k = 0; k < x.size(); ++k)
            x[k] = std::sin(double(k));
        for (std::size_t k = 0; k < y.size(); ++k)
            y[k] = std::cos(2.0 * double(k));
        for (std::size_t k = 0; k < b.size(); ++k)
            b[k] = double(k) - 2;
    }
    static tilefold::Options in_memory() {
        tilefold::Options options;
        options.threads = 2;
        options.cache_directory = "";
        return options;
    }
    double gaussian(std::size_t i, std::size_t j) const {
        double square = 0;
        for (std::size_t d = 0; d < 2; ++d)
            square += std::pow(x[2 * i + d] - y[2 * j + d], 2);
        return std::exp(-square);
    }
    double expected(std::size_t i) const {
        double sum = 0;
        for (std::size_t j = 0; j < 6; ++j)
            sum += gaussian(i, j) * b[j];
        return sum;
    }
    Arguments arguments() const {
        return {{"x", {x.data(), {4, 2}}}, {"y", {y.data(), {6, 2}}}, {"b", b}};
    }

    static constexpr const char* text = "sum_j exp(-|x_i - y_j|^2) b_j";
    std::vector<double> x = std::vector<double>(8);
    std::vector<double> y = std::vector<double>(12);
    std::array<double, 6> b{};
    tilefold::Session session;
};

TEST_F(CWrapper, ReducesAndBinds) {
    const tilefold::Tensor made = session.reduce(text, arguments());
    ASSERT_EQ(made.shape(), std::vector<std::int64_t>{4});
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(made.at<double>(std::int64_t(i)), expected(i), 1e-14);
    EXPECT_THROW(made.data<float>(), std::invalid_argument);
    const tilefold::Formula formula = session.formula(text);
    EXPECT_EQ(formula.names().size(), 3u);
    EXPECT_EQ(formula.names()[2].axes, TILEFOLD_AXES_J);
    const tilefold::Bound bound = formula.bind(arguments());
    std::vector<double> out(4);
    bound.run(out);
    EXPECT_NEAR(out[3], expected(3), 1e-14);
    tilefold::RunOptions adding;
    adding.accumulate = true;
    bound.run(out, adding);
    EXPECT_NEAR(out[3], 2 * expected(3), 1e-14);
    bound.run(out);
    EXPECT_LT(bound.check_rows(out), 1e-14);
    EXPECT_EQ(bound.type().bits, 64);
    EXPECT_EQ(session.threads(), 2);
    EXPECT_EQ(session.statistics().compiles, 1);
    EXPECT_NE(formula.explain(arguments(), "reading"), "");
}

TEST_F(CWrapper, ErrorsAreExceptions) {
    try {
        session.formula("sum_j expp(x_i)");
        FAIL() << "no error";
    } catch (const tilefold::Error& error) {
        EXPECT_EQ(error.family(), tilefold::Family::Formula);
        EXPECT_EQ(error.code(), "MisspeltFunction");
        EXPECT_EQ(error.formula(), "sum_j expp(x_i)");
        EXPECT_EQ(error.span(), std::pair(std::int64_t(6), std::int64_t(10)));
        EXPECT_NE(std::string(error.what()).find("expp"), std::string::npos);
    }
    EXPECT_THROW(session.reduce(text, {{"x", 1}}), tilefold::Error);
    EXPECT_THROW(Array(x.data(), {4, 2}, {1}), std::invalid_argument);
}

TEST_F(CWrapper, WhatACallbackThrowsIsThrownByTheCall) {
    std::vector<float> many(3 * 60000);
    for (std::size_t k = 0; k < many.size(); ++k)
        many[k] = float(k % 1000) / 1000;
    const Arguments given{{"x", {many.data(), {60000, 3}}}};
    tilefold::RunOptions options;
    options.poll = [](double, double) -> bool {
        throw std::out_of_range("mine");
    };
    EXPECT_THROW(session.reduce("sum_j exp(-|x_i - x_j|)", given, options),
                 std::out_of_range);
    options.poll = [](double, double) { return false; };
    try {
        session.reduce("sum_j exp(-|x_i - x_j|)", given, options);
        FAIL() << "not cancelled";
    } catch (const tilefold::Error& error) {
        EXPECT_EQ(error.family(), tilefold::Family::Cancelled);
    }
}

TEST_F(CWrapper, DerivativesElementsAndRanges) {
    const tilefold::Formula sum = session.formula(text);
    Arguments given = arguments();
    const std::vector<double> ones(4, 1);
    given.push_back({"grad", ones});
    const tilefold::Bound gradient = sum.gradient({"b"}).bind(given);
    const tilefold::Tensor by_b = gradient();
    for (std::size_t j = 0; j < 6; ++j) {
        double column = 0;
        for (std::size_t i = 0; i < 4; ++i)
            column += gaussian(i, j);
        EXPECT_NEAR(by_b.at<double>(std::int64_t(j)), column, 1e-14);
    }
    given.back() = {"tangent", b};
    EXPECT_NEAR(sum.jvp({"b"})(given).at<double>(1), expected(1), 1e-14);

    const tilefold::Formula pair = session.formula("exp(-|x_i - y_j|^2)");
    const Arguments points(given.begin(), given.begin() + 2);
    const std::vector<std::int64_t> rows{3, 1};
    tilefold::BindOptions options;
    options.want = tilefold::Want::Dense;
    options.rows_i = &rows;
    const tilefold::Tensor block = pair.bind(points, options)();
    ASSERT_EQ(block.shape(), (std::vector<std::int64_t>{2, 6}));
    EXPECT_NEAR(block.at<double>(6 + 5), gaussian(1, 5), 1e-15);

    const tilefold::Ranges ranges({1, 4}, {{}, {{0, 2}, {5, 6}}});
    options = {};
    options.ranges = &ranges;
    const tilefold::Tensor part = sum.bind(arguments(), options)();
    EXPECT_EQ(part.at<double>(0), 0);
    EXPECT_NEAR(part.at<double>(2),
                gaussian(2, 0) * b[0] + gaussian(2, 1) * b[1] +
                    gaussian(2, 5) * b[5],
                1e-14);
    EXPECT_THROW(tilefold::Ranges({1}, {}), std::invalid_argument);
}

TEST_F(CWrapper, SystemsAndNeighbours) {
    const tilefold::Formula pair = session.formula("exp(-|x_i - x_j|^2)");
    const Arguments points{{"x", {x.data(), {4, 2}}}};
    const std::vector<double> right{1, 2, 3, 4};
    std::vector<double> found(4);
    tilefold::SolveOptions options{};
    options.ridge = 0.5;
    options.rtol = 1e-12;
    EXPECT_EQ(pair.solve(points, right, found, options).converged, 1);
    for (std::size_t i = 0; i < 4; ++i) {
        double sum = 0.5 * found[i];
        for (std::size_t j = 0; j < 4; ++j)
            sum += std::exp(-std::pow(x[2 * i] - x[2 * j], 2) -
                            std::pow(x[2 * i + 1] - x[2 * j + 1], 2)) *
                   found[j];
        EXPECT_NEAR(sum, right[i], 1e-10);
    }
    const tilefold::Neighbors near =
        session.formula("norm(x_i - y_j)")
            .neighbors({{"x", {x.data(), {4, 2}}}, {"y", {y.data(), {6, 2}}}},
                       10, true);
    EXPECT_EQ(near.columns.size(), 24u); // all are
    EXPECT_EQ(near.values.size(), 24u);
    EXPECT_EQ(near.offsets.back(), 24);
}

TEST_F(CWrapper, StridesAndDeclaredAxes) {
    std::vector<double> fortran(8);
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t d = 0; d < 2; ++d)
            fortran[4 * d + i] = x[2 * i + d];
    Arguments given = arguments();
    given[0] = {"x", {fortran.data(), {4, 2}, {1, 4}}};
    EXPECT_NEAR(session.reduce(text, given).at<double>(2), expected(2), 1e-14);
    const Arguments declared{Argument("p", b, TILEFOLD_AXES_J)};
    EXPECT_NEAR(session.reduce("sum_j(2*p)", declared).at<double>(0), 6, 1e-14);
}

TEST(CWrapperLanguage, IsThere) {
    EXPECT_GT(tilefold::language().size(), 150u);
    EXPECT_EQ(tilefold::clear_cache(""), 0);
}

} // namespace
