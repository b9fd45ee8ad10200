// compiler/pipeline.cpp - the flat list of passes, from AST to program.

#include "compiler/pipeline.h"

#include "compiler/build/composites.h"
#include "compiler/build/roles.h"
#include "compiler/cut_formula.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/verify.h"
#include "compiler/language/vocabulary.h"
#include "compiler/passes/dynamic_width.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/split.h"
#include "formulas/names.h"

#include <algorithm>

namespace tilefold {
namespace {

using ir::Graph;

const Graph& checked(const Graph& graph) {
    ir::verify_if_debug(graph);
    return graph;
}

const ir::Node* find_reduction_node(const Graph& graph) {
    const auto place =
        std::ranges::find(graph.nodes, ir::Op::Reduce, &ir::Node::op);
    return place == graph.nodes.end() ? nullptr : &*place;
}

/// A kernel is a pair term; anything else is reduced, or a map.
void check_mode(const ast::Formula& formula, const Graph& graph, Mode mode) {
    const ir::Node* reduction = find_reduction_node(graph);
    if (mode == Mode::Values && reduction)
        fail(Code::ReductionInKernel, {formula.text, reduction->span},
             {spelling_of_reduction(*reduction)});
    const ir::Node& result = graph[graph.result];
    if (mode == Mode::Reduce && !reduction && result.type.axes == Axes::IJ)
        fail(Code::NoReduction, {formula.text, formula[formula.root].span},
             {"N×M"});
    if (mode == Mode::Chosen && !reduction)
        fail(Code::RangesWithoutReduction,
             {formula.text, formula[formula.root].span}, {});
}

/// Describes the result, whose axes are still those of the user's formula.
Result result_of(const Graph& graph) {
    const Type& type = graph[graph.result].type;
    return {type.axes, graph.is_unsigned ? DType::U64 : type.dtype, type.rank,
            type.rows};
}

/// Returns the pairs that its reductions meet: all of a sweep meet the same.
ir::Pairs pairs_of(const Graph& graph) {
    const ir::Node* reduction = find_reduction_node(graph);
    return reduction ? reduction->pairs : ir::Pairs::All;
}

std::vector<std::string> names_of(std::span<const ArgumentType> arguments) {
    std::vector<std::string> names;
    for (const ArgumentType& argument : arguments)
        names.push_back(normalise_name(argument.name));
    return names;
}

/// The width that the arguments have where the graph leaves it open, or
/// `dynamic` if it is what an earlier sweep left behind.
std::int32_t open_width(const Graph& graph,
                        std::span<const ArgumentType> arguments) {
    const std::string& name =
        graph.arguments[std::size_t(open_argument(graph))].name;
    const auto argument =
        std::ranges::find_if(arguments, [&](const ArgumentType& one) {
            return normalise_name(one.name) == name;
        });
    return argument == arguments.end() ? dynamic : argument->rows;
}

/// Returns the graph with the width of its arguments, where it was left open.
Graph of_one_width(const Graph& graph,
                   std::span<const ArgumentType> arguments) {
    const std::int32_t open = open_argument(graph);
    if (open < 0)
        return graph;
    return with_width(graph, std::size_t(open), open_width(graph, arguments));
}

Graph with_one_component(Graph graph, std::span<const ArgumentType> arguments,
                         const Specialization& purpose) {
    const bool fixed = purpose.one_component && open_argument(graph) >= 0 &&
                       open_width(graph, arguments) == 1;
    return fixed ? of_one_width(graph, arguments) : graph;
}

/// One of the two passes that give a meaning one spelling.
using Canonicalise = Graph (*)(const Graph&);

/// Runs the passes, from a graph as built.
Program compile(Graph graph, std::span<const std::string> names,
                const Specialization& purpose, Canonicalise canonicalise) {
    const Result result = result_of(graph);
    graph = checked(simplify(lower_composites(graph)));
    ir::Oriented oriented = orient(graph);
    graph = checked(oriented.graph);
    graph = checked(canonicalise(graph));
    Program program{ProgramGraph(std::move(graph), names), result};
    program.swapped = oriented.swapped;
    program.single_column = oriented.single_column;
    program.single_row = oriented.single_row;
    program.folds_rows = ir::folds_rows(program.graph());
    program.pairs = pairs_of(program.graph());
    if (!program.folds_rows) {
        program.most_rows = program.swapped ? purpose.most_j : purpose.most_i;
        program.most_columns =
            program.swapped ? purpose.most_i : purpose.most_j;
        if (program.single_row)
            program.most_rows = 1;
    }
    return program;
}

/// Returns what `compile` makes by the one pass and, where products put
/// together may leave the range, beside it what it makes by the other.
template <typename Compile> Program with_as_written(Compile compile) {
    Program program = compile(ir::canonicalise);
    if (watched_values(program.graph()).products.empty())
        return program;
    Program written = compile(ir::canonicalise_as_written);
    if (std::ranges::is_permutation(program.argument_order(),
                                    written.argument_order()) &&
        !equal(written.graph(), program.graph()))
        program.as_written =
            std::make_shared<const Program>(std::move(written));
    return program;
}

/// Compiles for few points or for adjoining vectors, where the call has them.
Program compile_for(const Graph& graph, std::span<const ArgumentType> arguments,
                    const Specialization& purpose, Canonicalise canonicalise) {
    const std::vector<std::string> names = names_of(arguments);
    if (purpose.contiguous)
        if (auto flat = ir::flatten_points(graph)) {
            Program program =
                compile(checked(flat->graph), names, purpose, canonicalise);
            program.flat_width = flat->width;
            return program;
        }
    if (purpose.axis == Axes::None)
        return compile(graph, names, purpose, canonicalise);
    const Graph whole = of_one_width(graph, arguments);
    // All columns of the one row will compute what the pairs of a row would.
    auto one = for_one_point(checked(canonicalise(whole)), purpose.axis);
    if (!one)
        return compile(graph, names, purpose, canonicalise);
    Program program =
        compile(checked(*std::move(one)), names, purpose, canonicalise);
    program.result = result_of(whole);
    program.one_point = purpose.axis;
    return program;
}

} // namespace

ir::Pairs pairs_of(Mode mode) {
    return mode == Mode::Chosen ? ir::Pairs::Chosen : ir::Pairs::All;
}

Program compile(const ast::Formula& formula,
                std::span<const ArgumentType> arguments, Mode mode,
                const Specialization& purpose) {
    const Graph graph = with_one_component(
        checked(build(formula, arguments, pairs_of(mode))), arguments, purpose);
    check_mode(formula, graph, mode);
    if (!is_one_sweep(graph))
        internal_error("reductions of reductions in one kernel");
    return with_as_written([&](Canonicalise canonicalise) {
        return compile_for(graph, arguments, purpose, canonicalise);
    });
}

SweepPrograms compile_sweeps(const ast::Formula& formula,
                             const Derivation& derivation,
                             std::span<const ArgumentType> arguments, Mode mode,
                             const Specialization& purpose) {
    auto [derived, cut] =
        cut_formula(formula, derivation, arguments, pairs_of(mode));
    std::vector<std::string> names = names_of(arguments);
    SweepPrograms all;
    for (Sweep& sweep : cut.sweeps) {
        const Graph graph =
            with_one_component(checked(sweep.graph), arguments, purpose);
        all.sweeps.push_back({with_as_written([&](Canonicalise canonicalise) {
                                  return compile(graph, names, purpose,
                                                 canonicalise);
                              }),
                              std::move(sweep.parts)});
        for (const SweepPart& part : all.sweeps.back().parts)
            names.push_back(part.name);
    }
    all.results = std::move(cut.results);
    all.labels = std::move(derived.labels);
    all.types = std::move(derived.types);
    return all;
}

namespace {

/// Complex values are two results.
bool may_be_complex(const ast::Formula& formula,
                    std::span<const ArgumentType> arguments) {
    return std::ranges::any_of(arguments,
                               [](const ArgumentType& argument) {
                                   return is_imaginary(argument.name);
                               }) ||
           std::ranges::any_of(formula.nodes, [](const ast::Node& node) {
               return node.kind == ast::Kind::Name &&
                      node.name == imaginary_unit;
           });
}

/// Whether the text alone says that one kernel does: no reduction, or one that
/// is the whole formula, and no derivative.
bool is_plain(const ast::Formula& formula) {
    std::size_t reductions = 0;
    for (const ast::Node& node : formula.nodes) {
        if (node.kind == ast::Kind::Apply && find_derivative(node.name))
            return false;
        reductions += node.kind == ast::Kind::Reduce;
    }
    const ast::Node& root = formula[formula.root];
    return reductions == 0 ||
           (reductions == 1 && root.kind == ast::Kind::Reduce &&
            !find_reduction_sugar(root.name));
}

} // namespace

bool needs_sweeps(const ast::Formula& formula, const Derivation& derivation,
                  std::span<const ArgumentType> arguments, Mode mode) {
    if (!derivation.empty() || mode == Mode::Values)
        return !derivation.empty();
    if (may_be_complex(formula, arguments))
        return true;
    return !is_plain(formula) &&
           !is_one_sweep(build(formula, arguments, pairs_of(mode)));
}

} // namespace tilefold
