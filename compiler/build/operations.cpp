// compiler/build/operations.cpp - operators, functions, subscripts and lists,
// and the refusals of what has two readings.

#include "compiler/build/differentiate.h"
#include "compiler/build/graph_build.h"
#include "compiler/ir/integer.h"
#include "formulas/readings.h"

#include <algorithm>
#include <cmath>

namespace tilefold {

using ast::Kind;
using ir::Op;
using ir::ValueId;

namespace {

/// Integer exponents up to here are part of the formula, not run-time
/// numbers: a power is a few products.
constexpr double largest_int_pow = 64;

bool is_long_vector(const Type& type) {
    return type.rank == 1 && type.rows != 1;
}

/// Whether the first operand is the order of a function.
bool has_order(Op op) {
    return op == Op::Polygamma || op == Op::BesselJ;
}

std::string components(const Type& type) {
    return std::to_string(type.rows) +
           (type.rows == 1 ? " component" : " components");
}

} // namespace

std::optional<double> literal_of(const ast::Formula& formula, ast::NodeId id) {
    const ast::Node& node = formula[id];
    if (node.kind == Kind::Number)
        return node.value;
    if (node.kind == Kind::Apply && node.name == "neg")
        if (const auto value = literal_of(formula, node.children[0]))
            return -*value;
    return std::nullopt;
}

/// The component of a vector that has one; any other value as it is.
ValueId GraphBuild::as_scalar(ValueId id, Span span) {
    const Type type = builder_.type(id);
    if (type.rank != 1 || type.rows != 1)
        return id;
    const auto first = [&](ValueId part) {
        return builder_.slice(part, 0, 1, true, span);
    };
    if (is_unsigned(id))
        return by_unsigned_parts(id, first);
    if (!is_complex(id))
        return first(id);
    const ValueId real = first(real_part(id));
    return complex(real, first(imaginary_part(id)), span);
}

/// Beside a longer vector, one of one component is a scalar. Points of i and of
/// j have as many components as each other: a sum or difference of others is a
/// mistake, which is left to be refused.
void GraphBuild::spread_single(Op op, std::span<ValueId> operands, Span span) {
    const bool any_long = std::ranges::any_of(operands, [&](ValueId id) {
        return is_long_vector(builder_.type(id));
    });
    const bool are_points =
        (op == Op::Add || op == Op::Sub) &&
        std::ranges::all_of(operands,
                            [&](ValueId id) {
                                return builder_[bits_of(real_part(id))].op ==
                                       Op::Argument;
                            }) &&
        builder_.type(operands[0]).axes != Axes::None &&
        builder_.type(operands[1]).axes != Axes::None &&
        builder_.type(operands[0]).axes != builder_.type(operands[1]).axes;
    if (!any_long || are_points)
        return;
    for (ValueId& id : operands)
        id = as_scalar(id, span);
}

/// The zeros of `where` are part of the formula, not numbers of the call: what
/// a mask gives elsewhere says what it leaves out.
void GraphBuild::keep_zeros(const Scope& scope, const ast::Node& node,
                            std::span<ValueId> operands) {
    if (node.name != "where")
        return;
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const ast::Node& number = scope.formula[node.children[k]];
        const bool is_zero = number.kind == Kind::Number && number.value == 0;
        if (is_zero && builder_.type(operands[k]).dtype == DType::F64)
            operands[k] = builder_.constant(0);
    }
}

