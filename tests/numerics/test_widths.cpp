// tests/numerics/test_widths.cpp - sums of vectors of every width up to 130, as
// they stand and as they are made once a column, in one vector or in several:
// every plan, around the edges of its panels and tiles, against the interpreter.
//
// The width of an argument that is only scaled is decided by the call: what is
// packed then lies where the width says, which no fixed width shows.

#include "tests/numerics/kernel_case.h"
#include "tests/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace tilefold::test {
namespace {

constexpr int widest = 130;

/// What `formula(width, dtype)` sums has that width.
struct WideFormula {
    const char* text;
    bool is_decided_by_the_call;
};

constexpr WideFormula wide_formulas[] = {
    {"sum_j exp(-|x_i - y_j|²) b_j", true},
    {"sum_j exp(-|x_i - y_j|²) (w_j*b_j)", true},
    {"sum_j exp(-|x_i - y_j|²) (-b_j/w_j)", true},
    {"softmax_j(x_i·y_j, tanh(w_j)*b_j)", true},
    {"(mean_j exp(-|x_i - y_j|²) (w_j*b_j)) + (sum_j x_i·y_j*(b_j/w_j))", true},
    {"(sum_j exp(-|x_i - y_j|²) (w_j*b_j))/(sum_j exp(-|x_i - y_j|²) w_j)",
     true},
    {"(sum_j exp(-|x_i - y_j|²) (w_j*b_j)) + (softmax_j(x_i·y_j, w_j²*b_j))",
     true},
    {"sum_j exp(-|x_i - y_j|²) tanh(b_j)", false},
    {"sum_j (exp(-|x_i - y_j|²)*(w_j + b_j*b_j) - sqrt(b_j)*(x_i·y_j))", false},
    {"softmax_j(x_i·y_j + b_j·b_j/9, [w_j, b_j]*w_j)", false},
    {"max_j (x_i·y_j*(w_j - b_j))", false},
};

TestFormula formula_of(const WideFormula& wide, DType dtype, int width,
                       DType stored) {
    const auto points = [&](const char* name, Axes axes) {
        return TestArgument{name, axes, dtype, 1, 3, 1};
    };
    const std::string text = wide.text;
    TestFormula formula{text,
                        {points("x", Axes::I), points("y", Axes::J)},
                        Mode::Reduce,
                        dtype == DType::F32 ? 6e-6 : 1e-12};
    formula.arguments.push_back({"b", Axes::J, stored, 1, width, 1});
    if (text.find("w_j") != std::string::npos)
        formula.arguments.push_back({"w", Axes::J, dtype, 0, 1, 1});
    return formula;
}

/// The model's plans as they are and with small panels, whose edges small
/// sizes reach, and column tiles that do not divide them.
std::vector<Plan> small_plans(const TestFormula& formula, Isa isa) {
    std::vector<Plan> plans;
    for (Plan plan : plans_of(formula, isa)) {
        plan.panel = plan.columns * (1 + 12 / plan.columns);
        for (const std::int32_t k_tile : {5, 64}) {
            plan.k_tile = k_tile;
            if (std::ranges::find(plans, plan) == plans.end())
                plans.push_back(plan);
        }
    }
    return plans;
}

bool tries(Isa isa) {
    return can_run(isa) && row_of(isa).ports == Ports::Shared;
}

void expect_equal(const TestFormula& formula, Isa isa, const Plan& plan,
                  std::int64_t n, std::int64_t m, int width) {
    const Flush flush = (n + m + width) % 2 ? Flush::Back : Flush::Front;
    const Cut cut{1 + width % 2, 1 + width % 3 / 2};
    EXPECT_LE(run_case(formula, isa, &plan, n, m, flush, cut, unsigned(width)),
              formula.tolerance)
        << formula.text << "  [" << print(plan) << "]  N=" << n << " M=" << m
        << " E=" << width;
}

class Widths : public testing::TestWithParam<std::size_t> {
protected:
    const WideFormula& wide() const { return wide_formulas[GetParam()]; }
};

/// One image serves all widths that the call decides; of the others, each has
/// its own.
TEST_P(Widths, AgreeWithTheInterpreter) {
    for (const IsaRow& row : isa_rows())
        for (const DType dtype : {DType::F32, DType::F64}) {
            if (!tries(row.isa))
                continue;
            for (int width = 1; width <= widest; ++width) {
                const TestFormula formula =
                    formula_of(wide(), dtype, width, dtype);
                const std::string name =
                    formula.text + std::string(row.spelling) +
                    std::string(spelling_of(dtype)) + std::to_string(width);
                if (!tests::in_sample(0.06, name) && width % 32 != 1 &&
                    !wide().is_decided_by_the_call)
                    continue;
                const std::vector<Plan> plans = small_plans(formula, row.isa);
                for (std::size_t k = 0; k < plans.size(); ++k)
                    for (const std::int64_t m : {-1, 0, 1, 14})
                        if (tests::in_sample(0.15, name + std::to_string(k) +
                                                      std::to_string(m)))
                            expect_equal(formula, row.isa, plans[k],
                                         plans[k].lanes + 3,
                                         plans[k].panel + m, width);
            }
        }
}

INSTANTIATE_TEST_SUITE_P(Formulas, Widths,
                         testing::Range<std::size_t>(0,
                                                     std::size(wide_formulas)));

} // namespace
} // namespace tilefold::test
