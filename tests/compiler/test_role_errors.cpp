// tests/compiler/test_role_errors.cpp - what names, axes and reductions can be
// refused for, with the whole message.

#include "tests/compiler/support.h"

#include <gtest/gtest.h>

namespace tilefold::tests {
namespace {

// ---- names and roles --------------------------------------------------------

TEST(Refusals, NamesThatAreMissing) {
    EXPECT_EQ(refusal("sum_j exp(-|x_i-y_j|²/2l²)", xy),
              "the formula needs 'l', which was not given\n"
              "  sum_j exp(-|x_i-y_j|²/2l²)\n"
              "                         ^\n"
              "pass l=…");
    EXPECT_EQ(refusal("x_i^e", "x f32"),
              "'e' is not a constant here\n"
              "  x_i^e\n"
              "      ^\n"
              "write exp(…) for e^(…), or pass an argument e");
    EXPECT_EQ(refusal("im * x_i", "x f32"),
              "elements of a complex kernel are read part by part\n"
              "  im * x_i\n"
              "  ^~~~~~~~\n"
              "take real(…) or imag(…) of the formula");
    EXPECT_EQ(refusal("exp(-|x|²)", "x f32[3]"),
              "the formula names x but no y, and no subscripts\n"
              "  exp(-|x|²)\n"
              "        ^\n"
              "write x_i and x_j for one array on both axes, or x_i alone "
              "for a map");
    EXPECT_EQ(refusal("exp(-|x|²)", "x f32[3] on i"), "no error");
}

TEST(Refusals, NamesThatAreTooMany) {
    EXPECT_EQ(refusal("sum_j x_i·y_j", "x f32[3], y f32[3], b f32"),
              "the argument 'b' is not in the formula, which has x and y\n"
              "drop it, or correct its name");
    EXPECT_EQ(refusal("sum_j sigma * x_i·y_j", "x f32[3], y f32[3], sigmo f64"),
              "the argument 'sigmo' is not in the formula, which has sigma, x "
              "and y\n"
              "did you mean sigma?");
    EXPECT_EQ(refusal("sum_j x_i·y_j", "x_i f32[3], y f32[3]"),
              "the argument 'x_i' carries a subscript\n"
              "pass x=…; the subscript stays in the formula");
    EXPECT_EQ(refusal("λ x_i", "x f32, λ f64, lambda_ f64"),
              "the argument 'lambda' is given twice, as λ and lambda_\n"
              "pass one of them; a Greek letter and its ASCII name are one "
              "name");
}

TEST(Refusals, RolesThatDisagree) {
    EXPECT_EQ(refusal("x_i + x", "x f32"),
              "'x' appears both as x_i and as x\n"
              "  x_i + x\n"
              "        ^\n"
              "an array is read as x_i or x_j, a parameter as a bare name");
    EXPECT_EQ(refusal("x_i + 1", "x f32 on j"),
              "'x' is declared an array on j but read as an array on i\n"
              "  x_i + 1\n"
              "  ^~~\n"
              "change the declaration, or the subscript in the formula");
    EXPECT_EQ(refusal("x_i + x_j", "x f32 as parameter").substr(0, 71),
              "'x' is declared a parameter but read as an array on i and j\n"
              "  x_i + x_j");
}

// ---- reductions and axes ----------------------------------------------------

TEST(Refusals, ReductionsOfWhatIsReduced) {
    EXPECT_EQ(refusal("sum_j √(max_j x_i·y_j)", xy),
              "what 'sum_j' reduces is not on j any more after 'max_j'\n"
              "  sum_j √(max_j x_i·y_j)\n"
              "          ^~~~~~~~~~~~~\n"
              "leave 'sum_j' away, or let it reduce something that is on j");
    EXPECT_EQ(refusal("sum_ij √(max_j x_i·y_j)", xy).substr(0, 44),
              "what 'sum_ij' reduces is not on j any more a");
    EXPECT_EQ(refusal("sum_j (y_j * (max_j x_i·y_j))", xy), "no error");
    EXPECT_EQ(refusal("sum_i (x_i * (max_j x_i·y_j))", xy), "no error");
}

TEST(Refusals, ReductionsOverDifferentAxes) {
    EXPECT_EQ(refusal("(sum_j x_i·y_j) + (sum_i x_i·y_j)", xy),
              "'sum_j' and 'sum_i' reduce over different axes in one formula\n"
              "  (sum_j x_i·y_j) + (sum_i x_i·y_j)\n"
              "                     ^~~~~~~~~~~~~\n"
              "reduce both over the same axis, or compute one first and pass "
              "its result");
    EXPECT_EQ(refusal("(sum_j y_j) + (sum_i x_i)", xy), "no error");
    EXPECT_EQ(refusal("(sum_j x_i·y_j) + (sum_i x_i)", xy), "no error");
}

TEST(Refusals, AxesThatAreLeft) {
    EXPECT_EQ(refusal("y_j + sum_j x_i*y_j", xy),
              "the result still depends on j after 'sum_j'\n"
              "  y_j + sum_j x_i*y_j\n"
              "  ^~~~~~~~~~~~~~~~~~~\n"
              "reduce over j as well, or over both with _ij");
}

TEST(Refusals, AxesNobodyCarries) {
    EXPECT_EQ(refusal("sum_j x_i", "x f32"),
              "no argument carries the axis j of 'sum_j'\n"
              "  sum_j x_i\n"
              "  ^~~~~~~~~\n"
              "give a variable the subscript _j");
    EXPECT_EQ(refusal("x_i * j", "x f32"),
              "no argument carries the axis j of 'j'\n"
              "  x_i * j\n"
              "        ^\n"
              "give a variable the subscript _j");
}

TEST(Refusals, NumbersOfElements) {
    EXPECT_EQ(refusal("argkmin_j(|x_i-y_j|, K)", "x f32, y f32, K i64"),
              "the number of elements of argkmin_j must be an integer known "
              "when the formula is read, not 'K'\n"
              "  argkmin_j(|x_i-y_j|, K)\n"
              "                       ^\n"
              "write the number itself");
    EXPECT_EQ(refusal("argkmin_j(|x_i-y_j|, 1.5)", xy).substr(0, 40),
              "the number of elements of argkmin_j must");
    EXPECT_EQ(refusal("kmin_j(|x_i-y_j|, 0)", xy),
              "'kmin_j' asks for 0 elements; at least 1 is needed\n"
              "  kmin_j(|x_i-y_j|, 0)\n"
              "                    ^\n"
              "pass a positive integer");
    EXPECT_EQ(refusal("kmin_j(|x_i-y_j|, 1000000)", xy),
              "'kmin_j' asks for 1000000 elements; at most 1024 are kept\n"
              "  kmin_j(|x_i-y_j|, 1000000)\n"
              "                    ^~~~~~~\n"
              "ask for fewer, or take several calls");
}

TEST(Refusals, PairTermsAndKernels) {
    EXPECT_EQ(message_of([] { program_of("exp(-|x-y|²)", xy); }),
              "the formula has no reduction: it is a lazy N×M matrix\n"
              "  exp(-|x-y|²)\n"
              "  ^~~~~~~~~~~~\n"
              "reduce it, as in sum_j …, or call tilefold.kernel");
    EXPECT_EQ(
        message_of([] { program_of("sum_j x_i·y_j", xy, Mode::Values); }),
        "'sum_j' in the formula of a kernel, which gives one value for a pair\n"
        "  sum_j x_i·y_j\n"
        "  ^~~~~~~~~~~~~\n"
        "leave the reduction away: K @ b and K.sum(1) reduce; or call "
        "tilefold.reduce");
}

// ---- size -------------------------------------------------------------------

TEST(Refusals, DefinitionsThatExplode) {
    std::string formula = "f40(x_i) with f0(u) = sin(u) + cos(u)";
    for (int k = 1; k <= 40; ++k) {
        const std::string inner = "f" + std::to_string(k - 1);
        formula += ", f" + std::to_string(k) + "(u) = " + inner + "(" + inner +
                   "(u)) + 1";
    }
    EXPECT_EQ(refusal(formula, "x f32").substr(0, 52),
              "the graph of the formula has more than 20000 nodes\n ");
}

TEST(Refusals, DefinitionsThatNestTooDeep) {
    std::string formula = "f300(x_i) with f0(u) = sin(u)";
    for (int k = 1; k <= 300; ++k)
        formula += ", f" + std::to_string(k) + "(u) = f" +
                   std::to_string(k - 1) + "(u) + 1";
    EXPECT_EQ(refusal(formula, "x f32").substr(0, 47),
              "the formula is nested deeper than 256 levels\n  ");
}

TEST(Refusals, PointIntoTheDefinition) {
    EXPECT_EQ(refusal("sum_j k(x_i, y_j) with k(u, v) = u v", xy),
              "two vectors side by side (3 components and 3 components)\n"
              "  sum_j k(x_i, y_j) with k(u, v) = u v\n"
              "                                   ^~~\n"
              "write · for the inner product, * for the product of components");
}

TEST(Refusals, PointAtTheCallOfTheLanguagesOwnFunctions) {
    EXPECT_EQ(refusal("sum_j clamp(x_i, y_j, 1)", "x f32[3], y f32[2]"),
              "'max' of a vector of 3 components and a vector of 2 components: "
              "the numbers of components differ\n"
              "  sum_j clamp(x_i, y_j, 1)\n"
              "        ^~~~~~~~~~~~~~~~~~\n"
              "components must agree, or one operand must be a scalar, such "
              "as a component, v[0]");
}

} // namespace
} // namespace tilefold::tests
