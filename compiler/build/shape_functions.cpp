// compiler/build/shape_functions.cpp - functions of shape_functions.def: what
// they stand for is written out, component by component where it has to be.

#include "compiler/build/graph_build.h"

#include <algorithm>
#include <cmath>

namespace tilefold {

using ir::Op;
using ir::ValueId;

namespace {

/// The vectors made here have at most so many components.
constexpr std::int64_t most_given_components = 4096;

using Numbers = std::vector<std::int64_t>;

} // namespace

void GraphBuild::check_written_out(std::int64_t count, std::string written,
                                   Span span) const {
    if (count < 1 || count > most_given_components)
        refuse(Code::VectorTooLong, span,
               {std::move(written), std::to_string(most_given_components)});
}

void GraphBuild::refuse_shape(const ast::Node& node, std::string found,
                              std::string expected, Span span) const {
    refuse(Code::ShapingOperand, span,
           {node.name, std::move(found), std::move(expected)});
}

/// Its message speaks of the call that the user wrote: onehot(c_j, K), whose
/// body is of arange.
void GraphBuild::refuse_size(const Scope& scope, const ast::Node& node,
                             std::size_t operand) const {
    const ast::Node& child = scope.formula[node.children[operand]];
    if (scope.caller) {
        const Caller& caller = *scope.caller;
        const auto& names = caller.sugar.parameters;
        const auto place = std::ranges::find(names, child.name);
        if (place != names.end())
            refuse_size(caller.scope, caller.node,
                        std::size_t(place - names.begin()));
    }
    refuse(Code::NotAnInteger, span_of(scope, child),
           {"a size given to " + node.name,
            "'" +
                scope.formula.text.substr(child.span.begin,
                                          child.span.end - child.span.begin) +
                "'"});
}

/// Returns a whole number of the text, or one that a definition or a rule
/// passes on.
std::int64_t GraphBuild::whole_operand(Scope& scope, const ast::Node& node,
                                       std::size_t operand) const {
    ValueId id = scope.values.at(node.children[operand]);
    const bool negated = builder_[id].op == Op::Neg;
    if (negated)
        id = builder_[id].operands[0];
    const ir::Node& number = builder_[id];
    const bool literal = number.op == Op::Literal;
    const double value =
        literal ? builder_.graph().literals[std::size_t(number.first)]
                : number.value;
    if ((!literal && number.op != Op::Constant) || value != std::floor(value) ||
        std::abs(value) > 1e9)
        refuse_size(scope, node, operand);
    return std::int64_t(negated ? -value : value);
}

/// Returns what a formula has for such a number, or list of them.
std::string GraphBuild::written_operand(const Scope& scope,
                                        const ast::Node& node,
                                        std::size_t operand) const {
    const ast::NodeId child = node.children[operand];
    const ast::Node& list = scope.formula[child];
    if (list.kind != ast::Kind::List)
        return written(scope.values.at(child));
    std::string text;
    for (ast::NodeId element : list.children)
        text += (text.empty() ? "" : ", ") + written(scope.values.at(element));
    return "[" + text + "]";
}

/// Returns the list `[2, 3]` of the text; `2` is [2].
Numbers GraphBuild::whole_list(Scope& scope, const ast::Node& node,
                               std::size_t operand) const {
    const ast::NodeId child = node.children[operand];
    const ast::Node& list = scope.formula[child];
    if (list.kind != ast::Kind::List)
        return {whole_operand(scope, node, operand)};
    Numbers numbers;
    for (ast::NodeId element : list.children) {
        ast::Node one = node;
        one.children = {element};
        numbers.push_back(whole_operand(scope, one, 0));
    }
    return numbers;
}

ValueId GraphBuild::component(ValueId vector, std::int64_t k, Span span) {
    return builder_.type(vector).rank == 0
               ? vector
               : builder_.slice(vector, k, k + 1, true, span);
}

ValueId GraphBuild::joined(std::span<const ValueId> scalars, Span span) {
    ValueId all = builder_.slice(scalars[0], 0, 1, false, span);
    for (ValueId scalar : scalars.subspan(1))
        all = builder_.concat(all, scalar, span);
    return all;
}

ValueId GraphBuild::shape_function(Scope& scope, const ast::Node& node,
                                   ShapeFunction shape_function) {
    const Span span = span_of(scope, node);
    const auto operand = [&](std::size_t k) {
        return scope.values.at(node.children[k]);
    };
    const Type first = builder_.type(operand(0));
    switch (shape_function) {
    case ShapeFunction::Arange:
        return arange(scope, node, span);
    case ShapeFunction::Rows:
        return builder_.constant(first.rows);
    case ShapeFunction::Columns:
        return builder_.constant(first.columns);
    case ShapeFunction::Pad:
        return pad(scope, node, span);
    case ShapeFunction::Repeat:
        return repeated(scope, node, span);
    case ShapeFunction::MatVec:
        return product_of_flat(node, operand(0), operand(1), true, span);
    case ShapeFunction::VecMat:
        return product_of_flat(node, operand(1), operand(0), false, span);
    case ShapeFunction::Quadratic:
        return quadratic(operand(0), operand(1), span);
    case ShapeFunction::Kron:
        return kron(scope, node, span);
    case ShapeFunction::TensorDot:
        return tensordot(scope, node, span);
    case ShapeFunction::BSpline:
        return bspline(scope, node, span);
    case ShapeFunction::SoftDtw:
        return softdtw(scope, node, span);
    }
    internal_error("a shape function without a case");
}

ValueId GraphBuild::arange(Scope& scope, const ast::Node& node, Span span) {
    const Type type = builder_.type(scope.values.at(node.children[0]));
    const std::int64_t count = type.rank == 0
                                   ? whole_operand(scope, node, 0)
                                   : std::int64_t(type.rows) * type.columns;
    check_written_out(count,
                      type.rank == 0 ? written_operand(scope, node, 0)
                                     : std::to_string(count),
                      span);
    return builder_.iota(count, span);
}

ValueId GraphBuild::pad(Scope& scope, const ast::Node& node, Span span) {
    ValueId all = scope.values.at(node.children[0]);
    const Type type = builder_.type(all);
    const std::int64_t first = whole_operand(scope, node, 1);
    const std::int64_t count = whole_operand(scope, node, 2);
    if (type.rank == 2 || first < 0 || count > most_given_components ||
        first + type.rows > count)
        refuse_shape(node,
                     describe(type) + " from " +
                         written_operand(scope, node, 1) + " on among " +
                         written_operand(scope, node, 2),
                     "a vector that fits, among at most " +
                         std::to_string(most_given_components),
                     span);
    const ValueId zero = builder_.constant(0);
    if (type.rank == 0)
        all = builder_.slice(all, 0, 1, false, span);
    if (first > 0)
        all = builder_.concat(builder_.broadcast(zero, first, span), all, span);
    const std::int64_t after = count - first - type.rows;
    return after > 0 ? builder_.concat(
                           all, builder_.broadcast(zero, after, span), span)
                     : all;
}

ValueId GraphBuild::repeated(Scope& scope, const ast::Node& node, Span span) {
    const std::int64_t count = whole_operand(scope, node, 1);
    check_written_out(count, written_operand(scope, node, 1), span);
    const ValueId value = scope.values.at(node.children[0]);
    return builder_.broadcast(value, count, span);
}

/// Returns a product of a matrix (R, C), or of its rows one after the other in
/// one vector, and a vector of C (`matrix_first`) or of R.
ValueId GraphBuild::product_of_flat(const ast::Node& node, ValueId matrix,
                                    ValueId vector, bool matrix_first,
                                    Span span) {
    const Type type = builder_.type(matrix), by = builder_.type(vector);
    if (type.rank == 2)
        return matrix_first
                   ? builder_.apply(Op::MatVec, {matrix, vector}, span)
                   : builder_.apply(Op::VecMat, {vector, matrix}, span);
    if (by.rank != 1 || type.rank != 1 || type.rows % by.rows != 0)
        refuse_shape(node, describe(type) + " and " + describe(by),
                     "a matrix, or its rows one after the other, and a vector",
                     span);
    const std::int64_t n = by.rows, kept = type.rows / n;
    std::vector<ValueId> results;
    for (std::int64_t k = 0; matrix_first && k < kept; ++k) {
        const ValueId row =
            builder_.slice(matrix, k * n, (k + 1) * n, false, span);
        results.push_back(builder_.apply(Op::Dot, {row, vector}, span));
    }
    if (matrix_first)
        return joined(results, span);
    ValueId sum = ir::no_value;
    for (std::int64_t k = 0; k < n; ++k) {
        const ValueId row =
            builder_.slice(matrix, k * kept, (k + 1) * kept, false, span);
        const ValueId term = builder_.apply(
            Op::Mul, {builder_.slice(vector, k, k + 1, true, span), row}, span);
        sum = k == 0 ? term : builder_.apply(Op::Add, {sum, term}, span);
    }
    return sum;
}

ValueId GraphBuild::quadratic(ValueId s, ValueId x, Span span) {
    const Type scale = builder_.type(s), point = builder_.type(x);
    if (point.rank == 0)
        return builder_.apply(
            Op::Mul, {component(s, 0, span), builder_.int_pow(x, 2, span)},
            span);
    const bool matrix =
        scale.rank == 2 ||
        (scale.rank == 1 && point.rows > 1 &&
         std::int64_t(scale.rows) == std::int64_t(point.rows) * point.rows);
    const bool number = scale.rank == 1 && scale.rows == 1;
    ast::Node name;
    name.name = "quadratic";
    const ValueId scaled =
        matrix ? product_of_flat(name, s, x, true, span)
               : builder_.apply(Op::Mul,
                                {number ? component(s, 0, span) : s, x}, span);
    return builder_.apply(Op::Dot, {x, scaled}, span);
}

} // namespace tilefold
