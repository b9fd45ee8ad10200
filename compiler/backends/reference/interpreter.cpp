// compiler/backends/reference/interpreter.cpp - values are computed one by
// one, in the order of the graph: those on {} once, those on one axis when its
// index moves, those on both for every pair, and the rest after the
// reductions.

#include "compiler/backends/reference/interpreter.h"

#include "compiler/backends/reference/accumulator.h"
#include "compiler/ir/integer.h"
#include "compiler/ir/queries.h"
#include "compiler/ir/scalar.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace tilefold::reference {
namespace {

using ir::Graph;
using ir::Node;
using ir::Op;
using ir::ValueId;

class Evaluation {
public:
    Evaluation(const Graph& graph, const Sizes& sizes, const Reader& read)
        : graph_(graph), sizes_(sizes), read_(read) {
        lay_out();
        sort_by_phase();
    }

    /// Computes the result at row i or column j of the kept axis (both, where
    /// nothing is reduced).
    std::span<const double> run(std::int64_t i, std::int64_t j) {
        i_ = i;
        j_ = j;
        compute(Axes::None);
        if (reductions_.empty()) {
            compute(Axes::I);
            compute(Axes::J);
            compute(Axes::IJ);
        } else {
            reduce();
            compute(after_);
        }
        return cells(graph_.result);
    }

private:
    std::size_t components(const Type& type) const {
        return type.rows == dynamic
                   ? std::size_t(sizes_.width)
                   : std::size_t(type.rows) * std::size_t(type.columns);
    }

    void lay_out() {
        std::size_t size = 0;
        for (const Node& node : graph_.nodes) {
            offsets_.push_back(size);
            size += components(node.type);
        }
        offsets_.push_back(size);
        cells_.resize(size);
        whole_.resize(size);
    }

    void sort_by_phase() {
        std::vector<bool> after(graph_.nodes.size());
        for (ValueId id = 0; id < graph_.nodes.size(); ++id) {
            const Node& node = graph_[id];
            const auto inputs = node.inputs();
            after[id] = node.op == Op::Reduce ||
                        std::any_of(inputs.begin(), inputs.end(),
                                    [&](ValueId k) { return after[k]; });
            if (node.op == Op::Reduce)
                add_reduction(id);
            else if (after[id])
                after_.push_back(id);
            else
                levels_[std::size_t(node.type.axes)].push_back(id);
        }
    }

    void add_reduction(ValueId id) {
        const Node& node = graph_[id];
        const Type& last = graph_[node.operands[node.arity - 1]].type;
        reductions_.push_back({id, Accumulator(node, components(last))});
        reduced_ = Axes(node.second);
    }

    std::span<double> cells(ValueId id) {
        return {cells_.data() + offsets_[id], offsets_[id + 1] - offsets_[id]};
    }

    /// Returns the integers of a value, exactly, which lie beside its cells.
    std::span<std::int64_t> wholes(ValueId id) {
        return {whole_.data() + offsets_[id], offsets_[id + 1] - offsets_[id]};
    }

    bool is_integer(ValueId id) const {
        return graph_[id].type.dtype == DType::I64;
    }

    void set_whole(ValueId id, std::size_t k, std::int64_t value) {
        wholes(id)[k] = value;
        cells(id)[k] = double(value);
    }

    void compute(Axes level) { compute(levels_[std::size_t(level)]); }

    void compute(const std::vector<ValueId>& ids) {
        for (ValueId id : ids)
            compute(id);
    }

    void reduce() {
        for (auto& [id, accumulator] : reductions_)
            accumulator.reset(operand(id, 1), operand(id, 2));
        const bool over_i = contains(reduced_, Axes::I);
        const bool over_j = contains(reduced_, Axes::J);
        const std::int64_t i0 = over_i ? 0 : i_, j0 = over_j ? 0 : j_;
        const std::int64_t i1 = over_i ? sizes_.rows : i_ + 1;
        const std::int64_t j1 = over_j ? sizes_.columns : j_ + 1;
        if (!over_j)
            compute(Axes::J);
        if (!over_i)
            compute(Axes::I);
        for (i_ = i0; i_ < i1; ++i_) {
            if (over_i)
                compute(Axes::I);
            for (j_ = j0; j_ < j1; ++j_)
                accumulate_pair(over_j);
        }
        for (auto& [id, accumulator] : reductions_)
            accumulator.finish(cells(id), wholes(id));
    }

