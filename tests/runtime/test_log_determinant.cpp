// tests/runtime/test_log_determinant.cpp - log determinants of matrices whose
// own are known.
#include "runtime/solve/log_determinant.h"

#include "formulas/diagnostic.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace tilefold::test {
namespace {

/// A symmetric tridiagonal matrix.
struct Band {
    std::vector<double> diagonal;
    double beside = 0;

    static Band of(std::int64_t size, double low, double high, double beside) {
        Band band{{}, beside};
        for (std::int64_t k = 0; k < size; ++k)
            band.diagonal.push_back(
                low *
                std::pow(high / low, double(k * 7 % size) / double(size)));
        return band;
    }

    std::int64_t size() const { return std::int64_t(diagonal.size()); }
    double at(std::int64_t i, std::int64_t j) const {
        return i == j                 ? diagonal[std::size_t(i)]
               : std::abs(i - j) == 1 ? beside
                                      : 0;
    }
    /// By the recurrence of its leading minors.
    double log_determinant(double ridge) const {
        double pivot = 1, sum = 0;
        for (std::size_t k = 0; k < diagonal.size(); ++k) {
            pivot =
                diagonal[k] + ridge - (k > 0 ? beside * beside / pivot : 0.0);
            sum += std::log(pivot);
        }
        return sum;
    }

