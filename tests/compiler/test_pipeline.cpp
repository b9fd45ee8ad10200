// tests/compiler/test_pipeline.cpp - programs: what a caller is told.

#include "compiler/backends/cpu/choose_plan.h"
#include "compiler/backends/cpu/lower/explain.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/language/vocabulary.h"
#include "tests/compiler/cases.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

namespace tilefold::tests {
namespace {

Mode mode_of(const Case& c) {
    const ir::Graph graph = graph_of(c.formula, c.arguments);
    return graph[graph.result].type.axes == Axes::IJ ? Mode::Values
                                                     : Mode::Reduce;
}

TEST(Pipeline, CompilesEveryFormula) {
    for (const Case& c : all_cases()) {
        const CpuProgram program =
            cpu_program_of(c.formula, c.arguments, mode_of(c));
        ir::verify(program.graph());
        const auto request = request_of(program);
        EXPECT_EQ(parse_plan(request.plan), program.plan) << c.name;
        EXPECT_EQ(ir::print(ir::parse_ir(request.graph), ir::Names::Numbers),
                  request.graph)
            << c.name;
    }
}

TEST(Pipeline, SaysWhereArgumentsAre) {
    const Program program = program_of("sum_j exp(-|x_i - y_j|²/2l²) b_j",
                                       "b f32[2], l f64, y f32[3], x f32[3]");
    ASSERT_EQ(program.argument_order().size(), 4u);
    const std::vector<std::string> given = {"b", "l", "y", "x"};
    for (std::size_t k = 0; k < 4; ++k)
        EXPECT_EQ(given[std::size_t(program.argument_order()[k])],
                  program.graph().arguments[k].name);
    ASSERT_GE(program.width_argument(), 0);
    EXPECT_EQ(
        program.graph().arguments[std::size_t(program.width_argument())].name,
        "b");
}

TEST(Pipeline, SaysWhatTheResultIs) {
    Program program = program_of("sum_i x_i*y_j", "x f32, y f32");
    EXPECT_EQ(program.result.axes, Axes::J);
    EXPECT_TRUE(program.swapped);
    EXPECT_FALSE(program.folds_rows);
    program = program_of("argkmin_ij(x_i*y_j, 5)", "x f32, y f32");
    EXPECT_EQ(program.result.axes, Axes::None);
    EXPECT_EQ(program.result.dtype, DType::I64);
    EXPECT_EQ(program.result.rank, 1);
    EXPECT_EQ(program.result.rows, 5);
    EXPECT_TRUE(program.folds_rows);
    program = program_of("sin(x_j)", "x f64");
    EXPECT_EQ(program.result.axes, Axes::J);
    EXPECT_TRUE(program.swapped);
    EXPECT_TRUE(program.single_column);
    program = program_of("mean_i x_i", "x f64");
    EXPECT_TRUE(program.single_column);
    EXPECT_TRUE(program.folds_rows);
    program =
        program_of("sum_j exp(x_i·y_j) b_j", "x f32[3], y f32[3], b f32[7]");
    EXPECT_EQ(program.result.rank, 1);
    EXPECT_EQ(program.result.rows, dynamic);
}

/// What is planned for one target alone is no part of what all are given.
template <class Stage>
constexpr bool has_plan = requires(Stage stage) { stage.plan; };
template <class Stage>
constexpr bool has_key = requires(Stage stage) { stage.key; };
static_assert(!has_plan<Program> && !has_key<Program>);
static_assert(has_plan<CpuProgram> && has_key<CpuProgram>);

std::size_t count(const ir::Graph& graph, ir::Op op) {
    return std::size_t(std::ranges::count(graph.nodes, op, &ir::Node::op));
}

TEST(CpuProgram, IsWatchedWhereProductsArePutTogether) {
    const auto is_watched = [](const std::string& formula) {
        const Program program = program_of(formula, "a f64, v f64");
        return plan_for_cpu(program, {.isa = Isa::X86_64_V4})
            .graph()
            .is_watched;
    };
    EXPECT_TRUE(is_watched("sum_j (a_i + v_j)*(v_j/a_i)"));
    EXPECT_FALSE(is_watched("a_i*sum_j v_j"));
}

TEST(CpuProgram, HasInnerProductsWhereTheyAreAllowedAndFaster) {
    const Program program = program_of("sum_j exp(-|x_i - y_j|²/2l²) b_j",
                                       "b f32[2], l f64, y f32[64], x f32[64]");
    const auto planned = [&](Isa isa, double tolerance) {
        return plan_for_cpu(program, {.isa = isa, .tolerance = tolerance});
    };
    ir::Graph own = program.graph();
    own.is_watched = true;
    for (const CpuProgram& same :
         {planned(Isa::X86_64_V4, 0), planned(Isa::Zen4, 1e-6)})
        EXPECT_EQ(ir::print(same.graph()), ir::print(own));
    const CpuProgram expanded = planned(Isa::X86_64_V4, 1e-6);
    EXPECT_EQ(count(program.graph(), ir::Op::SqDist), 1u);
    EXPECT_EQ(count(expanded.graph(), ir::Op::SqDist), 0u);
    EXPECT_EQ(count(expanded.graph(), ir::Op::Dot), 1u);
    EXPECT_FALSE(expanded.key == planned(Isa::X86_64_V4, 0).key);
    const std::vector<std::string> given = {"b", "l", "y", "x"};
    ASSERT_EQ(expanded.argument_order().size(),
              expanded.graph().arguments.size());
    for (std::size_t k = 0; k < expanded.argument_order().size(); ++k)
        EXPECT_EQ(given[std::size_t(expanded.argument_order()[k])],
                  expanded.graph().arguments[k].name);
    EXPECT_EQ(
        expanded.graph().arguments[std::size_t(expanded.width_argument())].name,
        "b");
}

/// The order and the width are those of the graph, whichever pass made it last.
TEST(CpuProgram, FindsItsArgumentsOnEveryInstructionSet) {
    const std::vector<std::string> given = {"F", "l", "y", "x"};
    for (const char* formula :
         {"l*(sum_j F_j/|x_i - y_j|)", "sum_j F_j/√(|x_i - y_j|² + l)",
          "sum_j F_j*(x_i - y_j)[:2]/√(|x_i - y_j|² + l)"})
        for (Isa isa : {Isa::X86_64_V3, Isa::X86_64_V4, Isa::AArch64}) {
            const CpuProgram program = plan_for_cpu(
                program_of(formula, "F f64[2], l f64, y f64[3], x f64[3]"),
                {.isa = isa});
            const ir::Graph& graph = program.graph();
            ASSERT_EQ(program.argument_order().size(), graph.arguments.size());
            for (std::size_t k = 0; k < graph.arguments.size(); ++k)
                EXPECT_EQ(given[std::size_t(program.argument_order()[k])],
                          graph.arguments[k].name)
                    << formula;
            EXPECT_EQ(program.width_argument(), open_argument(graph));
        }
}

/// No graph can be put in the place of another alone, nor one of arguments
/// that a call does not give.
static_assert(!std::is_assignable_v<decltype(std::declval<Program&>().graph()),
                                    ir::Graph>);
TEST(CpuProgram, RefusesAGraphOfOtherArguments) {
    const Program program = program_of("sum_j x_i*y_j", "x f64, y f64");
    const Program other = program_of("sum_j x_i*z_j", "x f64, z f64");
    try {
        with_graph(program, other.graph());
        ADD_FAILURE() << "a graph of other arguments was taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::InternalError);
    }
}

TEST(CpuProgram, TakesAForcedPlan) {
    const auto formula = parse("sum_j x_i*y_j", vocabulary());
    const auto types = arguments("x f32, y f32");
    const Program program = compile(formula, types, Mode::Reduce);
    const CpuProgram usual = plan_for_cpu(program, {});
    const auto plans =
        enumerate_plans(usual.graph(), Nest::Reduce, Isa::X86_64_V4);
    ASSERT_GT(plans.size(), 1u);
    CpuOptions options;
    options.plan = plans.back();
    const CpuProgram forced = plan_for_cpu(program, options);
    EXPECT_EQ(forced.plan, plans.back());
    EXPECT_FALSE(forced.key == usual.key);
    options.plan->nest = Nest::Values;
    EXPECT_EQ(message_of([&] { plan_for_cpu(program, options); }),
              "the plan's 'nest': not the one that the formula needs\n"
              "leave the plan to the cost model, or take one that explain "
              "prints");
}

TEST(Explain, PrintsEveryStage) {
    std::string text;
    for (const Case& c : all_cases()) {
        if (c.name != "gaussian_wide" && c.name != "definitions" &&
            c.name != "knn" && c.name != "subscripts")
            continue;
        const ast::Formula formula = parse(c.formula, vocabulary());
        const CpuProgram program =
            cpu_program_of(c.formula, c.arguments, mode_of(c));
        for (const auto& stages :
             {explain(formula, arguments(c.arguments), mode_of(c)),
              explain(program), explain_plan(program)})
            for (const ExplainSection& stage : stages)
                if (stage.name != "plan")
                    text += "== " + stage.name + "\n" + stage.text;
        text += "\n";
    }
    expect_golden("explain.txt", text);
}

TEST(Explain, ShowsThePlanAndTheOthers) {
    const auto stages =
        explain_plan(cpu_program_of("sum_j x_i*y_j", "x f32, y f32"));
    const auto plan = std::ranges::find(stages, "plan", &ExplainSection::name);
    ASSERT_NE(plan, stages.end());
    EXPECT_TRUE(plan->text.starts_with("isa=x86-64-v4 nest=reduce"));
    EXPECT_NE(plan->text.find("\n  of the kind Plain: no exponential or "
                              "the like, or several sums of one\n"),
              std::string::npos);
    EXPECT_NE(plan->text.find("\n  or isa="), std::string::npos);
    EXPECT_EQ(stages.back().name, "lowered kernel");
}

} // namespace
} // namespace tilefold::tests
