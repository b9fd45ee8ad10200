// compiler/build/differentiate.cpp - reverse and forward mode over a growing
// graph.

#include "compiler/build/differentiate.h"

#include "compiler/build/adjoint_pieces.h"
#include "compiler/build/expand.h"
#include "compiler/build/masks.h"
#include "compiler/build/meeting_points.h"
#include "compiler/build/rules.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tilefold {
namespace {

using ir::Builder;
using ir::no_value;
using ir::Node;
using ir::Op;
using ir::Pairs;
using ir::Reduction;
using ir::ValueId;

/// Says for each value whether it moves with one of `leaves`.
std::vector<bool> dependents(const Builder& builder, ValueId last,
                             std::span<const ValueId> leaves) {
    std::vector<bool> depends(last + 1);
    for (ValueId leaf : leaves)
        if (leaf <= last)
            depends[leaf] = true;
    for (ValueId id = 0; id <= last; ++id) {
        const Node& node = builder[id];
        for (std::size_t k = 0; k < node.arity; ++k)
            depends[id] = depends[id] || (depends[node.operands[k]] &&
                                          !adds_nothing(node.op, k));
    }
    return depends;
}

/// Returns the derivative of `value` where `of` alone moves, along 1; what
/// reductions give is held fixed.
ValueId derivative_along(Builder& builder, ValueId value, ValueId of) {
    const ValueId one =
        ir::broadcast_or_reduce(builder, builder.constant(1), builder.type(of));
    const Moving along{of, one};
    return forward(builder, value, std::span(&along, 1), AdjointOrder::Last,
                   Through::PairsOnly);
}

/// Returns the sum of `value` over axes; along an axis on which it is the
/// same, that is a product.
ValueId summed(Builder& builder, ValueId value, Axes axes, Pairs pairs) {
    if (pairs != Pairs::All)
        return builder.reduce(Reduction::Sum, axes, std::span(&value, 1), 0, {},
                              pairs);
    const Axes varies = axes & builder.type(value).axes;
    const Axes constant = without(axes, varies);
    if (varies != Axes::None)
        value = builder.reduce(Reduction::Sum, varies, std::span(&value, 1));
    if (constant == Axes::None)
        return value;
    return builder.apply(Op::Mul, {value, length_of(builder, constant)});
}

Bindings bindings_of(const Node& node, ValueId result, ValueId g) {
    constexpr const char* names[] = {"a", "b", "c"};
    Bindings bound;
    for (std::size_t k = 0; k < node.arity; ++k)
        bound.values[names[k]] = node.operands[k];
    bound.values["y"] = result;
    bound.values["g"] = g;
    bound.span = node.span;
    return bound;
}

Bindings bindings_of_reduction(Builder& builder, const Node& node,
                               ValueId result, ValueId g) {
    Bindings bound;
    bound.values["f"] = node.operands[0];
    bound.values["v"] = node.arity > 1 ? node.operands[1] : builder.constant(1);
    bound.values["y"] = result;
    bound.values["g"] = g;
    bound.over = Axes(node.second);
    bound.pairs = node.pairs;
    bound.values["n"] = count_of(builder, bound.over, bound.pairs);
    bound.count = node.third;
    bound.span = node.span;
    return bound;
}

void expect_rules(const Builder& builder, const Node& node) {
    if (has_rules(Reduction(node.first)))
        return;
    const bool is_own = node.fold && node.fold->spelling == "fold";
    if (node.fold && !is_own)
        fail(Code::NoComplexDerivative, {builder.formula(), node.span},
             {spelling_of_reduction(node),
              std::string(spelling_of(Axes(node.second)))});
    fail(Code::NoDerivative, {builder.formula(), node.span},
         {spelling_of_reduction(node)});
}

/// Returns what an operand of `node` adds; no_value for nothing.
ValueId by_rule(Builder& builder, const Rule& rule, const Bindings& bindings,
                const Node& node) {
    switch (rule.kind) {
    case Rule::Kind::Zero:
        return no_value;
    case Rule::Kind::Formula:
        return expand(builder, rule.formula, bindings);
    case Rule::Kind::None:
        fail(Code::NoOrderDerivative, {builder.formula(), node.span},
             {std::string(row_of(node.op).spelling)});
    }
    internal_error("a rule without a case");
}

/// Returns what the derivative of base^n adds to the adjoint of base.
ValueId power_rule(Builder& builder, const Node& node, ValueId g) {
    const std::int64_t n = node.first;
    if (n == 0)
        return no_value;
    const ValueId base = node.operands[0];
    const ValueId power = n == 1   ? builder.constant(1)
                          : n == 2 ? base
                                   : builder.int_pow(base, n - 1, node.span);
    const ValueId slope =
        builder.apply(Op::Mul, {builder.constant(double(n)), power});
    return builder.apply(Op::Mul, {g, slope});
}

/// Computes adjoints, from the result down to the leaves.
class Reverse {
public:
    Reverse(Builder& builder, std::span<const Seed> seeds,
            std::span<const ValueId> leaves, Axes kept, AdjointOrder order)
        : builder_(builder), kept_(kept), order_(order) {
        ValueId last = 0;
        for (const Seed& seed : seeds)
            last = std::max(last, seed.result);
        active_ = dependents(builder, last, leaves);
        bounded_ = bounded_ways(builder.graph(), active_);
        parts_.resize(last + 1);
        for (const Seed& seed : seeds)
            add(seed.result, seed.adjoint, {seed.axes | kept, Pairs::All});
    }

