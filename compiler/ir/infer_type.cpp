// compiler/ir/infer_type.cpp - the rules of shape and dtype in ops.def's
// legend.

#include "compiler/ir/ir.h"

#include <algorithm>

namespace tilefold::ir {
namespace {

/// One node under inspection.
struct Inference {
    const Graph& graph;
    const Node& node;
    std::string_view formula;

    const Type& operand(std::size_t k) const {
        return graph[node.operands[k]].type;
    }
    [[noreturn]] void refuse(Code code,
                             std::initializer_list<std::string> texts) const {
        fail(code, {formula, node.span}, texts);
    }
};

/// How the formula spells the node's operation.
std::string spelling_of(const Node& node) {
    if (node.op == Op::Reduce)
        return spelling_of_reduction(node);
    if (node.op == Op::Slice)
        return "a subscript";
    if (node.op == Op::Concat || node.op == Op::Broadcast)
        return "a list";
    if (has_row(node.op) && row_of(node.op).shape == ShapeRule::Gather)
        return "a subscript";
    return std::string(node.op == Op::IntPow ? "^" : row_of(node.op).spelling);
}

Axes axes_of_operands(const Inference& at) {
    Axes axes = Axes::None;
    for (ValueId id : at.node.inputs())
        axes = axes | at.graph[id].type.axes;
    return axes;
}

bool all_operands(const Inference& at, bool (*holds)(const Type&),
                  std::size_t from = 0) {
    const auto inputs = at.node.inputs().subspan(from);
    return std::all_of(inputs.begin(), inputs.end(),
                       [&](ValueId id) { return holds(at.graph[id].type); });
}

bool is_exact_once(const Type& type) {
    return type.axes == Axes::None && type.dtype != DType::F32;
}
bool is_exact(const Type& type) {
    return type.dtype != DType::F32;
}
bool is_integer(const Type& type) {
    return type.dtype == DType::I64;
}
bool is_truth(const Type& type) {
    return type.dtype == DType::Bool;
}

DType real_dtype(const Inference& at, std::size_t from = 0) {
    return all_operands(at, is_exact_once, from) ? DType::F64 : at.graph.real;
}

DType exact_dtype(const Inference& at, std::size_t from = 0) {
    return all_operands(at, is_exact, from) ? DType::F64 : real_dtype(at, from);
}

DType affine_dtype(const Inference& at, std::size_t from = 0) {
    const auto inputs = at.node.inputs().subspan(from);
    const auto wide = [&](ValueId id) { return may_exceed_f64(at.graph, id); };
    return all_operands(at, is_integer, from) &&
                   std::ranges::any_of(inputs, wide)
               ? DType::I64
               : exact_dtype(at, from);
}

/// Returns the dtype of values that are picked or put side by side, not
/// computed with.
DType chosen_dtype(const Inference& at, std::size_t from = 0) {
    if (all_operands(at, is_integer, from))
        return DType::I64;
    if (all_operands(at, is_truth, from))
        return DType::Bool;
    return affine_dtype(at, from);
}

void expect_truth(const Inference& at, std::size_t k) {
    if (!is_truth(at.operand(k)))
        at.refuse(Code::ExpectedTruth,
                  {spelling_of(at.node), describe(at.operand(k))});
}

DType result_dtype(const Inference& at) {
    switch (row_of(at.node.op).result) {
    case ResultRule::Real:
    case ResultRule::Whole:
        return real_dtype(at);
    case ResultRule::Exact:
        return exact_dtype(at);
    case ResultRule::Affine:
        return affine_dtype(at);
    case ResultRule::Compare:
        return DType::Bool;
    case ResultRule::Gathered:
        return kind_of(at.operand(0).dtype) == DTypeKind::Float ? real_dtype(at)
                                                                : DType::F64;
    case ResultRule::Logic:
        for (std::size_t k = 0; k < at.node.arity; ++k)
            expect_truth(at, k);
        return DType::Bool;
    case ResultRule::Select:
        expect_truth(at, 0);
        return chosen_dtype(at, 1);
    }
    internal_error("a result rule without a case");
}

[[noreturn]] void mismatch(const Inference& at, const Type& a, const Type& b) {
    at.refuse(Code::ShapeMismatch,
              {spelling_of(at.node), describe(a), describe(b)});
}

/// Matrices come from parameters only: a stray one was meant as points.
void refuse_matrices(const Inference& at) {
    for (ValueId id : at.node.inputs()) {
        const Node& node = at.graph[id];
        if (node.type.rank != 2)
            continue;
        if (node.op != Op::Argument)
            internal_error("a matrix that is no argument");
        fail(Code::BareNameGivenRows, {at.formula, node.span},
             {at.graph.arguments[std::size_t(node.first)].name,
              std::to_string(node.type.rows)});
    }
}

void expect_scalar(const Inference& at, std::size_t k) {
    if (at.operand(k).rank != 0)
        at.refuse(Code::ExpectedScalar,
                  {spelling_of(at.node), describe(at.operand(k))});
}

void expect_vector(const Inference& at, std::size_t k) {
    if (at.operand(k).rank != 1)
        at.refuse(Code::ExpectedVector,
                  {spelling_of(at.node), describe(at.operand(k))});
}

void expect_matrix(const Inference& at, std::size_t k) {
    if (at.operand(k).rank != 2)
        at.refuse(Code::ExpectedMatrix,
                  {spelling_of(at.node), describe(at.operand(k))});
}

void set_vector(Type& type, std::int32_t rows) {
    type.rank = 1;
    type.rows = rows;
}

void shape_elementwise(const Inference& at, Type& type) {
    refuse_matrices(at);
    const Type* first = nullptr;
    for (ValueId id : at.node.inputs()) {
        const Type& operand = at.graph[id].type;
        if (operand.rank == 0)
            continue;
        if (first && first->rows != operand.rows)
            mismatch(at, *first, operand);
        first = &operand;
    }
    if (first)
        set_vector(type, first->rows);
}

void shape_pair(const Inference& at) {
    refuse_matrices(at);
    expect_vector(at, 0);
    expect_vector(at, 1);
    if (at.operand(0).rows != at.operand(1).rows)
        mismatch(at, at.operand(0), at.operand(1));
}

void shape_cross(const Inference& at, Type& type) {
    shape_pair(at);
    if (at.operand(0).rows != 3)
        at.refuse(Code::CrossLength,
                  {describe(at.operand(0)), describe(at.operand(1))});
    set_vector(type, 3);
}

void shape_mat_vec(const Inference& at, Type& type) {
    expect_matrix(at, 0);
    expect_vector(at, 1);
    if (at.operand(0).columns != at.operand(1).rows)
        mismatch(at, at.operand(0), at.operand(1));
    set_vector(type, at.operand(0).rows);
}

void shape_vec_mat(const Inference& at, Type& type) {
    expect_vector(at, 0);
    expect_matrix(at, 1);
    if (at.operand(0).rows != at.operand(1).rows)
        mismatch(at, at.operand(0), at.operand(1));
    set_vector(type, at.operand(1).columns);
}

void shape_outer(const Inference& at, Type& type) {
    refuse_matrices(at);
    expect_vector(at, 0);
    expect_vector(at, 1);
    const std::int64_t rows = at.operand(0).rows, columns = at.operand(1).rows;
    if (rows == dynamic || columns == dynamic)
        internal_error("an outer product of vectors of any width");
    check_components(rows * columns, {at.formula, at.node.span}, 1 << 20);
    set_vector(type, std::int32_t(rows * columns));
}

void shape_gather(const Inference& at, Type& type) {
    for (std::size_t k = 1; k < at.node.arity; ++k)
        expect_scalar(at, k);
    if (at.node.op == Op::Gather)
        return expect_vector(at, 0);
    expect_matrix(at, 0);
    if (at.node.op == Op::GatherRow)
        set_vector(type, at.operand(0).columns);
}

Type type_of_operation(const Inference& at) {
    Type type;
    type.axes = axes_of_operands(at);
    switch (row_of(at.node.op).shape) {
    case ShapeRule::Elementwise:
        shape_elementwise(at, type);
        break;
    case ShapeRule::Contract:
        shape_pair(at);
        break;
    case ShapeRule::Contract1:
        refuse_matrices(at);
        expect_vector(at, 0);
        break;
    case ShapeRule::Cross:
        shape_cross(at, type);
        break;
    case ShapeRule::MatVec:
        shape_mat_vec(at, type);
        break;
    case ShapeRule::VecMat:
        shape_vec_mat(at, type);
        break;
    case ShapeRule::Outer:
        shape_outer(at, type);
        break;
    case ShapeRule::Gather:
        shape_gather(at, type);
        break;
    }
    type.dtype = result_dtype(at);
    return type;
}

Type type_of_slice(const Inference& at) {
    refuse_matrices(at);
    const std::int32_t rows = at.operand(0).rank == 0 ? 1 : at.operand(0).rows;
    const Node& node = at.node;
    if (rows == dynamic || node.first < 0 || node.first >= node.second ||
        node.second > rows || (node.third && node.second != node.first + 1))
        internal_error("a slice out of range");
    Type type = at.operand(0);
    type.rank = node.third ? 0 : 1;
    type.rows = std::int32_t(node.second - node.first);
    return type;
}

Type type_of_submatrix(const Inference& at) {
    Type type = at.operand(0);
    const Node& node = at.node;
    const std::int64_t columns = type.columns;
    if (type.rank != 2 || node.first < 0 || node.second < 1 || node.third < 1 ||
        node.first % columns + node.third > columns ||
        node.first / columns + node.second > type.rows)
        internal_error("a part of a matrix out of range");
    type.rows = std::int32_t(node.second);
    type.columns = std::int32_t(node.third);
    if (node.second == 1 || node.third == 1)
        set_vector(type, type.rows * type.columns);
    return type;
}

Type type_of_concat(const Inference& at) {
    refuse_matrices(at);
    const Type &a = at.operand(0), &b = at.operand(1);
    if (a.rows == dynamic || b.rows == dynamic)
        internal_error("a list of vectors of any width");
    check_components(std::int64_t(a.rows) + b.rows, {at.formula, at.node.span});
    Type type;
    type.axes = axes_of_operands(at);
    type.dtype = chosen_dtype(at);
    set_vector(type, a.rows + b.rows);
    return type;
}

Type type_of_broadcast(const Inference& at) {
    expect_scalar(at, 0);
    Type type = at.operand(0);
    set_vector(type, std::int32_t(at.node.first));
    return type;
}

DType dtype_of_reduction(const Inference& at, ReductionResult result) {
    switch (result) {
    case ReductionResult::Body:
        return at.operand(0).dtype;
    case ReductionResult::Real:
        return at.graph.real;
    case ReductionResult::Index:
        return DType::I64;
    case ReductionResult::Truth:
        return DType::Bool;
    case ReductionResult::Exact:
        return is_exact(at.operand(0)) ? DType::F64 : at.graph.real;
    case ReductionResult::Total:
        if (is_integer(at.operand(0)) || is_truth(at.operand(0)))
            return DType::I64;
        return is_exact(at.operand(0)) ? DType::F64 : at.graph.real;
    }
    internal_error("a reduction's result without a case");
}

bool wants_truth(Reduction reduction) {
    return reduction == Reduction::Any || reduction == Reduction::All ||
           reduction == Reduction::Count;
}

Type type_of_reduction(const Inference& at) {
    refuse_matrices(at);
    const auto reduction = Reduction(at.node.first);
    const ReductionRow& row = row_of(reduction);
    const bool folds = row.monoid == Monoid::UserDefined;
    Type type = at.operand(folds ? 1 : at.node.arity - 1u);
    if (wants_truth(reduction))
        expect_truth(at, 0);
    const int scalars = row_of(row.monoid).scalars;
    for (int k = 0; k < std::min<int>(scalars, at.node.arity); ++k)
        expect_scalar(at, std::size_t(k));
    if (row.monoid == Monoid::KMinimum)
        set_vector(type, std::int32_t(at.node.third));
    const Axes met =
        at.node.pairs == Pairs::All ? axes_of_operands(at) : Axes::IJ;
    type.axes = without(met, Axes(at.node.second));
    type.dtype = dtype_of_reduction(at, row.result);
    return type;
}

Type type_of_argument(const Inference& at) {
    const Argument& argument = at.graph.arguments[std::size_t(at.node.first)];
    Type type{DType::F64, argument.rank, at.node.type.axes, argument.rows,
              argument.columns};
    switch (kind_of(argument.dtype)) {
    case DTypeKind::Float:
        if (type.axes != Axes::None)
            type.dtype = at.graph.real;
        break;
    case DTypeKind::Signed:
    case DTypeKind::Unsigned:
        type.dtype = DType::I64;
        break;
    case DTypeKind::Truth:
        type.dtype = DType::Bool;
        break;
    }
    return type;
}

Type type_of_complex(const Inference& at) {
    Type type = at.operand(0);
    type.axes = axes_of_operands(at);
    return type;
}

Type type_of_unsigned(const Inference& at) {
    Type type = at.operand(0);
    type.dtype = DType::U64;
    return type;
}

Type type_of_int_pow(const Inference& at) {
    Type type;
    type.axes = axes_of_operands(at);
    shape_elementwise(at, type);
    type.dtype = exact_dtype(at);
    return type;
}

} // namespace

bool may_exceed_f64(const Graph& graph, ValueId id) {
    constexpr int furthest = 8; // what is deeper may be
    const std::function<bool(ValueId, int)> look = [&](ValueId at, int depth) {
        const Node& node = graph[at];
        if (node.type.dtype != DType::I64)
            return false;
        if (node.op == Op::Reduce) { // others count, or tell places
            const auto result = row_of(Reduction(node.first)).result;
            const bool is_made_of_terms = result == ReductionResult::Body ||
                                          result == ReductionResult::Total;
            return is_made_of_terms && look(node.operands[0], depth + 1);
        }
        if (node.op == Op::Constant)
            return true;
        if (node.op == Op::Argument)
            return size_of(graph.arguments[std::size_t(node.first)].dtype) == 8;
        return std::ranges::any_of(node.inputs(), [&](ValueId input) {
            return depth >= furthest || look(input, depth + 1);
        });
    };
    return look(id, 0);
}

void check_components(std::int64_t count, Place place, std::int64_t most) {
    if (count > most)
        fail(Code::TooManyComponents, place,
             {std::to_string(count), std::to_string(most)});
}

Type infer_type(const Graph& graph, const Node& node,
                std::string_view formula) {
    const Inference at{graph, node, formula};
    for (ValueId operand : node.inputs()) {
        if (graph[operand].op == Op::Complex)
            fail(Code::ComplexOperand, {std::string(formula), node.span}, {});
        if (graph[operand].op == Op::Unsigned)
            internal_error("a uint64 that is not taken apart");
    }
    if (node.op == Op::Complex)
        return type_of_complex(at);
    if (node.op == Op::Unsigned)
        return type_of_unsigned(at);
    if (node.op == Op::Argument)
        return type_of_argument(at);
    if (node.op == Op::Literal || node.op == Op::Constant)
        return {node.second ? DType::I64 : DType::F64, 0, Axes::None, 1, 1};
    if (node.op == Op::Index)
        return {DType::I64, 0, node.type.axes, 1, 1};
    if (node.op == Op::Iota)
        return {DType::I64, 1, Axes::None, std::int32_t(node.first), 1};
    if (node.op == Op::IntPow)
        return type_of_int_pow(at);
    if (node.op == Op::Slice)
        return type_of_slice(at);
    if (node.op == Op::Submatrix)
        return type_of_submatrix(at);
    if (node.op == Op::Concat)
        return type_of_concat(at);
    if (node.op == Op::Broadcast)
        return type_of_broadcast(at);
    return node.op == Op::Reduce ? type_of_reduction(at)
                                 : type_of_operation(at);
}

} // namespace tilefold::ir
