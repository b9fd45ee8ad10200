// tests/compiler/test_derivatives.cpp - derivatives as graphs: what is summed
// where, and how reductions that need one another are cut into sweeps.

#include "compiler/build/rules.h"
#include "compiler/ir/text.h"
#include "compiler/language/vocabulary.h"
#include "compiler/passes/sweeps.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilefold::tests {
namespace {

using Kind = DerivationStep::Kind;

struct DerivedCase {
    const char *name, *formula, *arguments;
    std::vector<std::string> names;
};

// clang-format off
const DerivedCase derived_cases[] = {
    {"gaussian by x", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32, l f64, grad f32", {"x"}},
    {"gaussian by all", "sum_j exp(-|x_i - y_j|²/2l²) b_j", "x f32[3], y f32[3], b f32, l f64, grad f32", {"x", "y", "b", "l"}},
    {"wide values", "sum_j exp(-|x_i - y_j|²) b_j", "x f32[3], y f32[3], b f32[2], grad f32[2]", {"b"}},
    {"one array on both axes", "sum_j exp(-|x_i - x_j|²) b_j", "x f64[2], b f64, grad f64", {"x"}},
    {"logsumexp by j", "logsumexp_j(g_j - |x_i - y_j|²)", "x f32[3], y f32[3], g f32, grad f32", {"g"}},
    {"largest", "max_j x_i·y_j", "x f32[3], y f32[3], grad f32", {"y"}},
    {"a mean", "mean_j x_i*y_j", "x f64, y f64, grad f64", {"y"}},
    {"the same along an axis", "sum_ij (x_i - c)*(y_j - c)", "x f64, y f64, c f64", {"c"}},
    {"map", "sin(x_i)", "x f32, grad f32", {"x"}},
    {"of a mask of pairs", "sum_j [i ≠ j] b_j/|x_i - x_j|", "x f64[3], b f64, grad f64", {"x", "b"}},
    {"of masks of points", "sum_j where(a_i > 0 and b_j > 0, b_j/a_i, 0)", "a f64, b f64, grad f64", {"a", "b"}},
    {"of points without a pair", "sum_j where(a_i > b_j, b_j*log(a_i), 0)", "a f64, b f64, grad f64", {"a"}},
    {"of branches that meet again", "sum_j where(u < 1, log(u), where(u < 2, 1/u, u)) with u = x_i*y_j", "x f64, y f64, grad f64", {"x"}},
    {"of a mask of components", "sum_j sum(where(x_i > 0, log(x_i), 0))*y_j", "x f64[3], y f64, grad f64", {"x"}},
    {"of what may be 0 before its slope", "sum_j max(x_i·y_j, 0)", "x f64[3], y f64[3], grad f64", {"x"}},
    {"parameter on both axes", "sum_ij |x_i - y_j|/l", "x f32[3], y f32[3], l f64", {"l"}},
};
// clang-format on

/// Canonical graphs of the sweeps, and where each result is.
std::string text_of(const DerivedCase& c) {
    const DerivationStep step{Kind::Reverse, c.names, false, "grad"};
    const SweepPrograms programs =
        compile_sweeps(parse(c.formula, vocabulary()), {step},
                       arguments(c.arguments), Mode::Reduce, {});
    std::string text = std::string("# ") + c.name + ": " + c.formula + "\n";
    text += print(programs.sweeps);
    for (std::size_t k = 0; k < c.names.size(); ++k)
        text += "d" + c.names[k] + " = sweep " +
                std::to_string(programs.results[k].sweep) + ", part " +
                std::to_string(programs.results[k].part) + "\n";
    return text + "\n";
}

TEST(Derivatives, Golden) {
    std::string text;
    for (const DerivedCase& c : derived_cases)
        text += text_of(c);
    expect_golden("derivatives.txt", text);
}

SweepPrograms sweeps_of(const char* formula, const char* types,
                        const Derivation& derivation) {
    return compile_sweeps(parse(formula, vocabulary()), derivation,
                          arguments(types), Mode::Reduce, {});
}

TEST(Derivatives, OfWhatAResultDoesNotDependOnAreZero) {
    const SweepPrograms all =
        sweeps_of("sum_j x_i*floor(y_j)", "x f64, y f64, grad f64",
                  {{Kind::Reverse, {"y"}, false, "grad"}});
    EXPECT_EQ(all.results[0].sweep, -1);
    EXPECT_TRUE(all.sweeps.empty());
}

TEST(Derivatives, ParametersOfManyComponentsAreNeverKeptForEveryPoint) {
    const SweepPrograms all =
        sweeps_of("sum_j exp(-|(x_i - y_j)/l|²)",
                  "x f32[64], y f32[64], l f64[64], grad f32",
                  {{Kind::Reverse, {"x", "l"}, false, "grad"}});
    const auto last = std::size_t(all.results[1].sweep);
    EXPECT_TRUE(all.sweeps[last].program.folds_rows);
    for (const ir::Argument& argument :
         all.sweeps[last].program.graph().arguments)
        EXPECT_FALSE(argument.name.starts_with("$")) << argument.name;
}

TEST(Derivatives, SecondOnesAreCutToo) {
    const SweepPrograms all =
        sweeps_of("logsumexp_j(-|x_i - y_j|²)",
                  "x f32[3], y f32[3], grad f32, again f32[3]",
                  {{Kind::Reverse, {"x"}, false, "grad"},
                   {Kind::Reverse, {"y"}, false, "again"}});
    EXPECT_GE(all.sweeps.size(), 2u);
    EXPECT_GE(all.results[0].sweep, 0);
}

TEST(Derivatives, SimplifiedGraphsHoldNoRootOfASquaredNorm) {
    const SweepPrograms all =
        sweeps_of("sum_j exp(-|x_i - y_j|²)", "x f32[3], y f32[3], grad f32",
                  {{Kind::Reverse, {"x"}, false, "grad"}});
    for (const SweepProgram& sweep : all.sweeps)
        EXPECT_TRUE(std::ranges::none_of(
            sweep.program.graph().nodes, [](const ir::Node& node) {
                return node.op == ir::Op::Sqrt || node.op == ir::Op::Pinv;
            }));
}

TEST(Derivatives, EveryRowHasARuleForEachOperand) {
    for (std::size_t k = 0; k < ir::all_op_rows().size(); ++k) {
        const ir::OpRow& row = ir::all_op_rows()[k];
        const ir::Op op = ir::op_of_row(k);
        EXPECT_EQ(partials_of(op).size(), std::size_t(row.arity)) << row.name;
        EXPECT_EQ(tangents_of(op).size(), std::size_t(row.arity)) << row.name;
    }
    for (std::size_t k = 0; k < ir::all_reduction_rows().size(); ++k)
        EXPECT_NE(adjoints_of(ir::Reduction(k))[0].kind == Rule::Kind::None,
                  has_rules(ir::Reduction(k)))
            << ir::all_reduction_rows()[k].name;
}

TEST(Derivatives, OfPairTermsAreOfTheirSums) {
    const std::string refused =
        "the formula has no reduction: it is a lazy N×M matrix\n"
        "  2x_i*y_j\n"
        "  ^~~~~~~~\n"
        "reduce it, as in sum_j …, or call tilefold.kernel";
    const auto message = [](const char* types, Kind kind) {
        return message_of([&] {
            sweeps_of("2x_i*y_j", types, {{kind, {"x"}, false, "seed"}});
        });
    };
    EXPECT_EQ(message("x f64, y f64, seed f64 on i", Kind::Reverse), refused);
    EXPECT_EQ(message("x f64, y f64, seed f64 on i", Kind::Forward), refused);
    EXPECT_EQ(message("x f64, y f64, seed f64 as parameter", Kind::Reverse),
              "no error")
        << "one number for all pairs";
}

TEST(Derivatives, ByMatricesOfMoreComponentsThanAreCounted) {
    const auto by_matrix = [] {
        sweeps_of("sum_j sign((A @ [1, x_j])[0])",
                  "x f64, A f64[1073741824,2], seed f64 as parameter",
                  {{Kind::Reverse, {"A"}, false, "seed"}});
    };
    EXPECT_EQ(message_of(by_matrix),
              "a vector of 2147483648 components; at most 2147483647 are made\n"
              "pass it as an array, or make a part of it");
}

TEST(Derivatives, SeedsAreNamedByTheirArguments) {
    const Derivation derivation{{Kind::Reverse, {"x", "l"}, true, "g"},
                                {Kind::Reverse, {"x"}, false, "h"},
                                {Kind::Forward, {"x", "y"}, false, "t"}};
    std::vector<std::string> names;
    for (const SeedRole& seed : seeds_of(derivation))
        names.push_back(seed.name);
    EXPECT_EQ(names, (std::vector<std::string>{"g", "h_value", "h_x", "h_l",
                                               "t_x", "t_y"}));
    EXPECT_EQ(results_of(derivation).size(), 1u);
}

TEST(Sweeps, VarianceTakesTwo) {
    EXPECT_TRUE(needs_sweeps(parse("var_j x_i*y_j", vocabulary()), {},
                             arguments("x f64, y f64"), Mode::Reduce));
    EXPECT_FALSE(needs_sweeps(parse("kmax_j(x_i*y_j, 2)", vocabulary()), {},
                              arguments("x f64, y f64"), Mode::Reduce));
    const SweepPrograms all = sweeps_of("var_j x_i*y_j", "x f64, y f64", {});
    EXPECT_EQ(all.sweeps.size(), 2u);
}

} // namespace
} // namespace tilefold::tests
