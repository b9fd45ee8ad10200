// tests/compiler/test_reductions.cpp - each row of reductions.def through the
// interpreter, over a range and over none.

#include "compiler/backends/reference/accumulator.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace tilefold::tests {
namespace {

class EveryReduction : public testing::TestWithParam<std::size_t> {
protected:
    ir::Reduction reduction() const { return ir::Reduction(GetParam()); }
    const ir::ReductionRow& row() const { return row_of(reduction()); }

    ir::Node node() const {
        ir::Node node;
        node.op = ir::Op::Reduce;
        node.first = std::int64_t(reduction());
        node.third = row().monoid == ir::Monoid::KMinimum ? 1 : 0;
        if (row().monoid == ir::Monoid::UserDefined)
            node =
                graph_of("fold_j(x_j, 0, add) with add(a, b) = a + b", "x f64")
                    .nodes.back();
        return node;
    }

    double over(std::vector<double> values) const {
        reference::Accumulator accumulator(node(), 1);
        const double one = 1, initial = 0;
        accumulator.reset(std::span(&initial, 1));
        for (std::size_t k = 0; k < values.size(); ++k)
            accumulator.add(std::span(&values[k], 1), std::span(&one, 1), {},
                            std::int64_t(k));
        double result = 0;
        std::int64_t whole = 0;
        accumulator.finish(std::span(&result, 1), std::span(&whole, 1));
        return result;
    }
};

double number(std::string_view text) {
    if (text == "true" || text == "false")
        return text == "true";
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

TEST_P(EveryReduction, OfNothingIsWhatTheTableSays) {
    const double wanted = number(row().empty), result = over({});
    if (std::isnan(wanted))
        EXPECT_TRUE(std::isnan(result));
    else
        EXPECT_EQ(result, wanted);
}

TEST_P(EveryReduction, NeedsItsOperands) {
    EXPECT_GE(row().least, 1);
    EXPECT_LE(row().most, row().monoid == ir::Monoid::UserDefined ? 5 : 2);
    EXPECT_FALSE(row().doc.empty());
}

TEST_P(EveryReduction, DoesNotDependOnTheOrderOfEqualTerms) {
    if (row().finish == ir::Finish::Indices)
        EXPECT_EQ(over({1, 1, 1}), 0);
    else
        EXPECT_DOUBLE_EQ(over({1, 0, 1}), over({0, 1, 1}));
}

INSTANTIATE_TEST_SUITE_P(Table, EveryReduction,
                         testing::Range(std::size_t(0),
                                        ir::all_reduction_rows().size()),
                         [](const auto& info) {
                             return std::string(
                                 row_of(ir::Reduction(info.param)).name);
                         });

} // namespace
} // namespace tilefold::tests