    LinearOperator products(std::int64_t columns) const {
        LinearOperator all;
        all.size = size();
        all.product = [this, columns](const double* in, double* out) {
            for (std::int64_t i = 0; i < size(); ++i)
                for (std::int64_t c = 0; c < columns; ++c) {
                    double sum = at(i, i) * in[i * columns + c];
                    if (i > 0)
                        sum += beside * in[(i - 1) * columns + c];
                    if (i + 1 < size())
                        sum += beside * in[(i + 1) * columns + c];
                    out[i * columns + c] = sum;
                }
        };
        all.elements.diagonal = [this](std::span<double> out) {
            for (std::int64_t k = 0; k < size(); ++k)
                out[std::size_t(k)] = at(k, k);
        };
        all.elements.row = [this](std::int64_t row, std::span<double> out) {
            for (std::int64_t k = 0; k < size(); ++k)
                out[std::size_t(k)] = at(row, k);
        };
        all.elements.epsilon = std::numeric_limits<double>::epsilon();
        return all;
    }
};

LogDeterminant find(const Band& band, const LogdetOptions& options) {
    return log_determinant(band.products(options.probes), options);
}

TEST(LogDeterminant, OfASmallMatrixIsExact) {
    for (const std::int64_t size : {1, 2, 127, 128, 129, 300}) {
        const Band band = Band::of(size, 1, 100, 0.3);
        const LogDeterminant found = find(band, {.ridge = 0.5});
        EXPECT_NEAR(found.value, band.log_determinant(0.5), 1e-10) << size;
        EXPECT_TRUE(found.is_exact());
        EXPECT_EQ(found.error, 0);
        EXPECT_EQ(found.outcome, SolveStatus::Converged);
    }
}

TEST(LogDeterminant, OfNothingIs0) {
    EXPECT_EQ(find({}, {}).value, 0);
}

TEST(LogDeterminant, ComesWithQuadraticsWhereTheMatrixIsFactored) {
    const Band band{std::vector<double>(200, 4), 0};
    std::vector<double> b;
    for (int k = 0; k < 400; ++k)
        b.push_back(k % 2 ? 3 : 1); // columns of ones and of threes
    const LogDeterminant found =
        log_determinant(band.products(2), {.ridge = 1}, b, 2);
    ASSERT_EQ(found.quadratics.size(), 2u);
    EXPECT_NEAR(found.quadratics[0], 200 / 5.0, 1e-10);
    EXPECT_NEAR(found.quadratics[1], 9 * 200 / 5.0, 1e-10);
}

TEST(LogDeterminant, CanBeStoppedWhileTheMatrixIsFactored) {
    const Band band = Band::of(600, 1, 100, 0.3);
    int calls = 0;
    EXPECT_THROW(log_determinant(band.products(2), {}, {}, 0,
                                 [&] {
                                     if (++calls == 3)
                                         throw 7;
                                 }),
                 int);
}

TEST(LogDeterminant, StopsWhereTheKrylovSpaceEnds) {
    Band band{std::vector<double>(2400), 0};
    for (std::size_t k = 0; k < band.diagonal.size(); ++k)
        band.diagonal[k] = double(1 + k % 3);
    LogdetOptions options{.preconditioner = Preconditioner::None};
    const LogDeterminant found = find(band, options);
    EXPECT_EQ(found.outcome, SolveStatus::Converged);
    EXPECT_LE(found.steps, 10);
    EXPECT_NEAR(found.value, band.log_determinant(0), 1e-7);
    EXPECT_LT(found.error, 1e-7);
}

struct Case {
    double low, high, beside, ridge;
    Preconditioner preconditioner;
};

class Estimates : public testing::TestWithParam<Case> {};

TEST_P(Estimates, AreAsFarOffAsTheyTell) {
    const auto [low, high, beside, ridge, preconditioner] = GetParam();
    const Band band = Band::of(2000, low, high, beside);
    const double truth = band.log_determinant(ridge);
    double squares = 0;
    constexpr int seeds = 8;
    for (int seed = 0; seed < seeds; ++seed) {
        const LogDeterminant found =
            find(band, {.ridge = ridge,
                        .preconditioner = preconditioner,
                        .seed = std::uint64_t(seed)});
        EXPECT_EQ(found.outcome, SolveStatus::Converged);
        EXPECT_GT(found.error, 0);
        EXPECT_EQ(found.rank > 0, preconditioner != Preconditioner::None);
        const double off = (found.value - truth) / found.error;
        EXPECT_LT(std::abs(off), 4.5);
        squares += off * off / seeds;
    }
    EXPECT_GT(std::sqrt(squares), 0.3);
    EXPECT_LT(std::sqrt(squares), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Matrices, Estimates,
    testing::Values(Case{1, 10, 0.4, 0.1, Preconditioner::None},
                    Case{1, 10, 0.4, 0, Preconditioner::None},
                    Case{1, 100, 0.4, 0.5, Preconditioner::Auto},
                    Case{1e-2, 1, 4e-3, 1e-2, Preconditioner::Nystrom}));

TEST(LogDeterminant, IsTheSameForTheSameSeed) {
    const Band band = Band::of(2000, 1, 10, 0.4);
    const LogDeterminant one = find(band, {.seed = 3});
    EXPECT_EQ(one.value, find(band, {.seed = 3}).value);
    EXPECT_NE(one.value, find(band, {.seed = 4}).value);
}

TEST(LogDeterminant, TellsWhenStepsDidNotSuffice) {
    const Band band = Band::of(2000, 1e-4, 10, 1e-5);
    const LogDeterminant found = find(
        band,
        {.ridge = 1e-6, .maxiter = 7, .preconditioner = Preconditioner::None});
    EXPECT_EQ(found.outcome, SolveStatus::Exhausted);
    EXPECT_EQ(found.steps, 7);
    EXPECT_GE(found.error, found.moved);
    // The truth is between the two quadratures, but for the probes.
    EXPECT_LT(std::abs(found.value - band.log_determinant(1e-6)),
              4 * found.error);
}

TEST(LogDeterminant, IsNaNOfAnAsymmetricMatrix) {
    for (const std::int64_t size : {300, 2000}) {
        const Band band = Band::of(size, 1, 10, 0.1);
        for (const Preconditioner preconditioner :
             {Preconditioner::None, Preconditioner::Cholesky}) {
            const LogdetOptions options = {.ridge = 0.5,
                                           .preconditioner = preconditioner};
            LinearOperator matrix = band.products(options.probes);
            const auto columns = std::size_t(options.probes);
            // One element above the diagonal, and none below.
            matrix.product = [&, product = matrix.product](const double* in,
                                                           double* out) {
                product(in, out);
                for (std::size_t c = 0; c < columns; ++c)
                    out[c] += 0.1 * in[std::size_t(size - 1) * columns + c];
            };
            matrix.elements.row =
                [&, row = matrix.elements.row](std::int64_t number,
                                               std::span<double> out) {
                    row(number, out);
                    out.back() += number == 0 ? 0.1 : 0.0;
                };
            const LogDeterminant found = log_determinant(matrix, options);
            EXPECT_TRUE(std::isnan(found.value));
            EXPECT_EQ(found.outcome, SolveStatus::Asymmetric);
        }
    }
}

TEST(LogDeterminant, IsNaNWhereThereIsNone) {
    for (const std::int64_t size : {300, 2000}) {
        Band band = Band::of(size, 1, 10, 0.1);
        band.diagonal[7] = -3;
        for (const Preconditioner preconditioner :
             {Preconditioner::None, Preconditioner::Cholesky}) {
            const LogDeterminant found =
                find(band, {.preconditioner = preconditioner});
            EXPECT_TRUE(std::isnan(found.value));
            EXPECT_EQ(found.outcome, SolveStatus::Indefinite);
        }
        band.diagonal[7] = std::numeric_limits<double>::quiet_NaN();
        const LogDeterminant found =
            find(band, {.preconditioner = Preconditioner::None});
        EXPECT_TRUE(std::isnan(found.value));
        EXPECT_EQ(found.outcome, SolveStatus::NotFinite);
    }
}

std::string refusal_of(const LogdetOptions& options) {
    try {
        find({}, options);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(LogDeterminant, OptionsThatMakeNoSenseAreNamed) {
    EXPECT_EQ(refusal_of({.ridge = -1}), "the option ridge cannot be -1\n"
                                         "pass a finite number, 0 or above");
    EXPECT_EQ(refusal_of({.probes = 1}), "the option probes cannot be 1\n"
                                         "pass a whole number, 2 or above");
    EXPECT_EQ(refusal_of({.maxiter = 0}), "the option maxiter cannot be 0\n"
                                          "pass a whole number, 1 or above");
}

} // namespace
} // namespace tilefold::test
