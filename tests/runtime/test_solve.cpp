// tests/runtime/test_solve.cpp - conjugate gradients on matrices written down.
#include "runtime/solve/kernel_solve.h"
#include "tests/runtime/session_fixture.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace tilefold::test {
namespace {

/// A dense symmetric matrix that counts its products.
struct Dense {
    std::int64_t size;
    std::vector<double> values;
    std::int64_t doubles = 0, floats = 0, rows = 0;

    /// diag(1 … condition) and `coupling` beside the diagonal.
    Dense(std::int64_t size, double condition, double coupling = 0)
        : size(size), values(std::size_t(size * size), 0.0) {
        for (std::int64_t k = 0; k < size; ++k) {
            at(k, k) = 1 + (condition - 1) * double(k) / double(size - 1);
            if (k > 0)
                at(k, k - 1) = at(k - 1, k) = coupling;
        }
    }

    double& at(std::int64_t i, std::int64_t j) {
        return values[std::size_t(i * size + j)];
    }

    template <class T>
    void multiply(const T* in, T* out, std::int64_t columns) {
        for (std::int64_t i = 0; i < size; ++i)
            for (std::int64_t c = 0; c < columns; ++c) {
                T sum = 0;
                for (std::int64_t j = 0; j < size; ++j)
                    sum += T(at(i, j)) * in[j * columns + c];
                out[i * columns + c] = sum;
            }
    }

    LinearOperator products(std::int64_t columns, bool quick = false) {
        LinearOperator all;
        all.size = size;
        all.product = [this, columns](const double* in, double* out) {
            ++doubles;
            multiply(in, out, columns);
        };
        if (quick)
            all.quick_product = [this, columns](const float* in, float* out) {
                ++floats;
                multiply(in, out, columns);
            };
        all.elements.diagonal = [this](std::span<double> out) {
            for (std::int64_t k = 0; k < size; ++k)
                out[std::size_t(k)] = at(k, k);
        };
        all.elements.row = [this](std::int64_t row, std::span<double> out) {
            ++rows;
            for (std::int64_t k = 0; k < size; ++k)
                out[std::size_t(k)] = at(row, k);
        };
        all.elements.epsilon = 1e-16;
        return all;
    }

    double residual(const Solution& found, const std::vector<double>& b,
                    double ridge = 0) {
        std::vector<double> image(b.size());
        multiply(found.x.data(), image.data(), 1);
        double left = 0, whole = 0;
        for (std::size_t k = 0; k < b.size(); ++k) {
            left += std::pow(b[k] - image[k] - ridge * found.x[k], 2);
            whole += b[k] * b[k];
        }
        return std::sqrt(left / whole);
    }
};

std::vector<double> ramp(std::int64_t size) {
    std::vector<double> b;
    for (std::int64_t k = 0; k < size; ++k)
        b.push_back(std::cos(double(k)));
    return b;
}

SolveOptions without(double ridge = 0, double rtol = 1e-10) {
    return {ridge, rtol, {}, Preconditioner::None};
}

} // namespace

TEST(Solve, TakesAsManyIterationsAsThereAreEigenvalues) {
    Dense matrix(50, 1);
    for (std::int64_t k = 0; k < 50; ++k)
        matrix.at(k, k) = double(1 + k % 3);
    const auto b = ramp(50);
    const Solution found = solve(matrix.products(1), b, 1, without());
    EXPECT_EQ(found.iterations, 3);
    EXPECT_EQ(matrix.doubles, 4); // and one to see that it is so
    EXPECT_EQ(found.worst(), SolveStatus::Converged);
    EXPECT_LT(matrix.residual(found, b), 1e-10);
}

TEST(Solve, AddsTheRidge) {
    Dense matrix(40, 10, 0.3);
    const auto b = ramp(40);
    const Solution found = solve(matrix.products(1), b, 1, without(0.5));
    EXPECT_LT(matrix.residual(found, b, 0.5), 1e-10);
    EXPECT_LE(found.residuals[0], 1e-10);
}

TEST(Solve, RefinesWhatFloatProductsLeave) {
    Dense matrix(200, 1e4, 0.3);
    const auto b = ramp(200);
    SolveOptions options = without(0, 1e-13);
    options.maxiter = 5000;
    const Solution found = solve(matrix.products(1, true), b, 1, options);
    EXPECT_EQ(found.worst(), SolveStatus::Converged);
    EXPECT_LT(matrix.residual(found, b), 2e-13);
    EXPECT_GT(matrix.floats, 20 * matrix.doubles);
    EXPECT_EQ(found.iterations, matrix.floats);
}

