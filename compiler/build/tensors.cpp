// compiler/build/tensors.cpp - functions of shape_functions.def that are
// recursions or sums over components: products of tensors, splines, time
// warping.

#include "compiler/build/graph_build.h"

#include <algorithm>
#include <numeric>

namespace tilefold {

using ir::Op;
using ir::ValueId;

namespace {

/// At most so many products of components are written out.
constexpr std::int64_t most_products = 4096;

using Numbers = std::vector<std::int64_t>;

std::int64_t elements(const Numbers& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t(1),
                           std::multiplies<>());
}

/// Returns how many elements lie between neighbours along each axis, where
/// elements lie row after row.
Numbers strides_of(const Numbers& shape) {
    Numbers strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;)
        strides[d - 1] = strides[d] * shape[d];
    return strides;
}

Numbers picked(const Numbers& from, const Numbers& axes) {
    Numbers numbers;
    for (std::int64_t axis : axes)
        numbers.push_back(from[std::size_t(axis)]);
    return numbers;
}

/// The axes 0, 1, … that are not among `axes`.
Numbers others(std::size_t count, const Numbers& axes) {
    Numbers rest;
    for (std::int64_t axis = 0; axis < std::int64_t(count); ++axis)
        if (std::ranges::find(axes, axis) == axes.end())
            rest.push_back(axis);
    return rest;
}

bool are_axes(const Numbers& axes, std::size_t count) {
    std::vector<bool> seen(count);
    for (std::int64_t axis : axes) {
        if (axis < 0 || axis >= std::int64_t(count) || seen[std::size_t(axis)])
            return false;
        seen[std::size_t(axis)] = true;
    }
    return true;
}

/// Returns where element `number` of an array of `shape` lies by `strides`.
std::int64_t offset_of(std::int64_t number, const Numbers& shape,
                       const Numbers& strides) {
    std::int64_t offset = 0;
    for (std::size_t d = shape.size(); d-- > 0; number /= shape[d])
        offset += number % shape[d] * strides[d];
    return offset;
}

/// A contraction of two arrays: strides of the axes kept (those of f, then
/// those of g, in the order of the result) and of the axes summed over.
struct TensorContraction {
    Numbers kept, kept_f, kept_g, summed, summed_f, summed_g;
};

TensorContraction contraction_of(const Numbers& f, const Numbers& g,
                                 const Numbers& axes_f, const Numbers& axes_g) {
    const Numbers rest_f = others(f.size(), axes_f);
    const Numbers rest_g = others(g.size(), axes_g);
    TensorContraction all;
    all.kept = picked(f, rest_f);
    all.kept_f = picked(strides_of(f), rest_f);
    all.kept_g.assign(rest_f.size(), 0);
    all.kept_f.resize(rest_f.size() + rest_g.size(), 0);
    std::ranges::copy(picked(g, rest_g), std::back_inserter(all.kept));
    std::ranges::copy(picked(strides_of(g), rest_g),
                      std::back_inserter(all.kept_g));
    all.summed = picked(f, axes_f);
    all.summed_f = picked(strides_of(f), axes_f);
    all.summed_g = picked(strides_of(g), axes_g);
    return all;
}

/// Components of the result of numpy.kron are f0 g0 f1 g1 …
Numbers interleaved(std::size_t axes) {
    Numbers order(2 * axes);
    for (std::size_t d = 0; d < order.size(); ++d)
        order[d] = std::int64_t(d / 2 + d % 2 * axes);
    return order;
}

} // namespace

/// `operand` of the call has that shape, which the second one after it says.
void GraphBuild::check_tensor(const Scope& scope, const ast::Node& node,
                              std::size_t operand,
                              const std::vector<std::int64_t>& shape,
                              Span span) const {
    const Type type = builder_.type(scope.values.at(node.children[operand]));
    const bool positive =
        std::ranges::all_of(shape, [](std::int64_t n) { return n > 0; });
    if (!positive || type.rank == 2 || elements(shape) != type.rows)
        refuse_shape(node,
                     "the shape " + written_operand(scope, node, operand + 2),
                     "one of " + describe(type), span);
}