ValueId GraphBuild::apply(Scope& scope, const ast::Node& node) {
    std::vector<ValueId> operands;
    for (ast::NodeId child : node.children)
        operands.push_back(scope.values.at(child));
    const Span span = span_of(scope, node);
    const std::string& name = node.name;
    if (const ast::Definition* definition = find_definition(scope, name))
        return call(scope, node, *definition);
    if (is_transpose(scope, node))
        return as_row(scope, node);
    if (const ValueId value = masked(scope, node, span); value != ir::no_value)
        return value;
    if (name == "*")
        return product(scope, node, operands[0], operands[1], span);
    if (name == "/")
        return quotient(scope, operands[0], operands[1], span);
    if (name == "^" || name == "pow")
        return power(scope, node, operands[0], span);
    if (name == "norm")
        return norm(operands[0], span);
    if (name == "·")
        return dot(operands[0], operands[1], span);
    if (name == "@")
        return matrix_product(operands[0], operands[1], span);
    if (name == "⟨⟩")
        return inner_product(operands[0], operands[1], span);
    if (const auto function = find_derivative(name))
        return same_along_axes(derivative(scope, node, *function),
                               scope.values.at(node.children[0]),
                               scope.values.at(node.children[1]));
    if (const ComplexFunctionRow* row = find_complex_function(name))
        return complex_function(*row, as_real(operands[0]), span);
    if (const auto shape_function = find_shape_function(name)) {
        for (ast::NodeId child : node.children)
            scope.values.at(child) = as_real(scope.values.at(child));
        return this->shape_function(scope, node, *shape_function);
    }
    if (name == "gather")
        return gather(scope, node, operands, span);
    if (const auto op = find_operation(name, operands.size())) {
        keep_whole(*op, operands, span);
        if (*op == Op::Polygamma)
            check_order(operands[0], span);
        if (has_order(*op))
            operands[0] = low_order(operands[0]);
        keep_zeros(scope, node, operands);
        return squared(*op, operands, span);
    }
    if (const Sugar* sugar = find_sugar(name))
        return this->sugar(scope, node, *sugar);
    internal_error("no meaning of '" + name + "'");
}

/// Beside 64-bit integers, a whole number of the text is one too, as operands
/// of `op` (of Where: elements of a list). A text's number beyond 2^53 may have
/// been rounded when it was read.
void GraphBuild::keep_whole(Op op, std::span<ValueId> operands, Span span) {
    const ir::ResultRule rule = row_of(op).result;
    const bool exact = rule == ir::ResultRule::Affine ||
                       rule == ir::ResultRule::Select ||
                       rule == ir::ResultRule::Compare;
    const bool whole = rule == ir::ResultRule::Whole;
    if (!whole && !(exact && std::ranges::any_of(operands, [&](ValueId id) {
                        return is_unsigned(id) ||
                               may_exceed_f64(builder_.graph(), id);
                    })))
        return;
    for (ValueId& id : operands) {
        const bool negated = builder_[id].op == Op::Neg;
        const ValueId number = negated ? builder_[id].operands[0] : id;
        if (builder_[number].op != Op::Literal ||
            builder_.type(number).dtype != DType::F64)
            continue;
        const double value =
            builder_.graph().literals[std::size_t(builder_[number].first)];
        if (value != std::floor(value))
            continue;
        if (std::abs(value) > ir::largest_integer(DType::F64))
            refuse(Code::WholeNumberTooLarge, span, {written(number)});
        if (exact)
            id = builder_.whole(number, negated);
    }
}

/// The number that a formula says, also as -3 or 3/2.
std::optional<double> GraphBuild::written_number(ValueId id) const {
    const ir::Node& node = builder_[id];
    if (node.op == Op::Constant)
        return node.value;
    if (node.op == Op::Literal)
        return builder_.graph().literals[std::size_t(node.first)];
    if (node.op != Op::Neg && node.op != Op::Div)
        return std::nullopt;
    const auto a = written_number(node.operands[0]);
    const auto b = node.op == Op::Neg ? -1 : written_number(node.operands[1]);
    return a && b && *b != 0 ? std::optional(*a / *b) : std::nullopt;
}

/// Such a number as the formula has it: 1e3 stays that.
std::string GraphBuild::written(ValueId id) const {
    const ir::Node& node = builder_[id];
    if (node.op == Op::Neg)
        return "-" + written(node.operands[0]);
    if (node.op == Op::Div)
        return written(node.operands[0]) + "/" + written(node.operands[1]);
    const double value =
        node.op == Op::Literal
            ? builder_.graph().literals[std::size_t(node.first)]
            : node.value;
    return typed_number(value, builder_.formula(), node.span);
}

/// An order that is computed, or comes with the call, is not checked: the
/// result is NaN where it is none.
void GraphBuild::check_order(ValueId order, Span span) const {
    const auto value = written_number(order);
    if (value && (*value != std::floor(*value) || *value < 0))
        refuse(Code::PolygammaOrder, span, {written(order)});
}

/// The order, which is a part of the graph where it is -1, 0 or 1: functions of
/// these have forms of their own. All others are run-time numbers.
ValueId GraphBuild::low_order(ValueId order) {
    const auto value = written_number(order);
    const bool is_low = value && (*value == 0 || std::abs(*value) == 1);
    return is_low ? builder_.constant(*value) : order;
}

