// tests/compiler/random_graph.cpp - random graphs, random numbers.

#include "tests/compiler/random_graph.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

namespace tilefold::tests {
namespace {

using ir::Builder;
using ir::Op;
using ir::ValueId;

class Generator {
public:
    explicit Generator(std::uint64_t seed)
        : random_(seed), builder_(seed % 3 ? DType::F64 : DType::F32) {}

    ir::Graph run() {
        for (int k = 0; k < 4; ++k)
            values_.push_back(leaf());
        for (int k = 0; k < 14; ++k)
            values_.push_back(step());
        const int kind = pick(4);
        ValueId result = some(0);
        if (kind == 3)
            return builder_.finish(result);
        const Axes axes = kind == 0 ? Axes::IJ : Axes::J;
        result = reduction(axes);
        values_.erase(std::remove_if(values_.begin(), values_.end(),
                                     [&](ValueId id) {
                                         return (builder_.type(id).axes &
                                                 axes) != Axes::None;
                                     }),
                      values_.end());
        values_.push_back(result);
        for (int k = 0; k < 3; ++k)
            values_.push_back(result = combine(result));
        return builder_.finish(result);
    }

private:
    int pick(int count) { return int(random_() % std::uint64_t(count)); }

    /// A value of rank 0 or 1, one of the later ones.
    ValueId some(int rank) {
        std::vector<ValueId> fits;
        for (ValueId id : values_)
            if (builder_.type(id).rank == rank &&
                builder_.type(id).dtype != DType::Bool)
                fits.push_back(id);
        if (fits.empty())
            return rank == 0 ? builder_.literal(1.25) : vector_argument();
        const int from = pick(2) ? int(fits.size()) / 2 : 0;
        return fits[std::size_t(from + pick(int(fits.size()) - from))];
    }

    ValueId argument(const char* name, std::uint8_t rank, Axes axes) {
        const DType dtype = pick(8) ? DType::F64 : DType::F32;
        return builder_.argument({name, dtype, rank, rank ? 3 : 1, 1, axes},
                                 axes);
    }

    ValueId vector_argument() {
        constexpr const char* names[] = {"u", "v", "w"};
        const int k = pick(3);
        constexpr Axes axes[] = {Axes::None, Axes::I, Axes::J};
        return argument(names[k], 1, axes[k]);
    }

    ValueId leaf() {
        constexpr const char* names[] = {"a", "b", "c"};
        constexpr Axes axes[] = {Axes::None, Axes::I, Axes::J};
        switch (pick(6)) {
        case 0:
            return builder_.literal(0.25 * double(1 + pick(6)));
        case 1:
            return builder_.index(pick(2) ? Axes::I : Axes::J);
        case 2:
        case 3: {
            const int k = pick(3);
            return argument(names[k], 0, axes[k]);
        }
        default:
            return vector_argument();
        }
    }

    ValueId step() {
        switch (pick(10)) {
        case 0:
            return leaf();
        case 1:
            return distance();
        case 2:
            return builder_.int_pow(some(pick(2)), 1 + pick(3));
        case 3:
            return where();
        case 4:
            return slice(some(1));
        case 5:
            return unary(some(pick(2)));
        default:
            return combine(some(pick(2)));
        }
    }

    ValueId slice(ValueId vector) {
        const std::int32_t rows = builder_.type(vector).rows;
        const int first = pick(rows);
        const bool scalar = pick(2);
        return builder_.slice(vector, first, scalar ? first + 1 : rows, scalar);
    }

    /// Vectors may have been cut to other lengths.
    bool agree(ValueId a, ValueId b) const {
        const Type &left = builder_.type(a), &right = builder_.type(b);
        return left.rank == 0 || right.rank == 0 || left.rows == right.rows;
    }

    ValueId combine(ValueId a) {
        constexpr Op ops[] = {Op::Add, Op::Sub,     Op::Mul,     Op::Mul,
                              Op::Div, Op::Minimum, Op::Maximum, Op::Mul};
        ValueId b = some(pick(2));
        if (!agree(a, b))
            b = some(0);
        if (pick(2))
            std::swap(a, b);
        return builder_.apply(ops[pick(8)], {a, b});
    }

    ValueId unary(ValueId a) {
        constexpr Op ops[] = {Op::Neg, Op::Abs, Op::Tanh, Op::Atan, Op::Neg};
        const ValueId value = builder_.apply(ops[pick(5)], {a});
        if (pick(3))
            return value;
        const ValueId bounded = builder_.apply(Op::Tanh, {value});
        return builder_.apply(Op::Exp,
                              {builder_.apply(Op::Mul, {bounded, some(0)})});
    }