    void accumulate_pair(bool over_j) {
        if (sizes_.before_pair)
            sizes_.before_pair();
        if (sizes_.chosen && !sizes_.chosen(i_, j_))
            return;
        if (over_j)
            compute(Axes::J);
        compute(Axes::IJ);
        const std::int64_t index = reduced_ == Axes::J ? j_
                                   : reduced_ == Axes::I
                                       ? i_
                                       : i_ * sizes_.columns + j_;
        for (auto& [id, accumulator] : reductions_)
            accumulator.add(operand(id, 0), operand(id, 1), integers(id),
                            index);
    }

    /// Returns what an operand is now, or nothing where the node has none.
    std::span<const double> operand(ValueId id, std::size_t k) {
        const Node& node = graph_[id];
        return k < node.arity ? cells(node.operands[k]) : std::span<double>();
    }

    /// The first operand, where it is integers.
    std::span<const std::int64_t> integers(ValueId id) {
        const ValueId first = graph_[id].operands[0];
        return is_integer(first) ? wholes(first) : std::span<std::int64_t>();
    }

    void compute(ValueId id) {
        const Node& node = graph_[id];
        const std::span<double> result = cells(id);
        switch (node.op) {
        case Op::Argument:
            return read_argument(id);
        case Op::Literal:
            result[0] = graph_.literals[std::size_t(node.first)];
            if (is_integer(id))
                set_whole(id, 0, node.second * ir::saturated(result[0]));
            return;
        case Op::Constant:
            result[0] = node.value;
            if (is_integer(id))
                set_whole(id, 0, ir::saturated(node.value));
            return;
        case Op::Index:
            set_whole(id, 0, node.type.axes == Axes::I ? i_ : j_);
            return;
        case Op::IntPow:
            for (std::size_t k = 0; k < result.size(); ++k)
                result[k] = ir::evaluate_int_pow(cells(node.operands[0])[k],
                                                 node.first);
            return;
        case Op::Slice:
            std::copy_n(cells(node.operands[0]).begin() + node.first,
                        result.size(), result.begin());
            std::copy_n(wholes(node.operands[0]).begin() + node.first,
                        result.size(), wholes(id).begin());
            return;
        case Op::Submatrix:
            for (std::size_t k = 0; k < result.size(); ++k)
                result[k] = cells(node.operands[0])[std::size_t(
                    ir::component_of_matrix(graph_, node, std::int64_t(k)))];
            return;
        case Op::Concat:
            std::ranges::copy(
                cells(node.operands[1]),
                std::ranges::copy(cells(node.operands[0]), result.begin()).out);
            std::ranges::copy(
                wholes(node.operands[1]),
                std::ranges::copy(wholes(node.operands[0]), wholes(id).begin())
                    .out);
            return;
        case Op::Broadcast:
            std::ranges::fill(result, cells(node.operands[0])[0]);
            std::ranges::fill(wholes(id), wholes(node.operands[0])[0]);
            return;
        case Op::Iota:
            for (std::size_t k = 0; k < result.size(); ++k)
                set_whole(id, k, std::int64_t(k));
            return;
        default:
            compute_operation(id, result);
        }
    }

    void read_argument(ValueId id) {
        const Node& node = graph_[id];
        const std::span<double> result = cells(id);
        const std::int64_t point = node.type.axes == Axes::I   ? i_
                                   : node.type.axes == Axes::J ? j_
                                                               : 0;
        for (std::size_t k = 0; k < result.size(); ++k) {
            const ir::Number value = read_(std::size_t(node.first), point,
                                           std::int32_t(k) / node.type.columns,
                                           std::int32_t(k) % node.type.columns);
            result[k] = value.real;
            if (is_integer(id))
                set_whole(id, k, value.whole);
        }
    }

    void compute_operation(ValueId id, std::span<double> result) {
        const Node& node = graph_[id];
        switch (row_of(node.op).shape) {
        case ir::ShapeRule::Elementwise:
            return compute_elementwise(id);
        case ir::ShapeRule::Contract:
        case ir::ShapeRule::Contract1:
            result[0] = fold(node);
            return;
        case ir::ShapeRule::Cross:
            return compute_cross(node, result);
        case ir::ShapeRule::MatVec:
        case ir::ShapeRule::VecMat:
            return compute_matrix_product(node, result);
        case ir::ShapeRule::Outer:
            return compute_outer(node, result);
        case ir::ShapeRule::Gather:
            return compute_gather(node, result);
        }
    }

