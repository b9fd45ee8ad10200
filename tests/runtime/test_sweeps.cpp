// tests/runtime/test_sweeps.cpp - derivatives through the C++ interface: a
// gradient against differences of the value, shapes, batches, other calls.

#include "tests/runtime/session_fixture.h"

#include <array>
#include <cmath>
#include <utility>

namespace tilefold::test {
namespace {

using Shape = std::vector<std::int64_t>;

double inner(const Array& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t k = 0; k < b.size(); ++k)
        sum += a.as<double>()[k] * b[k];
    return sum;
}

/// ⟨g, f(… + t) - f(… - t)⟩ / 2 beside ⟨f.gradient, t⟩, by each argument.
TEST_F(SessionTest, GradientsAreSlopes) {
    const double step = 1e-6;
    for (const char* text :
         {"sum_j exp(-|x_i - y_j|²) b_j", "logsumexp_j(b_j - |x_i - y_j|²)",
          "softmax_j(x_i·y_j, b_j)", "max_j x_i·y_j*b_j",
          "mean_j sin(x_i·y_j)*b_j", "var_j x_i·y_j*b_j"}) {
        Values<double> x({9, 2}), y({70, 2}, 2), b({70}, 3), g({9}, 4);
        const Formula f = session.formula(text);
        const std::vector<std::string> names{"x", "y", "b"};
        const std::array given{named("x", x), named("y", y), named("b", b),
                               named("grad", g)};
        const std::vector<Array> gradients = f.gradient(names).results(given);
        Values<double>* arrays[] = {&x, &y, &b};
        for (std::size_t k = 0; k < names.size(); ++k) {
            Values<double> t(arrays[k]->shape, 5);
            const std::vector<double> before = arrays[k]->values;
            const auto moved = [&](double by) {
                for (std::size_t n = 0; n < before.size(); ++n)
                    arrays[k]->values[n] = before[n] + by * t.values[n];
                return inner(f(std::span(given).first(3)), g.values);
            };
            const double slope = (moved(step) - moved(-step)) / (2 * step);
            arrays[k]->values = before;
            EXPECT_NEAR(inner(gradients[k], t.values), slope,
                        1e-6 * (1 + std::abs(slope)))
                << text << " by " << names[k];
        }
    }
}

TEST_F(SessionTest, GradientsHaveTheShapesOfTheirArguments) {
    Values<double> x({4, 1, 5, 2}), y({3, 6, 2}, 2), b({6, 1}, 3),
        g({4, 3, 5, 1});
    const std::vector<std::string> names{"x", "y", "b", "l"};
    const std::vector<Array> all =
        session.formula(gaussian)
            .gradient(names, "g", true)
            .results(std::array{named("x", x), named("y", y), named("b", b),
                                named("l", 0.7), named("g", g)});
    ASSERT_EQ(all.size(), 5u);
    EXPECT_EQ(all[0].shape, Shape({4, 3, 5, 1}));
    EXPECT_EQ(all[1].shape, Shape({4, 1, 5, 2}));
    EXPECT_EQ(all[2].shape, Shape({3, 6, 2}));
    EXPECT_EQ(all[3].shape, Shape({6, 1}));
    EXPECT_EQ(all[4].shape, Shape({}));
}

/// The error that check() sees of every result when nothing is wrong, and when
/// one number of the result `spoilt` is.
std::pair<double, double> errors(const Formula& formula,
                                 std::span<const NamedView> given,
                                 std::size_t spoilt, std::size_t element,
                                 const BindOptions& options = {}) {
    const Bound bound = formula.bind(given, options);
    std::vector<std::vector<double>> memory;
    std::vector<Output> outs;
    for (std::size_t r = 0; r < bound.results(); ++r) {
        const View view = View::of(nullptr, DType::F64, bound.shape(r));
        memory.emplace_back(std::size_t(view.elements()));
        outs.push_back(
            Output::of(memory.back().data(), DType::F64, bound.shape(r)));
    }
    bound.run(outs);
    const double before = bound.check(outs, 1000);
    memory[spoilt][element] += 0.5;
    return {before, bound.check(outs, 1000)};
}

TEST_F(SessionTest, ChecksSeeEveryNumberOfEveryResult) {
    Values<double> x({4, 9, 2}), y({70, 2}, 2), b({70}, 3);
    const std::array given{named("x", x), named("y", y), named("b", b)};
    const std::vector<std::string> names{"x", "y", "b"};
    const Formula f =
        session.formula("logsumexp_j(b_j*x_i·y_j)").gradient(names, "g", true);
    std::vector<NamedView> all(given.begin(), given.end());
    all.push_back(named("g", 1.0));
    const std::array<std::size_t, 4> sizes{36, 72, 140, 70};
    for (std::size_t r = 0; r < sizes.size(); ++r)
        for (std::size_t element : {std::size_t(0), sizes[r] - 1}) {
            const auto [right, wrong] = errors(f, all, r, element);
            EXPECT_LT(right, 1e-12);
            EXPECT_GT(wrong, 1e-3) << r << " " << element;
        }
    const std::array<std::int64_t, 1> first{0};
    for (std::size_t element : {0, 8}) {
        const auto [right, wrong] =
            errors(session.formula("sum_j b_j*x_i·y_j"), given, 0, element,
                   {.sum_batch = first});
        EXPECT_LT(right, 1e-12);
        EXPECT_GT(wrong, 1e-3);
    }
}

TEST_F(SessionTest, AChecksEndIsInTheCallersHands) {
    Values<double> x({2000, 2});
    const std::array given{named("x", x)};
    for (const char* text : {"sum_j exp(-|x_i - x_j|²)", "var_j(x_i·x_j)"}) {
        const Bound bound = session.formula(text).bind(given);
        Values<double> out({2000});
        bound.run(out.output());
        int asked = 0;
        const auto goes_on = [&] { return ++asked < 3; };
        EXPECT_THROW(bound.check(out.output(), 2000, goes_on), Error);
        EXPECT_EQ(asked, 3);
    }
}

TEST_F(SessionTest, DerivativesAreKeptAndDifferentiatedAgain) {
    Values<float> x({40, 3});
    const std::vector<std::string> names{"x"};
    const Formula f = session.formula("sum_ij exp(-|x_i - x_j|²)");
    const std::array given{named("x", x), named("h", x), named("t", x)};
    for (int time = 0; time < 2; ++time) {
        const Formula second =
            f.gradient(names).gradient(names, "h").jvp(names, "t");
        EXPECT_EQ(second(given).shape, Shape({40, 3}));
    }
    const std::int64_t compiles = session.statistics().compiles;
    f.gradient(names).gradient(names, "h").jvp(names, "t")(given);
    EXPECT_EQ(session.statistics().compiles, compiles);
}

} // namespace
} // namespace tilefold::test