    ValueId distance() {
        constexpr Op ops[] = {Op::SqDist, Op::Dot};
        const ValueId a = some(1), b = some(1);
        if (!agree(a, b))
            return builder_.apply(Op::SqNorm, {a});
        const ValueId value = builder_.apply(ops[pick(2)], {a, b});
        return pick(2) ? builder_.apply(Op::Sqrt,
                                        {builder_.apply(Op::Abs, {value})})
                       : value;
    }

    ValueId where() {
        const ValueId condition = builder_.apply(Op::Less, {some(0), some(0)});
        return builder_.apply(Op::Where, {condition, some(0), some(0)});
    }

    ValueId reduction(Axes axes) {
        constexpr ir::Reduction kinds[] = {
            ir::Reduction::Sum,      ir::Reduction::Sum, ir::Reduction::Mean,
            ir::Reduction::Max,      ir::Reduction::Min, ir::Reduction::Prod,
            ir::Reduction::LogSumExp};
        const ir::Reduction kind = kinds[pick(7)];
        ValueId body = some(kind == ir::Reduction::LogSumExp ? 0 : pick(2));
        for (Axes axis : {Axes::I, Axes::J})
            if (contains(axes, axis) &&
                !contains(builder_.type(body).axes, axis))
                body = builder_.apply(
                    Op::Mul,
                    {body, argument(axis == Axes::I ? "b" : "c", 0, axis)});
        return builder_.reduce(kind, axes, std::span(&body, 1));
    }

    std::mt19937_64 random_;
    Builder builder_;
    std::vector<ValueId> values_;
};

double number_of(std::uint64_t seed, const std::string& name,
                 std::int64_t point, std::int32_t row, std::int32_t column) {
    std::seed_seq words{std::uint64_t(std::hash<std::string>()(name)), seed,
                        std::uint64_t(point), std::uint64_t(row),
                        std::uint64_t(column)};
    std::mt19937 random(words);
    const double magnitude =
        0.5 + double(random()) / double(std::mt19937::max());
    return random() % 3 ? magnitude : -magnitude;
}

} // namespace

ir::Graph random_graph(std::uint64_t seed) {
    return Generator(seed).run();
}

reference::Reader random_reader(const ir::Graph& graph, std::uint64_t seed) {
    return [&graph, seed](std::size_t number, std::int64_t point,
                          std::int32_t row, std::int32_t column) {
        const ir::Argument& argument = graph.arguments[number];
        const double value = number_of(seed, argument.name, point, row, column);
        switch (kind_of(argument.dtype)) {
        case DTypeKind::Float:
            return value;
        case DTypeKind::Signed:
            return std::round(3 * value);
        case DTypeKind::Unsigned:
            return std::round(3 * std::abs(value));
        case DTypeKind::Truth:
            return double(value > 0);
        }
        return value;
    };
}

std::vector<double> all_results(const ir::Graph& graph, std::uint64_t seed,
                                reference::Sizes sizes) {
    const Axes axes = graph[graph.result].type.axes;
    const auto read = random_reader(graph, seed);
    std::vector<std::int64_t> rows, columns;
    const std::int64_t last_i = contains(axes, Axes::I) ? sizes.rows : 1;
    const std::int64_t last_j = contains(axes, Axes::J) ? sizes.columns : 1;
    for (std::int64_t i = 0; i < last_i; ++i)
        for (std::int64_t j = 0; j < last_j; ++j) {
            rows.push_back(axes == Axes::J ? j : i);
            columns.push_back(j);
        }
    return reference::evaluate(graph, sizes, read, rows, columns);
}

std::string difference(const std::vector<double>& a,
                       const std::vector<double>& b, double tolerance) {
    std::ostringstream text;
    if (a.size() != b.size())
        return "different numbers of results";
    double largest = 0;
    for (double value : a)
        if (std::isfinite(value))
            largest = std::max(largest, std::abs(value));
    for (std::size_t k = 0; k < a.size(); ++k) {
        const bool same =
            a[k] == b[k] || (!std::isfinite(a[k]) && !std::isfinite(b[k]));
        if (!same && !(std::abs(a[k] - b[k]) <= tolerance * largest))
            text << "result " << k << ": " << a[k] << " and " << b[k] << "; ";
    }
    return text.str();
}

} // namespace tilefold::tests
