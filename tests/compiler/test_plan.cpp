// tests/compiler/test_plan.cpp - plans as text.

#include "compiler/backends/cpu/choose_plan.h"
#include "compiler/backends/cpu/tiles.h"
#include "tests/compiler/cases.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilefold::tests {
namespace {

TEST(Plan, EveryPlanReadsBack) {
    for (const Case& c : all_cases()) {
        const ir::Graph graph = graph_of(c.formula, c.arguments);
        for (Isa isa : {Isa::X86_64_V3, Isa::X86_64_V4})
            for (Nest nest : {Nest::Reduce, Nest::Values}) {
                const auto plans = enumerate_plans(graph, nest, isa);
                ASSERT_FALSE(plans.empty());
                EXPECT_EQ(choose_plan(graph, nest, isa), plans.front());
                for (const Plan& plan : plans)
                    EXPECT_EQ(parse_plan(print(plan)), plan) << print(plan);
            }
    }
}

/// Returns the tiles of all plans of a softdtw of so many components.
std::vector<std::int32_t> pairs_of_tiles(const std::string& reduction,
                                         int components) {
    const std::string type = "[" + std::to_string(components) + "]";
    const ir::Graph graph = graph_of(reduction + " softdtw(x_i, y_j, 0.5)",
                                     "x f32" + type + ", y f32" + type);
    std::vector<std::int32_t> pairs;
    for (const Plan& plan :
         enumerate_plans(graph, Nest::Reduce, Isa::X86_64_V4))
        pairs.push_back(plan.row_vectors * plan.columns);
    return pairs;
}

TEST(Plan, ATileOfLongTermsIsSmall) {
    for (const char* reduction : {"sum_j", "min_j", "argmin_j", "logsumexp_j"})
        for (std::int32_t pairs : pairs_of_tiles(reduction, 6))
            EXPECT_EQ(pairs, 1) << reduction;
    EXPECT_EQ(pairs_of_tiles("argmin_j", 1).front(), 8);
    // A loop over components stands in the code once.
    const ir::Graph graph = graph_of("min_j |x_i - y_j|²", "x f32[3000], "
                                                           "y f32[3000]");
    EXPECT_GT(choose_plan(graph, Nest::Reduce, Isa::X86_64_V4).columns, 1);
}

std::string refusal_of_plan(const std::string& text) {
    const std::string message = message_of([&] { parse_plan(text); });
    return message.substr(0, message.find('\n'));
}

TEST(Plan, HasATileOfItsKind) {
    for (const Case& c : all_cases()) {
        const ir::Graph graph = graph_of(c.formula, c.arguments);
        for (const IsaRow& isa : isa_rows())
            for (const Plan& plan :
                 enumerate_plans(graph, Nest::Reduce, isa.isa)) {
                const auto tiles =
                    tiles_for(kind_of(graph, plan), isa, graph.real);
                EXPECT_TRUE(std::ranges::any_of(tiles, [&](const Tile& tile) {
                    return tile.row_vectors == plan.row_vectors &&
                           tile.columns == plan.columns &&
                           tile.min_stage_cycles == plan.min_stage_cycles;
                })) << print(plan);
            }
    }
}

TEST(Plan, RefusesWhatIsNone) {
    EXPECT_EQ(refusal_of_plan("lanes"),
              "the plan's 'lanes': key=value expected");
    EXPECT_EQ(refusal_of_plan("speed=9"), "the plan's 'speed': no such key");
    EXPECT_EQ(refusal_of_plan("isa=sparc"),
              "the plan's 'sparc': no such instruction "
              "set");
    EXPECT_EQ(refusal_of_plan("nest=bird"), "the plan's 'bird': one of reduce, "
                                            "single_panel, values expected");
    EXPECT_EQ(refusal_of_plan("lanes=many"),
              "the plan's 'many': not a number from 1 to 64");
    EXPECT_EQ(refusal_of_plan("lanes=8"),
              "the plan's 'isa': missing: " + isa_spellings());
    EXPECT_EQ(refusal_of_plan("isa=x86-64-v4 lanes=7"),
              "the plan's 'lanes': one vector of f32 or f64 expected");
}

TEST(Plan, CountsComponentsBeyond32Bits) {
    const CpuProgram program =
        cpu_program_of("sum_j a_j / sum_j b_j", "a f64[2147483647], b f64");
    EXPECT_EQ(program.plan.nest, Nest::Reduce);
}

} // namespace
} // namespace tilefold::tests
