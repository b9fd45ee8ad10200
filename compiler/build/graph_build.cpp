// compiler/build/graph_build.cpp - arguments, names and definitions of a
// formula.

#include "compiler/build/build.h"

#include "compiler/build/graph_build.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/dynamic_width.h"
#include "formulas/names.h"

#include <algorithm>
#include <set>

namespace tilefold {
namespace {

using ast::Formula;
using ast::Kind;
using ast::NodeId;
using ir::Op;
using ir::ValueId;

constexpr int deepest_definition = 256;
constexpr std::size_t most_steps = 20 * ir::most_nodes;

std::vector<FreeName> free_of(const std::vector<NameUse>& uses) {
    std::vector<FreeName> names;
    for (const NameUse& use : uses)
        names.push_back(use.name);
    return names;
}

std::string role(Axes axes) {
    switch (axes) {
    case Axes::None:
        return "a parameter";
    case Axes::I:
        return "an array on i";
    case Axes::J:
        return "an array on j";
    case Axes::IJ:
        return "an array on i and j";
    }
    internal_error("axes without a name");
}

/// Returns the nodes below `root`, children first.
std::vector<NodeId> nodes_below(const Formula& formula, NodeId root) {
    std::set<NodeId> seen{root};
    std::vector<NodeId> path{root};
    while (!path.empty()) {
        const NodeId id = path.back();
        path.pop_back();
        for (NodeId child : formula[id].children)
            if (seen.insert(child).second)
                path.push_back(child);
    }
    return {seen.begin(), seen.end()};
}

/// Returns those of `nodes` that a function of derivatives.def takes the
/// derivative of.
std::set<NodeId> differentiated_of(const Formula& formula,
                                   const std::vector<NodeId>& nodes) {
    std::set<NodeId> all;
    for (NodeId id : nodes) {
        const ast::Node& node = formula[id];
        if (node.kind == Kind::Apply && find_derivative(node.name))
            for (NodeId below : nodes_below(formula, node.children[0]))
                all.insert(below);
    }
    return all;
}

/// Whether all values are whole numbers and truths, one each, and truths alone
/// are reduced. Such a graph has no value in the computing dtype, and a vector
/// holds more pairs of the smaller one.
bool only_compares_numbers(const ir::Graph& graph) {
    const auto is_truth = [&](ValueId id) {
        return graph[id].type.dtype == DType::Bool;
    };
    return std::ranges::all_of(graph.nodes, [&](const ir::Node& node) {
        return node.type.rank < 2 && node.type.rows == 1 &&
               kind_of(node.type.dtype) != DTypeKind::Float &&
               (node.op != Op::Reduce ||
                std::ranges::all_of(node.inputs(), is_truth));
    });
}

} // namespace

GraphBuild::GraphBuild(const Formula& formula,
                       std::span<const ArgumentType> arguments, ir::Pairs pairs,
                       std::optional<DType> real)
    : formula_(formula), given_(arguments), pairs_(pairs),
      own_(std::in_place,
           real.value_or(
               computing_dtype(arguments, free_of(names_read(formula)))),
           formula.text),
      builder_(*own_) {}

GraphBuild::GraphBuild(const Formula& rule, ir::Builder& builder)
    : formula_(rule), builder_(builder) {}

void GraphBuild::refuse(Code code, Span span,
                        std::initializer_list<std::string> texts) const {
    // A span of a rule is one of the formula that is differentiated.
    fail(code, {own_ ? formula_.text : builder_.formula(), span}, texts);
}

std::string GraphBuild::typed(Span span) const {
    return formula_.text.substr(span.begin, span.end - span.begin);
}

/// Matches what is given with what is read, and makes every complaint about
/// names.
void GraphBuild::read_arguments() {
    for (NameUse& use : names_read(formula_)) {
        uses_.emplace(use.name.name, use);
        names_.push_back(use.name.name);
    }
    check_reduction_axes();
    check_whole_formula();
    std::map<std::string, const ArgumentType*> given;
    std::vector<const ArgumentType*> imaginary;
    for (const ArgumentType& argument : given_) {
        const std::string name = normalise_name(argument.name);
        const Part part = parse_part(name).part;
        if (part == Part::Imaginary) {
            imaginary.push_back(&argument);
            continue;
        }
        if (!is_of_points(part)) {
            arguments_[name] = {
                name, argument.dtype, argument.rank, argument.rows,
                1,    Axes::None};
            continue;
        }
        const auto [place, is_new] = given.emplace(name, &argument);
        if (!is_new)
            fail(Code::DuplicateArgument,
                 {name, place->second->name, argument.name});
        check_known(name, argument);
        NameUse& use = uses_.at(name);
        take_role(use, argument);
        use.is_constant = false;
        if (argument.rank > 1 && use.name.axes != Axes::None)
            internal_error("an array of matrices");
        arguments_[name] = {name,          argument.dtype,   argument.rank,
                            argument.rows, argument.columns, use.name.axes};
    }
    for (const ArgumentType* argument : imaginary) {
        const std::string name = normalise_name(argument->name);
        ir::Argument part = arguments_.at(parse_part(name).name);
        part.name = name;
        arguments_[name] = part;
    }
    check_missing_y();
    for (const std::string& name : names_)
        check_given(uses_.at(name));
}

void GraphBuild::check_known(const std::string& name,
                             const ArgumentType& argument) {
    if (uses_.contains(name))
        return;
    const SubscriptedName subscripted = split_subscript(name);
    if (subscripted.axes != ast::Axes::None && uses_.contains(subscripted.stem))
        fail(Code::SubscriptedArgument, {argument.name, subscripted.stem});
    for (const char* axis : {"i", "j"})
        if (const auto use = uses_.find(name + axis); use != uses_.end())
            refuse(Code::MissingUnderscore, use->second.name.span,
                   {name + axis, name + "_" + axis, name});
    std::vector<std::string> names;
    for (const std::string& other : names_)
        if (!uses_.at(other).is_constant)
            names.push_back(other);
    if (const auto nearest = nearest_name(name, names))
        fail(Code::MisspeltArgument, {argument.name, listed(names), *nearest});
    fail(Code::UnknownArgument, {argument.name, listed(names)});
}

/// The declaration says the axis of a bare name; elsewhere it has to agree.
void GraphBuild::take_role(NameUse& use, const ArgumentType& argument) const {
    if (!argument.declared)
        return;
    const Axes declared = *argument.declared;
    if (use.is_bare && !formula_.head)
        use.name.axes = declared;
    if (use.name.axes != declared)
        refuse(Code::RoleConflict, use.name.span,
               {use.name.name, role(declared), role(use.name.axes)});
}

/// Refuses names such as sum_k that nobody passes: sum_k is a name like any
/// other, but then it is a mistake.
void GraphBuild::check_reduction_axes() const {
    for (const std::string& name : names_) {
        const std::size_t bar = name.rfind('_');
        const bool given =
            std::ranges::any_of(given_, [&](const ArgumentType& argument) {
                return normalise_name(argument.name) == name;
            });
        if (given || bar == std::string::npos)
            continue;
        const std::string stem = name.substr(0, bar);
        if (vocabulary().reduction(stem).least >= 0)
            refuse(Code::ReductionAxis, uses_.at(name).name.span, {name, stem});
    }
}

void GraphBuild::check_given(const NameUse& use) const {
    const std::string& name = use.name.name;
    if (!use.is_constant && !arguments_.contains(name))
        refuse_missing(use);
}

/// A formula without subscripts is about x and y.
void GraphBuild::check_missing_y() const {
    const auto x = uses_.find("x");
    if (!lacks_subscripts(formula_) || x == uses_.end() ||
        uses_.contains("y") ||
        std::ranges::any_of(given_, [](const ArgumentType& argument) {
            return argument.declared.has_value();
        }))
        return;
    refuse(Code::MissingY, x->second.name.span, {});
}

ir::Graph GraphBuild::run() {
    read_arguments();
    Scope scope{.formula = formula_};
    const ValueId value = on_all_axes(evaluate(scope, formula_.root));
    const ValueId result = bits_of(value);
    if (is_complex(result))
        refuse(Code::ComplexResult, formula_[formula_.root].span, {});
    if (builder_.type(result).rank == 2)
        builder_.slice(result, 0, 1, false, builder_[result].span);
    const bool is_bits = is_unsigned(value);
    const ir::Graph graph = builder_.finish(result);
    check_reductions(graph, graph.result);
    check_axes(graph);
    ir::Graph widened = widen_linear_argument(graph);
    widened.is_unsigned = is_bits;
    if (only_compares_numbers(widened))
        widened.real = DType::F32;
    return widened;
}

/// A formula that reduces leaves one axis at most: `x_j + sum_j y_j` is one
/// number a point of j, but `k_ij + sum_j k_ij` is N×M.
void GraphBuild::check_reductions(const ir::Graph& graph,
                                  ValueId result) const {
    if (graph[result].type.axes != Axes::IJ)
        return;
    const std::vector<bool> used =
        ir::reached(graph, std::span(&result, 1),
                    [&](ValueId id) { return graph[id].op == Op::Reduce; });
    const ir::Node* first = nullptr;
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        const ir::Node& node = graph[id];
        if (node.op != Op::Reduce || !used[id])
            continue;
        if (first && first->second != node.second)
            refuse(
                Code::MixedReductions, node.span,
                {spelling_of_reduction(*first), spelling_of_reduction(node)});
        first = first ? first : &node;
    }
    if (first)
        refuse(Code::AxisNotReduced, graph[result].span,
               {std::string(spelling_of(Axes(first->second))),
                spelling_of_reduction(*first)});
}

