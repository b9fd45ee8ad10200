// compiler/passes/linear.cpp - products of matrices leave the pair term by
// their own laws, exact but for the order in which terms are added:
//
//  1. A (u, v) = A₁ u + A₂ v, where u or v is on fewer axes than the pair: the
//     first layer of a network on [x_i, y_j] is a product once a point each,
//     and a sum of vectors for each pair. A·(u, v) likewise.
//     A bias is added to one of these products.
//  2. Σ_j A f_ij = A Σ_j f_ij, Σ_j s_ij A f_ij = A Σ_j s_ij f_ij, and what is
//     added to them is added to the sum, as often as there are pairs: the last
//     layer is a product once a row.
//
// None increases the work of a pair. They hold below comparisons and floors,
// too: sums of whole numbers are exact in any order.

#include "compiler/ir/queries.h"
#include "compiler/passes/rewrite.h"

#include <utility>

namespace tilefold::ir {
namespace {

using R = Rewriter;

/// Sums of vectors hold a number of each component for each row: of more, the
/// matrix stays inside.
constexpr std::int32_t most_components = 256;

/// Returns the columns, or for a product from the left the rows, of a matrix
/// that meet components [first, first + count) of the vector.
ValueId part_of_matrix(R& r, Op product, ValueId matrix, std::int64_t first,
                       std::int64_t count) {
    const Type type = r.type(matrix);
    const bool by_columns = product == Op::MatVec;
    Node part;
    part.op = Op::Submatrix;
    part.arity = 1;
    part.operands[0] = matrix;
    part.first = by_columns ? first : first * type.columns;
    part.second = by_columns ? type.rows : count;
    part.third = by_columns ? count : type.columns;
    if (r.is(matrix, Op::Submatrix)) { // of the whole matrix, then
        const Node whole = r.node(matrix);
        part.operands[0] = whole.operands[0];
        part.first = component_of_matrix(r.graph(), whole, part.first);
    }
    return r.make(part);
}

/// Returns the product with `part`, which has the components from `first` on
/// of what `n` multiplies.
ValueId product_of_part(R& r, const Node& n, std::size_t place, ValueId part,
                        std::int64_t first) {
    const std::int64_t count = components_of(r.type(part));
    const ValueId other = n.operands[1 - place];
    const bool is_dot = n.op == Op::Dot;
    const ValueId factor =
        is_dot ? r.make_slice(other, first, first + count, count == 1)
               : part_of_matrix(r, n.op, other, first, count);
    if (count == 1) {
        const bool is_scalar = r.type(part).rank == 0;
        return r.make(
            Op::Mul,
            {is_scalar ? part : r.make_slice(part, 0, 1, true), factor});
    }
    Node product = n;
    product.operands[place] = part;
    product.operands[1 - place] = factor;
    return r.make(product);
}

/// Whether a part of a list, or of a list in it, has fewer axes than a pair.
bool has_hoisted(const R& r, ValueId part, Axes others) {
    if (r.is(part, Op::Concat))
        return has_hoisted(r, r.in(part, 0), others) ||
               has_hoisted(r, r.in(part, 1), others);
    return (r.axes(part) | others) != Axes::IJ;
}

/// Rule 1, where operand `place` is the list.
ValueId of_list(R& r, const Node& n, std::size_t place) {
    const Node list = r.node(n.operands[place]);
    const ValueId other = n.operands[1 - place];
    if (list.op != Op::Concat || n.type.axes != Axes::IJ ||
        r.type(other).rows == dynamic ||
        !has_hoisted(r, n.operands[place], r.axes(other)))
        return no;
    const auto [u, v] = std::pair(list.operands[0], list.operands[1]);
    const ValueId first = product_of_part(r, n, place, u, 0);
    const ValueId second =
        product_of_part(r, n, place, v, components_of(r.type(u)));
    return r.make(Op::Add, {first, second});
}

ValueId product_of_list(R& r, const Node& n) {
    if (n.type.rows == 1) // parts of one row or column are vectors
        return no;
    return of_list(r, n, vector_operand(n.op));
}

ValueId dot_of_list(R& r, const Node& n) {
    const ValueId first = of_list(r, n, 0);
    return first == no ? of_list(r, n, 1) : first;
}

/// Whether the value is a sum with a product of a matrix.
bool has_product(const R& r, ValueId id) {
    const Op op = r.node(id).op;
    return is_matrix_product(op) ||
           (op == Op::Add &&
            (has_product(r, r.in(id, 0)) || has_product(r, r.in(id, 1))));
}

/// Returns `sum` with c added to a product of its that has the axes of c, or
/// no_value where it has none.
ValueId with_bias(R& r, ValueId c, ValueId sum) {
    if (!r.is(sum, Op::Add) && !is_matrix_product(r.node(sum).op))
        return no;
    if (r.axes(sum) != Axes::IJ)
        return contains(r.axes(sum), r.axes(c)) && has_product(r, sum)
                   ? r.make(Op::Add, {c, sum})
                   : no;
    for (std::size_t k = 0; k < 2 && r.is(sum, Op::Add); ++k) {
        const ValueId rest = r.in(sum, 1 - k);
        const ValueId part = with_bias(r, c, r.in(sum, k));
        if (part != no)
            return r.make(Op::Add, {part, rest});
    }
    return no;
}

/// Rewrites c + (A u_i + B v_j) as (c + A u_i) + B v_j, where c is on no axes
/// or on those of u: a bias is added once a point.
ValueId bias(R& r, const Node& n) {
    if (n.type.axes != Axes::IJ || n.type.rank == 0)
        return no;
    for (std::size_t k = 0; k < 2; ++k)
        if (r.axes(n.operands[k]) != Axes::IJ) {
            const ValueId sum = with_bias(r, n.operands[k], n.operands[1 - k]);
            if (sum != no)
                return sum;
        }
    return no;
}

/// A reduction over pairs, and what it keeps.
struct Summing {
    R& r;
    const Node& reduction;
    Axes kept = without(Axes::IJ, Axes(reduction.second));

