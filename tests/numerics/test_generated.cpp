// tests/numerics/test_generated.cpp - generated kernels against the
// interpreter: formulas × plans × instruction sets × sizes around the tile's
// edges × cuts of the columns, between forbidden pages.

#include "tests/numerics/emulator.h"
#include "tests/numerics/kernel_case.h"
#include "tests/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace tilefold::test {
namespace {

constexpr DType f32 = DType::F32;
constexpr DType f64 = DType::F64;
constexpr Axes I = Axes::I, J = Axes::J;

constexpr int long_enough = 8; // the model unrolls fewer components

TestArgument scalar(const char* name, Axes axes, DType dtype = f64) {
    return {name, axes, dtype, 0, 1, 1};
}
TestArgument vector(const char* name, Axes axes, std::int32_t rows,
                    DType dtype = f64) {
    return {name, axes, dtype, 1, rows, 1};
}
TestArgument parameter(const char* name) {
    return scalar(name, Axes::None);
}

/// Formulas that between them reach every monoid, every way to read an
/// argument, both kinds of width and both orientations.
std::vector<TestFormula> real_formulas() {
    const auto x3 = vector("x", I, 3), y3 = vector("y", J, 3);
    const auto l = parameter("l");
    return {
        {"sum_j exp(-|x_i - y_j|²/2l²) b_j", {x3, y3, scalar("b", J), l}},
        {"sum_j exp(-|x_i - y_j|²/2l²) b_j",
         {vector("x", I, 3, f32), vector("y", J, 3, f32), scalar("b", J, f32),
          l},
         Mode::Reduce,
         3e-6},
        {"sum_j exp(-|x_i - y_j|²/2l²) b_j",
         {vector("x", I, 17), vector("y", J, 17), vector("b", J, 1), l}},
        {"sum_j exp(-|x_i - y_j|²/2l²) b_j", {x3, y3, vector("b", J, 11), l}},
        {"sum_j exp(-|x_i - y_j|²/2l²) b_j",
         {vector("x", I, 1, f32), vector("y", J, 1, f32),
          vector("b", J, 33, f32), l},
         Mode::Reduce,
         3e-6},
        {"sum_j exp(-|x_i - y_j|²) (x_i - y_j)",
         {vector("x", I, 12), vector("y", J, 12)}},
        {"sum_i exp(-|x_i - y_j|) a_i", {x3, y3, scalar("a", I)}},
        {"sum_ij x_i·y_j", {x3, y3}},
        {"sum_i sin(x_i)", {scalar("x", I)}},
        {"mean_j |x_i - y_j|", {x3, y3}},
        {"sum_j F_j/|x_i - y_j|", {vector("F", J, 3), x3, y3}},
        {"sum_j (x_i - y_j)/√(|x_i - y_j|² + l)", {l, y3, x3}},
        {"sum_j b_j/|x_i - y_j|", {x3, y3, vector("b", J, 17)}},
        {"prod_j (1 + x_i·y_j/50)", {x3, y3}},
        {"max_j (x_i·y_j)", {x3, y3}},
        {"min_j (x_i - y_j)", {x3, y3}},
        {"argmin_j |x_i - y_j|²", {x3, y3}},
        {"argmax_ij x_i·y_j", {x3, y3}},
        {"logsumexp_j(g_j - |x_i - y_j|²/2l)", {x3, y3, scalar("g", J), l}},
        {"logsumexp_j(-|x_i - y_j|², w_j)", {x3, y3, scalar("w", J)}},
        {"logsumexp_ij(x_i·y_j)", {x3, y3}},
        {"softmax_j(x_i·y_j, v_j)", {x3, y3, vector("v", J, 3)}},
        {"softmax_j(x_i·y_j, v_j)", {x3, y3, vector("v", J, 40)}},
        {"softmax_j(x_i·y_j, y_j)", {vector("x", I, 20), vector("y", J, 20)}},
        {"argkmin_j(|x_i - y_j|², 4)", {x3, y3}},
        {"kmin_j(|x_i - y_j|², 12)", {x3, y3}},
    };
}

/// Ties go to the first; the first NaN wins, but is last of the K. And values
/// of other kinds.
std::vector<TestFormula> other_formulas() {
    const auto x3 = vector("x", I, 3), y3 = vector("y", J, 3);
    const auto l = parameter("l");
    return {
        {"argmax_j (floor(3x_i) + floor(3y_j))",
         {scalar("x", I), scalar("y", J)}},
        {"argmin_j log(y_j - x_i/3)", {scalar("x", I), scalar("y", J)}},
        {"argmax_j log(y_j - x_i/3)", {scalar("x", I), scalar("y", J)}},
        {"min_j log(y_j - x_i/3)", {scalar("x", I), scalar("y", J)}},
        {"argkmin_j(floor(9log(y_j - x_i/3)), 5)",
         {scalar("x", I), scalar("y", J)}},
        {"kmin_j(log(y_j - x_i/3), 5)", {scalar("x", I), scalar("y", J)}},
        {"logsumexp_j(log(floor(2y_j)))", {scalar("y", J)}},
        {"any_j (|x_i - y_j| < l/4)", {x3, y3, l}},
        {"all_j (j <= i or x_i·y_j > 1)", {x3, y3}},
        {"count_j (x_i == y_j)",
         {scalar("x", I, DType::I32), scalar("y", J, DType::I64)}},
        {"sum_j where(j <= i and c_i, x_i·y_j, 0)",
         {x3, y3, scalar("c", I, DType::Bool)}},
        {"c_i + (sum_j exp(-|x_i-y_j|²) d_j) / (sum_j exp(-|x_i-y_j|²))",
         {x3, y3, vector("c", I, 3), vector("d", J, 3)}},
        {"sum_j tanh(A @ (x_i - y_j))·y_j",
         {x3, y3, {"A", Axes::None, f64, 2, 3, 3}}},
        {"sum_j cross(x_i, y_j)[1:3]", {x3, y3}},
        {"max_j ([x_i, y_j])", {vector("x", I, 7), vector("y", J, 9)}},
        {"sum_j (((5x_i) mod (y_j + 1)) + atan2(x_i, y_j) + y_j^x_i)",
         {scalar("x", I), scalar("y", J, DType::U8)}},
        {"exp(-|x_i - y_j|²/2l²)", {x3, y3, l}, Mode::Values},
        {"x_i * y_j[0]", {vector("x", I, 20), y3}, Mode::Values},
        {"sin(x_i)*1.1 + [x_i[2], x_i[0], x_i[1]]", {x3}, Mode::Values},
    };
}

/// Vectors that are summed part by part.
std::vector<TestFormula> long_vectors() {
    return {
        {"sum_j exp(-|x_i - y_j|²/400) b_j",
         {vector("x", I, 200, f32), vector("y", J, 200, f32),
          scalar("b", J, f32)},
         Mode::Reduce,
         3e-6},
        {"sum_j (|x_i - y_j|²/9 - exp(x_i·y_j/99)*[max(y_j), min(x_i)])",
         {vector("x", I, 13), vector("y", J, 13)}},
        {"kmin_j(|x_i - y_j|², 3)",
         {vector("x", I, 45, f32), vector("y", J, 45, f32)},
         Mode::Reduce,
         1e-6},
    };
}

/// Vectors of numbers that are multiplied four at a time, where possible; all
/// sums are exact.
std::vector<TestFormula> narrow_vectors() {
    const auto x = vector("x", I, 7, DType::I8),
               y = vector("y", J, 7, DType::I8);
    const auto u = vector("u", I, 40, DType::U8),
               v = vector("v", J, 40, DType::I8);
    const auto w = vector("w", J, 40, DType::U8);
    return {
        {"max_j |x_i - y_j|²", {x, y}},
        {"max_j (u_i·v_j)", {u, v}},
        {"argkmin_j(|u_i - w_j|², 4)", {u, w}},
        {"min_i (v_j·u_i)", {v, u}},
    };
}

bool is_narrow(const TestFormula& formula) {
    return std::ranges::any_of(formula.arguments, [](const TestArgument& a) {
        return a.dtype == DType::I8 || a.dtype == DType::U8 ||
               a.dtype == DType::BF16;
    });
}

/// Vectors that a matrix unit multiplies: of bf16, and of float32 in parts.
std::vector<TestFormula> vectors_for_blocks() {
    constexpr DType bf16 = DType::BF16;
    const auto x = vector("x", I, 40, bf16), y = vector("y", J, 40, bf16);
    const auto v = vector("v", J, 33, bf16);
    return {
        {"max_j (x_i·y_j)", {x, y}, Mode::Reduce, 1e-6},
        {"softmax_j(x_i·y_j/9, v_j)", {x, y, v}, Mode::Reduce, 4e-6},
        {"sum_j exp(x_i·y_j/99) b_j",
         {vector("x", I, 70, f32), vector("y", J, 70, f32),
          scalar("b", J, f32)},
         Mode::Reduce,
         3e-5},
    };
}

/// Whether some vectors may be multiplied in parts.
bool may_have_parts(const TestFormula& formula) {
    return std::ranges::any_of(formula.arguments, [](const TestArgument& a) {
        return (a.dtype == f32 && a.rows >= 70) ||
               (a.rank == 2 && std::min(a.rows, a.columns) >= 32);
    });
}

/// Reductions by functions of the formula.
std::vector<TestFormula> folds() {
    const auto x3 = vector("x", I, 3), y3 = vector("y", J, 3);
    const auto l = parameter("l");
    constexpr const char* logarithms =
        "x_i + fold_j(x_i*y_j, -inf, add) with add(a, b) = where(max(a, b) == "
        "-inf, -inf, max(a, b) + l*log1p(exp(-abs(a - b)/l)))";
    return {
        {"fold_j(|x_i - y_j|², [0, 0, 0], add, join) with "
         "add(s, f) = s + [1, f, f²], join(s, t) = s + t",
         {x3, y3}},
        {"fold_ij([x_i, y_j, l], [-inf, -inf, 0], f) with f(a, b) = max(a, b)",
         {scalar("x", I), scalar("y", J), l}},
        {logarithms, {scalar("x", I), scalar("y", J), l}},
        {logarithms,
         {scalar("x", I, f32), scalar("y", J, f32), l},
         Mode::Reduce,
         3e-5},
        {"fold_j(x_i + y_j, [inf, inf, inf, -inf, -inf, -inf], f, g) with "
         "f(s, t) = [min(s[:3], t), max(s[3:], t)], "
         "g(s, t) = [min(s[:3], t[:3]), max(s[3:], t[3:])]",
         {x3, y3}},
    };
}

std::vector<TestFormula> whole_number_formulas() {
    const TestArgument l = parameter("l");
    return {
        {"sum_j (where(rand(l, i, j) < 0.3, y_j, 0) + randn(3, j, i)·x_i)",
         {scalar("x", I, f32), scalar("y", J, f32), l},
         Mode::Reduce,
         1e-5},
        {"sum_j (A[(i + j) mod 2, j mod 3] + v[(3*i + j) mod 700])*y_j*x_i",
         {{"A", Axes::None, f64, 2, 2, 3},
          {"v", Axes::None, f64, 1, 700, 1},
          scalar("x", I, f32),
          scalar("y", J, f32)},
         Mode::Reduce,
         1e-6},
        {"sum_j (x_i[j mod 20] + A[i mod 2]·onehot(j mod 4, 3)*y_j)",
         {{"A", Axes::None, f64, 2, 2, 3}, vector("x", I, 20), scalar("y", J)}},
        {"max_j ((((a_i - b_j) mod 1000) // 7) - i // 3)",
         {scalar("a", I, DType::I64), scalar("b", J, DType::U32)}},
        {"min_j ([a_i, b_j] - a_i)",
         {scalar("a", I, DType::I64), vector("b", J, 9, DType::I64)}},
    };
}

/// Functions of functions, which vectors of points go through one by one.
std::vector<TestFormula> long_chains() {
    constexpr const char* text = "sum_j sin(cos(sin(cos(sin(cos(x_i)))))) * "
                                 "cos(sin(cos(sin(cos(sin(y_j))))))";
    return {
        {text, {scalar("x", I, f32), scalar("y", J, f32)}, Mode::Reduce, 2e-6},
        {text, {scalar("x", I, f64), scalar("y", J, f64)}, Mode::Reduce},
    };
}

/// Matrices of points and of pairs, layer after layer.
std::vector<TestFormula> networks() {
    const auto matrix = [](const char* name, int rows, int columns) {
        return TestArgument{name, Axes::None, f64, 2, rows, columns};
    };
    const auto parameter = [](const char* name, int length) {
        return TestArgument{name, Axes::None, f64, 1, length};
    };
    const TestArgument x3 = vector("x", I, 3), y3 = vector("y", J, 3);
    const std::vector<TestArgument> two_layers = {
        x3,
        y3,
        matrix("W", 8, 7),
        parameter("c", 8),
        matrix("V", 7, 8),
        parameter("d", 7),
    };
    std::vector<TestArgument> weighted = two_layers;
    weighted.push_back(parameter("w", 7));
    return {
        {"sum_j w·relu(V @ tanh(W @ [x_i, y_j, |x_i - y_j|] + c) + d)",
         weighted},
        {"sum_j tanh(V @ tanh(W @ [x_i, y_j, |x_i - y_j|] + c) + d)",
         two_layers},
        {"mean_j y_j[0]*(V @ tanh(W @ [x_i, y_j, 1] + c))",
         {x3, y3, matrix("W", 8, 7), parameter("c", 8), matrix("V", 7, 8)}},
        {"sum_j (tanh(x_i - y_j)*y_j[1]) @ V",
         {vector("x", I, 9), vector("y", J, 9), matrix("V", 9, 2)}},
        {"max_j (sin(x_i - y_j) @ V)[1]",
         {vector("x", I, 9, f32), vector("y", J, 9, f32), matrix("V", 9, 2)},
         Mode::Reduce,
         3e-6},
        {"V @ tanh(W @ [x_i, y_j, 1])",
         {x3, y3, matrix("W", 8, 7), matrix("V", 7, 8)},
         Mode::Values},
        {"sum_j w·relu(V @ tanh(x_i - y_j) + d)",
         {vector("x", I, 33, f32), vector("y", J, 33, f32), matrix("V", 40, 33),
          parameter("d", 40), parameter("w", 40)},
         Mode::Reduce,
         3e-5},
        {"sum_j exp(U @ tanh((x_i - y_j) @ V/6)/9)",
         {vector("x", I, 34, f32), vector("y", J, 34, f32), matrix("V", 34, 33),
          matrix("U", 35, 33)},
         Mode::Reduce,
         3e-5},
    };
}

/// Formulas that are tested for one reason, which is in the tests' names.
struct Family {
    std::string name;
    std::vector<TestFormula> formulas;
    /// Instruction sets multiply them each in its own way.
    bool differs_by_isa = false;
};
std::vector<Family> families() {
    return {{"Real", real_formulas()},
            {"Other", other_formulas()},
            {"Whole", whole_number_formulas()},
            {"Fold", folds()},
            {"Long", long_vectors(), true},
            {"Narrow", narrow_vectors(), true},
            {"Block", vectors_for_blocks(), true},
            {"Chain", long_chains()},
            {"Network", networks()}};
}

/// How much of formula `number`'s instruction sets a run compiles for.
double share_of_isas(std::size_t number) {
    for (const Family& family : families()) {
        if (number < family.formulas.size())
            return family.differs_by_isa ? 1 : 0.3;
        number -= family.formulas.size();
    }
    return 0;
}

std::vector<TestFormula> formulas() {
    std::vector<TestFormula> all;
    for (const Family& family : families())
        std::ranges::copy(family.formulas, std::back_inserter(all));
    return all;
}

/// The first word of a text: of most, the name of a reduction.
std::string first_word(const std::string& text) {
    constexpr const char* letters = "abcdefghijklmnopqrstuvwxyz";
    const std::size_t begin = text.find_first_of(letters);
    const std::size_t end = text.find_first_not_of(letters, begin);
    return text.substr(begin, end - begin);
}

/// "Long2_kmin": the third of its family.
std::string name_of(const testing::TestParamInfo<std::size_t>& test) {
    std::size_t number = test.param;
    for (const Family& family : families()) {
        if (number < family.formulas.size())
            return family.name + std::to_string(number) + "_" +
                   first_word(family.formulas[number].text);
        number -= family.formulas.size();
    }
    return "";
}

std::string label(const TestFormula& formula, const Plan& plan, std::int64_t n,
                  std::int64_t m) {
    return formula.text + "  [" + print(plan) + "]  N=" + std::to_string(n) +
           " M=" + std::to_string(m);
}

/// Returns the rounding error of factors and weights that the plan rounds.
double rounding_of(const Plan& plan) {
    const double of_parts[] = {2e-3, 8e-6, 0};
    const double of_factors = plan.parts == 1 ? 4e-3 : 0;
    return of_parts[plan.weight_parts - 1] + of_factors;
}

void expect_equal(const TestFormula& formula, Isa isa, const Plan& plan,
                  std::int64_t n, std::int64_t m, unsigned seed) {
    const Flush flush = seed % 2 ? Flush::Back : Flush::Front;
    const Cut cut{1 + std::int64_t(seed % 3), 1 + std::int64_t(seed % 2)};
    EXPECT_LE(run_case(formula, isa, &plan, n, m, flush, cut, seed),
              formula.tolerance + rounding_of(plan))
        << label(formula, plan, n, m);
}

/// The plans of the model; of long vectors also one that sums them in parts.
std::vector<Plan> tried_plans(const TestFormula& formula, Isa isa) {
    std::vector<Plan> plans = plans_of(formula, isa);
    const auto is_long = [](const TestArgument& argument) {
        return argument.rows > long_enough;
    };
    if (std::ranges::any_of(formula.arguments, is_long)) {
        plans.push_back(plans.front());
        plans.back().k_block = 6;
        // Which has no effect, and reads nothing beyond.
        plans.back().min_stage_cycles = 1;
        plans.back().panel = plans.back().columns;
        plans.push_back(plans.back());
        plans.back().k_block = 0;
    }
    if (row_of(isa).bf16 && may_have_parts(formula)) {
        plans.push_back(plans.front());
        plans.back().parts = row_of(isa).blocks ? 2 : 1;
    }
    if (row_of(isa).bf16 && is_narrow(formula) &&
        formula.text.starts_with("softmax_j"))
        for (const std::int32_t parts : {2, 1}) {
            if (parts > 1 && !row_of(isa).blocks)
                continue; // lanes take weights of one part
            plans.push_back(plans.front());
            plans.back().weight_parts = parts;
        }
    if (formula.text.starts_with("logsumexp_j")) {
        // Sums of a tile are joined to those of the panel's tiles before.
        plans.push_back(plans.front());
        plans.back().column_tile = plans.front().panel / 4;
        // Stages that read many vectors beyond little memory.
        Plan plan = plans.front();
        plan.row_vectors = 8;
        plan.row_block = row_multiple(plan);
        plan.columns = 1;
        plan.panel = plan.column_tile = 32;
        plan.min_stage_cycles = 4;
        plans.push_back(plan);
    }
    return plans;
}

/// What compiles is C++ that sanitizers see, unlike what it has compiled.
class Compiled : public testing::TestWithParam<std::size_t> {};

TEST_P(Compiled, ForEveryProcessor) {
    const TestFormula formula = formulas()[GetParam()];
    for (const IsaRow& row : isa_rows())
        if (tests::in_sample(share_of_isas(GetParam()),
                             formula.text + std::string(row.spelling))) {
            EXPECT_GT(image_bytes(formula, row.isa), 0)
                << formula.text << " for " << row.spelling;
        }
}

INSTANTIATE_TEST_SUITE_P(Formulas, Compiled,
                         testing::Range<std::size_t>(0, formulas().size()),
                         name_of);

class Generated : public testing::TestWithParam<std::size_t> {};

TEST_P(Generated, AgreesWithTheInterpreter) {
    const TestFormula formula = formulas()[GetParam()];
    for (const IsaRow& row : isa_rows()) {
        const Isa isa = row.isa;
        const bool differs =
            is_narrow(formula) || (row.bf16 && may_have_parts(formula));
        if (!can_run(isa) ||
            (row.int8 == 4 && row.ports == Ports::Shared && !differs))
            continue;
        for (const Plan& plan : tried_plans(formula, isa)) {
            const std::int64_t tile = plan.lanes * plan.row_vectors;
            const std::int64_t panel = plan.panel;
            unsigned seed = 1;
            if (!tests::in_sample(0.06, formula.text + print(plan)))
                continue;
            for (std::int64_t n : {std::int64_t(0), std::int64_t(1), tile - 1,
                                   tile, tile + 1, 2 * tile + 1})
                for (std::int64_t m :
                     {std::int64_t(0), std::int64_t(1), std::int64_t(7),
                      panel - 1, panel, panel + 1, 2 * panel + 1})
                    if (plan.nest != Nest::SinglePanel || m <= panel)
                        expect_equal(formula, isa, plan, n, m, seed++);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Formulas, Generated,
                         testing::Range<std::size_t>(0, formulas().size()),
                         name_of);

/// Plans for another processor, run by an emulator, a process a run: the
/// model's best one at the tile's edges, the last one once.
class Emulated : public testing::TestWithParam<std::size_t> {};

TEST_P(Emulated, AgreesWithTheInterpreter) {
    if (const std::string missing = emulator_missing(); !missing.empty())
        GTEST_SKIP() << missing;
    const Isa isa = Isa::AArch64;
    const TestFormula formula = formulas()[GetParam()];
    if (!tests::in_sample(0.2, formula.text))
        return;
    const std::vector<Plan> plans = tried_plans(formula, isa);
    const Plan &best = plans.front(), &last = plans.back();
    const std::int64_t tile = best.lanes * best.row_vectors;
    expect_equal(formula, isa, best, tile + 1, best.panel + 1, 1);
    expect_equal(formula, isa, best, tile - 1, best.panel - 1, 2);
    expect_equal(formula, isa, best, 2 * tile, 7, 3);
    expect_equal(formula, isa, last, last.lanes * last.row_vectors + 1,
                 last.panel + 1, 4);
}

INSTANTIATE_TEST_SUITE_P(Formulas, Emulated,
                         testing::Range<std::size_t>(0, formulas().size()),
                         name_of);

} // namespace
} // namespace tilefold::test