/// Checks that somebody says how many points there are on every axis that is
/// counted.
void GraphBuild::check_axes(const ir::Graph& graph) const {
    Axes counted = Axes::None;
    for (const ir::Argument& argument : graph.arguments)
        counted = counted | argument.axes;
    for (const ir::Node& node : graph.nodes) {
        Axes wanted = Axes::None;
        if (node.op == Op::Reduce)
            wanted = Axes(node.second);
        if (node.op == Op::Index)
            wanted = node.type.axes;
        const Axes missing = without(wanted, counted);
        if (missing == Axes::None)
            continue;
        const Axes axis = contains(missing, Axes::J) ? Axes::J : missing;
        refuse(Code::UnknownAxis, node.span,
               {std::string(spelling_of(axis)),
                node.op == Op::Index ? std::string(spelling_of(axis))
                                     : spelling_of_reduction(node)});
    }
}

ValueId GraphBuild::evaluate(Scope& scope, NodeId root) {
    if (scope.depth > deepest_definition)
        refuse(Code::NestingTooDeep, span_of(scope, scope.formula[root]),
               {std::to_string(deepest_definition)});
    const AdjointOrder outer = scope.order;
    const std::vector<NodeId> nodes = nodes_below(scope.formula, root);
    const std::set<NodeId> again = differentiated_of(scope.formula, nodes);
    for (NodeId id : nodes) {
        const ast::Node& node = scope.formula[id];
        scope.order = again.contains(id) ? AdjointOrder::Inner : outer;
        if (++steps_ > most_steps)
            refuse(Code::TooLarge, span_of(scope, node),
                   {std::to_string(ir::most_nodes)});
        scope.values[id] = value_of(scope, node, id);
    }
    scope.order = outer;
    if (scope.rows.contains(root))
        refuse(Code::TransposeAlone, span_of(scope, scope.formula[root]), {});
    return scope.values.at(root);
}