    bool is_kept(ValueId id) const { return contains(kept, r.axes(id)); }
    ValueId sum(ValueId body) const {
        return r.make_reduction(reduction, body);
    }

    /// Returns the sum of `scale` times a product with a matrix on kept axes,
    /// or no_value of anything else.
    ValueId of_product(ValueId body, ValueId scale = no) const {
        const Node n = r.node(body);
        if (n.op == Op::Mul && scale == no) {
            for (std::size_t k = 0; k < 2; ++k)
                if (r.type(n.operands[k]).rank == 0)
                    return of_product(n.operands[1 - k], n.operands[k]);
            return no;
        }
        if (!is_matrix_product(n.op))
            return no;
        const std::size_t place = vector_operand(n.op);
        const ValueId vector = n.operands[place];
        if (!is_kept(n.operands[1 - place]) || is_kept(vector) ||
            r.type(vector).dtype != n.type.dtype ||
            r.type(vector).rows == dynamic ||
            r.type(vector).rows > most_components)
            return no;
        Node outside = n;
        outside.operands[place] =
            sum(scale == no ? vector : r.make(Op::Mul, {scale, vector}));
        return r.make(outside);
    }

    /// Returns the sum of what is the same for all pairs of a row.
    ValueId of_kept(ValueId body) const {
        if (Reduction(reduction.first) == Reduction::Mean)
            return body;
        return r.make(Op::Mul, {sum(r.constant(1)), body});
    }
};

/// Rule 2.
ValueId sum_of_products(R& r, const Node& n) {
    const auto kind = Reduction(n.first);
    if (kind != Reduction::Sum && kind != Reduction::Mean)
        return no;
    const Summing summing{r, n};
    const Node body = r.node(n.operands[0]);
    if (body.op != Op::Add)
        return summing.of_product(n.operands[0]);
    for (std::size_t k = 0; k < 2; ++k) {
        const ValueId rest = body.operands[1 - k];
        if (!summing.is_kept(rest))
            continue;
        const ValueId product = summing.of_product(body.operands[k]);
        if (product != no)
            return r.make(Op::Add, {product, summing.of_kept(rest)});
    }
    return no;
}

constexpr Rewriter::Entry linear_table[] = {
    {Op::MatVec, product_of_list}, {Op::VecMat, product_of_list},
    {Op::Dot, dot_of_list},        {Op::Add, bias},
    {Op::Reduce, sum_of_products},
};

} // namespace

std::span<const Rewriter::Entry> linear_rules() {
    return linear_table;
}

} // namespace tilefold::ir