    /// Returns the place of component k of operand n, or of the one component
    /// of a scalar.
    std::size_t place_in(const Node& node, std::size_t n, std::size_t k) const {
        return graph_[node.operands[n]].type.rank == 0 ? 0 : k;
    }

    void compute_elementwise(ValueId id) {
        const Node& node = graph_[id];
        const ir::ResultRule rule = row_of(node.op).result;
        const bool integers =
            std::ranges::all_of(node.inputs(), [&](ValueId operand) {
                return is_integer(operand);
            });
        for (std::size_t k = 0; k < cells(id).size(); ++k) {
            if (rule == ir::ResultRule::Whole)
                cells(id)[k] = random(node, k);
            else if (is_integer(id))
                set_whole(id, k, whole(node, k));
            else if (rule == ir::ResultRule::Compare && integers)
                cells(id)[k] = compared(node, k);
            else
                cells(id)[k] = real(node, k);
        }
    }

    double real(const Node& node, std::size_t k) {
        double operands[3];
        for (std::size_t n = 0; n < node.arity; ++n)
            operands[n] = cells(node.operands[n])[place_in(node, n, k)];
        return ir::evaluate(node.op, operands);
    }

    using Integers = std::array<std::int64_t, 3>;

    Integers integers_of(const Node& node, std::size_t k) {
        Integers operands{};
        for (std::size_t n = 0; n < node.arity; ++n) {
            const ValueId operand = node.operands[n];
            const std::size_t place = place_in(node, n, k);
            operands[n] = is_integer(operand)
                              ? wholes(operand)[place]
                              : ir::saturated(cells(operand)[place]);
        }
        return operands;
    }

    std::int64_t whole(const Node& node, std::size_t k) {
        return ir::evaluate_integer(node.op, integers_of(node, k).data());
    }

    double compared(const Node& node, std::size_t k) {
        return ir::compare_integers(node.op, integers_of(node, k).data());
    }

    /// Returns component k of `operand` as an integer, where it is one.
    std::optional<std::int64_t> whole_at(ValueId operand, std::size_t k) {
        if (is_integer(operand))
            return wholes(operand)[k];
        return ir::integer_of(cells(operand)[k], graph_[operand].type.dtype);
    }

    double random(const Node& node, std::size_t k) {
        Integers operands{};
        for (std::size_t n = 0; n < node.arity; ++n) {
            const auto number =
                whole_at(node.operands[n], place_in(node, n, k));
            if (!number)
                return std::numeric_limits<double>::quiet_NaN();
            operands[n] = *number;
        }
        return ir::evaluate_random(node.op, operands.data());
    }

    double fold(const Node& node) {
        const auto a = cells(node.operands[0]);
        const auto b = cells(node.operands[node.arity - 1]);
        if (node.op == Op::CompMax || node.op == Op::CompMin)
            return fold_extreme(node.op, a);
        long double sum = 0;
        for (std::size_t k = 0; k < a.size(); ++k) {
            const long double difference = (long double)(a[k]) - b[k];
            sum += node.op == Op::CompSum  ? a[k]
                   : node.op == Op::SqDist ? difference * difference
                                           : (long double)(a[k]) * b[k];
        }
        return double(sum);
    }

    static double fold_extreme(Op op, std::span<const double> values) {
        double extreme = values[0];
        for (double value : values) {
            const double both[] = {extreme, value};
            extreme = ir::evaluate(
                op == Op::CompMax ? Op::Maximum : Op::Minimum, both);
        }
        return extreme;
    }

    void compute_cross(const Node& node, std::span<double> result) {
        const auto a = cells(node.operands[0]), b = cells(node.operands[1]);
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t m = (k + 1) % 3, n = (k + 2) % 3;
            result[k] = a[m] * b[n] - a[n] * b[m];
        }
    }