Span GraphBuild::span_of(const Scope& scope, const ast::Node& node) const {
    return scope.call.value_or(node.span);
}

ValueId GraphBuild::value_of(Scope& scope, const ast::Node& node, NodeId id) {
    if (reads_row(scope, node) && node.name != "ᵀ")
        return of_row(scope, node);
    switch (node.kind) {
    case Kind::Number:
        return number(scope, node, id);
    case Kind::Name:
        return name(scope, node);
    case Kind::Variable:
        return variable(node.name, axes_of(node.axes), node.span);
    case Kind::Index:
        return index(scope, node);
    case Kind::Apply:
        return apply(scope, node);
    case Kind::Subscript:
        return subscript(scope, node);
    case Kind::List:
        return list(scope, node);
    case Kind::Reduce:
        return reduce(scope, node);
    case Kind::Function:
        return ir::no_value;
    }
    internal_error("an AST node without a kind");
}

ValueId GraphBuild::number(Scope& scope, const ast::Node& node, NodeId id) {
    if (scope.call)
        return builder_.constant(node.value);
    const auto [place, is_new] = slots_.emplace(id, ir::no_value);
    if (is_new)
        place->second = builder_.literal(node.value, node.span);
    return place->second;
}

ValueId GraphBuild::name(Scope& scope, const ast::Node& node) {
    if (const auto bound = scope.bound.find(node.name);
        bound != scope.bound.end())
        return bound->second;
    if (const ast::Definition* definition = find_definition(scope, node.name)) {
        Scope inner = inner_of(scope);
        if (scope.call) // differs from call to call
            return evaluate(inner, definition->body);
        const auto [place, is_new] =
            definitions_.emplace(node.name, ir::no_value);
        if (is_new)
            place->second = evaluate(inner, definition->body);
        return place->second;
    }
    double value = 0;
    if (scope.call && find_constant(node.name, value))
        return builder_.constant(value);
    const NameUse& use = uses_.at(node.name);
    if (use.is_constant && node.name == transpose_exponent)
        return ir::no_value; // as_row() asks for none
    if (use.is_constant && is_size(node.name))
        return size(node.name, span_of(scope, node));
    if (use.is_constant && node.name == imaginary_unit)
        return complex(builder_.constant(0), builder_.constant(1),
                       span_of(scope, node));
    if (use.is_constant && find_constant(node.name, value))
        return builder_.constant(value);
    return variable(node.name, use.name.axes, node.span);
}