/// Makes numpy.kron of arrays of as many axes.
ValueId GraphBuild::kron(Scope& scope, const ast::Node& node, Span span) {
    const Numbers f = whole_list(scope, node, 2);
    const Numbers g = whole_list(scope, node, 3);
    const auto given = [&](std::size_t operand) {
        return written_operand(scope, node, operand);
    };
    if (f.size() != g.size())
        refuse_shape(node, "the shapes " + given(2) + " and " + given(3),
                     "as many axes of both", span);
    return contracted(scope, node, {f, g, {}, {}}, interleaved(f.size()), span);
}

/// Makes numpy.tensordot and a transposition: the result's axis d is axis
/// order[d] of what is left.
ValueId GraphBuild::tensordot(Scope& scope, const ast::Node& node, Span span) {
    const Numbers f = whole_list(scope, node, 2);
    const Numbers g = whole_list(scope, node, 3);
    const Numbers axes_f = whole_list(scope, node, 4);
    const Numbers axes_g = whole_list(scope, node, 5);
    const auto given = [&](std::size_t operand) {
        return written_operand(scope, node, operand);
    };
    if (!are_axes(axes_f, f.size()) || !are_axes(axes_g, g.size()) ||
        picked(f, axes_f) != picked(g, axes_g))
        refuse_shape(node,
                     "the axes " + given(4) + " of " + given(2) + " and " +
                         given(5) + " of " + given(3),
                     "axes of the same lengths, each once", span);
    const std::size_t left = f.size() + g.size() - 2 * axes_f.size();
    Numbers order(left);
    std::iota(order.begin(), order.end(), 0);
    if (node.children.size() == 7)
        order = whole_list(scope, node, 6);
    if (order.size() != left || !are_axes(order, left))
        refuse_shape(node, "the order " + given(6),
                     "each of the " + std::to_string(left) +
                         " axes that are left, once",
                     span);
    return contracted(scope, node, {f, g, axes_f, axes_g}, order, span);
}

ValueId GraphBuild::contracted(Scope& scope, const ast::Node& node,
                               const TensorPair& pair,
                               const std::vector<std::int64_t>& order,
                               Span span) {
    const ValueId f = scope.values.at(node.children[0]);
    const ValueId g = scope.values.at(node.children[1]);
    check_tensor(scope, node, 0, pair.f, span);
    check_tensor(scope, node, 1, pair.g, span);
    const TensorContraction sums =
        contraction_of(pair.f, pair.g, pair.axes_f, pair.axes_g);
    const Numbers kept = picked(sums.kept, order);
    const Numbers kept_f = picked(sums.kept_f, order);
    const Numbers kept_g = picked(sums.kept_g, order);
    const std::int64_t results = elements(kept), terms = elements(sums.summed);
    if (results * terms > most_products)
        refuse(
            Code::VectorTooLong, span,
            {std::to_string(results * terms), std::to_string(most_products)});
    std::vector<ValueId> all;
    for (std::int64_t k = 0; k < results; ++k) {
        ValueId sum = ir::no_value;
        for (std::int64_t n = 0; n < terms; ++n) {
            const ValueId left =
                component(f,
                          offset_of(k, kept, kept_f) +
                              offset_of(n, sums.summed, sums.summed_f),
                          span);
            const ValueId right =
                component(g,
                          offset_of(k, kept, kept_g) +
                              offset_of(n, sums.summed, sums.summed_g),
                          span);
            const ValueId term = builder_.apply(Op::Mul, {left, right}, span);
            sum = n == 0 ? term : builder_.apply(Op::Add, {sum, term}, span);
        }
        all.push_back(sum);
    }
    return joined(all, span);
}

