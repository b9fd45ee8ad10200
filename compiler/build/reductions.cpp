// compiler/build/reductions.cpp - reductions, and what they may be reductions
// of.

#include "compiler/build/graph_build.h"

#include <algorithm>
#include <cmath>

namespace tilefold {

using ir::Op;
using ir::ValueId;

namespace {

/// For a row, argkmin and kmin keep at most so many elements.
constexpr std::int64_t most_kept = 1024;

/// Whether a sum of integers may leave int64. Those of at most 16 bits take
/// 2^47 terms for it.
bool sums_may_wrap(const ir::Builder& builder, ValueId id, int depth = 0) {
    constexpr int furthest = 8; // what is deeper may be
    if (builder.type(id).dtype != DType::I64 || depth == furthest)
        return depth == furthest;
    const ir::Node& node = builder[id];
    if (node.op == Op::Argument)
        return size_of(
                   builder.graph().arguments[std::size_t(node.first)].dtype) >
               2;
    const bool picks = node.op == Op::Slice || node.op == Op::Concat ||
                       node.op == Op::Broadcast || node.op == Op::Where;
    const auto inputs = node.inputs();
    return !picks || std::ranges::any_of(inputs, [&](ValueId input) {
        return sums_may_wrap(builder, input, depth + 1);
    });
}

} // namespace

ValueId GraphBuild::reduce(Scope& scope, const ast::Node& node) {
    for (const ast::NodeId child : node.children)
        if (const auto found = scope.values.find(child);
            found != scope.values.end())
            found->second = on_all_axes(found->second);
    if (const ReductionSugar* sugar = find_reduction_sugar(node.name))
        return reduction_sugar(scope, node, *sugar);
    const auto reduction = find_reduction(node.name);
    if (!reduction)
        internal_error("no reduction '" + node.name + "'");
    if (*reduction == ir::Reduction::Fold)
        return fold(scope, node);
    const bool counted = row_of(*reduction).monoid == ir::Monoid::KMinimum;
    std::vector<ValueId> operands;
    for (std::size_t k = 0; k < node.children.size() - counted; ++k)
        operands.push_back(scope.values.at(node.children[k]));
    const Span span = span_of(scope, node);
    scalars_of(*reduction, operands, span);
    if (scope.rule)
        return this->reduction(*reduction, scope.rule->over, operands,
                               counted ? scope.rule->count : 0, span,
                               scope.rule->pairs);
    const std::int64_t k = counted ? count_of(scope, node) : 0;
    Axes over = axes_of(node.axes);
    if (operands.size() == 1 && merge_reductions(*reduction, over, operands[0]))
        return this->reduction(*reduction, over, operands, k, span, pairs_);
    return this->reduction(*reduction, over, operands, k, span,
                           pairs_met(operands, node, span));
}

/// Merges nested reductions: sum_i sum_j f is sum_ij f, and max_i max_j f is
/// max_ij f.
bool GraphBuild::merge_reductions(ir::Reduction reduction, Axes& over,
                                  ValueId& body) {
    using ir::Reduction;
    if (is_complex(body)) {
        Axes both = over;
        ValueId real = real_part(body), imaginary = imaginary_part(body);
        if (!merge_reductions(reduction, both, real) ||
            !merge_reductions(reduction, over, imaginary))
            return false;
        body = complex(real, imaginary, builder_[body].span);
        return true;
    }
    const auto guarded = guarded_.find(body);
    const ir::Node& inner =
        builder_[guarded == guarded_.end() ? body : guarded->second];
    const bool merges =
        reduction == Reduction::Sum || reduction == Reduction::Mean ||
        reduction == Reduction::Prod || reduction == Reduction::Max ||
        reduction == Reduction::Min || reduction == Reduction::Any ||
        reduction == Reduction::All || reduction == Reduction::LogSumExp;
    if (!merges || inner.op != Op::Reduce ||
        Reduction(inner.first) != reduction || inner.inputs().size() != 1 ||
        (Axes(inner.second) & over) != Axes::None || inner.pairs != pairs_)
        return false;
    over = over | Axes(inner.second);
    body = inner.operands[0];
    return true;
}

/// Scores and weights are scalars.
void GraphBuild::scalars_of(ir::Reduction reduction,
                            std::span<ValueId> operands, Span span) {
    const auto scalars = std::size_t(row_of(row_of(reduction).monoid).scalars);
    for (ValueId& id : operands.first(std::min(scalars, operands.size())))
        id = as_scalar(id, span);
    if (reduction == ir::Reduction::Any || reduction == ir::Reduction::All ||
        reduction == ir::Reduction::Count)
        operands[0] = truth_of(operands[0]);
}

/// Makes a reduction. The number of chosen pairs differs from point to point:
/// a mean of them is a quotient.
ValueId GraphBuild::reduction(ir::Reduction reduction, Axes over,
                              std::span<const ValueId> operands, std::int64_t k,
                              Span span, ir::Pairs pairs) {
    if (any_unsigned(operands))
        return unsigned_reduction(reduction, over, operands, k, span, pairs);
    const bool by_parts = reduction == ir::Reduction::Sum ||
                          reduction == ir::Reduction::Mean ||
                          reduction == ir::Reduction::SoftMax;
    if (by_parts && is_complex(operands.back()))
        return complex_reduction(
            reduction, over, {operands.begin(), operands.end()}, span, pairs);
    if (reduction == ir::Reduction::Prod && is_complex(operands[0]))
        return complex_product(over, operands[0], span, pairs);
    const bool divides =
        pairs != ir::Pairs::All && reduction == ir::Reduction::Mean;
    if (reduction == ir::Reduction::Sum && sums_may_wrap(builder_, operands[0]))
        return guarded_sum(over, operands[0], span, pairs);
    if (!divides)
        return builder_.reduce(reduction, over, operands, k, span, pairs);
    const ValueId sum =
        builder_.reduce(ir::Reduction::Sum, over, operands, k, span, pairs);
    narrows_means_ |= builder_.graph().real == DType::F32 &&
                      builder_.type(sum).dtype != DType::F32;
    return builder_.apply(
        Op::Div, {sum, tilefold::count_of(builder_, over, pairs)}, span);
}

/// Returns Σ f of integers, in int64. Where that has wrapped, as the same sum
/// in float64 says, it is int64's largest or least number.
ValueId GraphBuild::guarded_sum(Axes over, ValueId f, Span span,
                                ir::Pairs pairs) {
    const ValueId one = builder_.constant(1);
    const ValueId real = builder_.apply(Op::Mul, {f, one}, span);
    const auto summed = [&](ValueId term) {
        return builder_.reduce(ir::Reduction::Sum, over, std::span(&term, 1), 0,
                               span, pairs);
    };
    const ValueId wrapped = summed(f), rough = summed(real);
    const ValueId excess = builder_.apply(Op::Sub, {rough, wrapped});
    const auto limit = [&](double value) { return builder_.constant(value); };
    const ValueId below = builder_.apply(Op::Less, {excess, limit(-0x1p63)});
    const ValueId above = builder_.apply(Op::Less, {limit(0x1p63), excess});
    const ValueId least = builder_.whole_constant(-0x1p63);
    const ValueId most = builder_.whole_constant(0x1p63);
    const ValueId not_above =
        builder_.apply(Op::Where, {above, most, wrapped}, span);
    const ValueId result =
        builder_.apply(Op::Where, {below, least, not_above}, span);
    guarded_[result] = wrapped;
    return result;
}

ValueId GraphBuild::reduction_sugar(Scope& scope, const ast::Node& node,
                                    const ReductionSugar& sugar) {
    const ValueId f = as_real(scope.values.at(node.children[0]));
    const Span span = span_of(scope, node);
    if (is_complex(f) && !sugar.of_complex)
        refuse(Code::ComplexOperand, span, {});
    Bindings bindings;
    bindings.values["f"] = f;
    bindings.over = scope.rule ? scope.rule->over : axes_of(node.axes);
    bindings.pairs = scope.rule ? scope.rule->pairs
                                : pairs_met(std::span(&f, 1), node, span);
    bindings.values["n"] =
        tilefold::count_of(builder_, bindings.over, bindings.pairs);
    bindings.span = span;
    if (sugar.operands.back() == "K")
        bindings.count = count_of(scope, node);
    if (sugar.operands.back() == "q") {
        bindings.values["q"] = level_of(scope, node, f, bindings.over);
        search_rank(bindings);
    }
    const ast::Formula& written =
        is_complex(f) ? *sugar.of_complex : sugar.body;
    GraphBuild body(written, builder_); // median's has a quantile
    const ValueId result = body.expand(bindings);
    orders_rounded_ |= body.orders_rounded_;
    narrows_means_ |= body.narrows_means_;
    return result;
}

/// Returns q of `quantile_j(f, q)`, a number from 0 to 1, or several for a
/// scalar f.
ValueId GraphBuild::level_of(Scope& scope, const ast::Node& node, ValueId f,
                             Axes over) {
    const ValueId level = as_real(scope.values.at(node.children[1]));
    const Span span = scope.formula[node.children[1]].span;
    const std::string name = node.name + "_" + std::string(spelling_of(over));
    const Type type = builder_.type(level);
    if (const Axes shared = type.axes & over; shared != Axes::None)
        refuse(Code::LevelOnAxis, span,
               {name, std::string(spelling_of(shared))});
    if (is_complex(level))
        refuse(Code::ComplexOperand, span, {});
    const auto written = literal_of(scope.formula, node.children[1]);
    if (written && !(*written >= 0 && *written <= 1))
        refuse(Code::NoLevel, span, {name, typed(span)});
    if (type.rank != 0 && builder_.type(f).rank != 0)
        refuse(Code::LevelsOfVectors, span, {name});
    return level;
}

/// Returns K of `argkmin_j(f, K)`.
std::int64_t GraphBuild::count_of(Scope& scope, const ast::Node& node) const {
    const std::string name =
        node.name + "_" + std::string(spelling_of(axes_of(node.axes)));
    const ast::Node& count = scope.formula[node.children[1]];
    const auto value = literal_of(scope.formula, node.children[1]);
    if (!value || *value != std::floor(*value))
        refuse(Code::NotAnInteger, count.span,
               {"the number of elements of " + name,
                "'" + typed(count.span) + "'"});
    if (*value < 1)
        refuse(Code::KTooSmall, count.span, {name, typed(count.span)});
    if (*value > double(most_kept))
        refuse(Code::KTooLarge, count.span,
               {name, typed(count.span), std::to_string(most_kept)});
    return std::int64_t(*value);
}

/// A reduction that the value is computed from, or no_value.
ValueId GraphBuild::reduction_below(ValueId value) {
    const auto& nodes = builder_.graph().nodes;
    for (std::size_t k = reduced_.size(); k < nodes.size(); ++k) {
        ValueId reduced = nodes[k].op == Op::Reduce ? ValueId(k) : ir::no_value;
        for (ValueId input : nodes[k].inputs())
            reduced = reduced == ir::no_value ? reduced_[input] : reduced;
        reduced_.push_back(reduced);
    }
    return reduced_[value];
}

/// A fold's functions and its initial state hold none.
void GraphBuild::check_not_reduced(ValueId value, const ast::Node& outer,
                                   Span span) {
    const ValueId inner = reduction_below(value);
    if (inner != ir::no_value)
        refuse(
            Code::ReductionInside, span_of_inner(inner, span),
            {spelling_of_reduction(builder_[inner]),
             outer.name + "_" + std::string(spelling_of(axes_of(outer.axes)))});
}

/// The reductions of tables have no place in the text.
Span GraphBuild::span_of_inner(ValueId reduction, Span outer) const {
    const Span span = builder_[reduction].span;
    return span == Span{} ? outer : span;
}

/// The pairs that a reduction meets: those of the call. What other reductions
/// have left on its axis alone, it meets once a point. A value that has none of
/// the axis any more is a mistake.
ir::Pairs GraphBuild::pairs_met(std::span<const ValueId> operands,
                                const ast::Node& outer, Span span) {
    Axes axes = Axes::None;
    ValueId inner = ir::no_value;
    for (ValueId operand : operands) {
        axes = axes | builder_.type(operand).axes;
        if (inner == ir::no_value)
            inner = reduction_below(operand);
    }
    if (inner == ir::no_value)
        return pairs_;
    const Axes over = axes_of(outer.axes);
    if (const Axes gone = without(over, axes); gone != Axes::None)
        refuse(Code::NestedReduction, span_of_inner(inner, span),
               {spelling_of_reduction(builder_[inner]),
                outer.name + "_" + std::string(spelling_of(over)),
                std::string(spelling_of(gone))});
    return axes == Axes::IJ ? pairs_ : ir::Pairs::All;
}

} // namespace tilefold
