// tests/numerics/test_widths.cpp - sums of vectors of every width up to 130, as
// they stand and as they are made once a column, in one vector or in several:
// every plan, around the edges of its panels and tiles, against the
// interpreter.
//
// The width of an argument that is only scaled is decided by the call: what is
// packed then lies where the width says, which no fixed width shows.

#include "tests/numerics/kernel_case.h"
#include "tests/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>

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
    {"sum_j (exp(-|x_i - y_j|²)*(w_j + b_j*b_j) - tanh(b_j)*(x_i·y_j))", false},
    {"softmax_j(x_i·y_j + b_j·b_j/9, [w_j, b_j]*w_j)", false},
    {"max_j (x_i·y_j*(w_j - b_j))", false},
};

TestFormula formula_of(const WideFormula& wide, DType dtype, int width) {
    const auto points = [&](const char* name, Axes axes) {
        return TestArgument{name, axes, dtype, 1, 3, 1};
    };
    const std::string text = wide.text;
    TestFormula formula{text,
                        {points("x", Axes::I), points("y", Axes::J)},
                        Mode::Reduce,
                        dtype == DType::F32 ? 6e-6 : 1e-12};
    formula.arguments.push_back({"b", Axes::J, dtype, 1, width, 1});
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
        for (const std::int32_t column_tile : {5, 64}) {
            plan.column_tile = column_tile;
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

    /// Every plan of a width, at one of the edges of its panel.
    void try_width(Isa isa, DType dtype, int width, double share) {
        const TestFormula formula = formula_of(wide(), dtype, width);
        const std::string name = formula.text + std::string(spelling_of(isa)) +
                                 std::string(spelling_of(dtype)) +
                                 std::to_string(width);
        if (!wide().is_decided_by_the_call && !tests::in_sample(share, name))
            return; // an image for each
        const std::vector<Plan>& plans = plans_of_width(formula, isa, dtype);
        constexpr std::int64_t beyond[] = {-1, 0, 1, 14};
        for (std::size_t k = 0; k < plans.size(); ++k) {
            const Plan& plan = plans[k];
            const bool is_tried =
                wide().is_decided_by_the_call
                    ? tests::in_sample(share, name + std::to_string(k))
                    : k == std::size_t(width) % plans.size();
            if (is_tried)
                expect_equal(formula, isa, plan, plan.lanes + 3,
                             plan.panel + beyond[(std::size_t(width) + k) % 4],
                             width);
        }
    }

private:
    /// Returns the plans of a width; they are those of all where the call
    /// decides it.
    const std::vector<Plan>& plans_of_width(const TestFormula& formula, Isa isa,
                                            DType dtype) {
        std::vector<Plan>& plans = plans_[{isa, dtype}];
        if (plans.empty() || !wide().is_decided_by_the_call)
            plans = small_plans(formula, isa);
        return plans;
    }

    std::map<std::pair<Isa, DType>, std::vector<Plan>> plans_;
};

/// One image serves all widths that the call decides; of the others, each has
/// its own.
TEST_P(Widths, AgreeWithTheInterpreter) {
    const double share = wide().is_decided_by_the_call ? 0.1 : 0.04;
    for (const IsaRow& row : isa_rows())
        for (const DType dtype : {DType::F32, DType::F64})
            for (int width = 1; width <= widest && tries(row.isa); ++width)
                try_width(row.isa, dtype, width, share);
}

INSTANTIATE_TEST_SUITE_P(Formulas, Widths,
                         testing::Range<std::size_t>(0,
                                                     std::size(wide_formulas)));

} // namespace
} // namespace tilefold::test