ValueId GraphBuild::product(const Scope& scope, const ast::Node& node,
                            ValueId a, ValueId b, Span span) {
    const Type &left = builder_.type(a), &right = builder_.type(b);
    check_matrix(scope, node, left, right, span);
    if (node.crosses && left.rank == 1 && right.rank == 1) {
        if (left.rows != 3 || right.rows != 3)
            refuse(Code::TimesOfVectors, span,
                   {describe(left), describe(right)});
        return operation(Op::Cross, {a, b}, span);
    }
    if (node.implicit && left.rank == 1 && right.rank == 1 && left.rows != 1 &&
        right.rows != 1)
        refuse(Code::VectorProduct, span,
               {components(left), components(right)});
    return operation(Op::Mul, {a, b}, span);
}

ValueId GraphBuild::quotient(const Scope& scope, ValueId a, ValueId b,
                             Span span) {
    const Type& divisor = builder_.type(b);
    if (!is_long_vector(builder_.type(a)) && is_long_vector(divisor) &&
        !scope.acts_by_component()) {
        check_scale(scope, span);
        refuse(Code::ScalarOverVector, span, {std::to_string(divisor.rows)});
    }
    return operation(Op::Div, {a, b}, span);
}

/// Exponents that are whole or half of an odd number are part of the graph;
/// all others are run-time numbers.
ValueId GraphBuild::power(Scope& scope, const ast::Node& node, ValueId base,
                          Span span) {
    base = as_real(base);
    const Type& type = builder_.type(base);
    if (is_long_vector(type) && node.name == "^" &&
        !scope.acts_by_component()) {
        check_scale(scope, span);
        refuse(Code::VectorPower, span, {std::to_string(type.rows)});
    }
    const ValueId raised = scope.values.at(node.children[1]);
    const auto exponent = written_number(raised);
    if (!exponent || 2 * *exponent != std::floor(2 * *exponent) ||
        std::abs(*exponent) > largest_int_pow)
        return operation(Op::Pow, {base, raised}, span);
    const double whole = std::trunc(*exponent);
    if (whole == *exponent)
        return whole_power(base, std::int64_t(whole), span);
    const Op half = *exponent > 0 ? Op::Sqrt : Op::Rsqrt;
    const ValueId root = operation(half, {base}, span);
    if (whole == 0)
        return root;
    return operation(
        Op::Mul, {whole_power(base, std::int64_t(whole), span), root}, span);
}

/// |v|² takes no root, so that its derivative has none either.
ValueId GraphBuild::whole_power(ValueId base, std::int64_t exponent,
                                Span span) {
    const ir::Node root = builder_[base];
    if (is_complex(base))
        return complex_power(base, exponent, span);
    const bool is_norm =
        root.op == Op::Sqrt && builder_[root.operands[0]].op == Op::SqNorm;
    if (!is_norm || exponent % 2 != 0 || exponent == 0)
        return builder_.int_pow(base, exponent, span);
    return exponent == 2
               ? root.operands[0]
               : builder_.int_pow(root.operands[0], exponent / 2, span);
}

ValueId GraphBuild::norm(ValueId a, Span span) {
    if (builder_.type(a).rank == 0)
        return operation(Op::Abs, {a}, span);
    const ValueId square = operation(Op::SqNorm, {a}, span);
    return operation(Op::Sqrt, {square}, span);
}

ValueId GraphBuild::dot(ValueId a, ValueId b, Span span) {
    if (builder_.type(a).rank == 0 || builder_.type(b).rank == 0) {
        a = as_scalar(a, span);
        b = as_scalar(b, span);
    }
    const Type &left = builder_.type(a), &right = builder_.type(b);
    if (left.rank == 0 && right.rank == 0)
        return operation(Op::Mul, {a, b}, span);
    if (left.rank == 0 || right.rank == 0)
        refuse(Code::MixedDot, span, {describe(left), describe(right)});
    return operation(Op::Dot, {a, b}, span);
}

