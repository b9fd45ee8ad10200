// tests/compiler/test_digits.cpp - formulas that are built in float64, since
// float32 would round what they order, or hand from sweep to sweep.

#include "compiler/cut_formula.h"
#include "compiler/ir/exact.h"
#include "compiler/language/vocabulary.h"
#include "compiler/passes/passes.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

namespace tilefold::tests {
namespace {

struct Built {
    const char *formula, *arguments;
    DType real;
};

DType real_of(const Built& c) {
    const CutFormula cut = cut_formula(parse(c.formula, vocabulary()), {},
                                       arguments(c.arguments), ir::Pairs::All);
    for (const Sweep& sweep : cut.sweeps.sweeps)
        EXPECT_EQ(sweep.graph.real, cut.derived.builder.graph().real);
    return cut.derived.builder.graph().real;
}

TEST(Digits, OfWhatIsOrdered) {
    const Built all[] = {
        {"argmax_j n_j", "n i16", DType::F32},
        {"argmax_j n_j", "n bool", DType::F32},
        {"argmin_j |x_i - y_j|", "x f32[3], y f32[3]", DType::F32},
        {"kmin_j(x_i*y_j, 3)", "x f32, y f32", DType::F32},
        {"quantile_j(x_i*y_j, 0.3)", "x f32, y f32", DType::F32},
        {"max_j (a_i*a_i + n_j)", "a i16, n i8", DType::F32},
        {"argmax_j (a_i*a_i + n_j)", "a i16, n i8", DType::F64},
        {"argkmin_j(a_i*a_i - n_j, 2)", "a i16, n i8", DType::F64},
        {"kmin_j(1000000001 + n_j, 2)", "n i8", DType::F64},
        {"quantile_j(a_i*n_j, 0.3)", "a i16, n i16", DType::F64},
        {"median_j(a_i*n_j)", "a i16, n i16", DType::F64},
        {"iqr_j(a_i*n_j)", "a i16, n i16", DType::F64},
    };
    for (const Built& c : all)
        EXPECT_EQ(real_of(c), c.real) << c.formula;
}

/// Of derivatives, and where pairs are chosen: how many of them a row meets is
/// float64, and no reason.
TEST(Digits, OfDerivativesAndChosenPairs) {
    const DerivationStep step{
        DerivationStep::Kind::Reverse, {"p"}, false, "grad"};
    const auto real_in = [](const char* formula, const char* given,
                            const Derivation& derivation, ir::Pairs pairs) {
        return cut_formula(parse(formula, vocabulary()), derivation,
                           arguments(given), pairs)
            .derived.builder.graph()
            .real;
    };
    const auto all = ir::Pairs::All, chosen = ir::Pairs::Chosen;
    EXPECT_EQ(real_in("kmin_j(p*(a_i*n_j), 1)",
                      "a i16, n i16, p f64, grad f64[1]", {step}, all),
              DType::F64);
    EXPECT_EQ(real_in("sum_j p*x_i*y_j", "x f32, y f32, p f64, grad f64",
                      {step}, all),
              DType::F32);
    EXPECT_EQ(real_in("var_j x_i*y_j", "x f32, y f32", {}, chosen), DType::F32);
    EXPECT_EQ(
        real_in("std_j (s_j*t_i + 100000000)", "s i16, t bool", {}, chosen),
        DType::F64);
}

TEST(Digits, OfWhatSweepsHandOn) {
    const Built all[] = {
        {"max_i min_j |x_i - y_j|", "x f32[3], y f32[3]", DType::F32},
        {"var_j x_i*y_j", "x f32, y f32", DType::F32},
        {"median_j x_i*y_j", "x f32, y f32", DType::F32},
        {"max_i (count_j (x_i < y_j))", "x f32, y f32", DType::F32},
        {"max_j (sum_i m_j*k_i)", "m i16, k i16", DType::F64},
        {"std_j (s_j*t_i + 100000000)", "s i16, t bool", DType::F64},
        {"max_i (mean_j where(x_i < y_j, 3, 1))", "x f32, y f32", DType::F64},
    };
    for (const Built& c : all)
        EXPECT_EQ(real_of(c), c.real) << c.formula;
}

/// Constants beside what was reduced over all points are not rounded.
TEST(Digits, OfConstantsBehindAReduction) {
    const auto exact_in = [](const char* formula, const char* arguments) {
        const ir::Graph graph =
            ir::orient(ir::simplify(graph_of(formula, arguments))).graph;
        return exact_constants(graph).size();
    };
    EXPECT_GT(exact_in("q*q + (sum_i t_i)", "t bool, q i64"), 0u);
    EXPECT_GT(exact_in("123456789 + (argmax_j a_j)", "a f32"), 0u);
    EXPECT_EQ(exact_in("q*q + (sum_i t_i)", "t f32, q f64"), 0u);
}

} // namespace
} // namespace tilefold::tests