    std::vector<ValueId> run(std::span<const ValueId> leaves) {
        std::vector<ValueId> totals(parts_.size(), no_value);
        for (ValueId id = ValueId(parts_.size()); id-- > 0;) {
            if (!active_[id])
                continue;
            for (const auto& [domain, adjoint] : total(id)) {
                if (std::ranges::find(leaves, id) != leaves.end())
                    totals[id] = held(builder_, {domain.mask, adjoint});
                propagate(id, adjoint, domain);
            }
        }
        std::vector<ValueId> adjoints;
        for (ValueId leaf : leaves) // which has one domain
            adjoints.push_back(leaf < totals.size() ? totals[leaf] : no_value);
        return adjoints;
    }

private:
    /// What an adjoint is given for: points, or pairs and which of them.
    struct Domain {
        Axes axes = Axes::None;
        Pairs pairs = Pairs::All;
        ValueId mask = no_value; ///< of masks.h

        friend auto operator<=>(const Domain&, const Domain&) = default;
    };
    using Parts = std::map<Domain, ValueId>;

    /// The axes that an adjoint of `id` has, though its value may be the
    /// same along some of them.
    Axes nominal(ValueId id) const { return builder_.type(id).axes | kept_; }

    /// Which conditions become masks: those of a user, whatever is masked,
    /// and others, such as those of a maximum, where a slope may be infinite.
    enum class Conditions : std::uint8_t { All, OfSingular };

    void add(ValueId id, ValueId adjoint, Domain domain,
             Conditions conditions = Conditions::OfSingular) {
        if (adjoint == no_value || !active_[id])
            return;
        Masked masked{domain.mask, adjoint};
        if (conditions == Conditions::All || !bounded_[id])
            masked = without_conditions(builder_, masked);
        const Type& type = builder_.type(id);
        const bool fits = type.rank == 1 && masked.mask != no_value &&
                          type.rows == builder_.type(masked.mask).rows;
        if (!fits)
            masked = with_scalar_mask(masked, id);
        adjoint = broadcast_or_reduce(builder_, masked.value, type);
        domain.mask = masked.mask;
        ValueId& sum = parts_[id].try_emplace(domain, no_value).first->second;
        sum = plus(builder_, sum, adjoint);
    }

    /// Adds the adjoint of a slice. Slices that no condition is for are put
    /// together by total(), as one list: a sum of as many lists, of zeros but
    /// for a component each, would be the square of their number.
    void add_slice(const Node& node, ValueId adjoint, Domain domain) {
        const ValueId whole = node.operands[0];
        if (!active_[whole])
            return;
        const Masked masked =
            bounded_[whole]
                ? Masked{domain.mask, adjoint}
                : without_conditions(builder_, {domain.mask, adjoint});
        const Type& type = builder_.type(whole);
        const Piece piece{node.first, node.second, adjoint};
        if (masked.mask == no_value && type.rank == 1)
            pieces_[whole][domain].push_back(piece);
        else
            add(whole,
                type.rank == 0 ? builder_.slice(adjoint, 0, 1, true)
                               : put_together(builder_, type.rows, {&piece, 1}),
                domain);
    }

    /// Applies a mask of components, which only values of as many components
    /// can take along; behind it, one component or another counts.
    Masked with_scalar_mask(Masked masked, ValueId below) {
        if (masked.mask == no_value || builder_.type(masked.mask).rank == 0)
            return masked;
        return {bounded_[below] ? no_value
                                : any_component(builder_, masked.mask),
                held(builder_, masked)};
    }