    void compute_gather(const Node& node, std::span<double> result) {
        const Type& table = graph_[node.operands[0]].type;
        const std::int64_t lengths[] = {table.rows, table.columns};
        std::int64_t place = 0;
        bool holds = true;
        for (std::size_t k = 1; k < node.arity; ++k) {
            const auto index = whole_at(node.operands[k], 0);
            holds = holds && index && *index >= 0 && *index < lengths[k - 1];
            place = holds ? place * lengths[k - 1] + *index : 0;
        }
        if (node.op == Op::GatherRow)
            place *= table.columns;
        for (std::size_t k = 0; k < result.size(); ++k)
            result[k] = holds ? cells(node.operands[0])[std::size_t(place) + k]
                              : std::numeric_limits<double>::quiet_NaN();
    }

    void compute_outer(const Node& node, std::span<double> result) {
        const auto a = cells(node.operands[0]), b = cells(node.operands[1]);
        for (std::size_t k = 0; k < result.size(); ++k)
            result[k] = a[k / b.size()] * b[k % b.size()];
    }

    void compute_matrix_product(const Node& node, std::span<double> result) {
        const bool matrix_first = node.op == Op::MatVec;
        const ValueId matrix_id = node.operands[matrix_first ? 0 : 1];
        const auto matrix = cells(matrix_id);
        const auto vector = cells(node.operands[matrix_first ? 1 : 0]);
        const auto columns = std::size_t(graph_[matrix_id].type.columns);
        for (std::size_t r = 0; r < result.size(); ++r) {
            long double sum = 0;
            for (std::size_t k = 0; k < vector.size(); ++k)
                sum += (long double)(matrix_first ? matrix[r * columns + k]
                                                  : matrix[k * columns + r]) *
                       vector[k];
            result[r] = double(sum);
        }
    }

    const Graph& graph_;
    const Sizes& sizes_;
    const Reader& read_;
    std::int64_t i_ = 0, j_ = 0;
    Axes reduced_ = Axes::None;
    std::vector<std::size_t> offsets_;
    std::vector<double> cells_;
    std::vector<std::int64_t> whole_;
    std::vector<ValueId> levels_[4]; ///< by axes, before the reductions
    std::vector<ValueId> after_;
    std::vector<std::pair<ValueId, Accumulator>> reductions_;
};

/// A reduction over i keeps j.
bool keeps_columns(const Graph& graph) {
    return graph[graph.result].type.axes == Axes::J ||
           std::any_of(
               graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
                   return node.op == Op::Reduce && Axes(node.second) == Axes::I;
               });
}

} // namespace

/// Reads what the present call is given, by the names of the arguments.
struct FoldFunction::Body {
    explicit Body(const Graph& graph) : evaluation(graph, sizes, read) {
        for (const ir::Argument& argument : graph.arguments)
            roles.push_back(ir::role_of(argument));
    }

    Sizes sizes;
    std::vector<std::size_t> roles; ///< by argument of the graph
    std::array<std::span<const double>, 3> values;
    Reader read = [this](std::size_t number, std::int64_t, std::int32_t row,
                         std::int32_t) {
        return values[roles[number]][std::size_t(row)];
    };
    Evaluation evaluation;
};

FoldFunction::FoldFunction(const Graph& graph)
    : body_(std::make_unique<Body>(graph)) {}
FoldFunction::FoldFunction(FoldFunction&&) noexcept = default;
FoldFunction::~FoldFunction() = default;

std::span<const double>
FoldFunction::operator()(std::span<const double> left,
                         std::span<const double> right,
                         std::span<const double> given) {
    body_->values = {left, right, given};
    return body_->evaluation.run(0, 0);
}

std::vector<double> evaluate(const Graph& graph, const Sizes& sizes,
                             const Reader& read,
                             std::span<const std::int64_t> points,
                             std::span<const std::int64_t> columns_at) {
    Evaluation evaluation(graph, sizes, read);
    const bool columns = keeps_columns(graph);
    std::vector<double> results;
    for (std::size_t k = 0; k < points.size(); ++k) {
        const std::int64_t i = columns ? 0 : points[k];
        const std::int64_t j = columns              ? points[k]
                               : columns_at.empty() ? 0
                                                    : columns_at[k];
        const auto result = evaluation.run(i, j);
        results.insert(results.end(), result.begin(), result.end());
    }
    return results;
}

} // namespace tilefold::reference
