// compiler/explain.cpp - the stages of a formula as text.

#include "compiler/backends/cpu/choose_plan.h"
#include "compiler/backends/cpu/lower/lowered_kernel.h"
#include "compiler/backends/cpu/plan_cost.h"
#include "compiler/ir/text.h"
#include "compiler/passes/bounds.h"
#include "compiler/passes/split.h"
#include "compiler/pipeline.h"
#include "formulas/readings.h"

#include <charconv>
#include <iomanip>
#include <sstream>

namespace tilefold {
namespace {

using ast::Formula;
using ast::Kind;
using ast::NodeId;

/// The formula as it was read, then each argument with its role and shape.
std::string reading(const Formula& formula, const ir::Graph& graph) {
    std::string text = print_readings(formula) + "\n";
    for (const ir::Argument& argument : graph.arguments) {
        const Type type{argument.dtype, argument.rank, argument.axes,
                        argument.rows, argument.columns};
        text += "  " + argument.name + ": " + spelling_of(type) + "\n";
    }
    return text;
}

std::string number(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string label(const ast::Node& node) {
    const std::string axes(spelling_of(Axes(std::uint8_t(node.axes))));
    switch (node.kind) {
    case Kind::Number:
        return "number " + number(node.value);
    case Kind::Name:
        return "name " + node.name;
    case Kind::Variable:
        return "variable " + node.name + " on " + axes;
    case Kind::Index:
        return "index " + axes;
    case Kind::Apply:
        return "apply " + node.name;
    case Kind::Subscript:
        return "subscript";
    case Kind::List:
        return "list";
    case Kind::Function:
        return "function " + node.name;
    case Kind::Reduce:
        return "reduce " + node.name + " over " + axes;
    }
    internal_error("an AST node without a kind");
}

/// One line a node, children indented below it.
std::string tree(const Formula& formula, NodeId root) {
    std::string text;
    std::vector<std::pair<NodeId, std::size_t>> path{{root, 0}};
    while (!path.empty()) {
        const auto [id, depth] = path.back();
        path.pop_back();
        text.append(2 * depth, ' ').append(label(formula[id])).append("\n");
        const auto& children = formula[id].children;
        for (auto child = children.rbegin(); child != children.rend(); ++child)
            path.emplace_back(*child, depth + 1);
    }
    return text;
}

std::string trees(const Formula& formula) {
    std::string text = tree(formula, formula.root);
    for (const ast::Definition& definition : formula.definitions)
        text +=
            "with " + definition.name + "\n" + tree(formula, definition.body);
    return text;
}

/// What the model expects of a plan on one core.
std::string expected(const Program& program) {
    const double time = nanoseconds_per_pair(program.graph, program.plan);
    std::ostringstream text;
    text << std::setprecision(2) << "  expected of one core: " << time
         << " ns a pair, " << 1 / time << " G pairs/s\n";
    return text.str();
}

/// The plan, what it should cost, and the others that were thought of.
std::string plans(const Program& program) {
    const PlanKindRow& kind = row_of(kind_of(program.graph, program.plan));
    std::string text = print(program.plan) + "\n" + expected(program);
    text += "  of the kind " + std::string(kind.spelling) + ": " +
            std::string(kind.doc) + "\n";
    for (const Plan& plan :
         enumerate_plans(program.graph, program.plan.nest, program.plan.isa,
                         parts_of(program.plan)))
        if (plan != program.plan)
            text += "  or " + print(plan) + "\n";
    return text;
}

/// By what tiles are left out.
std::string masks(const ir::Graph& graph) {
    std::string text;
    for (const ir::Node& node : graph.nodes) {
        if (node.op != ir::Op::Reduce)
            continue;
        const std::vector<ir::ValueId> found = masks_of(graph, node);
        if (found.empty())
            return "";
        for (ir::ValueId id : found)
            text += "tiles where %" + std::to_string(id) +
                    " cannot hold are left out\n";
    }
    return text;
}

std::vector<ExplainSection> program_stages(const Program& program) {
    return {
        {"canonical ir", ir::print(program.graph)},
        {"split by axes",
         print(split(program.graph), program.graph) + masks(program.graph)},
        {"plan", plans(program), true},
        {"lowered kernel",
         print(lower(program.graph, program.plan), program.graph, program.plan),
         true},
    };
}

} // namespace

std::vector<ExplainSection> explain(const Formula& formula,
                                    std::span<const ArgumentType> arguments,
                                    Mode mode, const CompileOptions& options) {
    const ir::Graph built = build(formula, arguments, pairs_of(mode));
    const Program program = compile(formula, arguments, mode, options);
    std::vector<ExplainSection> stages{
        {"reading", reading(formula, built)},
        {"ast", trees(formula)},
        {"ir", ir::print(built)},
    };
    for (ExplainSection& stage : program_stages(program))
        stages.push_back(std::move(stage));
    return stages;
}

std::vector<ExplainSection> explain(const SweepProgram& sweep) {
    std::vector<ExplainSection> stages = program_stages(sweep.program);
    std::string parts;
    for (const SweepPart& part : sweep.parts)
        parts += part.name + " : " + spelling_of(part.type) + "\n";
    stages.insert(stages.begin(), {"leaves behind", std::move(parts)});
    return stages;
}

} // namespace tilefold