    /// Returns all that was added, summed over the axes that `id` does not
    /// have. What is on both axes is for the pairs of the reductions that it
    /// goes into.
    Parts total(ValueId id) {
        for (const auto& [domain, pieces] : std::exchange(pieces_[id], {}))
            add(id, put_together(builder_, builder_.type(id).rows, pieces),
                {domain.axes, domain.pairs});
        std::map<Domain, std::vector<Masked>> by_points;
        for (const auto& [domain, part] : parts_[id]) {
            const Axes excess = without(domain.axes, nominal(id));
            if (excess == Axes::None)
                by_points[{nominal(id), domain.pairs}].push_back(
                    {domain.mask, part});
            else
                by_points[{nominal(id)}].push_back(
                    summed_over(id, {domain.mask, part}, excess, domain.pairs));
        }
        Parts all;
        for (const auto& [domain, values] : by_points) {
            const Masked sum = sum_of(builder_, values);
            all.emplace(Domain{domain.axes, domain.pairs, sum.mask}, sum.value);
        }
        return all;
    }

    /// A point of which no pair counts is masked itself, where that matters.
    Masked summed_over(ValueId id, Masked masked, Axes excess, Pairs pairs) {
        const auto [on_axes, rest] =
            split_mask(builder_, masked.mask, nominal(id));
        const ValueId sum = summed(
            builder_, held(builder_, {rest, masked.value}), excess, pairs);
        if (rest == no_value || bounded_[id])
            return {on_axes, sum};
        const Axes over =
            pairs == Pairs::All ? excess & builder_.type(rest).axes : excess;
        const ValueId any = builder_.reduce(Reduction::Any, over,
                                            std::span(&rest, 1), 0, {}, pairs);
        return {both(builder_, on_axes, any), sum};
    }

    void propagate(ValueId id, ValueId g, Domain domain) {
        const Node node = builder_[id];
        if (!ir::is_elementwise(node.op) && node.op != Op::Concat) {
            const Masked masked = with_scalar_mask({domain.mask, g}, id);
            domain.mask = masked.mask;
            g = masked.value;
        }
        switch (node.op) {
        case Op::Argument:
        case Op::Literal:
        case Op::Constant:
        case Op::Index:
        case Op::Iota:
            return;
        case Op::IntPow:
            return add(node.operands[0], power_rule(builder_, node, g), domain);
        case Op::Slice:
            return add_slice(node, g, domain);
        case Op::Concat:
            return propagate_parts(node, g, domain);
        case Op::Broadcast:
            return add(node.operands[0], g, domain);
        case Op::Reduce:
            return propagate_reduction(id, node, g, domain);
        case Op::Outer:
            return propagate_outer(node, g, domain);
        default:
            return propagate_operation(id, node, g, domain);
        }
    }

    void propagate_operation(ValueId id, const Node& node, ValueId g,
                             Domain domain) {
        const Rules& rules = partials_of(node.op);
        const Bindings bound = bindings_of(node, id, g);
        if (order_ == AdjointOrder::Inner && has_limit(node.op)) {
            const auto along = [this](ValueId value, ValueId of) {
                return derivative_along(builder_, value, of);
            };
            return add(node.operands[0],
                       slope_with_limit(builder_, node.op, bound, along),
                       domain);
        }
        const Conditions conditions =
            node.op == Op::Where ? Conditions::All : Conditions::OfSingular;
        for (std::size_t k = 0; k < node.arity; ++k)
            if (active_[node.operands[k]])
                add(node.operands[k], by_rule(builder_, rules[k], bound, node),
                    domain, conditions);
    }

    void propagate_reduction(ValueId id, const Node& node, ValueId g,
                             Domain domain) {
        expect_rules(builder_, node);
        const Rules& rules = adjoints_of(Reduction(node.first));
        const Bindings bound = bindings_of_reduction(builder_, node, id, g);
        for (std::size_t k = 0; k < node.arity; ++k)
            if (rules.size() > k && active_[node.operands[k]])
                add(node.operands[k], by_rule(builder_, rules[k], bound, node),
                    {domain.axes | bound.over, bound.pairs, domain.mask});
    }

