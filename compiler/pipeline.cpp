// compiler/pipeline.cpp - the flat list of passes, from AST to key.

#include "compiler/pipeline.h"

#include "compiler/backends/cpu/choose_plan.h"
#include "compiler/build/composites.h"
#include "compiler/build/roles.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/key.h"
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
#ifndef NDEBUG
    verify(graph);
#endif
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

/// As the user wrote the axes.
Result result_of(const Graph& graph) {
    const Type& type = graph[graph.result].type;
    return {type.axes, graph.is_unsigned ? DType::U64 : type.dtype, type.rank,
            type.rows};
}

/// Those that its reductions meet: all of a sweep meet the same.
ir::Pairs pairs_of(const Graph& graph) {
    const ir::Node* reduction = find_reduction_node(graph);
    return reduction ? reduction->pairs : ir::Pairs::All;
}

Plan plan_of(const Graph& graph, const CompileOptions& options,
             const Sizes& sizes) {
    const bool reduces = find_reduction_node(graph) != nullptr;
    const bool has_rows = reduces && has_rows_nest(graph);
    if (!options.plan) {
        const bool is_for_rows = has_rows && sizes.most_columns > 0;
        return choose_plan(graph,
                           is_for_rows ? Nest::Rows
                           : reduces   ? Nest::Reduce
                                       : Nest::Values,
                           options.isa, sizes);
    }
    const auto size = std::int32_t(size_of(graph.real));
    const std::int32_t lanes = row_of(options.plan->isa).vector_bytes / size;
    if (options.plan->lanes != lanes)
        fail(Code::BadPlan,
             {"lanes", std::to_string(lanes) + " expected: a vector of " +
                           std::string(spelling_of(graph.real))});
    const Nest nest = options.plan->nest;
    const bool fits_rows =
        reduces && has_rows_nest(graph, options.plan->unroll);
    if ((nest == Nest::Values) == reduces || (nest == Nest::Rows && !fits_rows))
        fail(Code::BadPlan, {"nest", "not the one that the formula needs"});
    return *options.plan;
}

