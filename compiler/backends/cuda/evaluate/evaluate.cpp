// compiler/backends/cuda/evaluate/evaluate.cpp - values of a graph as
// expressions.

#include "compiler/backends/cuda/evaluate/evaluate.h"

#include "compiler/backends/cuda/text/instructions.h"

#include "compiler/ir/queries.h"
#include "formulas/diagnostic.h"

#include <cmath>
#include <set>

namespace tilefold::cuda {

using ir::Node;
using ir::Op;
using ir::ValueId;

namespace {

/// Longer expressions become variables.
constexpr std::size_t longest_inside = 56;
/// Lists of at most so many components are written out.
constexpr std::int64_t most_written_out = 8;
/// A loop of at most so many instructions is unrolled: NVRTC takes 0.1 ms for
/// each.
constexpr double most_weight = 512;

} // namespace

Code Component::code() const {
    if (!index)
        return whole(fixed);
    return fixed ? *index + whole(fixed) : *index;
}

Component Component::times(std::int64_t scale, std::int64_t offset) const {
    Component result{fixed * scale + offset, index};
    if (index && scale != 1)
        result.index = *index * whole(scale);
    return result;
}

Values::Values(const ir::Graph& graph, Writer& writer, Leaves leaves)
    : graph_(graph), writer_(writer), leaves_(std::move(leaves)),
      uses_(graph.nodes.size()) {
    for (const Node& node : graph.nodes)
        for (ValueId input : node.inputs())
            ++uses_[input];
}

Values::Cell Values::cell_of(ValueId id, const Component& at) const {
    return {id, graph_[id].type.rank == 0 ? "" : at.code().text()};
}

void Values::forget_since(std::size_t mark) {
    for (std::size_t k = mark; k < log_.size(); ++k)
        known_.erase(log_[k]);
    log_.resize(mark, Cell());
}

/// Makes a variable of the code, unless it is a name or a number already.
Code Values::named(ValueId id, const Component& at, const Code& code) {
    const Code result = writer_.let(name_of(graph_, id), code);
    const Cell cell = cell_of(id, at);
    known_.insert_or_assign(cell, result);
    log_.push_back(cell);
    return result;
}

Code Values::value(ValueId id, const Component& at) {
    if (const auto found = known_.find(cell_of(id, at)); found != known_.end())
        return found->second;
    if (auto leaf = leaves_(id, at))
        return *leaf;
    const Code code = compute(id, at);
    const bool stays = code.literal() || graph_[id].op == Op::Slice ||
                       graph_[id].op == Op::Submatrix ||
                       graph_[id].op == Op::Broadcast ||
                       (uses_[id] <= 1 && code.text().size() <= longest_inside);
    return stays ? code : named(id, at, code);
}

Code Values::operand(ValueId id, std::size_t number, const Component& at) {
    return as(kind_of_value(graph_[id].type.dtype),
              value(graph_[id].operands[number], at));
}

Code Values::compute(ValueId id, const Component& at) {
    const Node& node = graph_[id];
    switch (node.op) {
    case Op::Constant:
        return number(kind_of_value(node.type.dtype), node.value);
    case Op::IntPow:
        return power(id, at);
    case Op::Slice:
        return value(node.operands[0], node.type.rank == 0
                                           ? Component{node.first, {}}
                                           : at.plus(node.first));
    case Op::Submatrix:
        return submatrix(node, at);
    case Op::Concat:
        return concatenation(id, at);
    case Op::Broadcast:
        return value(node.operands[0]);
    case Op::Iota:
        return as(Kind::Long, at.code());
    case Op::Cross:
        return cross(id, at);
    case Op::Outer:
        return outer(id, at);
    case Op::Gather:
    case Op::GatherRow:
    case Op::GatherElement:
        return gather(id, at);
    case Op::Argument:
    case Op::Literal:
    case Op::Index:
    case Op::Complex:
    case Op::Unsigned:
    case Op::Reduce:
        internal_error(std::string(ir::mnemonic(node.op)) + " is a leaf");
    default:
        break;
    }
    switch (row_of(node.op).shape) {
    case ir::ShapeRule::Contract:
    case ir::ShapeRule::Contract1:
    case ir::ShapeRule::MatVec:
    case ir::ShapeRule::VecMat:
        return contraction(id, at);
    default:
        return elementwise(id, at);
    }
}

Code Values::elementwise(ValueId id, const Component& at) {
    const Node& node = graph_[id];
    std::vector<Code> operands;
    for (ValueId operand : node.inputs())
        operands.push_back(value(operand, at));
    return operation(node.op, node.type.dtype, graph_.real, operands);
}

Code Values::power(ValueId id, const Component& at) {
    return whole_power(writer_, operand(id, 0, at), graph_[id].first);
}

/// Returns a component of the left operand, or of the right.
Code Values::concatenation(ValueId id, const Component& at) {
    const Node& node = graph_[id];
    const std::int64_t length = components_of(graph_[node.operands[0]].type);
    if (!at.index)
        return at.fixed < length ? operand(id, 0, at)
                                 : operand(id, 1, at.plus(-length));
    // Both operands are read, at numbers held inside their range.
    const Code index = at.code();
    const Code left =
        writer_.let("left", call(Kind::Int, "min", {index, whole(length - 1)}));
    const Code right = writer_.let(
        "right", call(Kind::Int, "max", {index - whole(length), whole(0)}));
    return choice(less(index, whole(length)), operand(id, 0, {0, left}),
                  operand(id, 1, {0, right}));
}

Code Values::cross(ValueId id, const Component& at) {
    if (at.index) {
        const Code index = at.code();
        const Code last = choice(equal(index, whole(1)), cross(id, {1, {}}),
                                 cross(id, {2, {}}));
        return choice(equal(index, whole(0)), cross(id, {0, {}}), last);
    }
    const auto read = [&](std::size_t number, std::int64_t offset) {
        return operand(id, number, {(at.fixed + offset) % 3, {}});
    };
    return read(0, 1) * read(1, 2) - read(0, 2) * read(1, 1);
}

/// Returns component r * C + c of an outer product.
Code Values::outer(ValueId id, const Component& at) {
    const std::int64_t columns = graph_[graph_[id].operands[1]].type.rows;
    if (!at.index)
        return operand(id, 0, {at.fixed / columns, {}}) *
               operand(id, 1, {at.fixed % columns, {}});
    const Code index = at.code();
    return operand(id, 0, {0, index / whole(columns)}) *
           operand(id, 1, {0, index % whole(columns)});
}

Code Values::submatrix(const Node& node, const Component& at) {
    if (!at.index)
        return value(node.operands[0],
                     {component_of_matrix(graph_, node, at.fixed), {}});
    const std::int64_t columns = graph_[node.operands[0]].type.columns;
    const Code index = at.code();
    const Code row = index / whole(node.third);
    return value(node.operands[0],
                 {0, row * whole(columns) + index % whole(node.third) +
                         whole(node.first)});
}

/// An element of a table, at a place that is checked before.
Code Values::gather(ValueId id, const Component& at) {
    const Node& node = graph_[id];
    const Type& table = graph_[node.operands[0]].type;
    const std::int64_t lengths[] = {table.rows, table.columns};
    std::optional<Code> place, holds;
    for (std::size_t k = 1; k < node.arity; ++k) {
        const Code index = value(node.operands[k]);
        const Code number = writer_.let("index", whole_number(index));
        const Code limit = cuda::number(Kind::Long, double(lengths[k - 1]));
        Code inside = both(less_equal(cuda::number(Kind::Long, 0), number),
                           less(number, limit));
        if (is_real(index.kind()))
            inside = both(is_whole(index), inside);
        holds = holds ? both(*holds, inside) : inside;
        place = place ? *place * cuda::number(Kind::Long, double(lengths[1])) +
                            number
                      : number;
    }
    const Code found = writer_.let("found", *holds);
    Code offset =
        writer_.let("at", choice(found, *place, cuda::number(Kind::Long, 0)));
    if (node.op == Op::GatherRow)
        offset = offset * cuda::number(Kind::Long, double(table.columns)) +
                 at.code();
    const Kind kind = kind_of_value(node.type.dtype);
    const Code element = operand(id, 0, {0, call(Kind::Int, "int", {offset})});
    return choice(found, element, number(kind, NAN));
}

/// Writes a sum over components: a loop with a variable.
Code Values::contraction(ValueId id, const Component& at) {
    const Node& node = graph_[id];
    const Kind kind = kind_of_value(node.type.dtype);
    const std::int64_t count = terms_of(graph_, node);
    const Code sum = writer_.variable(name_of(graph_, id),
                                      number(kind, ir::start_of(node.op)));
    const Cell cell = cell_of(id, at);
    known_.insert_or_assign(cell, sum);
    log_.push_back(cell);
    each_component(id, count, [&](const Component& k) {
        writer_.set(sum, term(id, sum, at, k));
    });
    return sum;
}

/// Returns `sum` with term k of component `at` of a contraction.
Code Values::term(ValueId id, const Code& sum, const Component& at,
                  const Component& k) {
    const Node& node = graph_[id];
    const auto read = [&](std::size_t number, const Component& component) {
        return operand(id, number, component);
    };
    const auto fused = [&](const Code& a, const Code& b) {
        return call(sum.kind(), "fma", {a, b, sum});
    };
    /// Reads component r * columns + c of a matrix.
    const auto matrix = [&](std::size_t number, const Component& r,
                            const Component& c) {
        const std::int64_t columns = graph_[node.operands[number]].type.columns;
        const Component row = r.times(columns, c.fixed);
        if (!row.index || !c.index)
            return read(number, {row.fixed, row.index ? row.index : c.index});
        return read(number, {row.fixed, *row.index + *c.index});
    };
    switch (node.op) {
    case Op::Dot:
        return fused(read(0, k), read(1, k));
    case Op::SqNorm: {
        const Code x = writer_.let("x", read(0, k));
        return fused(x, x);
    }
    case Op::SqDist: {
        const Code difference =
            writer_.let("difference", read(0, k) - read(1, k));
        return fused(difference, difference);
    }
    case Op::CompSum:
        return sum + read(0, k);
    case Op::CompMax:
        return call(sum.kind(), "larger", {sum, read(0, k)});
    case Op::CompMin:
        return call(sum.kind(), "smaller", {sum, read(0, k)});
    case Op::MatVec:
        return fused(matrix(0, at, k), read(1, k));
    case Op::VecMat:
        return fused(read(0, k), matrix(1, k, at));
    default:
        internal_error("not a contraction");
    }
}

/// Whether lists or cross products are below a vector: their components are
/// not alike.
bool Values::joins(ValueId root) const {
    std::set<ValueId> seen;
    const std::function<bool(ValueId)> walk = [&](ValueId id) {
        if (!seen.insert(id).second || leaves_(id, {0, {}}))
            return false;
        const Node& node = graph_[id];
        if (node.op == Op::Concat || node.op == Op::Cross)
            return true;
        for (ValueId operand : node.inputs())
            if (walk(operand))
                return true;
        return false;
    };
    return walk(root);
}

void Values::hoist_scalars(ValueId root) {
    std::set<ValueId> seen;
    const std::function<void(ValueId)> walk = [&](ValueId id) {
        for (ValueId operand : graph_[id].inputs()) {
            if (!seen.insert(operand).second)
                continue;
            if (graph_[operand].type.rank != 0) {
                if (!leaves_(operand, {0, {}}))
                    walk(operand);
                continue;
            }
            if (leaves_(operand, {}) || known_.count(cell_of(operand, {})))
                continue;
            const Code code = value(operand);
            if (!code.literal() && !known_.count(cell_of(operand, {})))
                named(operand, {}, code);
        }
    };
    if (graph_[root].inputs().empty())
        return;
    walk(root);
}

/// Returns the instructions of a component, but for what is known already.
double Values::weight_of(ValueId root) const {
    if (leaves_(root, {0, {}}))
        return 0;
    std::set<ValueId> seen;
    double weight = 0;
    const std::function<void(ValueId)> walk = [&](ValueId id) {
        if (!seen.insert(id).second || graph_[id].type.rank == 0 ||
            leaves_(id, {0, {}}))
            return;
        weight += instructions_of(graph_[id].op).single;
        for (ValueId operand : graph_[id].inputs())
            walk(operand);
    };
    for (ValueId operand : graph_[root].inputs())
        walk(operand);
    walk(root);
    return weight;
}

void Values::each_component(ValueId root, std::int64_t count,
                            const std::function<void(Component)>& body) {
    if (!leaves_(root, {0, {}}))
        hoist_scalars(root);
    if (count == 1 || (count <= most_written_out && joins(root))) {
        for (std::int64_t k = 0; k < count; ++k)
            body({k, {}});
        return;
    }
    const std::size_t mark = log_.size();
    const double weight = std::max(weight_of(root), 1.0);
    writer_.loop(
        "d", count, [&](const Code& d) { body({0, d}); },
        weight * double(count) <= most_weight
            ? Writer::most_unrolled
            : std::max(1, int(most_weight / 4 / weight)));
    forget_since(mark);
}

} // namespace tilefold::cuda