    void propagate_parts(const Node& node, ValueId g, Domain domain) {
        std::int64_t at = 0;
        for (ValueId operand : node.inputs()) {
            const Type type = builder_.type(operand);
            const std::int64_t end = at + type.rows;
            Domain of_part = domain;
            if (domain.mask != no_value && builder_.type(domain.mask).rank == 1)
                of_part.mask =
                    builder_.slice(domain.mask, at, end, type.rank == 0);
            add(operand, builder_.slice(g, at, end, type.rank == 0), of_part);
            at = end;
        }
    }

    /// Adds G v and u G, where G is the adjoint of u vᵀ row after row.
    void propagate_outer(const Node& node, ValueId g, Domain domain) {
        const ValueId u = node.operands[0], v = node.operands[1];
        const std::int64_t rows = builder_.type(u).rows;
        const std::int64_t columns = builder_.type(v).rows;
        ValueId of_u = no_value, of_v = no_value;
        for (std::int64_t r = 0; r < rows; ++r) {
            const ValueId row =
                builder_.slice(g, r * columns, (r + 1) * columns, false);
            const ValueId dot = builder_.apply(Op::Dot, {row, v});
            of_u = joined(builder_, of_u, builder_.slice(dot, 0, 1, false));
            const ValueId u_r = builder_.slice(u, r, r + 1, true);
            of_v = plus(builder_, of_v, builder_.apply(Op::Mul, {u_r, row}));
        }
        add(u, of_u, domain);
        add(v, of_v, domain);
    }

    Builder& builder_;
    Axes kept_;
    AdjointOrder order_;
    std::vector<bool> active_, bounded_;
    std::vector<Parts> parts_; ///< by value: what its users added
    /// By value: what slices of it add besides.
    std::map<ValueId, std::map<Domain, std::vector<Piece>>> pieces_;
};

/// Computes tangents, from the leaves up. If another derivative follows, that
/// of a number with a root in it is made of its gradient, which knows limits.
class Forward {
public:
    Forward(Builder& builder, ValueId result, std::span<const Moving> leaves,
            AdjointOrder order, Through through)
        : builder_(builder), result_(result), order_(order), through_(through),
          tangents_(result + 1, no_value) {
        for (const Moving& moving : leaves)
            if (moving.leaf <= result) {
                tangents_[moving.leaf] = moving.tangent;
                leaves_.push_back(moving.leaf);
            }
    }

    ValueId run() {
        if (order_ == AdjointOrder::Inner)
            find_roots();
        const std::vector<bool> wanted = find_wanted();
        for (ValueId id = 0; id <= result_; ++id)
            if (wanted[id] && tangents_[id] == no_value)
                tangents_[id] =
                    is_by_gradient(id) ? by_gradient(id) : tangent(id);
        return tangents_[result_];
    }

private:
    /// Says for each value whether its tangent is needed for others, or for
    /// the result.
    std::vector<bool> find_wanted() const {
        std::vector<bool> wanted(result_ + 1);
        wanted[result_] = true;
        for (ValueId id = result_ + 1; id-- > 0;)
            if (wanted[id] && tangents_[id] == no_value && !is_by_gradient(id))
                for (ValueId input : builder_[id].inputs())
                    wanted[input] = true;
        return wanted;
    }

    /// Finds numbers that move by a root, and by no reduction.
    void find_roots() {
        const std::vector<bool> moves = dependents(builder_, result_, leaves_);
        std::vector<bool> reduces(result_ + 1);
        by_gradient_.resize(result_ + 1);
        std::vector<bool> has_root(result_ + 1);
        for (ValueId id = 0; id <= result_; ++id) {
            const Node& node = builder_[id];
            reduces[id] = node.op == Op::Reduce;
            has_root[id] = moves[id] && has_limit(node.op);
            for (ValueId input : node.inputs()) {
                reduces[id] = reduces[id] || reduces[input];
                has_root[id] = has_root[id] || (moves[id] && has_root[input]);
            }
            by_gradient_[id] =
                has_root[id] && !reduces[id] && node.type.rank == 0;
        }
        for (ValueId leaf : leaves_)
            if (builder_.type(leaf).rank == 2)
                by_gradient_.assign(result_ + 1, false);
    }
    bool is_by_gradient(ValueId id) const {
        return !by_gradient_.empty() && by_gradient_[id];
    }