TEST(Solve, TellsThatAMatrixIsNotSymmetric) {
    Dense matrix(30, 100, 0.2);
    matrix.at(7, 7) = -5;
    matrix.at(3, 9) = 0.1;
    for (const Method method :
         {Method::ConjugateGradients, Method::MinimalResiduals}) {
        SolveOptions options = without();
        options.method = method;
        options.maxiter = 20;
        const Solution found = solve(matrix.products(1), ramp(30), 1, options);
        EXPECT_EQ(found.worst(), SolveStatus::Asymmetric);
    }
}

TEST(Solve, EndsEachColumnByItself) {
    Dense matrix(30, 100, 0.2);
    matrix.at(7, 7) = -5;
    std::vector<double> b(90, 0.0);
    for (std::size_t k = 0; k < 30; ++k)
        b[3 * k + 1] = std::cos(double(k)); // meets the negative eigenvalue
    b[3 * 4 + 2] = NAN;
    const Solution found = solve(matrix.products(3), b, 3, without());
    EXPECT_EQ(found.outcomes[0], SolveStatus::Converged);
    EXPECT_EQ(found.residuals[0], 0);
    EXPECT_EQ(found.outcomes[1], SolveStatus::Indefinite);
    EXPECT_EQ(found.outcomes[2], SolveStatus::NotFinite);
    EXPECT_EQ(found.worst(), SolveStatus::NotFinite);
    EXPECT_TRUE(std::isnan(found.largest_residual()));
    EXPECT_LE(found.residuals[1], 1); // never worse than nothing
    EXPECT_LT(found.iterations, 30);
}

TEST(Solve, StopsAtTheLastIteration) {
    Dense matrix(300, 1e6, 0.1);
    SolveOptions options = without();
    options.maxiter = 7;
    const Solution found = solve(matrix.products(1), ramp(300), 1, options);
    EXPECT_EQ(found.iterations, 7);
    EXPECT_EQ(found.worst(), SolveStatus::Exhausted);
    EXPECT_EQ(most_iterations(without(), 30), 300);
    EXPECT_EQ(most_iterations(without(), 3000), 1000);
}

TEST(Solve, APreconditionerOfFullRankLeavesNothingToDo) {
    Dense matrix(60, 1e8, 0.4);
    SolveOptions options = without(1e-3, 1e-8);
    options.preconditioner = Preconditioner::Cholesky;
    const auto b = ramp(60);
    const Solution found = solve(matrix.products(1), b, 1, options);
    EXPECT_EQ(found.rank, 60);
    EXPECT_EQ(matrix.rows, 60);
    EXPECT_LE(found.iterations, 3);
    EXPECT_LT(matrix.residual(found, b, 1e-3), 1e-8);
}

TEST(Solve, PivotsAreTakenByTheirSize) {
    Dense matrix(200, 1);
    for (std::int64_t k = 0; k < 200; ++k)
        matrix.at(k, k) = k % 20 == 0 ? 1e4 + double(k) : 1e-9;
    SolveOptions options = without(1e-2);
    options.preconditioner = Preconditioner::Cholesky;
    const Solution found = solve(matrix.products(1), ramp(200), 1, options);
    EXPECT_EQ(found.rank, 10); // what is left is little beside the ridge
    EXPECT_LE(found.iterations, 3);
}

TEST(Solve, ChoosesAPreconditionerForManyRowsWithARidge) {
    SolveOptions options;
    options.ridge = 0.1;
    Dense small(auto_size - 1, 10), large(auto_size, 10);
    EXPECT_EQ(solve(small.products(1), ramp(small.size), 1, options).rank, 0);
    EXPECT_GT(solve(large.products(1), ramp(large.size), 1, options).rank, 0);
    options.ridge = 0;
    EXPECT_EQ(solve(large.products(1), ramp(large.size), 1, options).rank, 0);
}

SolveOptions minimal(double ridge = 0, double rtol = 1e-10) {
    SolveOptions options = without(ridge, rtol);
    options.method = Method::MinimalResiduals;
    return options;
}