/// Computes B-splines by the recursion of Cox and de Boor, on vectors; 0/0
/// counts as 0.
ValueId GraphBuild::bspline(Scope& scope, const ast::Node& node, Span span) {
    const ValueId t = scope.values.at(node.children[0]);
    const ValueId x = component(scope.values.at(node.children[1]), 0, span);
    const std::int64_t degree = whole_operand(scope, node, 2);
    const Type knots = builder_.type(t);
    const std::int64_t n = knots.rows;
    if (knots.rank != 1 || degree < 0 || n < degree + 2)
        refuse_shape(node,
                     describe(knots) + " and degree " + std::to_string(degree),
                     "a vector of degree + 2 knots or more", span);
    const auto apply = [&](Op op, ValueId a, ValueId b) {
        return builder_.apply(op, {a, b}, span);
    };
    const auto from = [&](std::int64_t first, std::int64_t count) {
        return builder_.slice(t, first, first + count, false, span);
    };
    // The last interval that is not empty holds its end, the last knot.
    const ValueId begin = from(0, n - 1), end = from(1, n - 1);
    const ValueId last = builder_.slice(t, n - 1, n, true, span);
    const ValueId at_end =
        apply(Op::And, apply(Op::Equal, x, last), apply(Op::Equal, end, last));
    const ValueId before_end =
        apply(Op::Or, apply(Op::Less, x, end),
              apply(Op::And, at_end, apply(Op::Less, begin, end)));
    const ValueId inside =
        apply(Op::And, apply(Op::LessEqual, begin, x), before_end);
    ValueId all = builder_.apply(
        Op::Where, {inside, builder_.constant(1), builder_.constant(0)}, span);
    for (std::int64_t p = 1; p <= degree; ++p) {
        const std::int64_t count = n - 1 - p;
        const auto ramp = [&](std::int64_t at, std::int64_t end, bool rises) {
            const ValueId low = from(at, count), high = from(end, count);
            const ValueId width =
                builder_.apply(Op::Pinv, {apply(Op::Sub, high, low)}, span);
            const ValueId height =
                rises ? apply(Op::Sub, x, low) : apply(Op::Sub, high, x);
            return apply(Op::Mul, height, width);
        };
        const ValueId left = builder_.slice(all, 0, count, false, span);
        const ValueId right = builder_.slice(all, 1, count + 1, false, span);
        all = apply(Op::Add, apply(Op::Mul, ramp(0, p, true), left),
                    apply(Op::Mul, ramp(1, p + 1, false), right));
    }
    return all;
}

/// Returns -g log Σ exp(-a/g) over some numbers a.
ValueId GraphBuild::softmin(std::span<const ValueId> all, ValueId gamma,
                            Span span) {
    if (all.size() == 1)
        return all[0];
    const auto apply = [&](Op op, ValueId a, ValueId b) {
        return builder_.apply(op, {a, b}, span);
    };
    ValueId least = all[0], sum = ir::no_value;
    for (ValueId one : all.subspan(1))
        least = apply(Op::Minimum, least, one);
    for (ValueId one : all) {
        const ValueId score = apply(Op::Div, apply(Op::Sub, least, one), gamma);
        const ValueId term = builder_.apply(Op::Exp, {score}, span);
        sum = sum == ir::no_value ? term : apply(Op::Add, sum, term);
    }
    const ValueId log = builder_.apply(Op::Log, {sum}, span);
    return apply(Op::Sub, least, apply(Op::Mul, gamma, log));
}

/// Computes Cuturi and Blondel's recursion over the components of x and y.
ValueId GraphBuild::softdtw(Scope& scope, const ast::Node& node, Span span) {
    constexpr std::int64_t most_cells = 1024;
    const ValueId x = scope.values.at(node.children[0]);
    const ValueId y = scope.values.at(node.children[1]);
    const ValueId gamma = component(scope.values.at(node.children[2]), 0, span);
    const std::int64_t n = builder_.type(x).rows, m = builder_.type(y).rows;
    if (builder_.type(x).rank > 1 || builder_.type(y).rank > 1 ||
        n * m > most_cells)
        refuse_shape(node,
                     describe(builder_.type(x)) + " and " +
                         describe(builder_.type(y)),
                     "two vectors, at most " + std::to_string(most_cells) +
                         " pairs of components",
                     span);
    const auto apply = [&](Op op, ValueId a, ValueId b) {
        return builder_.apply(op, {a, b}, span);
    };
    std::vector<ValueId> above, row;
    for (std::int64_t i = 0; i < n; ++i) {
        row.clear();
        for (std::int64_t j = 0; j < m; ++j) {
            const ValueId gap =
                apply(Op::Sub, component(x, i, span), component(y, j, span));
            ValueId cost = builder_.int_pow(gap, 2, span);
            std::vector<ValueId> before;
            if (i > 0)
                before.push_back(above[std::size_t(j)]);
            if (j > 0)
                before.push_back(row.back());
            if (i > 0 && j > 0)
                before.push_back(above[std::size_t(j) - 1]);
            if (!before.empty())
                cost = apply(Op::Add, cost, softmin(before, gamma, span));
            row.push_back(cost);
        }
        above = row;
    }
    return row.back();
}

} // namespace tilefold