    ValueId by_gradient(ValueId id) {
        const std::vector<ValueId> gradients =
            reverse(builder_, id, builder_.constant(1), leaves_,
                    builder_.type(id).axes, AdjointOrder::Inner);
        ValueId all = no_value;
        for (std::size_t k = 0; k < leaves_.size(); ++k) {
            if (gradients[k] == no_value)
                continue;
            const bool is_number = builder_.type(leaves_[k]).rank == 0;
            all = plus(builder_, all,
                       builder_.apply(is_number ? Op::Mul : Op::Dot,
                                      {gradients[k], tangents_[leaves_[k]]}));
        }
        return all;
    }

    ValueId tangent(ValueId id) {
        const Node node = builder_[id];
        const bool moves =
            std::ranges::any_of(node.inputs(), [&](ValueId operand) {
                return tangents_[operand] != no_value;
            });
        if (!moves)
            return no_value;
        const ValueId all = rule(id, node);
        return all == no_value || node.type.rank == 2
                   ? all
                   : broadcast_or_reduce(builder_, all, node.type);
    }

    ValueId rule(ValueId id, const Node& node) {
        const ValueId first = tangents_[node.operands[0]];
        switch (node.op) {
        case Op::IntPow:
            return power_rule(builder_, node, first);
        case Op::Slice:
            return builder_.slice(first, node.first, node.second, node.third);
        case Op::Broadcast:
            return builder_.broadcast(first, node.first);
        case Op::Concat:
            return joined(builder_, part(node.operands[0]),
                          part(node.operands[1]));
        case Op::Reduce:
            return through_ == Through::Reductions ? reduction(id, node)
                                                   : no_value;
        default:
            return operation(id, node);
        }
    }

    /// Returns the tangent of a part of a list, or zeros.
    ValueId part(ValueId operand) {
        const Type type = builder_.type(operand);
        const ValueId moving = tangents_[operand];
        return moving == no_value ? zeros(builder_, type.rows) : moving;
    }

    ValueId operation(ValueId id, const Node& node) {
        const Rules& rules = tangents_of(node.op);
        ValueId all = no_value;
        for (std::size_t k = 0; k < node.arity; ++k) {
            const ValueId moving = tangents_[node.operands[k]];
            if (moving != no_value)
                all = plus(builder_, all,
                           by_rule(builder_, rules[k],
                                   bindings_of(node, id, moving), node));
        }
        return all;
    }

    ValueId reduction(ValueId id, const Node& node) {
        expect_rules(builder_, node);
        const Rules& rules = tangents_of(Reduction(node.first));
        ValueId all = no_value;
        for (std::size_t k = 0; k < node.arity; ++k) {
            const ValueId moving = tangents_[node.operands[k]];
            if (rules.size() > k && moving != no_value)
                all = plus(
                    builder_, all,
                    by_rule(builder_, rules[k],
                            bindings_of_reduction(builder_, node, id, moving),
                            node));
        }
        if (all == no_value)
            return all;
        return summed(builder_, all, Axes(node.second), node.pairs);
    }

    Builder& builder_;
    ValueId result_;
    AdjointOrder order_;
    Through through_;
    std::vector<ValueId> leaves_, tangents_;
    std::vector<bool> by_gradient_; ///< by value; empty: none
};

} // namespace

std::vector<ValueId> reverse(Builder& builder, std::span<const Seed> seeds,
                             std::span<const ValueId> leaves, Axes kept,
                             AdjointOrder order) {
    return Reverse(builder, seeds, leaves, kept, order).run(leaves);
}

std::vector<ValueId> reverse(Builder& builder, ValueId result, ValueId seed,
                             std::span<const ValueId> leaves, Axes kept,
                             AdjointOrder order) {
    const Seed only{result, seed, builder.type(result).axes};
    return reverse(builder, std::span(&only, 1), leaves, kept, order);
}

ValueId forward(Builder& builder, ValueId result,
                std::span<const Moving> leaves, AdjointOrder order,
                Through through) {
    return Forward(builder, result, leaves, order, through).run();
}

ValueId transposed(Builder& builder, ValueId value) {
    const std::vector<bool> wanted =
        ir::reached(builder.graph(), std::span(&value, 1));
    std::vector<ValueId> made(value + 1, no_value);
    for (ValueId id = 0; id <= value; ++id) {
        if (!wanted[id])
            continue;
        const Node node = ir::exchanged(builder[id]);
        std::vector<ValueId> operands;
        for (ValueId input : node.inputs())
            operands.push_back(made[input]);
        made[id] = builder.rebuild(node, operands);
    }
    return made[value];
}

} // namespace tilefold