/// Returns the index of a point; over both axes, points are numbered row after
/// row.
ValueId GraphBuild::index(const Scope& scope, const ast::Node& node) {
    const Span span = span_of(scope, node);
    if (!scope.rule)
        return builder_.index(axes_of(node.axes), span);
    if (scope.rule->over != Axes::IJ)
        return builder_.index(scope.rule->over, span);
    const ValueId before = builder_.apply(
        Op::Mul, {builder_.index(Axes::I, span), length_of(builder_, Axes::J)});
    return builder_.apply(Op::Add, {before, builder_.index(Axes::J, span)});
}

/// Codes stand for (code - zero) * step: once a point, while it is packed.
/// Divided by 1 / step, they become the computing dtype.
ValueId GraphBuild::variable(const std::string& name, Axes read_on, Span span) {
    const ir::Argument& argument = arguments_.at(name);
    if (argument.dtype == DType::U64) {
        ir::Argument bits = argument;
        bits.dtype = DType::I64;
        return unsigned_of_bits(builder_.argument(bits, read_on, span), span);
    }
    const ValueId value = builder_.argument(argument, read_on, span);
    const auto imaginary = arguments_.find(spelled(name, Part::Imaginary));
    if (imaginary != arguments_.end())
        return complex(
            value, builder_.argument(imaginary->second, read_on, span), span);
    const auto per_step = arguments_.find(spelled(name, Part::PerStep));
    if (per_step == arguments_.end())
        return value;
    const ValueId zero = builder_.argument(
        arguments_.at(spelled(name, Part::Zero)), Axes::None, span);
    const ValueId code = builder_.apply(Op::Sub, {value, zero}, span);
    return builder_.apply(
        Op::Div, {code, builder_.argument(per_step->second, Axes::None, span)},
        span);
}

const ast::Definition*
GraphBuild::find_definition(const Scope& scope, const std::string& name) const {
    for (const ast::Definition& definition : scope.formula.definitions)
        if (definition.name == name)
            return &definition;
    return nullptr;
}

