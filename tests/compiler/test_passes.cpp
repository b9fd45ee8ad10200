// tests/compiler/test_passes.cpp - each rule of the passes before and after,
// and what holds of every pass.

#include "compiler/build/composites.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/split.h"
#include "tests/compiler/cases.h"
#include "tests/compiler/random_graph.h"
#include "tests/compiler/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tilefold::tests {
namespace {

using Pass = ir::Graph (*)(const ir::Graph&);

/// The values of a printed graph, without its header.
std::string body(const ir::Graph& graph) {
    const std::string text = ir::print(graph);
    return text.substr(text.find("\n%") + 1);
}

std::string before_and_after(std::span<const Case> cases, Pass before,
                             Pass pass) {
    std::string text;
    for (const Case& c : cases) {
        const ir::Graph graph = before(graph_of(c.formula, c.arguments));
        text.append("# ").append(c.name).append(": ").append(c.formula);
        text += "\n" + body(graph) + "⇒\n" + body(pass(graph)) + "\n";
    }
    return text;
}

ir::Graph as_it_is(const ir::Graph& graph) {
    return graph;
}

ir::Graph oriented(const ir::Graph& graph) {
    return ir::orient(ir::simplify(lower_composites(graph))).graph;
}

TEST(Simplify, EveryRule) {
    expect_golden("simplify.txt",
                  before_and_after(simplify_cases(), as_it_is, ir::simplify));
}

TEST(Canonicalise, EveryRule) {
    expect_golden(
        "canonicalise.txt",
        before_and_after(canonicalise_cases(), oriented, ir::canonicalise));
}

TEST(DivideByRoots, TakesCanonicalQuotientsBack) {
    const auto has_inverse = [](const ir::Graph& graph) {
        return std::ranges::any_of(graph.nodes, [](const ir::Node& node) {
            return node.op == ir::Op::Rsqrt && node.type.axes == Axes::IJ;
        });
    };
    int taken_back = 0;
    for (const Case& c : canonicalise_cases()) {
        const ir::Graph graph =
            ir::canonicalise(oriented(graph_of(c.formula, c.arguments)));
        const ir::Graph divided = ir::divide_by_roots(graph);
        ir::verify(divided);
        EXPECT_FALSE(has_inverse(divided)) << c.formula;
        taken_back += has_inverse(graph);
        EXPECT_EQ(
            difference(all_results(graph, 1), all_results(divided, 1), 1e-12),
            "")
            << c.formula;
    }
    EXPECT_EQ(taken_back, 4);
    const ir::Graph factor = ir::divide_by_roots(ir::canonicalise(oriented(
        graph_of("max_j (y_j x_i * rsqrt(a_j))", "x f32, y f32, a f32"))));
    EXPECT_TRUE(std::ranges::none_of(factor.nodes, [](const ir::Node& node) {
        return node.op == ir::Op::Div;
    })) << ir::print(factor);
}

std::vector<Case> every_case() {
    std::vector<Case> cases;
    for (auto some : {all_cases(), simplify_cases(), canonicalise_cases()})
        cases.insert(cases.end(), some.begin(), some.end());
    return cases;
}

TEST(Passes, KeepEveryInvariant) {
    for (const Case& c : every_case())
        for (Pass pass : {lower_composites, ir::simplify, ir::canonicalise,
                          ir::canonicalise_as_written, oriented})
            ir::verify(pass(graph_of(c.formula, c.arguments)));
}

TEST(Passes, KeepTheNumbers) {
    for (const Case& c : every_case()) {
        const ir::Graph graph = graph_of(c.formula, c.arguments);
        const auto wanted = all_results(graph, 1);
        for (Pass pass : {lower_composites, ir::simplify, ir::canonicalise,
                          ir::canonicalise_as_written})
            EXPECT_EQ(difference(wanted, all_results(pass(graph), 1), 1e-12),
                      "")
                << c.name << ": " << c.formula;
    }
}

TEST(Passes, AreIdempotent) {
    for (const Case& c : every_case()) {
        const ir::Graph graph = oriented(graph_of(c.formula, c.arguments));
        const ir::Graph simple = ir::simplify(graph);
        EXPECT_EQ(ir::print(ir::simplify(simple)), ir::print(simple))
            << c.formula;
        const ir::Graph canonical = ir::canonicalise(graph);
        EXPECT_EQ(ir::print(ir::canonicalise(canonical)), ir::print(canonical))
            << c.formula;
    }
}

/// Orientation exchanges the numbers of points, and may fold rows.
TEST(Orient, KeepsTheNumbers) {
    for (const Case& c : every_case()) {
        const ir::Graph graph = graph_of(c.formula, c.arguments);
        const ir::Oriented turned = ir::orient(graph);
        reference::Sizes sizes{3, 4, 2};
        if (turned.swapped)
            std::swap(sizes.rows, sizes.columns);
        if (turned.single_column)
            sizes.columns = 1;
        if (turned.single_row)
            sizes.rows = 1;
        auto wanted = all_results(graph, 1);
        EXPECT_EQ(
            difference(wanted, all_results(turned.graph, 1, sizes), 1e-12), "")
            << c.formula;
    }
}

struct Orientation {
    std::string_view formula, types;
    bool swapped, single_column;
    Axes reduced, kept;
};

TEST(Orient, GivesRowsAndColumns) {
    constexpr Orientation all[] = {
        {"sum_j x_i*y_j", "x f32, y f32", false, false, Axes::J, Axes::I},
        {"sum_i x_i*y_j", "x f32, y f32", true, false, Axes::J, Axes::I},
        {"sum_ij x_i*y_j", "x f32, y f32", false, false, Axes::IJ, Axes::None},
        {"sum_i x_i", "x f32", false, true, Axes::IJ, Axes::None},
        {"sum_j x_j", "x f32", true, true, Axes::IJ, Axes::None},
        {"kmin_i(x_i, 3)", "x f32", true, false, Axes::J, Axes::None},
        {"argkmin_j(x_j, 3)", "x f32", false, false, Axes::J, Axes::None},
        {"x_i + sum_j y_j", "x f32, y f32", false, false, Axes::J, Axes::I},
        {"y_j + sum_i x_i", "x f32, y f32", true, false, Axes::J, Axes::I},
        {"x_i + 1", "x f32", false, true, Axes::None, Axes::I},
        {"x_j + 1", "x f32", true, true, Axes::None, Axes::I},
        {"x_i + y_j", "x f32, y f32", false, false, Axes::None, Axes::IJ},
        {"l + 1", "l f32", false, true, Axes::None, Axes::None},
    };
    for (const Orientation& o : all) {
        const auto turned = ir::orient(graph_of(o.formula, o.types));
        EXPECT_EQ(turned.swapped, o.swapped) << o.formula;
        EXPECT_EQ(turned.single_column, o.single_column) << o.formula;
        EXPECT_EQ(turned.single_row,
                  o.reduced == Axes::J && o.kept == Axes::None)
            << o.formula;
        EXPECT_EQ(turned.graph[turned.graph.result].type.axes, o.kept)
            << o.formula;
        for (const ir::Node& node : turned.graph.nodes)
            EXPECT_TRUE(node.op != ir::Op::Reduce ||
                        Axes(node.second) == o.reduced)
                << o.formula;
    }
}

/// The rows of a number's sum are the points of the sum's own axis.
TEST(Orient, ReadsTheAxisOfAReductionOfANumber) {
    for (const Axes over : {Axes::I, Axes::J}) {
        ir::Builder builder(DType::F32);
        const ir::ValueId p = builder.argument(
            {"p", DType::F64, 0, 1, 1, Axes::None}, Axes::None);
        const auto turned = ir::orient(builder.finish(
            builder.reduce(ir::Reduction::Sum, over, std::span(&p, 1))));
        EXPECT_TRUE(turned.single_column);
        EXPECT_EQ(turned.swapped, over == Axes::J);
    }
}

struct FewPoints {
    std::string_view formula, types;
    Axes few;
    bool applies;
};

TEST(OnePoint, MakesParametersOfAnAxis) {
    constexpr FewPoints all[] = {
        {"sum_j x_i*y_j", "x f32, y f32", Axes::I, true},
        {"sum_j x_i*y_j", "x f32, y f32", Axes::J, false}, // keeps i
        {"sum_i x_i*y_j", "x f32, y f32", Axes::J, true},
        {"x_i + max_j x_i*y_j", "x f32, y f32", Axes::I, true},
        {"sum_j x_i*y_j*j", "x f32, y f32", Axes::I, true},
        {"sum_j x_i*y_j*i", "x f32, y f32", Axes::I, false}, // its number
        {"sum_ij x_i*y_j", "x f32, y f32", Axes::I, false},
        {"x_i + sum_j y_j", "x f32, y f32", Axes::I, true},
        {"x_i + y_j", "x f32, y f32", Axes::I, false},
        {"x_i + 1", "x f32", Axes::I, false},
    };
    for (const FewPoints& f : all) {
        const auto one = ir::for_one_point(graph_of(f.formula, f.types), f.few);
        ASSERT_EQ(one.has_value(), f.applies) << f.formula;
        if (!one)
            continue;
        ir::verify(*one);
        EXPECT_EQ((*one)[one->result].type.axes, Axes::None) << f.formula;
        for (const ir::Argument& argument : one->arguments)
            EXPECT_NE(argument.axes, f.few) << f.formula;
    }
}

struct Flattened {
    std::string_view formula, types;
    std::int32_t width; ///< 1: not at all
};

TEST(FlatPoints, HaveOneComponent) {
    constexpr Flattened all[] = {
        {"sum_i sum(sin(x_i*a) + y_i)", "x f32[4], y f32[4], a f32", 4},
        {"sum_j sum(x_j)", "x f64[16]", 16},
        {"sum_j sum(where(x_j > 0, x_j, 0))", "x f32[3]", 3},
        {"sum_j sum(x_j*a)", "x f32[3], a f32[3]", 1}, // a component's own
        {"sum_j sum(x_j) b_j", "x f32[3], b f32", 1},  // a point's own
        {"sum_j sum(x_j*b_j)", "x f32[3], b f32", 1},
        {"sum_j sum(x_j*j)", "x f32[3]", 1},
        {"sum_j sum(x_j[:2])", "x f32[3]", 1},
        {"sum_j |x_j|", "x f32[3]", 1},
        {"max_j sum(x_j)", "x f32[3]", 1},
        {"mean_j sum(x_j)", "x f32[3]", 1},
        {"sum_j sum(x_i*y_j)", "x f32[3], y f32[3]", 1},
        {"sum_j sum(x_j)", "x f32[1]", 1},
        {"sum_j x_j", "x f32", 1},
    };
    for (const Flattened& f : all) {
        const auto flat = ir::flatten_points(graph_of(f.formula, f.types));
        ASSERT_EQ(flat ? flat->width : 1, f.width) << f.formula;
        if (!flat)
            continue;
        ir::verify(flat->graph);
        for (const ir::Node& node : flat->graph.nodes)
            EXPECT_EQ(node.type.rank, 0) << f.formula;
    }
}

TEST(Split, Golden) {
    std::string text;
    for (const Case& c : all_cases()) {
        const ir::Graph graph =
            ir::canonicalise(oriented(graph_of(c.formula, c.arguments)));
        text.append("# ").append(c.formula).append("\n");
        text += print(split(graph), graph) + "\n";
    }
    expect_golden("split.txt", text);
}

} // namespace
} // namespace tilefold::tests
