// tests/compiler/test_fold.cpp - reductions by functions of the formula: what
// becomes of the functions, and what is refused, with the whole message.

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilefold::tests {
namespace {

std::string refusal_of_fold(std::string_view formula,
                            std::string_view types = "x f64") {
    return refusal(formula, types);
}

const ir::Node& fold_of(const ir::Graph& graph) {
    return *std::ranges::find_if(
        graph.nodes, [](const ir::Node& node) { return node.fold != nullptr; });
}

std::string add_with(const std::string& body) {
    return "fold_j(x_j, 0, add) with add(a, b) = " + body;
}

// ---- graphs -----------------------------------------------------------------

TEST(Fold, FunctionsAreGraphsOfTheirOwn) {
    EXPECT_EQ(ir::print(graph_of("fold_j(x_i*x_j, [0, 0], f, g, h) with "
                                 "f(s, t) = [s[0] + t, s[1] + t*l], "
                                 "g(s, t) = s + t, h(s) = s[1]",
                                 "x f32, l f64")),
              "graph f32\n"
              "argument x : f32 {i,j}\n"
              "argument l : f64 {}\n"
              "literal 0 = 0\n"
              "literal 1 = 0\n"
              "%0 = argument x : f32 {i}\n"
              "%1 = argument x : f32 {j}\n"
              "%2 = mul %0, %1 : f32 {i,j}\n"
              "%3 = literal 0 : f64 {}\n"
              "%4 = literal 1 : f64 {}\n"
              "%5 = concat %3, %4 : f64[2] {}\n"
              "%6 = argument l : f64 {}\n"
              "%7 = slice %6, 0, 1 : f64[1] {}\n"
              "accumulate\n"
              "  graph f32\n"
              "  argument left : f32[2] {i}\n"
              "  argument right : f32 {i}\n"
              "  argument given : f64[1] {}\n"
              "  %0 = argument left : f32[2] {i}\n"
              "  %1 = slice %0, 0, 1, scalar : f32 {i}\n"
              "  %2 = argument right : f32 {i}\n"
              "  %3 = add %1, %2 : f32 {i}\n"
              "  %4 = slice %0, 1, 2, scalar : f32 {i}\n"
              "  %5 = argument given : f64[1] {}\n"
              "  %6 = slice %5, 0, 1, scalar : f64 {}\n"
              "  %7 = mul %2, %6 : f32 {i}\n"
              "  %8 = add %4, %7 : f32 {i}\n"
              "  %9 = concat %3, %8 : f32[2] {i}\n"
              "  return %9\n"
              "merge\n"
              "  graph f64\n"
              "  argument left : f64[2] {i}\n"
              "  argument right : f64[2] {i}\n"
              "  %0 = argument left : f64[2] {i}\n"
              "  %1 = argument right : f64[2] {i}\n"
              "  %2 = add %0, %1 : f64[2] {i}\n"
              "  return %2\n"
              "%8 = reduce fold j %2, %5, %7 : f32[2] {i}\n"
              "%9 = slice %8, 1, 2, scalar : f32 {i}\n"
              "return %9\n");
}

TEST(Fold, NumbersAreGivenNotCompiled) {
    const auto text = [](const char* add) {
        return ir::print(program_of(add_with(add), "x f64").graph(),
                         ir::Names::Numbers);
    };
    EXPECT_EQ(text("a + b + 0.5*a*b"), text("a + b + 7*a*b"));
    EXPECT_NE(text("a + b"), text("a + b + 7*a*b"));
}

TEST(Fold, OfTheSameTermsByOtherFunctionsIsAnotherValue) {
    const ir::Graph graph = graph_of(
        "fold_j(x_j, 0, f) + fold_j(x_j, 0, g) + fold_j(x_j, 0, h) with "
        "f(a, b) = a + b, g(a, b) = a + b + a*b, h(s, t) = s + t",
        "x f64");
    EXPECT_EQ(std::ranges::count_if(
                  graph.nodes, [](const ir::Node& n) { return bool(n.fold); }),
              2);
    ir::verify(graph);
}

TEST(Fold, MayBeInsideADefinition) {
    const ir::Graph graph =
        graph_of("v(x_i - x_j) + v(x_j) with add(a, b) = max(a, b), "
                 "v(u) = fold_j(u, -inf, add)",
                 "x f64");
    EXPECT_EQ(graph[graph.result].type.axes, Axes::I);
}

TEST(Fold, LastOfTwoFunctionsMayFinalise) {
    const ir::Graph graph =
        graph_of("fold_j(x_j, [0, 0], add, half) with add(a, b) = a + b, "
                 "half(s) = |s|/2",
                 "x f64[2]");
    EXPECT_EQ(graph[graph.result].type.rank, 0);
    EXPECT_EQ(fold_of(graph).fold->accumulate.nodes.size(), 3u);
}

TEST(Fold, ConstantsAreFolded) {
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, -inf, f) with f(a, b) = max(a, b)"),
              "no error");
    EXPECT_EQ(
        refusal_of_fold("fold_j(x_j, 0, f, g) with f(s, t) = s, g(s, t) = 0"),
        "no error");
}