ValueId GraphBuild::matrix_product(ValueId a, ValueId b, Span span) {
    const Type &left = builder_.type(a), &right = builder_.type(b);
    if (left.rank == 1 && right.rank == 1)
        return operation(Op::Dot, {a, b}, span);
    // Arrays of one number are read as numbers.
    if (left.rank + right.rank == 1 && left.rows == 1 && right.rows == 1)
        return dot(a, b, span);
    if (left.rank == 2 && right.rank == 2)
        refuse(Code::ExpectedVector, span,
               {"@ after a matrix", describe(right)});
    if (left.rank == 2)
        return operation(Op::MatVec, {a, b}, span);
    return operation(Op::VecMat, {a, b}, span);
}

/// Whether all are integers of which F64 may not hold some.
bool GraphBuild::are_wide_integers(std::span<const ValueId> operands) const {
    const auto is_whole = [&](ValueId id) {
        return is_unsigned(id) || builder_.type(id).dtype == DType::I64;
    };
    return std::ranges::all_of(operands, is_whole) &&
           std::ranges::any_of(operands, [&](ValueId id) {
               return is_unsigned(id) || may_exceed_f64(builder_.graph(), id);
           });
}

/// Makes any operation; the squared norm and distance of scalars are squares.
ValueId GraphBuild::squared(Op op, std::span<const ValueId> operands,
                            Span span) {
    if (std::ranges::any_of(operands,
                            [&](ValueId id) { return is_complex(id); }))
        return operation(op, operands, span);
    const bool scalars = std::ranges::all_of(
        operands, [&](ValueId id) { return builder_.type(id).rank == 0; });
    if (scalars && op == Op::SqNorm)
        return builder_.int_pow(as_real(operands[0]), 2, span);
    if (scalars && op == Op::SqDist)
        return builder_.int_pow(as_real(operation(Op::Sub, operands, span)), 2,
                                span);
    if (op == Op::SqDist && are_wide_integers(operands)) // exact differences
        return operation(Op::SqNorm, {operation(Op::Sub, operands, span)},
                         span);
    if (scalars && row_of(op).shape == ir::ShapeRule::Contract1)
        refuse(Code::ScalarFold, span, {std::string(row_of(op).spelling)});
    return operation(op, operands, span);
}

/// Makes `a[k_i]`, `A[r_i]` or `A[r_i, c_j]`. A number of the text is checked
/// here.
ValueId GraphBuild::gather(Scope& scope, const ast::Node& node,
                           std::span<ValueId> operands, Span span) {
    for (ValueId& index : operands.subspan(1))
        index = as_scalar(index, span);
    // A table of one number is read as a number.
    if (builder_[bits_of(operands[0])].op == Op::Argument &&
        builder_.type(operands[0]).rank == 0 &&
        builder_.type(operands[0]).axes == Axes::None)
        operands[0] = builder_.broadcast(operands[0], 1, span);
    const Type table = builder_.type(operands[0]);
    if (table.rank == 0)
        refuse(Code::ExpectedVector, span, {"a subscript", "a scalar"});
    if (operands.size() == 3 && table.rank == 1)
        refuse(Code::ExpectedMatrix, span,
               {"a subscript of two numbers", describe(table)});
    check_points(operands, span);
    const std::int32_t lengths[] = {table.rows, table.columns};
    for (std::size_t k = 1; k < operands.size(); ++k)
        if (const auto value = literal_of(scope.formula, node.children[k]))
            operands[k] = builder_.constant(fixed_index(
                *value, written(operands[k]), lengths[k - 1], table, span));
    const Op op = operands.size() == 3 ? Op::GatherElement
                  : table.rank == 2    ? Op::GatherRow
                                       : Op::Gather;
    const bool by_bits = is_unsigned(operands[0]);
    for (ValueId& id : operands)
        id = bits_of(id);
    const ValueId found = builder_.apply(op, operands, span);
    return by_bits ? real_of_table(found, span) : found;
}

ValueId GraphBuild::truth_of(ValueId value) {
    const ir::Node& node = builder_[bits_of(value)];
    const bool is_element = node.op == Op::Gather || node.op == Op::GatherRow ||
                            node.op == Op::GatherElement;
    if (!is_element || builder_.type(node.operands[0]).dtype != DType::Bool)
        return value;
    return builder_.apply(Op::Less, {builder_.constant(0), value});
}

double GraphBuild::fixed_index(double value, std::string written,
                               std::int32_t length, const Type& table,
                               Span span) const {
    const double index = value < 0 ? value + length : value;
    if (index != std::floor(index) || index < 0 || index >= length)
        refuse(Code::ComponentOutOfRange, span,
               {std::move(written), describe(table)});
    return index;
}

