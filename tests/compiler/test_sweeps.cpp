// tests/compiler/test_sweeps.cpp - reductions of reductions, cut into sweeps.

#include "compiler/ir/text.h"
#include "compiler/language/vocabulary.h"
#include "compiler/passes/sweeps.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>
#include <set>

namespace tilefold::tests {
namespace {

struct SweepCase {
    const char *name, *formula, *arguments;
};

// clang-format off
const SweepCase cases[] = {
    {"Hausdorff", "max_i min_j |x_i - y_j|", "x f32[3], y f32[3]"},
    {"normalised by columns", "sum_j k/(sum_i k)*b_j with k = exp(-|x_i - y_j|²)", "x f32[3], y f32[3], b f32"},
    {"normalised by rows", "sum_j (k/(sum_j k))*b_j with k = exp(-|x_i - y_j|²)", "x f32[3], y f32[3], b f32"},
    {"three levels", "max_j log(sum_i (min_j x_i*y_j)*exp(x_i*y_j))", "x f32, y f32"},
    {"two numbers", "(sum_i c_i) + (sum_j b_j)", "c f32, b f32"},
    {"centred", "x_i - mean_i(x_i)", "x f32[3]"},
    {"one sum", "sum_i sum_j x_i*y_j", "x f32, y f32"},
    {"numbers in between", "var_i (mean_j(c_j) + h_i)", "c bool, h u8"},
};
// clang-format on

SweepPrograms sweeps_of(const SweepCase& c, Mode mode) {
    return compile_sweeps(parse(c.formula, vocabulary()), {},
                          arguments(c.arguments), mode, {});
}

/// Canonical graphs of the sweeps, and what each leaves behind.
std::string text_of(const SweepCase& c, Mode mode) {
    const SweepPrograms programs = sweeps_of(c, mode);
    std::string text = std::string("# ") + c.name + ": " + c.formula +
                       (mode == Mode::Chosen ? ", of chosen pairs\n" : "\n");
    text += print(programs.sweeps);
    return text + "\n";
}

TEST(Sweeps, Golden) {
    std::string text;
    for (const SweepCase& c : cases)
        text += text_of(c, Mode::Reduce);
    text += text_of(cases[0], Mode::Chosen);
    text += text_of(cases[2], Mode::Chosen);
    expect_golden("sweeps.txt", text);
}

/// The search for a median hands on bounds, not what it has counted: its
/// sweeps of mantissa bits are one graph.
TEST(Sweeps, LeaveTheFewestNumbersBehind) {
    const SweepPrograms programs = sweeps_of(
        {"", "median_j |x_i - y_j|", "x f64[3], y f64[3]"}, Mode::Reduce);
    std::set<std::string> kernels;
    for (const SweepProgram& sweep : programs.sweeps) {
        EXPECT_LE(sweep.program.graph().arguments.size(), 9u);
        kernels.insert(print(sweep.program.graph(), ir::Names::Numbers));
    }
    EXPECT_LE(kernels.size(), 14u) << "of " << programs.sweeps.size();
}

bool needs(const char* formula, const char* types, Mode mode = Mode::Reduce) {
    return needs_sweeps(parse(formula, vocabulary()), {}, arguments(types),
                        mode);
}

TEST(Sweeps, AreNeededWhereOneKernelDoesNotDo) {
    const char* xy = "x f32[3], y f32[3]";
    EXPECT_TRUE(needs("max_i min_j |x_i - y_j|", xy));
    EXPECT_TRUE(needs("f(x_i·y_j*f(x_i·y_j)) with f(a) = sum_j a", xy));
    EXPECT_TRUE(needs("(sum_i |x_i|) + (sum_j |y_j|)", xy));
    EXPECT_TRUE(needs("std_j (x_i·y_j)", xy));
    EXPECT_TRUE(needs("x_i - mean_i(x_i)", "x f32[3]"));
    EXPECT_FALSE(needs("(sum_j x_i·y_j)/(sum_j |x_i - y_j|)", xy));
    EXPECT_FALSE(needs("sum_i sum_j x_i·y_j", xy));
    EXPECT_FALSE(needs("sum_j x_i·y_j", xy));
    EXPECT_FALSE(needs("x_i·y_j", xy, Mode::Values));
}

} // namespace
} // namespace tilefold::tests