// ---- refusals ---------------------------------------------------------------

TEST(FoldRefusals, AnInitialStateOnAnAxis) {
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, x_i, f) with f(a, b) = a + b"),
              "the initial state of fold_j is on i\n"
              "  fold_j(x_j, x_i, f) with f(a, b) = a + b\n"
              "              ^~~\n"
              "it is one for all points: numbers and parameters, as in [0, 0]");
}

TEST(FoldRefusals, VariablesInAFunction) {
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, 0, f) with f(a, b) = a + b*g(x_i), "
                              "g(u) = u + 1")
                  .substr(0, 43), // wherever g is defined
              "'f', a function of fold_j, reads a value on");
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, 0, f) with f(a, b) = a + b*x_i"),
              "'f', a function of fold_j, reads a value on i\n"
              "  fold_j(x_j, 0, f) with f(a, b) = a + b*x_i\n"
              "                                         ^~~\n"
              "make it part of the term that fold_j takes first, as in [f, "
              "x_j], and read it from there");
    EXPECT_EQ(refusal_of_fold(
                  "fold_j(x_j, 0, f) with u = x_j, f(a, b) = a + b + u*0"),
              "'f', a function of fold_j, reads a value on j\n"
              "  fold_j(x_j, 0, f) with u = x_j, f(a, b) = a + b + u*0\n"
              "                                                    ^\n"
              "make it part of the term that fold_j takes first, as in [f, "
              "x_j], and read it from there");
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, 0, f) with f(a, b) = a + b + j*0")
                  .substr(0, 45),
              "'f', a function of fold_j, reads a value on j");
}

TEST(FoldRefusals, ReductionsInAFunction) {
    EXPECT_EQ(
        refusal_of_fold("fold_j(x_j, 0, f) with f(a, b) = a + b + mean_j x_j"),
        "'mean_j' cannot stand in the functions or the initial state of "
        "'fold_j'\n"
        "  fold_j(x_j, 0, f) with f(a, b) = a + b + mean_j x_j\n"
        "                                           ^~~~~~~~~~\n"
        "compute it first and pass its result as an argument");
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, max_i x_i, f) with f(a, b) = a + b")
                  .substr(0, 45),
              "'max_i' cannot stand in the functions or the ");
}

TEST(FoldRefusals, Matrices) {
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, [0, 0], f) with f(a, b) = a + A @ b",
                              "x f64[2], A f64[2,2]"),
              "'f' reads a matrix\n"
              "  fold_j(x_j, [0, 0], f) with f(a, b) = a + A @ b\n"
              "                                            ^\n"
              "write its rows or its components as vectors or numbers");
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, A, f) with f(a, b) = a + b",
                              "x f64[2], A f64[2,2]"),
              "the state of fold_j reads a matrix\n"
              "  fold_j(x_j, A, f) with f(a, b) = a + b\n"
              "              ^\n"
              "write its rows or its components as vectors or numbers");
}