/// diag(±(1 … condition)), of both signs in turn.
Dense indefinite(std::int64_t size, double condition) {
    Dense matrix(size, condition);
    for (std::int64_t k = 1; k < size; k += 2)
        matrix.at(k, k) *= -1;
    return matrix;
}

TEST(Minres, TakesAsManyIterationsAsThereAreEigenvalues) {
    Dense matrix(60, 1);
    for (std::int64_t k = 0; k < 60; ++k)
        matrix.at(k, k) = double(k % 4) - 1.5;
    const auto b = ramp(60);
    const Solution found = solve(matrix.products(1), b, 1, minimal());
    EXPECT_EQ(found.iterations, 4);
    EXPECT_EQ(found.worst(), SolveStatus::Converged);
    EXPECT_LT(matrix.residual(found, b), 1e-10);
}

TEST(Minres, SolvesWithBothSignsAndANegativeShift) {
    Dense matrix = indefinite(80, 50);
    const auto b = ramp(80);
    for (const double ridge : {0.0, 0.25, -0.25}) {
        const Solution found = solve(matrix.products(1), b, 1, minimal(ridge));
        EXPECT_EQ(found.worst(), SolveStatus::Converged);
        EXPECT_LT(matrix.residual(found, b, ridge), 1e-10);
    }
}

TEST(Minres, RefinesWhatFloatProductsLeave) {
    Dense matrix = indefinite(100, 100);
    const auto b = ramp(100);
    const Solution found =
        solve(matrix.products(1, true), b, 1, minimal(0, 1e-12));
    EXPECT_EQ(found.worst(), SolveStatus::Converged);
    EXPECT_LT(matrix.residual(found, b), 2e-12);
    EXPECT_GT(matrix.floats, 5 * matrix.doubles);
}

TEST(Minres, StopsAtTheLeastResidualOfASingularMatrix) {
    Dense matrix(20, 1);
    for (std::int64_t k = 0; k < 20; ++k)
        matrix.at(k, k) = k < 10 ? 1 + double(k % 3) : 0;
    std::vector<double> b(20, 1.0);
    const Solution found = solve(matrix.products(1), b, 1, minimal());
    EXPECT_EQ(found.worst(), SolveStatus::Stagnated);
    EXPECT_NEAR(found.residuals[0], std::sqrt(0.5), 1e-12);
    EXPECT_LT(found.iterations, 15);
}

TEST(Minres, IsTakenWhereConjugateGradientsMeetAnIndefiniteMatrix) {
    Dense matrix = indefinite(40, 10);
    std::vector<double> b(80, 0.0);
    for (std::size_t k = 0; k < 40; ++k) {
        b[2 * k] = std::cos(double(k));
        b[2 * k + 1] = k % 2 == 0 ? 1 : 0; // meets positive eigenvalues only
    }
    SolveOptions options = without();
    EXPECT_EQ(solve(matrix.products(2), b, 2, options).worst(),
              SolveStatus::Indefinite);
    options.method = Method::Auto;
    const Solution found = solve(matrix.products(2), b, 2, options);
    EXPECT_EQ(found.worst(), SolveStatus::Converged);
    EXPECT_LE(found.largest_residual(), 1e-10);
}

TEST(Solve, NystromTakesRowsThatAreSpread) {
    Dense matrix(200, 1);
    for (std::int64_t k = 0; k < 200; ++k)
        for (std::int64_t l = 0; l < 200; ++l)
            matrix.at(k, l) = std::exp(-std::pow(double(k - l) / 100, 2));
    SolveOptions options = without(1e-3, 1e-8);
    options.preconditioner = Preconditioner::Nystrom;
    const auto b = ramp(200);
    const Solution found = solve(matrix.products(1), b, 1, options);
    EXPECT_GT(found.rank, 3);
    EXPECT_LE(found.iterations, 12);
    EXPECT_LT(matrix.residual(found, b, 1e-3), 1e-8);
}

/// exp(-|x_i - x_j|²) of points in a cube, of edge `edge`.
Dense gaussian(std::int64_t size, double edge) {
    Dense matrix(size, 1);
    const auto at = [&](std::int64_t k, int axis) {
        const double steps[] = {0.8192, 0.6710, 0.5497}; // they fill it evenly
        return edge * std::fmod(double(k) * steps[axis], 1.0);
    };
    for (std::int64_t i = 0; i < size; ++i)
        for (std::int64_t j = 0; j < size; ++j) {
            double square = 0;
            for (int axis = 0; axis < 3; ++axis)
                square += std::pow(at(i, axis) - at(j, axis), 2);
            matrix.at(i, j) = std::exp(-square);
        }
    return matrix;
}