/// Places in `names` of the graph's arguments.
std::vector<std::int32_t> order_of(const Graph& graph,
                                   std::span<const std::string> names) {
    std::vector<std::int32_t> order;
    for (const ir::Argument& argument : graph.arguments) {
        const auto place = std::ranges::find(names, argument.name);
        if (argument.name == "#i" || argument.name == "#j")
            order.push_back(argument.name == "#i" ? points_on_i : points_on_j);
        else
            order.push_back(std::int32_t(place - names.begin()));
    }
    return order;
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

/// With that width, where it was left open.
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

/// Differences cost nothing where sums have ports of their own and those of
/// products are the limit: of 64 components a Zen 4 makes 1.51 G pairs/s, by
/// inner products 1.47; a Zen 5 3.36 and 3.22.
bool expansion_pays(Isa isa) {
    return row_of(isa).ports == Ports::Shared;
}

/// One of the two passes that give a meaning one spelling.
using Canonicalise = Graph (*)(const Graph&);

/// The passes, from a graph as built.
Program compile(Graph graph, std::span<const std::string> names,
                const CompileOptions& options, Canonicalise canonicalise) {
    Program program;
    program.result = result_of(graph);
    graph = checked(simplify(lower_composites(graph)));
    ir::Oriented oriented = orient(graph);
    graph = checked(oriented.graph);
    graph = checked(canonicalise(graph));
    if (options.tolerance >= ir::expansion_error && graph.real == DType::F32 &&
        find_reduction_node(graph) && expansion_pays(options.isa))
        graph = checked(simplify(ir::expand_distances(graph)));
    program.swapped = oriented.swapped;
    program.single_column = oriented.single_column;
    if (const ir::Node* reduction = find_reduction_node(graph))
        program.folds_rows = Axes(reduction->second) == Axes::IJ;
    program.pairs = pairs_of(graph);
    Sizes sizes;
    sizes.tolerance = options.tolerance;
    if (!program.folds_rows) {
        const Specialization& purpose = options.purpose;
        sizes.most_rows = program.swapped ? purpose.most_j : purpose.most_i;
        sizes.most_columns = program.swapped ? purpose.most_i : purpose.most_j;
    }
    program.plan = plan_of(graph, options, sizes);
    program.key = key_of(graph, program.plan);
    program.width_argument = open_argument(graph);
    program.argument_order = order_of(graph, names);
    program.graph = std::move(graph);
    return program;
}

/// Gives a program the arguments of another one in the order of that one, so
/// that a call does for both. False where they are not the same.
bool take_order(Program& program, const Program& like) {
    std::vector<std::int64_t> places;
    std::vector<ir::Argument> ordered(like.graph.arguments.size());
    for (const ir::Argument& argument : program.graph.arguments) {
        const auto place = std::ranges::find(
            like.graph.arguments, argument.name, &ir::Argument::name);
        if (place == like.graph.arguments.end())
            return false;
        places.push_back(place - like.graph.arguments.begin());
        ordered[std::size_t(places.back())] = argument;
    }
    if (places.size() != ordered.size())
        return false;
    program.graph.arguments = std::move(ordered);
    for (ir::Node& node : program.graph.nodes)
        if (node.op == ir::Op::Argument)
            node.first = places[std::size_t(node.first)];
    program.argument_order = like.argument_order;
    program.width_argument = open_argument(program.graph);
    program.key = key_of(checked(program.graph), program.plan);
    return true;
}

/// The program, and beside it the one that divides in pairs, where quotients
/// are computed ahead of them.
template <typename Compile>
Program with_divided(const CompileOptions& options, Compile compile) {
    Program program = compile(options, ir::canonicalise);
    if (quotients_ahead(program.graph).empty())
        return program;
    CompileOptions unforced = options;
    unforced.plan.reset();
    Program divided = compile(unforced, ir::canonicalise_as_written);
    if (take_order(divided, program) && !equal(divided.graph, program.graph))
        program.divided = std::make_shared<const Program>(std::move(divided));
    return program;
}

/// As few points or adjoining vectors would have it, where the call has them.
Program compile_for(const Graph& graph, std::span<const ArgumentType> arguments,
                    const CompileOptions& options, Canonicalise canonicalise) {
    const std::vector<std::string> names = names_of(arguments);
    if (options.purpose.adjoin)
        if (auto flat = ir::flatten_points(graph)) {
            Program program =
                compile(checked(flat->graph), names, options, canonicalise);
            program.flat_width = flat->width;
            return program;
        }
    if (options.purpose.axis == Axes::None)
        return compile(graph, names, options, canonicalise);
    const Graph whole = of_one_width(graph, arguments);
    // What the pairs of a row would compute, all columns of the one row will.
    auto one =
        for_one_point(checked(canonicalise(whole)), options.purpose.axis);
    if (!one)
        return compile(graph, names, options, canonicalise);
    Program program =
        compile(checked(*std::move(one)), names, options, canonicalise);
    program.result = result_of(whole);
    program.one_point = options.purpose.axis;
    return program;
}

} // namespace

ir::Pairs pairs_of(Mode mode) {
    return mode == Mode::Chosen ? ir::Pairs::Chosen : ir::Pairs::All;
}

Program compile(const ast::Formula& formula,
                std::span<const ArgumentType> arguments, Mode mode,
                const CompileOptions& options) {
    const Graph graph =
        with_one_component(checked(build(formula, arguments, pairs_of(mode))),
                           arguments, options.purpose);
    check_mode(formula, graph, mode);
    if (!is_one_sweep(graph))
        internal_error("reductions of reductions in one kernel");
    return with_divided(
        options, [&](const CompileOptions& how, Canonicalise canonicalise) {
            return compile_for(graph, arguments, how, canonicalise);
        });
}

Program with_plan(const Program& program, const Plan& plan) {
    Program other = program;
    other.plan = plan;
    other.key = key_of(other.graph, plan);
    return other;
}

SweepPrograms compile_sweeps(const ast::Formula& formula,
                             const Derivation& derivation,
                             std::span<const ArgumentType> arguments, Mode mode,
                             const CompileOptions& options) {
    DerivedGraph derived =
        build_derived(formula, arguments, derivation, pairs_of(mode));
    Sweeps cut = tilefold::cut(derived.builder, derived.results);
    std::vector<std::string> names = names_of(arguments);
    SweepPrograms all;
    for (Sweep& sweep : cut.sweeps) {
        const Graph graph = with_one_component(checked(sweep.graph), arguments,
                                               options.purpose);
        all.sweeps.push_back({with_divided(options,
                                           [&](const CompileOptions& how,
                                               Canonicalise canonicalise) {
                                               return compile(graph, names, how,
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

CompileRequest request_of(const Program& program) {
    return {print(program.graph, ir::Names::Numbers), print(program.plan)};
}

} // namespace tilefold