TEST(FoldRefusals, ResultsThatAreNoState) {
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, [0, 0], f) with f(a, b) = a[0] + b"),
              "'f' gives a scalar, and the state is a vector of 2 components\n"
              "  fold_j(x_j, [0, 0], f) with f(a, b) = a[0] + b\n"
              "                      ^\n"
              "accumulate and merge give a state of the shape that the initial "
              "state has");
    EXPECT_EQ(
        refusal_of_fold("fold_j(x_j, [0, 0], f, g) with "
                        "f(s, t) = [s[0] + t, s[1] + t], g(a, b) = |a + b|")
            .substr(0, 61),
        "'g' gives a scalar, and the state is a vector of 2 components");
}

TEST(FoldRefusals, TooManyComponents) {
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, x0, f) with f(a, b) = a + b",
                              "x f64[65], x0 f64[65]"),
              "the state of fold_j has 65 components; at most 64 are folded\n"
              "  fold_j(x_j, x0, f) with f(a, b) = a + b\n"
              "              ^~\n"
              "fold some components at a time");
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, 0, f, g) with f(s, t) = s + t[0], "
                              "g(a, b) = a + b",
                              "x f64[65]")
                  .substr(0, 43),
              "the term of fold_j has 65 components; at mo");
}

TEST(FoldRefusals, ComplexNumbers) {
    for (const char* text :
         {"real(fold_j(x_j*im, 0, f)) with f(a, b) = a + b",
          "real(fold_j(x_j, 0*im, f)) with f(a, b) = a + b",
          "real(fold_j(x_j, 0, f, g)) with f(a, b) = a + b*im, g(a, b) = a + b",
          "fold_j(x_j, 0, f) with f(a, b) = a + real(b + 2b*im)"})
        EXPECT_EQ(refusal_of_fold(text), "no error") << text;
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, im, f) with f(a, b) = a + b"),
              "the initial state is not the identity of 'f': merging it with "
              "0+1im gives 0+2im, and 0+1im was expected\n"
              "  fold_j(x_j, im, f) with f(a, b) = a + b\n"
              "                  ^\n"
              "start from the state of no terms; merged with any state, it "
              "changes nothing");
    EXPECT_EQ(refusal_of_fold("fold_j(z_j*im, z0*im, f) with f(a, b) = a + b",
                              "z f64[33], z0 f64[33]")
                  .substr(0, 68),
              "the state of fold_j has 33 complex components; at most 32 are "
              "folded");
}

TEST(FoldRefusals, TooManyNumbers) {
    EXPECT_EQ(
        refusal_of_fold("fold_j(x_j, [0, 0], f) with f(a, b) = a + b + 0*|p|",
                        "x f64[2], p f64[600]"),
        "no error"); // |p| is one number
    EXPECT_EQ(
        refusal_of_fold("fold_j(x_j, 0, f) with f(a, b) = a + b + 0*|a*p|",
                        "x f64, p f64[600]")
            .substr(0, 94),
        "the list of numbers in the functions of fold_j has 601 "
        "components; at most 512 are folded\n  fo");
}

// ---- laws -------------------------------------------------------------------

TEST(FoldLaws, Identity) {
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, 1, f) with f(a, b) = a + b"),
              "the initial state is not the identity of 'f': merging it with "
              "1 gives 2, and 1 was expected\n"
              "  fold_j(x_j, 1, f) with f(a, b) = a + b\n"
              "                 ^\n"
              "start from the state of no terms; merged with any state, it "
              "changes nothing");
    // exp(-inf - -inf): the sum of no terms is NaN
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, -inf, f) with f(a, b) = max(a, b) + "
                              "log1p(exp(-abs(a - b)))")
                  .substr(0, 44),
              "the initial state is not the identity of 'f'");
}