/// Returns the scope of a definition's body; that of a named formula reads x,
/// y and l of its call.
GraphBuild::Scope GraphBuild::inner_of(const Scope& scope) {
    Scope inner{.formula = scope.formula,
                .depth = scope.depth + 1,
                .order = scope.order};
    if (scope.call) {
        inner.bound = scope.bound;
        inner.call = scope.call;
        inner.rule = scope.rule;
        inner.caller = scope.caller;
    }
    return inner;
}

ValueId GraphBuild::call(Scope& scope, const ast::Node& node,
                         const ast::Definition& definition) {
    Scope inner = inner_of(scope);
    for (std::size_t k = 0; k < definition.parameters.size(); ++k)
        inner.bound[definition.parameters[k]] =
            scope.values.at(node.children.at(k));
    return evaluate(inner, definition.body);
}

ValueId GraphBuild::sugar(Scope& scope, const ast::Node& node,
                          const Sugar& sugar) {
    // Inside a function of sugar.def, a named formula's call is the one known.
    const Caller caller{sugar, node, scope};
    Scope inner{.formula = sugar.body,
                .call = span_of(scope, node),
                .depth = scope.depth + 1,
                .order = scope.order,
                .rule = scope.rule,
                .caller = &caller};
    for (std::size_t k = 0; k < sugar.parameters.size(); ++k)
        inner.bound[sugar.parameters[k]] = scope.values.at(node.children.at(k));
    return evaluate(inner, sugar.body.root);
}

ValueId GraphBuild::expand(const Bindings& bindings) {
    Scope scope{.formula = formula_,
                .bound = bindings.values,
                .call = bindings.span,
                .rule = &bindings};
    return evaluate(scope, formula_.root);
}

ValueId expand(ir::Builder& builder, const Formula& rule,
               const Bindings& bindings) {
    return GraphBuild(rule, builder).expand(bindings);
}

ValueId length_of(ir::Builder& builder, Axes axes) {
    if (axes == Axes::IJ)
        return builder.apply(Op::Mul, {length_of(builder, Axes::I),
                                       length_of(builder, Axes::J)});
    const std::string name =
        "#" + std::string(spelling_of(axes)); // no name of a formula
    return builder.argument({name, DType::F64, 0, 1, 1, Axes::None},
                            Axes::None);
}

ValueId count_of(ir::Builder& builder, Axes over, ir::Pairs pairs) {
    if (pairs == ir::Pairs::All)
        return length_of(builder, over);
    const ValueId one = builder.constant(1);
    return builder.reduce(ir::Reduction::Sum, over, std::span(&one, 1), 0, {},
                          pairs);
}

bool is_rounded(const ir::Graph& graph, ValueId term) {
    const ir::Node& node = graph[term];
    if (graph.real != DType::F32 || node.type.dtype == DType::F32 ||
        node.type.dtype == DType::Bool)
        return false;
    // float32 holds numbers of 16 bits.
    return node.op != Op::Argument ||
           size_of(graph.arguments[std::size_t(node.first)].dtype) > 2;
}

bool orders_rounded(const ir::Graph& graph) {
    return std::ranges::any_of(graph.nodes, [&](const ir::Node& node) {
        if (node.op != Op::Reduce)
            return false;
        const ir::MonoidFamily family = ir::family_of(node);
        return (family == ir::MonoidFamily::Location ||
                family == ir::MonoidFamily::List) &&
               is_rounded(graph, node.operands[0]);
    });
}

ir::Graph build(const Formula& formula, std::span<const ArgumentType> arguments,
                ir::Pairs pairs) {
    GraphBuild own(formula, arguments, pairs);
    ir::Graph graph = own.run();
    const auto is_exact_of_all = [&] {
        const ir::Graph all = build(formula, arguments, ir::Pairs::All);
        return all[all.result].type.dtype == DType::F64;
    };
    if (own.orders_rounded() || orders_rounded(graph) ||
        (own.narrows_means() && pairs != ir::Pairs::All && is_exact_of_all()))
        return GraphBuild(formula, arguments, pairs, DType::F64).run();
    return graph;
}

} // namespace tilefold
