// compiler/build/derived.cpp - derivatives: of a whole formula, step by step,
// and of a value inside one.

#include "compiler/build/differentiate.h"
#include "compiler/build/graph_build.h"
#include "compiler/passes/passes.h"
#include "formulas/names.h"

#include <algorithm>
#include <functional>

namespace tilefold {

using ir::no_value;
using ir::Op;
using ir::ValueId;
using StepKind = DerivationStep::Kind;

namespace {

/// Returns the name of a cotangent or tangent: `label` is that of one of
/// `count` results or arguments, or of an imaginary part.
std::string seed_name(const std::string& seed, std::size_t count,
                      const std::string& label) {
    const auto [name, part] = parse_part(label);
    return spelled(
        count == 1 ? seed : seed + "_" + (name.empty() ? "value" : name), part);
}

/// Counts results as a caller does, complex ones once.
std::size_t count_whole(std::span<const std::string> labels) {
    return std::size_t(
        std::ranges::count_if(labels, std::not_fn(is_imaginary)));
}

/// A gradient has its argument's components, side by side, on its first axis.
Type gradient_type(const ir::Argument& argument, DType real) {
    if (argument.columns > 1)
        ir::check_components(std::int64_t(argument.rows) * argument.columns,
                             {});
    Type type;
    type.dtype = real;
    type.axes = argument.axes == Axes::IJ ? Axes::I : argument.axes;
    type.rank = argument.rank == 0 ? 0 : 1;
    type.rows = argument.rows * argument.columns;
    return type;
}

/// Says how many numbers a point has, for messages.
template <class Array> std::string components_of(const Array& array) {
    return std::to_string(std::int64_t(array.rows) * array.columns);
}

/// Replaces `results`, those before a step, with those after it.
void take_step(std::vector<ResultRole>& results, const DerivationStep& step) {
    if (step.kind == StepKind::Forward)
        return;
    if (!step.keeps_values)
        results.clear();
    for (const std::string& name : step.names)
        results.push_back({name});
}

} // namespace

std::vector<ResultRole> results_of(const Derivation& derivation) {
    std::vector<ResultRole> results(1);
    for (const DerivationStep& step : derivation)
        take_step(results, step);
    return results;
}

std::vector<SeedRole> seeds_of(const Derivation& derivation) {
    std::vector<SeedRole> seeds;
    std::vector<ResultRole> results(1);
    for (std::size_t k = 0; k < derivation.size(); ++k) {
        const DerivationStep& step = derivation[k];
        if (step.kind == StepKind::Forward)
            for (const std::string& name : step.names)
                seeds.push_back({seed_name(step.seed, step.names.size(), name),
                                 name, k, step.kind});
        else
            for (const ResultRole& result : results)
                seeds.push_back(
                    {seed_name(step.seed, results.size(), result.argument),
                     result.argument, k, step.kind});
        take_step(results, step);
    }
    return seeds;
}

DerivedGraph GraphBuild::derive(const Derivation& derivation,
                                std::span<const ArgumentType> seeds) {
    seeds_ = seeds;
    read_arguments();
    const auto order_of = [&](std::size_t steps_before) {
        return steps_before < derivation.size() ? AdjointOrder::Inner
                                                : AdjointOrder::Last;
    };
    Scope scope{.formula = formula_, .order = order_of(0)};
    const ValueId value = on_all_axes(evaluate(scope, formula_.root));
    check_reductions(builder_.graph(), value);
    if (is_complex(value) && builder_.type(value).axes == Axes::IJ)
        refuse(Code::NoReduction, formula_[formula_.root].span, {"N×M"});
    check_axes(builder_.graph());
    Results results = results_of_value(value);
    const DType dtype = results.types[0].dtype;
    if (!derivation.empty() && kind_of(dtype) != DTypeKind::Float)
        refuse(Code::DerivativeOfIndex, formula_[formula_.root].span,
               {"the formula"});
    for (std::size_t k = 0; k < derivation.size(); ++k) {
        const DerivationStep& step = derivation[k];
        simplify_results(results);
        results = step.kind == StepKind::Reverse
                      ? reversed(results, step, order_of(k + 1))
                      : moved(results, step, order_of(k + 1));
    }
    for (const Type& type : results.types)
        refuse_pairs(type);
    return {std::move(builder_), std::move(results.values),
            std::move(results.labels), std::move(results.types)};
}

/// A complex value is two results.
GraphBuild::Results GraphBuild::results_of_value(ValueId value) {
    Results results;
    if (is_unsigned(value)) {
        results.values = {bits_of(value)};
        results.types = {builder_.type(value)};
        results.labels = {""};
        return results;
    }
    const ValueId real = real_part(value), imaginary = imaginary_part(value);
    const ValueId parts[] = {whole_part(real, imaginary),
                             whole_part(imaginary, real)};
    for (ValueId part : parts) {
        if (part == no_value)
            continue;
        Type type = builder_.type(part);
        type.axes = builder_.type(value).axes;
        results.values.push_back(part);
        results.types.push_back(type);
        results.labels.push_back(
            spelled("", results.labels.empty() ? Part::Real : Part::Imaginary));
    }
    return results;
}

/// Returns the names, each followed by that of its imaginary part if it is
/// complex.
std::vector<std::string>
GraphBuild::with_imaginary(std::span<const std::string> names) const {
    std::vector<std::string> all;
    for (const std::string& name : names) {
        all.push_back(name);
        const std::string part = spelled(name, Part::Imaginary);
        if (arguments_.contains(part))
            all.push_back(part);
    }
    return all;
}

/// Simplifies before a derivative is taken: that of |v|² is 2v, but that of
/// (√u)² has a root in it. Side by side in one list, the results are one
/// graph.
void GraphBuild::simplify_results(Results& results) {
    ValueId all = no_value;
    for (ValueId value : results.values)
        if (value != no_value)
            all = all == no_value ? value : builder_.concat(all, value);
    if (all == no_value)
        return;
    const ir::Graph graph = ir::simplify(builder_.finish(all));
    builder_ = ir::Builder(graph.real, formula_.text);
    const std::vector<ValueId> made = builder_.rebuild(graph);
    all = made[graph.result];
    auto left = std::ranges::count_if(
        results.values, [](ValueId value) { return value != no_value; });
    for (std::size_t k = results.values.size(); k-- > 0;) {
        if (results.values[k] == no_value)
            continue;
        const ir::Node& list = builder_[all];
        results.values[k] = left == 1 ? all : list.operands[1];
        if (--left > 0)
            all = list.operands[0];
    }
}

void GraphBuild::check_differentiable(const std::string& name) {
    const auto place = arguments_.find(name);
    if (place == arguments_.end()) {
        std::string all;
        for (const auto& [known, argument] : arguments_)
            all += (all.empty() ? "" : ", ") + known;
        fail(Code::DerivativeName, {name, all});
    }
    if (kind_of(place->second.dtype) != DTypeKind::Float)
        fail(Code::DerivativeByInteger,
             {name, std::string(spelling_of(place->second.dtype))});
}

/// The values of an argument that the graph reads: on i, on j, on neither. A
/// gradient by an array on both axes reads others on both, too.
std::vector<ValueId> GraphBuild::leaves_of(const std::string& name) const {
    const ir::Graph& graph = builder_.graph();
    std::vector<ValueId> leaves;
    for (ValueId id = 0; id < graph.nodes.size(); ++id)
        if (graph[id].op == Op::Argument && name_of(id) == name)
            leaves.push_back(id);
    return leaves;
}

const ArgumentType* GraphBuild::find_seed(const std::string& name) const {
    const auto place =
        std::ranges::find_if(seeds_, [&](const ArgumentType& seed) {
            return normalise_name(seed.name) == name;
        });
    return place == seeds_.end() ? nullptr : &*place;
}

ir::Argument GraphBuild::seed_argument(const ArgumentType& type,
                                       Axes axes) const {
    return {normalise_name(type.name),
            type.dtype,
            type.rank,
            type.rows,
            type.columns,
            axes};
}

/// Refuses arrays of (N, M), which no call has, neither as a cotangent nor as
/// a result.
void GraphBuild::refuse_pairs(const Type& type) const {
    if (type.axes == Axes::IJ)
        refuse(Code::NoReduction, formula_[formula_.root].span, {"N×M"});
}

/// Returns what a result is multiplied by before it is differentiated.
ValueId GraphBuild::cotangent(const std::string& name, const Type& type,
                              ValueId result) {
    const ArgumentType* given = find_seed(name);
    if (!given) {
        if (type.rank == 0 && type.axes == Axes::None)
            return builder_.constant(1);
        fail(Code::MissingSeed, {name, "the cotangent of the result"});
    }
    const bool is_number = given->rank == 0;
    const bool fits = given->rank == type.rank && given->rows == type.rows;
    const bool spreads = is_number && given->declared == Axes::None;
    if (!spreads)
        refuse_pairs(type);
    if (!fits && !spreads)
        fail(Code::WrongComponents,
             {name, components_of(*given), std::to_string(type.rows)});
    const Axes axes = spreads ? Axes::None : type.axes;
    const ir::Argument argument = seed_argument(*given, axes);
    arguments_.emplace(name, argument); // may be differentiated by, later
    const ValueId seed = builder_.argument(argument, axes);
    return broadcast_or_reduce(builder_, seed, builder_.type(result));
}

GraphBuild::Results GraphBuild::reversed(const Results& results,
                                         const DerivationStep& step,
                                         AdjointOrder order) {
    std::vector<Seed> seeds;
    for (std::size_t k = 0; k < results.values.size(); ++k) {
        const std::string name = seed_name(
            step.seed, count_whole(results.labels), results.labels[k]);
        check_seed_of_real(results, k, name);
        const ValueId value = results.values[k];
        const bool is_zero = is_imaginary(name) && !find_seed(name);
        if (value != no_value && !is_zero)
            seeds.push_back({value, cotangent(name, results.types[k], value),
                             results.types[k].axes});
    }
    std::vector<ValueId> leaves;
    const std::vector<std::string> names = with_imaginary(step.names);
    for (const std::string& name : names) {
        check_differentiable(name);
        const std::vector<ValueId> of_name = leaves_of(name);
        leaves.insert(leaves.end(), of_name.begin(), of_name.end());
    }
    const std::vector<ValueId> adjoints =
        reverse(builder_, seeds, leaves, Axes::None, order);
    Results all = step.keeps_values ? results : Results();
    std::size_t at = 0;
    for (const std::string& name : names) {
        const Type type =
            gradient_type(arguments_.at(name), builder_.graph().real);
        ValueId gradient = no_value;
        for (; at < leaves.size() && name_of(leaves[at]) == name; ++at)
            if (adjoints[at] != no_value)
                gradient = plus(builder_, gradient,
                                on_axis(adjoints[at], leaves[at], type.axes));
        all.values.push_back(gradient);
        all.types.push_back(type);
        all.labels.push_back(name);
    }
    return all;
}

/// A real result has no complex cotangent.
void GraphBuild::check_seed_of_real(const Results& results, std::size_t number,
                                    const std::string& name) const {
    const bool is_whole = !is_imaginary(results.labels[number]);
    const bool is_real = number + 1 == results.labels.size() ||
                         !is_imaginary(results.labels[number + 1]);
    if (is_whole && is_real && find_seed(spelled(name, Part::Imaginary)))
        fail(Code::ComplexSeed, {name});
}

const std::string& GraphBuild::name_of(ValueId leaf) const {
    const ir::Graph& graph = builder_.graph();
    return graph.arguments[std::size_t(graph[leaf].first)].name;
}

/// Returns what reading an array on the other axis contributes to its
/// gradient.
ValueId GraphBuild::on_axis(ValueId adjoint, ValueId leaf, Axes axis) {
    return builder_.type(leaf).axes == axis ? adjoint
                                            : transposed(builder_, adjoint);
}

GraphBuild::Results GraphBuild::moved(const Results& results,
                                      const DerivationStep& step,
                                      AdjointOrder order) {
    std::vector<Moving> moving;
    for (const std::string& name : with_imaginary(step.names)) {
        check_differentiable(name);
        const std::string seed = seed_name(step.seed, step.names.size(), name);
        const ArgumentType* given = find_seed(seed);
        if (!given && is_imaginary(name))
            continue; // a real tangent
        if (!given)
            fail(Code::MissingSeed, {seed, "the tangent of '" + name + "'"});
        const ir::Argument& argument = arguments_.at(name);
        if (given->rank != argument.rank || given->rows != argument.rows ||
            given->columns != argument.columns)
            fail(Code::WrongComponents,
                 {seed, components_of(*given), components_of(argument)});
        for (ValueId leaf : leaves_of(name)) {
            const Axes axes = builder_.type(leaf).axes;
            const ir::Argument tangent = seed_argument(*given, argument.axes);
            arguments_.emplace(seed, tangent);
            moving.push_back({leaf, builder_.argument(tangent, axes)});
        }
    }
    Results all = results;
    for (ValueId& value : all.values)
        if (value != no_value)
            value = forward(builder_, value, moving, order);
    return all;
}

void GraphBuild::expect_argument(ValueId x, const ast::Node& node, Span span) {
    const ir::Node& value = builder_[bits_of(x)];
    if (value.op != Op::Argument)
        refuse(Code::DerivativeTarget, span, {node.name});
    const ir::Argument& argument =
        builder_.graph().arguments[std::size_t(value.first)];
    const DType dtype = is_unsigned(x) ? DType::U64 : argument.dtype;
    if (kind_of(dtype) != DTypeKind::Float)
        refuse(Code::DerivativeByInteger, span,
               {argument.name, std::string(spelling_of(dtype))});
}

/// Returns the gradient at one pair, where nothing is summed but what a
/// reduction inside f sums.
ValueId GraphBuild::gradient_at(ValueId f, ValueId x, ValueId cotangent,
                                AdjointOrder order) {
    const Type type = builder_.type(f);
    const ValueId adjoint =
        reverse(builder_, f, cotangent, std::span(&x, 1), type.axes, order)[0];
    if (adjoint != no_value)
        return adjoint;
    const ValueId zero = builder_.constant(0);
    return broadcast_or_reduce(builder_, zero, builder_.type(x));
}

ValueId GraphBuild::derivative(Scope& scope, const ast::Node& node,
                               DerivativeFunction function) {
    const Span span = span_of(scope, node);
    ValueId f = scope.values.at(node.children[0]);
    const ValueId x = scope.values.at(node.children[1]);
    expect_argument(x, node, span);
    if (function == DerivativeFunction::Gradient ||
        function == DerivativeFunction::Laplacian)
        f = as_scalar(f, span);
    if (is_complex(f))
        refuse(Code::ComplexOperand, span, {});
    const Type type = builder_.type(f);
    if (kind_of(type.dtype) != DTypeKind::Float)
        refuse(Code::DerivativeOfIndex, span, {"what " + node.name + " takes"});
    switch (function) {
    case DerivativeFunction::Gradient:
    case DerivativeFunction::Laplacian:
        if (type.rank != 0)
            refuse(Code::DerivativeOfVector, span, {node.name, describe(type)});
        if (function == DerivativeFunction::Gradient)
            return gradient_at(f, x, builder_.constant(1), scope.order);
        return divergence(
            gradient_at(f, x, builder_.constant(1), AdjointOrder::Inner), x,
            span, scope.order);
    case DerivativeFunction::Divergence:
        return divergence(f, x, span, scope.order);
    case DerivativeFunction::Jacobian:
        return jacobian(f, x, span, scope.order);
    case DerivativeFunction::Cotangent: {
        const ValueId g = scope.values.at(node.children[2]);
        const Type &of = builder_.type(f), &by = builder_.type(g);
        if (by.rank != 0 && (of.rank != by.rank || of.rows != by.rows))
            refuse(Code::ShapeMismatch, span,
                   {node.name, describe(of), describe(by)});
        return gradient_at(f, x, g, scope.order);
    }
    case DerivativeFunction::Tangent: {
        const Moving moving{x, scope.values.at(node.children[2])};
        const Type &to = builder_.type(x),
                   &along = builder_.type(moving.tangent);
        if (to.rank != along.rank || to.rows != along.rows)
            refuse(Code::ShapeMismatch, span,
                   {node.name, describe(to), describe(along)});
        const ValueId tangent =
            forward(builder_, f, std::span(&moving, 1), scope.order);
        return tangent != no_value
                   ? tangent
                   : broadcast_or_reduce(builder_, builder_.constant(0), type);
    }
    }
    internal_error("a derivative without a case");
}

ValueId GraphBuild::same_along_axes(ValueId derivative, ValueId f, ValueId x) {
    const ValueId roots[] = {bits_of(f), bits_of(x)};
    const Axes missing =
        without(builder_.type(roots[0]).axes | builder_.type(roots[1]).axes,
                builder_.type(derivative).axes);
    if (missing == Axes::None)
        return derivative;
    const ValueId own =
        builder_.apply(Op::Mul, {derivative, builder_.constant(1)});
    const std::vector<bool> read = ir::reached(builder_.graph(), roots);
    for (ValueId id = 0; id < read.size(); ++id)
        if (read[id] && builder_[id].op == Op::Argument &&
            (builder_.type(id).axes & missing) != Axes::None)
            same_along_[own].push_back(id);
    return own;
}

ValueId GraphBuild::on_all_axes(ValueId value) {
    if (same_along_.empty() || is_unsigned(value))
        return value;
    if (is_complex(value))
        return complex(on_all_axes(real_part(value)),
                       on_all_axes(imaginary_part(value)),
                       builder_[value].span);
    const std::vector<bool> read =
        ir::reached(builder_.graph(), std::span(&value, 1),
                    [&](ValueId id) { return builder_[id].op == Op::Reduce; });
    for (const auto& [same, arguments] : same_along_) {
        if (same >= read.size() || !read[same])
            continue;
        for (ValueId on_axis : arguments) {
            if (without(builder_.type(on_axis).axes,
                        builder_.type(value).axes) == Axes::None)
                continue;
            if (builder_.type(on_axis).rank > 0)
                on_axis = builder_.slice(on_axis, 0, 1, true);
            // No number is less than itself, nor is NaN.
            const ValueId none = builder_.apply(Op::Less, {on_axis, on_axis});
            const bool is_truth =
                kind_of(builder_.type(value).dtype) == DTypeKind::Truth;
            value = builder_.apply(is_truth ? Op::Or : Op::Add, {value, none});
        }
    }
    return value;
}

ValueId GraphBuild::jacobian(ValueId f, ValueId x, Span span,
                             AdjointOrder order) {
    const ValueId one = builder_.constant(1);
    if (builder_.type(f).rank == 0)
        return gradient_at(f, x, one, order);
    std::vector<ValueId> rows;
    check_written_out(builder_.type(f).rows,
                      std::to_string(builder_.type(f).rows), span);
    for (std::int64_t k = 0; k < builder_.type(f).rows; ++k)
        rows.push_back(gradient_at(builder_.slice(f, k, k + 1, true, span), x,
                                   one, order));
    ValueId all = rows[0];
    for (std::size_t k = 1; k < rows.size(); ++k)
        all = builder_.concat(all, rows[k], span);
    return all;
}

/// Returns Σ_k of the derivative of v[k] when x moves along its k-th axis.
ValueId GraphBuild::divergence(ValueId v, ValueId x, Span span,
                               AdjointOrder order) {
    const Type field = builder_.type(v), point = builder_.type(x);
    if (field.rank != point.rank || field.rows != point.rows || point.rank == 2)
        refuse(Code::DerivativeLengths, span,
               {describe(field), describe(point)});
    if (point.rank == 0) {
        const Moving moving{x, builder_.constant(1)};
        const ValueId slope =
            forward(builder_, v, std::span(&moving, 1), order);
        return slope == no_value ? builder_.constant(0) : slope;
    }
    check_written_out(point.rows, std::to_string(point.rows), span);
    ValueId all = builder_.constant(0);
    for (std::int64_t k = 0; k < point.rows; ++k) {
        const ValueId component = builder_.slice(v, k, k + 1, true, span);
        const ValueId slope =
            gradient_at(component, x, builder_.constant(1), order);
        all = builder_.apply(
            Op::Add, {all, builder_.slice(slope, k, k + 1, true)}, span);
    }
    return all;
}

DerivedGraph build_derived(const ast::Formula& formula,
                           std::span<const ArgumentType> arguments,
                           const Derivation& derivation, ir::Pairs pairs,
                           std::optional<DType> real) {
    std::vector<ArgumentType> own, seeds;
    const std::vector<SeedRole> roles = seeds_of(derivation);
    for (const ArgumentType& argument : arguments) {
        const std::string name = parse_part(normalise_name(argument.name)).name;
        const bool is_seed =
            std::ranges::find(roles, name, &SeedRole::name) != roles.end();
        (is_seed ? seeds : own).push_back(argument);
    }
    GraphBuild build(formula, own, pairs, real);
    DerivedGraph derived = build.derive(derivation, seeds);
    const auto is_exact_of_all = [&] {
        return std::ranges::any_of(
            build_derived(formula, arguments, derivation, ir::Pairs::All, real)
                .types,
            [](const Type& type) { return type.dtype == DType::F64; });
    };
    if (build.orders_rounded() || orders_rounded(derived.builder.graph()) ||
        (build.narrows_means() && pairs != ir::Pairs::All && is_exact_of_all()))
        return GraphBuild(formula, own, pairs, DType::F64)
            .derive(derivation, seeds);
    return derived;
}

} // namespace tilefold