ValueId GraphBuild::subscript(Scope& scope, const ast::Node& node) {
    const ValueId vector = scope.values.at(node.children[0]);
    const Span span = span_of(scope, node);
    if (is_unsigned(vector) && builder_.type(vector).rank == 2) {
        const ValueId row = subscript(node, bits_of(vector), span);
        return node.is_range ? row : real_of_table(row, span);
    }
    if (is_unsigned(vector))
        return by_unsigned_parts(
            vector, [&](ValueId part) { return subscript(node, part, span); });
    if (!is_complex(vector))
        return subscript(node, vector, span);
    const ValueId real = subscript(node, real_part(vector), span);
    return complex(real, subscript(node, imaginary_part(vector), span), span);
}

ValueId GraphBuild::subscript(const ast::Node& node, ValueId vector,
                              Span span) {
    const Type& type = builder_.type(vector);
    if (type.rank == 0)
        refuse(Code::ExpectedVector, span, {"a subscript", "a scalar"});
    if (type.rank == 2 && !node.is_range) {
        const ValueId row = builder_.constant(
            fixed_index(double(*node.first), std::to_string(*node.first),
                        type.rows, type, span));
        return builder_.apply(Op::GatherRow, {vector, row}, span);
    }
    if (type.rank == 2)
        return builder_.slice(vector, 0, 1, false, span);
    if (!node.is_range)
        return component(node, vector, span);
    const std::int64_t rows = type.rows;
    const auto bound = [&](std::int64_t k) {
        return std::clamp<std::int64_t>(k < 0 ? k + rows : k, 0, rows);
    };
    const std::int64_t first = bound(node.first.value_or(0));
    const std::int64_t last = bound(node.last.value_or(rows));
    const auto typed = [](const std::optional<std::int64_t>& k) {
        return k ? std::to_string(*k) : std::string();
    };
    if (first >= last)
        refuse(Code::EmptyRange, span,
               {typed(node.first) + ":" + typed(node.last), describe(type)});
    return builder_.slice(vector, first, last, false, span);
}

ValueId GraphBuild::component(const ast::Node& node, ValueId vector,
                              Span span) {
    const Type& type = builder_.type(vector);
    const std::int64_t k =
        *node.first < 0 ? *node.first + type.rows : *node.first;
    if (k < 0 || k >= type.rows)
        refuse(Code::ComponentOutOfRange, span,
               {std::to_string(*node.first), describe(type)});
    return builder_.slice(vector, k, k + 1, true, span);
}

ValueId GraphBuild::list(Scope& scope, const ast::Node& node) {
    const Span span = span_of(scope, node);
    std::vector<ValueId> parts;
    for (ast::NodeId child : node.children)
        parts.push_back(scope.values.at(child));
    keep_whole(Op::Where, parts, span);
    make_alike(parts, "a list", span);
    if (any_unsigned(parts))
        return unsigned_list(parts, span);
    if (std::ranges::none_of(parts, [&](ValueId id) { return is_complex(id); }))
        return list(parts, span);
    std::vector<ValueId> imaginary;
    for (ValueId& part : parts) {
        const ValueId rest = imaginary_part(part);
        part = real_part(part);
        const Type type = builder_.type(part); // the graph moves as it grows
        imaginary.push_back(
            rest != ir::no_value
                ? rest
                : broadcast_or_reduce(builder_, builder_.constant(0), type));
    }
    const ValueId real = list(parts, span);
    return complex(real, list(imaginary, span), span);
}

ValueId GraphBuild::unsigned_list(std::span<const ValueId> numbers, Span span) {
    std::array<ValueId, 3> lists{};
    for (std::size_t k = 0; k < lists.size(); ++k) {
        std::vector<ValueId> parts;
        for (ValueId number : numbers)
            parts.push_back(builder_[number].operands[k]);
        lists[k] = list(parts, span);
    }
    return builder_.unsigned_parts(lists, span);
}

ValueId GraphBuild::list(std::span<const ValueId> parts, Span span) {
    ValueId all = parts[0];
    if (parts.size() == 1 && builder_.type(all).rank == 0)
        return builder_.slice(all, 0, 1, false, span);
    for (ValueId part : parts.subspan(1))
        all = builder_.concat(all, part, span);
    return all;
}

} // namespace tilefold