TEST(FoldLaws, Commutativity) {
    const std::string message =
        refusal_of_fold("fold_j(x_j, 0, f) with f(a, b) = a + b + a*b*(a - b)");
    EXPECT_EQ(message.substr(0, 35), "'f' is not commutative: f(a, b) is ");
    EXPECT_NE(message.find(" and f(b, a) is "), std::string::npos) << message;
    EXPECT_NE(message.find(", where a = "), std::string::npos) << message;
    EXPECT_EQ(message.substr(message.find('\n')),
              "\n  fold_j(x_j, 0, f) with f(a, b) = a + b + a*b*(a - b)\n"
              "                 ^\n"
              "states of pieces are merged in any order: give the same for "
              "both");
}

TEST(FoldLaws, Associativity) {
    const std::string message =
        refusal_of_fold("fold_j(x_j, 0, f) with f(a, b) = a + b + a²*b²");
    EXPECT_EQ(message.substr(0, 41),
              "'f' is not associative: f(f(a, b), c) is ");
    EXPECT_NE(message.find(" and c = "), std::string::npos) << message;
}

TEST(FoldLaws, AccumulateIsMerging) {
    const std::string message = refusal_of_fold(
        "fold_j(x_j, 0, f, g) with f(s, t) = s + 2t, g(a, b) = a + b + a*b");
    EXPECT_EQ(message.substr(0, 33), "'f' and 'g' disagree: f(a, f) is ");
    EXPECT_NE(message.find("g of a and the state of f alone is "),
              std::string::npos)
        << message;
}

TEST(FoldLaws, HoldWhereTheTermsAre) {
    // max with 0 starts from the identity of numbers that are not negative
    EXPECT_EQ(
        refusal_of_fold("fold_j(abs(x_j), 0, f) with f(a, b) = max(a, b)"),
        "no error");
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, 0, f, g) with f(s, t) = max(s, t), "
                              "g(a, b) = max(a, b)"),
              "no error");
    EXPECT_EQ(refusal_of_fold("fold_j(x_j, 0, f) with f(a, b) = sqrt(a² + b²)"),
              "no error");
}

TEST(FoldLaws, HoldForSomeParameters) {
    const auto of = [](const std::string& body) {
        return refusal_of_fold("fold_j(abs(x_j), 0, f) with f(a, b) = " + body,
                               "x f64, p f64");
    };
    EXPECT_EQ(of("(a^p + b^p)^(1/p)"), "no error");
    EXPECT_EQ(of("a + b + p*a*b"), "no error");
    EXPECT_EQ(of("a + b + p*a²").substr(0, 44),
              "the initial state is not the identity of 'f'");
}

TEST(FoldLaws, HoldForWholeNumbers) {
    EXPECT_EQ(message_of([] {
                  graph_of("fold_j(n_j, 0, f) with f(a, b) = (a + b) mod 7",
                           "n i64");
              }),
              "no error");
}

// ---- derivatives ------------------------------------------------------------

TEST(FoldRefusals, Derivatives) {
    constexpr const char* formula =
        "grad(fold_j(x_i*x_j, 0, f), x_i) with f(a, b) = a + b";
    EXPECT_EQ(refusal_of_fold(formula),
              "'fold_j' has no derivative: what its functions accumulate is "
              "not differentiated\n"
              "  grad(fold_j(x_i*x_j, 0, f), x_i) with f(a, b) = a + b\n"
              "       ^~~~~~~~~~~~~~~~~~~~~\n"
              "write it with sum, prod, max, min, logsumexp or softmax, or "
              "differentiate by what it does not read");
    EXPECT_EQ(refusal_of_fold("jvp(fold_j(x_i*x_j, 0, f), x_i, 1) with "
                              "f(a, b) = a + b")
                  .substr(0, 28),
              "'fold_j' has no derivative: ");
    EXPECT_EQ(
        refusal_of_fold("grad(x_i*fold_j(x_j, 0, f), x_i) with f(a, b) = a + b",
                        "x f64"),
        "no error");
}

} // namespace
} // namespace tilefold::tests
