// compiler/build/notations.cpp - notations of mathematics that are more than
// an operation: sizes, transposes, conditions as factors.

#include "compiler/build/graph_build.h"
#include "formulas/readings.h"

#include <algorithm>
#include <set>

namespace tilefold {

using ast::Kind;
using ir::Op;
using ir::ValueId;

namespace {

/// Whether the value is 1 or 0 by what it says of the operands.
bool is_condition(const ir::Node& node) {
    return node.type.rank == 0 &&
           (node.op == Op::Less || node.op == Op::LessEqual ||
            node.op == Op::Equal || node.op == Op::NotEqual ||
            node.op == Op::And || node.op == Op::Or || node.op == Op::Not);
}

/// Lists arrays as "x with 3, y with 2".
std::string listed(const std::vector<PointArray>& arrays) {
    std::string text;
    for (const PointArray& array : arrays)
        text += (text.empty() ? "" : ", ") + array.name + " with " +
                std::to_string(array.components);
    return text;
}

} // namespace

/// N and M are numbers of a call; D is part of the types.
ValueId GraphBuild::size(const std::string& name, Span span) {
    if (name == "D")
        return builder_.constant(components_of_points(span));
    const Axes axis = name == "N" ? Axes::I : Axes::J;
    const bool counted = std::ranges::any_of(uses_, [&](const auto& use) {
        return contains(use.second.name.axes, axis);
    });
    if (!counted)
        refuse(Code::SizeOfAxis, span, {name, std::string(spelling_of(axis))});
    return length_of(builder_, axis);
}

std::int32_t GraphBuild::components_of_points(Span span) const {
    std::vector<PointArray> arrays;
    for (const std::string& name : names_)
        if (const auto known = arguments_.find(name); known != arguments_.end())
            arrays.push_back({name, known->second.axes, known->second.rows});
    arrays = arrays_of_points(std::move(arrays));
    if (arrays.empty())
        refuse(Code::SizeOfNothing, span, {});
    const PointArray& first = arrays[0];
    const auto same = [&](const PointArray& array) {
        return array.components == first.components;
    };
    if (!std::ranges::all_of(arrays, same))
        refuse(Code::SizesDiffer, span,
               {listed(arrays),
                first.name + (contains(first.axes, Axes::I) ? "_i" : "_j")});
    return first.components;
}

/// Whether the node is `xᵀ`, or `x^T` where no T is given.
bool GraphBuild::is_transpose(const Scope& scope, const ast::Node& node) const {
    if (node.kind != Kind::Apply || node.name == "ᵀ")
        return node.kind == Kind::Apply;
    if (node.name != "^")
        return false;
    const ast::Node& exponent = scope.formula[node.children[1]];
    const auto use = uses_.find(exponent.name);
    return exponent.kind == Kind::Name && exponent.name == transpose_exponent &&
           use != uses_.end() && use->second.is_constant &&
           !scope.bound.contains(exponent.name) &&
           !find_definition(scope, exponent.name);
}

/// A value is a row where its node is in `scope.rows`.
ValueId GraphBuild::as_row(Scope& scope, const ast::Node& node) {
    const ast::NodeId child = node.children[0];
    const ValueId value = scope.values.at(child);
    const Type type = builder_.type(value);
    const Span span = span_of(scope, node);
    const std::string text = print_reading(scope.formula, child);
    if (type.rank == 2)
        refuse(Code::TransposedMatrix, span, {text});
    if (type.rank == 0 && node.name == "^")
        refuse(Code::TransposedScalar, span, {text});
    if (type.rank == 1 && !scope.rows.contains(child))
        scope.rows.insert(id_of(scope, node));
    return value;
}

ast::NodeId GraphBuild::id_of(const Scope& scope, const ast::Node& node) {
    return ast::NodeId(&node - scope.formula.nodes.data());
}

bool GraphBuild::reads_row(const Scope& scope, const ast::Node& node) const {
    return std::ranges::any_of(node.children, [&](ast::NodeId child) {
        return scope.rows.contains(child);
    });
}

/// Returns what is made of a row: a product with a column is a number, one
/// with a matrix or a number is a row.
ValueId GraphBuild::of_row(Scope& scope, const ast::Node& node) {
    const Span span = span_of(scope, node);
    const std::string& name = node.name;
    const auto& children = node.children;
    const bool product =
        name == "*" || name == "·" || name == "@" || name == "/";
    if (node.kind == Kind::Apply && product)
        return row_product(scope, node);
    const bool sum = name == "+" || name == "-";
    const bool rows = std::ranges::all_of(children, [&](ast::NodeId child) {
        return scope.rows.contains(child);
    });
    if (node.kind != Kind::Apply || !rows || !(sum || name == "neg"))
        refuse(Code::TransposeAlone, span, {});
    scope.rows.insert(id_of(scope, node));
    if (name == "neg") {
        const Masked row = masked_operand(scope, children[0]);
        return where_holds(row.condition, operation(Op::Neg, {row.value}, span),
                           span);
    }
    return operation(
        name == "+" ? Op::Add : Op::Sub,
        {scope.values.at(children[0]), scope.values.at(children[1])}, span);
}

ValueId GraphBuild::row_product(Scope& scope, const ast::Node& node) {
    const Span span = span_of(scope, node);
    const ast::NodeId first = node.children[0], second = node.children[1];
    const bool quotient = node.name == "/";
    const bool left_row = scope.rows.contains(first);
    const bool right_row = scope.rows.contains(second);
    const Masked left = masked_operand(scope, first);
    const Masked right = quotient
                             ? Masked{ir::no_value, scope.values.at(second)}
                             : masked_operand(scope, second);
    const ValueId a = or_one(left.value), b = or_one(right.value);
    const std::uint8_t rank_a = builder_.type(a).rank,
                       rank_b = builder_.type(b).rank;
    const bool scales = left_row ? rank_b == 0 : rank_a == 0 && !quotient;
    const bool multiplies = left_row && !right_row && !quotient;
    if (!scales && !multiplies)
        refuse(Code::TransposeProduct, span,
               {print_reading(scope.formula, first),
                print_reading(scope.formula, second)});
    const Op op = scales        ? quotient ? Op::Div : Op::Mul
                  : rank_b == 1 ? Op::Dot
                                : Op::VecMat;
    if (op != Op::Dot)
        scope.rows.insert(id_of(scope, node));
    return where_holds(joint_condition(left, right, span),
                       operation(op, {a, b}, span), span);
}

/// Refuses `⟨x, y⟩` of complex vectors, which is written in two ways.
ValueId GraphBuild::inner_product(ValueId a, ValueId b, Span span) {
    if (is_complex(a) || is_complex(b))
        refuse(Code::ComplexInnerProduct, span, {});
    return dot(a, b, span);
}

/// An operand that is a condition, alone or as `[c]`; or one that a condition
/// was a factor of.
GraphBuild::Masked GraphBuild::masked_operand(const Scope& scope,
                                              ast::NodeId child) const {
    ValueId value = scope.values.at(child);
    const ast::Node& node = scope.formula[child];
    if (node.kind == Kind::List && node.children.size() == 1 &&
        is_condition(builder_[scope.values.at(node.children[0])]))
        value = scope.values.at(node.children[0]);
    if (is_condition(builder_[value]))
        return {value, ir::no_value};
    const auto known = masks_.find(value);
    return known == masks_.end() ? Masked{ir::no_value, value} : known->second;
}

ValueId GraphBuild::or_one(ValueId value) {
    return value == ir::no_value ? builder_.constant(1) : value;
}

/// Returns no_value where neither has a condition.
ValueId GraphBuild::joint_condition(const Masked& a, const Masked& b,
                                    Span span) {
    if (a.condition == ir::no_value || b.condition == ir::no_value)
        return a.condition == ir::no_value ? b.condition : a.condition;
    return builder_.apply(Op::And, {a.condition, b.condition}, span);
}

/// Returns `value`, or 0 where the condition, if there is one, does not hold.
ValueId GraphBuild::where_holds(ValueId condition, ValueId value, Span span) {
    if (condition == ir::no_value)
        return value;
    const ValueId result =
        operation(Op::Where, {condition, value, builder_.constant(0)}, span);
    masks_[result] = {condition, value};
    return result;
}

/// `[c] f/r` is f/r where c holds and 0 elsewhere, whatever f/r is there.
/// Returns no_value where no condition is a factor.
ValueId GraphBuild::masked(Scope& scope, const ast::Node& node, Span span) {
    const std::string& name = node.name;
    const bool contracts = name == "·" || name == "@";
    const bool known = contracts || name == "*" || name == "/" || name == "neg";
    if (scope.rule || !known)
        return ir::no_value;
    const Masked left = masked_operand(scope, node.children[0]);
    Masked right;
    if (name == "/") // a divisor is a number
        right.value = scope.values.at(node.children[1]);
    else if (name != "neg")
        right = masked_operand(scope, node.children[1]);
    const ValueId condition = joint_condition(left, right, span);
    const bool lone = left.value == ir::no_value || right.value == ir::no_value;
    if (condition == ir::no_value || (contracts && lone) ||
        (name == "neg" && left.value == ir::no_value))
        return ir::no_value;
    const ValueId a = left.value, b = right.value;
    const ValueId value = name == "neg" ? operation(Op::Neg, {a}, span)
                          : name == "/" ? quotient(scope, or_one(a), b, span)
                          : a == ir::no_value ? or_one(b)
                          : b == ir::no_value ? a
                          : name == "*"       ? product(scope, node, a, b, span)
                          : name == "·"       ? dot(a, b, span)
                                              : matrix_product(a, b, span);
    return where_holds(condition, value, span);
}

} // namespace tilefold
