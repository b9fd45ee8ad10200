// tests/runtime/test_bind.cpp - what arrays may be bound, what is asked of
// them, and every complaint.

#include "tests/runtime/session_fixture.h"

#include <cmath>

namespace tilefold::test {
namespace {

double gauss(double x, double y) {
    return std::exp(-(x - y) * (x - y));
}

class BindTest : public SessionTest {
protected:
    const char* pair_term = "exp(-(x_i-y_j)²)";
    Values<double> x{{6}, 1}, y{{9}, 2};

    Bound bind(const BindOptions& options, const char* formula = nullptr) {
        std::vector<NamedView> arguments{named("x", x), named("y", y)};
        return session.formula(formula ? formula : pair_term)
            .bind(arguments, options);
    }
    Values<double> run(const Bound& bound) {
        Values<double> out(bound.shape(), 1);
        bound.run(out.output());
        return out;
    }
    std::string refusal(const char* formula,
                        std::initializer_list<NamedView> arguments) {
        return message_of([&] { session.reduce(formula, arguments); });
    }
};

TEST_F(BindTest, DenseGivesEveryPair) {
    Values<double> dense = run(bind({.query = Query::Dense}));
    ASSERT_EQ(dense.shape, (Extents{6, 9}));
    for (std::int64_t i = 0; i < 6; ++i)
        for (std::int64_t j = 0; j < 9; ++j)
            EXPECT_NEAR(dense.at(i, j), gauss(x[i], y[j]), 1e-12);
}

TEST_F(BindTest, ListsSelectRowsAndColumns) {
    std::vector<std::int64_t> i{5, 0, -1, 5}, j{-9, 3};
    BindOptions listed{Query::Dense, Rows{i.data(), 4}, Rows{j.data(), 2}};
    Values<double> dense = run(bind(listed));
    ASSERT_EQ(dense.shape, (Extents{4, 2}));
    EXPECT_NEAR(dense.at(0, 0), gauss(x[5], y[0]), 1e-12);
    EXPECT_NEAR(dense.at(1, 1), gauss(x[0], y[3]), 1e-12);
    EXPECT_NEAR(dense.at(2, 0), gauss(x[5], y[0]), 1e-12);
    listed.query = Query::Result;
    Values<double> sums = run(bind(listed, "sum_j exp(-(x_i-y_j)²)"));
    ASSERT_EQ(sums.shape, (Extents{4}));
    EXPECT_NEAR(sums[1], gauss(x[0], y[0]) + gauss(x[0], y[3]), 1e-12);
    Values<double> columns = run(bind(listed, "sum_i exp(-(x_i-y_j)²)"));
    ASSERT_EQ(columns.shape, (Extents{2}));
    EXPECT_NEAR(columns[1], 3 * gauss(x[5], y[3]) + gauss(x[0], y[3]), 1e-12);
}

TEST_F(BindTest, DiagonalAndPairsAreZipped) {
    std::vector<std::int64_t> i{5, 0, 2}, j{8, 8, -9};
    BindOptions pairs{Query::Pairs, Rows{i.data(), 3}, Rows{j.data(), 3}};
    Values<double> zipped = run(bind(pairs));
    ASSERT_EQ(zipped.shape, (Extents{3}));
    EXPECT_NEAR(zipped[0], gauss(x[5], y[8]), 1e-12);
    EXPECT_NEAR(zipped[2], gauss(x[2], y[0]), 1e-12);
    Values<double> square({6}, 5);
    std::vector<NamedView> arguments{named("x", x), named("y", square)};
    Bound diag =
        session.formula(pair_term).bind(arguments, {.query = Query::Diag});
    Values<double> diagonal = run(diag);
    ASSERT_EQ(diagonal.shape, (Extents{6}));
    EXPECT_NEAR(diagonal[4], gauss(x[4], square[4]), 1e-12);
}

TEST_F(BindTest, OneArrayOnBothAxes) {
    Array out = session.reduce("sum_j exp(-(x_i-x_j)²)", {named("x", x)});
    double expected = 0;
    for (std::int64_t j = 0; j < 6; ++j)
        expected += gauss(x[2], x[j]);
    EXPECT_NEAR(out.as<double>()[2], expected, 1e-12);
}

TEST_F(BindTest, AnyStridesAreRead) {
    View reversed = x.view();
    reversed.data = x.values.data() + 5;
    reversed.strides[0] = -8;
    View repeated = y.view();
    repeated.strides[0] = 0;
    Array out = session.reduce("sum_j exp(-(x_i-y_j)²)",
                               {named("x", reversed), named("y", repeated)});
    for (std::int64_t i = 0; i < 6; ++i)
        EXPECT_NEAR(out.as<double>()[i], 9 * gauss(x[5 - i], y[0]), 1e-12);
}

TEST_F(BindTest, OutMayHaveAnyStridesButZero) {
    Bound bound = bind({.query = Query::Dense});
    std::vector<double> room(6 * 9 * 2, -7);
    Output out{room.data() + 2 * 5 * 9, DType::F64, {6, 9}, {-2 * 9 * 8, 16}};
    bound.run(out);
    for (std::int64_t i = 0; i < 6; ++i)
        for (std::int64_t j = 0; j < 9; ++j) {
            double* at = &room[std::size_t(2 * (9 * (5 - i) + j))];
            EXPECT_NEAR(at[0], gauss(x[i], y[j]), 1e-12);
            EXPECT_EQ(at[1], -7);
        }
    out.strides[0] = 0;
    EXPECT_EQ(message_of([&] { bound.run(out); }),
              "two elements of 'out' lie in one place\n"
              "pass an array whose elements have places of their own");
}

TEST_F(BindTest, OutThatDoesNotFitIsRefusedAndUntouched) {
    Bound bound = bind({.query = Query::Dense});
    Values<double> wrong({9, 6}, 3), before = wrong;
    EXPECT_EQ(message_of([&] { bound.run(wrong.output()); }),
              "'out' has shape (9, 6); the result has (6, 9)\n"
              "pass an array of that shape, or leave 'out' away");
    EXPECT_EQ(wrong.values, before.values);
    Values<float> single({6, 9}, 3);
    EXPECT_EQ(message_of([&] { bound.run(single.output()); }),
              "'out' holds f32; the result is f64\n"
              "pass an array of that type, or leave 'out' away");
}

TEST_F(BindTest, OutThatOverlapsAnInputIsRefused) {
    Array sums =
        session.reduce("sum_j x_i*y_j", {named("x", x), named("y", y)});
    Bound bound = bind({}, "sum_j x_i*y_j");
    Output over_x{x.values.data(), DType::F64, {6}, {8}};
    EXPECT_EQ(message_of([&] { bound.run(over_x); }),
              "'out' shares memory with 'x'\n"
              "pass an array of its own");
}

TEST_F(BindTest, AccumulateAddsToOut) {
    Bound bound = bind({}, "sum_j x_i*y_j");
    Values<double> out = run(bound), once = out;
    bound.run(out.output(), {.accumulate = true});
    for (std::int64_t i = 0; i < 6; ++i)
        EXPECT_DOUBLE_EQ(out[i], 2 * once[i]);
}

TEST_F(BindTest, BatchesBroadcastForEveryArgument) {
    Values<double> xs({2, 1, 4, 1}, 1), ys({3, 5, 1}, 2), l({2, 1, 1, 1}, 3);
    Array out = session.reduce("sum_j exp(-|x_i-y_j|²) l",
                               {named("x", xs), named("y", ys), named("l", l)});
    ASSERT_EQ(out.shape, (std::vector<std::int64_t>{2, 3, 4}));
    for (std::int64_t a = 0; a < 2; ++a)
        for (std::int64_t b = 0; b < 3; ++b)
            for (std::int64_t i = 0; i < 4; ++i) {
                double expected = 0;
                for (std::int64_t j = 0; j < 5; ++j)
                    expected += gauss(xs[4 * a + i], ys[5 * b + j]) * l[a];
                EXPECT_NEAR(out.as<double>()[12 * a + 4 * b + i], expected,
                            1e-12);
            }
}

TEST_F(BindTest, ACheckedResultIsCloseAndASpoiltOneIsNot) {
    for (Query want : {Query::Result, Query::Dense}) {
        Bound bound =
            bind({.query = want},
                 want == Query::Result ? "sum_j exp(-(x_i-y_j)²)" : nullptr);
        Values<double> out = run(bound);
        EXPECT_LT(bound.check(out.output(), 64), 1e-12);
        out[2] += 0.5;
        EXPECT_GT(bound.check(out.output(), 64), 1e-3);
    }
    std::vector<std::int64_t> i{5, 0, -1}, j{3, -2};
    Bound listed = bind({Query::Result, Rows{i.data(), 3}, Rows{j.data(), 2}},
                        "sum_j exp(-(x_i-y_j)²)");
    EXPECT_LT(listed.check(run(listed).output(), 64), 1e-12);
    Bound indexed = bind({Query::Result, Rows{i.data(), 3}, Rows{j.data(), 2}},
                         "sum_j where(j < i, x_i*y_j, 0)");
    Values<double> sums = run(indexed);
    EXPECT_EQ(message_of([&] { indexed.check(sums.output(), 3); }),
              "the option check cannot be used with listed points of a reduced "
              "axis here\ncheck the formula without the list");
    Bound folded = bind({}, "sum_ij exp(-(x_i-y_j)²)");
    EXPECT_LT(folded.check(run(folded).output(), 1), 1e-12);
}

TEST_F(BindTest, NamesAreChecked) {
    NamedView vx = named("x", x), vy = named("y", y);
    EXPECT_EQ(refusal("sum_j x_i*y_j", {vx, vy, named("z", 1)}),
              "the argument 'z' is not in the formula, which has x and y\n"
              "drop it, or correct its name");
    EXPECT_EQ(refusal("sum_j x_i*y_j", {vx}).substr(0, 43),
              "the formula needs 'y', which was not given\n");
    EXPECT_EQ(refusal("sum_j x_i*y_j", {vx, vy, vx}),
              "the argument 'x' is given twice, as x and x\n"
              "pass one of them; a Greek letter and its ASCII name are one "
              "name");
}

TEST_F(BindTest, LengthsAreChecked) {
    Values<double> z({4});
    EXPECT_EQ(refusal("sum_j x_i*y_j*z_j",
                      {named("x", x), named("y", y), named("z", z)}),
              "'y' has 9 rows on j, 'z' has 4\n"
              "all arrays on one axis have the same number of rows");
    EXPECT_EQ(refusal("sum_j x_i*y_j", {named("x", x), named("y", 2.0)}),
              "'y' is read on j, but was given a single number\n"
              "pass an array with one row per point, or write y without a "
              "subscript");
    View wide = View::of(x.values.data(), DType::F64, {6, 1});
    wide.shape = {6, std::int64_t(1) << 33};
    wide.strides = {8, 0};
    EXPECT_EQ(refusal("sum_i x_i", {named("x", wide)}),
              "x has shape (6, 8589934592); 2147483647 components of a point "
              "is the most here\nan array on i or j is (N,), (N, D) or a batch "
              "(…, N, D); a parameter (), (D,) or (R, C)");
    Values<double> hollow({9, 0});
    EXPECT_EQ(refusal("sum_j x_i*|y_j|", {named("x", x), named("y", hollow)}),
              "'y' has 0 components, where 1 or more are needed");
}

TEST_F(BindTest, ABareNameGivenRowsIsExplained) {
    Values<double> b({9}), matrix({9, 1});
    EXPECT_EQ(refusal("sum_j x_i*y_j*b",
                      {named("x", x), named("y", y), named("b", matrix)}),
              "'b' is a parameter, but was given 9 rows\n"
              "  sum_j x_i*y_j*b\n"
              "                ^\n"
              "write b_i or b_j in the formula, or pass one value per "
              "component");
    EXPECT_EQ(refusal("sum_j x_i*y_j*b",
                      {named("x", x), named("y", y), named("b", b)}),
              "'b' is a parameter, but has as many values as there are points, "
              "9\n"
              "  sum_j x_i*y_j*b\n"
              "                ^\n"
              "write b_i or b_j in the formula, or pass b[None], or Pm(b), for "
              "one value per component");
    Values<double> plain({1, 9});
    EXPECT_EQ(refusal("sum_j x_i*y_j*b",
                      {named("x", x), named("y", y), named("b", plain)}),
              "nothing thrown");
}

TEST_F(BindTest, ListsAreChecked) {
    std::vector<std::int64_t> i{0, 6}, j{-10};
    EXPECT_EQ(message_of([&] {
                  bind({Query::Dense, Rows{i.data(), 2}, std::nullopt});
              }),
              "row 6 of an axis of 6 rows\n"
              "rows count from 0; -1 is the last");
    EXPECT_EQ(message_of([&] {
                  bind({Query::Dense, std::nullopt, Rows{j.data(), 1}});
              }),
              "row -10 of an axis of 9 rows\n"
              "rows count from 0; -1 is the last");
    EXPECT_EQ(message_of([&] {
                  bind({Query::Pairs, Rows{i.data(), 1}, Rows{i.data(), 2}});
              }),
              "the option rows and columns cannot be lists of 1 and 2 "
              "numbers\npass two lists of the same length");
    EXPECT_EQ(message_of([&] { bind({.query = Query::Diag}); }),
              "'x' has 6 rows on the diagonal, 'y' has 9\n"
              "all arrays on one axis have the same number of rows");
}

TEST_F(BindTest, AnAxisThatNobodyMeasuresIsNamed) {
    std::array arguments{named("x", x)};
    auto map = session.formula("sin(x_i)");
    EXPECT_EQ(message_of([&] { map.bind(arguments, {.query = Query::Dense}); }),
              "no argument carries the axis j of 'the formula'\n"
              "  sin(x_i)\n"
              "give a variable the subscript _j");
    std::vector<std::int64_t> j{0, 0, 7};
    Bound bound =
        map.bind(arguments, {Query::Dense, std::nullopt, Rows{j.data(), 3}});
    Values<double> dense(bound.shape());
    bound.run(dense.output());
    ASSERT_EQ(dense.shape, (Extents{6, 3}));
    EXPECT_DOUBLE_EQ(dense.at(4, 2), std::sin(x[4]));
}

TEST_F(BindTest, BatchesAreChecked) {
    Values<double> xs({2, 4, 1}), ys({3, 5, 1});
    EXPECT_EQ(refusal("sum_j x_i·y_j", {named("x", xs), named("y", ys)}),
              "the batch dimensions (2,) of 'x' and (3,) of 'y' do not "
              "broadcast\nbatch dimensions agree, or are 1, as in NumPy");
}

TEST_F(BindTest, DeclaredRolesCount) {
    Array out = session.formula("sum_j q*k")(
        {named("q", x.view(), Axes::I), named("k", y.view(), Axes::J)});
    double expected = 0;
    for (std::int64_t j = 0; j < 9; ++j)
        expected += x[3] * y[j];
    EXPECT_NEAR(out.as<double>()[3], expected, 1e-12);
}

TEST_F(BindTest, IntegersAndHalvesAreRead) {
    std::vector<std::int64_t> labels{3, 1, 3};
    std::vector<std::uint16_t> halves{0x3c00, 0x4000, 0xc000}; // 1, 2, -2
    Array out =
        session.reduce("sum_j where(k_i == k_j, h_j, 0)",
                       {named("k", View::of(labels.data(), DType::I64, {3})),
                        named("h", View::of(halves.data(), DType::F16, {3}))});
    // Labels that are only compared give no values, so that halves decide.
    ASSERT_EQ(out.dtype, DType::F32);
    EXPECT_EQ(out.as<float>()[0], -1);
    EXPECT_EQ(out.as<float>()[1], 2);
}

} // namespace
} // namespace tilefold::test