TEST(Solve, APreconditionerGrowsWhereIterationsAreSlow) {
    Dense matrix = gaussian(600, 5);
    const auto b = ramp(600);
    SolveOptions options{1e-6, 1e-8};
    const Solution found = solve(matrix.products(1), b, 1, options);
    EXPECT_EQ(found.worst(), SolveStatus::Converged);
    EXPECT_GT(found.rank, usual_rank(600));
    EXPECT_LE(found.rank, largest_rank(600));
    EXPECT_EQ(found.rank, matrix.rows); // each is read once
    EXPECT_LT(matrix.residual(found, b, 1e-6), 1e-8);
    options.rank = usual_rank(600);
    const Solution fixed = solve(matrix.products(1), b, 1, options);
    EXPECT_EQ(fixed.rank, usual_rank(600));
    EXPECT_GT(fixed.iterations, 2 * found.iterations);
    SolveOptions nystrom = options;
    nystrom.rank.reset();
    nystrom.preconditioner = Preconditioner::Nystrom;
    EXPECT_EQ(solve(matrix.products(1), b, 1, nystrom).rank, usual_rank(600));
}

TEST(Solve, APreconditionerStaysSmallWhereItWouldNotHelp) {
    Dense matrix = gaussian(600, 200); // hardly any two are near
    const auto b = ramp(600);
    const Solution found = solve(matrix.products(1), b, 1, {1e-6, 1e-10});
    EXPECT_EQ(found.worst(), SolveStatus::Converged);
    EXPECT_EQ(found.rank, usual_rank(600));
}

TEST(Solve, TheRankMayBeGiven) {
    Dense matrix = gaussian(600, 8);
    const auto b = ramp(600);
    for (const std::int64_t rank : {1, 40, 250, 10000}) {
        SolveOptions options{1e-3, 1e-8};
        options.rank = rank;
        const Solution found = solve(matrix.products(1), b, 1, options);
        EXPECT_EQ(found.rank, std::min<std::int64_t>(rank, 600)) << rank;
        EXPECT_EQ(found.worst(), SolveStatus::Converged) << rank;
    }
    SolveOptions none;
    none.rank = 0;
    EXPECT_THROW(solve(matrix.products(1), b, 1, none), Error);
}

TEST(Solve, RanksAreBoundedByMemory) {
    EXPECT_EQ(usual_rank(20), 20);
    EXPECT_EQ(usual_rank(10'000), 100);
    EXPECT_EQ(largest_rank(20), 20);
    EXPECT_EQ(largest_rank(10'000), 1600);
    EXPECT_EQ(largest_rank(1'000'000), 33); // 256 MiB
    EXPECT_EQ(usual_rank(1'000'000), 33);
}

TEST(Solve, WhatAProductThrowsEndsIt) {
    Dense matrix(20, 10);
    LinearOperator products = matrix.products(1);
    products.product = [](const double*, double*) { throw 7; };
    EXPECT_THROW(solve(products, ramp(20), 1, without()), int);
}

using KernelSolve = SessionTest;

TEST_F(KernelSolve, SolvesWithTheMatrixOfAPairTerm) {
    const Formula product = session.formula("sum_j exp(-|x_i - x_j|²) b_j");
    const Formula pair = session.formula("exp(-|x_i - x_j|²)");
    Values<double> x({80, 3}), b({80, 2}, 2), found({80, 2}), image({80, 2});
    const NamedView arguments[] = {named("x", x), named("b", b)};
    const KernelSystem system({product, pair}, {80, 80}, arguments, "b");
    SolveOptions options{0.1, 1e-10, {}, Preconditioner::Cholesky};
    int polls = 0;
    const Solution solution =
        system.solve(options, [&](double, double) { return ++polls > 0; });
    EXPECT_EQ(system.warning(solution, options), "");
    system.store(solution, found.output());
    product.bind({{named("x", x), named("b", found)}}).run(image.output());
    for (std::int64_t k = 0; k < 160; ++k)
        EXPECT_NEAR(image[k] + 0.1 * found[k], b[k], 1e-8);
}

} // namespace tilefold::test
