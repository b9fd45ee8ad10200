// runtime/solve/neighbors.cpp - see neighbors.h.
//
// 1. Threads draw blocks of rows. A block is evaluated panel after panel of
//    columns by the dense entry, each small enough to stay in the cache and to
//    run on the thread that asked for it, and is searched there.
// 2. Every value is computed once: counting first and filling afterwards would
//    take two sweeps, which could round differently.

#include "runtime/solve/neighbors.h"

#include "formulas/diagnostic.h"
#include "formulas/names.h"
#include "runtime/bind/bind_shapes.h"
#include "runtime/bind/call_location.h"
#include "runtime/bind/session_state.h"
#include "runtime/core/element.h"
#include "runtime/schedule/parallel_for.h"
#include "runtime/session/inspect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>

namespace tilefold {
namespace {

constexpr std::int64_t panel_columns = 1 << 10;
constexpr std::int64_t panel_pairs = 1 << 16;
/// The share of the largest value by which that of a point and itself may be
/// above others.
constexpr double rounding = 1e-5;

std::int64_t block_rows(std::int64_t columns) {
    const std::int64_t wide = std::min(columns, panel_columns);
    return std::max<std::int64_t>(panel_pairs / std::max<std::int64_t>(wide, 1),
                                  1);
}

/// first, first + 1, …
std::vector<std::int64_t> run_from(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> numbers(std::size_t(last - first));
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

/// The largest T that is no larger.
template <class T> T below(double number) {
    const T rounded = T(number);
    return double(rounded) > number
               ? std::nextafter(rounded, -std::numeric_limits<T>::infinity())
               : rounded;
}

constexpr std::int64_t chunk = 32;

/// Whether any of a whole chunk is within: the compiler makes vectors of a loop
/// of this form.
template <class T> bool any_within(const T* values, T limit) {
    using Flag = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    Flag any = 0;
    for (std::int64_t k = 0; k < chunk; ++k)
        any |= values[k] <= limit ? Flag(-1) : Flag(0);
    return any != 0;
}

/// Blocks of a few rows are the CPU's: a device would be sent whole arrays for
/// each.
BindOptions dense_on_host() {
    BindOptions options;
    options.query = Query::Dense;
    options.on_host = true;
    return options;
}

/// The arguments of a pair term with a few points of the one array on i on both
/// axes; none where it has other arrays, or reads numbers of points.
std::vector<NamedView> few_points(const Formula& pair,
                                  std::span<const NamedView> arguments) {
    constexpr std::int64_t few = 16;
    const ParsedFormula& parsed = *Inspection::of(pair).parsed;
    std::vector<NamedView> chosen(arguments.begin(), arguments.end());
    NamedView* on_axis[2] = {nullptr, nullptr};
    for (NamedView& argument : chosen) {
        const Axes axes = parsed.role_of(argument).axes;
        for (int place : {0, 1}) {
            if (!contains(axes, place == 0 ? Axes::I : Axes::J))
                continue;
            if (on_axis[place])
                return {};
            on_axis[place] = &argument;
        }
    }
    const bool reads_numbers =
        std::ranges::any_of(tree_of(pair).nodes, [](const ast::Node& node) {
            return node.kind == ast::Kind::Index;
        });
    if (!on_axis[0] || !on_axis[1] || reads_numbers)
        return {};
    View& points = on_axis[0]->view;
    if (points.shape.empty() || points.shape.size() > 2 || points.shape[0] < 2)
        return {};
    const std::int64_t step = std::max<std::int64_t>(points.shape[0] / few, 1);
    points.shape[0] = std::min(points.shape[0], few);
    points.strides[0] *= step;
    on_axis[1]->view = points;
    return chosen;
}

/// The pair term at each of `count` points with each, row by row; none where
/// that gives no single number, as the array on j is of another kind.
std::vector<double> values_of(const Formula& pair,
                              std::span<const NamedView> arguments,
                              const BindOptions& options) {
    try {
        const Bound bound = pair.bind(arguments, options);
        if (bound.shape().size() != 2)
            return {};
        const std::size_t size = size_of(bound.dtype());
        std::vector<std::byte> bytes(
            std::size_t(bound.shape()[0] * bound.shape()[1]) * size);
        bound.run(Output::of(bytes.data(), bound.dtype(), bound.shape()));
        std::vector<double> values;
        for (std::size_t at = 0; at < bytes.size(); at += size)
            values.push_back(element_at(bytes.data() + at, bound.dtype()));
        return values;
    } catch (const Error& error) {
        if (error.family() == Family::Shape || error.family() == Family::DType)
            return {};
        throw;
    }
}

/// Throws where many values of a few pairs are below that of a point and
/// itself, by more than `slack` of the largest. A few may be, of near points:
/// sqrt(2 - 2x·y) of float32 is 3e-4 where it should be 0.
void check_distance(const Formula& pair, std::span<const NamedView> arguments,
                    const BindOptions& options, double slack) {
    const std::vector<NamedView> few = few_points(pair, arguments);
    if (few.empty())
        return;
    const std::vector<double> values = values_of(pair, few, options);
    const auto count = std::size_t(std::lround(std::sqrt(values.size())));
    double largest = 0;
    for (double value : values)
        if (std::isfinite(value))
            largest = std::max(largest, std::abs(value));
    std::size_t below = 0;
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < count; ++j)
            below +=
                values[i * count + i] > values[i * count + j] + slack * largest;
    if (4 * below > count * count)
        fail(Code::NeighborsNoDistance);
}

} // namespace

/// A search, which threads share.
class PairSearch {
public:
    PairSearch(const Formula& pair, std::span<const NamedView> arguments,
               double radius, bool with_values, const GoesOn& goes_on)
        : pair_(pair), arguments_(arguments), radius_(radius),
          with_values_(with_values) {
        BindOptions options = dense_on_host();
        options.goes_on = goes_on;
        const Bound all = pair.bind(arguments, options);
        require_host(all.location(), "a search for neighbors");
        const Extents& shape = all.shape();
        if (shape.size() != 2)
            fail(Code::NeighborsShape, {spelling_of(shape)});
        check_distance(pair, arguments, options,
                       rounding +
                           *Inspection::of(pair).settings->options.tolerance);
        rows_ = shape[0];
        columns_ = shape[1];
        height_ = block_rows(columns_);
        found_.dtype = all.dtype();
        found_.blocks.resize(std::size_t((rows_ + height_ - 1) / height_));
    }

    PairsWithin run(const Poll& poll) {
        const auto blocks = std::int64_t(found_.blocks.size());
        const double pairs = double(height_) * double(columns_);
        Progress progress(poll, double(blocks) * pairs);
        Draw draw(0, blocks);
        ThreadPool& pool = Inspection::of(pair_).session->pool;
        parallel_for(pool, progress, draw, [&](const Watcher& watcher) {
            return [this, watcher, pairs, scratch = std::vector<std::byte>()](
                       std::int64_t block) mutable {
                search(block, scratch);
                return watcher.advance(pairs);
            };
        });
        progress.rethrow();
        return std::move(found_);
    }

private:
    /// The panels of a block are searched row by row, then put in order.
    void search(std::int64_t block, std::vector<std::byte>& scratch) {
        const std::int64_t i0 = block * height_,
                           i1 = std::min(i0 + height_, rows_);
        const std::vector<std::int64_t> rows = run_from(i0, i1);
        std::vector<RowsWithin> lines(rows.size());
        for (std::int64_t j0 = 0; j0 < columns_; j0 += panel_columns) {
            const std::int64_t j1 = std::min(j0 + panel_columns, columns_);
            const std::vector<std::int64_t> panel = run_from(j0, j1);
            evaluate(rows, panel, scratch);
            for (std::size_t r = 0; r < lines.size(); ++r)
                scan(scratch.data() + r * panel.size() * size_of(found_.dtype),
                     j0, j1, lines[r]);
        }
        RowsWithin& out = found_.blocks[std::size_t(block)];
        for (const RowsWithin& line : lines) {
            out.counts.push_back(std::int64_t(line.columns.size()));
            out.columns.insert(out.columns.end(), line.columns.begin(),
                               line.columns.end());
            out.values.insert(out.values.end(), line.values.begin(),
                              line.values.end());
        }
    }

    void evaluate(const std::vector<std::int64_t>& rows,
                  const std::vector<std::int64_t>& columns,
                  std::vector<std::byte>& out) {
        BindOptions options = dense_on_host();
        options.i = Rows{rows.data(), std::int64_t(rows.size())};
        options.j = Rows{columns.data(), std::int64_t(columns.size())};
        const Bound bound = pair_.bind(arguments_, options);
        out.resize(rows.size() * columns.size() * size_of(found_.dtype));
        bound.run(Output::of(out.data(), found_.dtype, bound.shape()));
    }

    void scan(const std::byte* values, std::int64_t j0, std::int64_t j1,
              RowsWithin& line) {
        if (found_.dtype == DType::F32)
            scan_as<float>(values, j0, j1, line);
        else if (found_.dtype == DType::F64)
            scan_as<double>(values, j0, j1, line);
        else
            for (std::int64_t j = j0; j < j1; ++j)
                keep(element_at(values +
                                    std::size_t(j - j0) * size_of(found_.dtype),
                                found_.dtype),
                     j, line);
    }

    /// Most chunks have no neighbour, and are passed over at once.
    template <class T>
    void scan_as(const std::byte* values, std::int64_t j0, std::int64_t j1,
                 RowsWithin& line) {
        const T* value = reinterpret_cast<const T*>(values) - j0;
        const T limit = below<T>(radius_);
        for (std::int64_t j = j0; j < j1; j += chunk) {
            const std::int64_t end = std::min(j + chunk, j1);
            if (end - j == chunk && !any_within(value + j, limit))
                continue;
            for (std::int64_t k = j; k < end; ++k)
                keep(double(value[k]), k, line);
        }
    }

    void keep(double value, std::int64_t j, RowsWithin& line) {
        if (!(value <= radius_))
            return;
        line.columns.push_back(j);
        if (with_values_)
            line.values.push_back(value);
    }

    const Formula& pair_;
    std::span<const NamedView> arguments_;
    double radius_;
    bool with_values_;
    std::int64_t rows_ = 0, columns_ = 0, height_ = 1;
    PairsWithin found_;
};

PairsWithin pairs_within(const Formula& pair,
                         std::span<const NamedView> arguments, double radius,
                         bool with_values, const Poll& poll,
                         const GoesOn& goes_on) {
    return PairSearch(pair, arguments, radius, with_values, goes_on).run(poll);
}

std::int64_t PairsWithin::rows() const {
    std::int64_t rows = 0;
    for (const RowsWithin& block : blocks)
        rows += std::int64_t(block.counts.size());
    return rows;
}

std::int64_t PairsWithin::size() const {
    std::int64_t size = 0;
    for (const RowsWithin& block : blocks)
        size += std::int64_t(block.columns.size());
    return size;
}

void PairsWithin::write_starts(std::span<std::int64_t> out) const {
    std::size_t row = 0;
    out[row] = 0;
    for (const RowsWithin& block : blocks)
        for (const std::int64_t count : block.counts) {
            out[row + 1] = out[row] + count;
            ++row;
        }
}

void PairsWithin::take(std::span<std::int64_t> columns, void* values) {
    auto* bytes = static_cast<char*>(values);
    std::size_t at = 0;
    for (RowsWithin& block : blocks) {
        std::copy(block.columns.begin(), block.columns.end(),
                  columns.begin() + std::ptrdiff_t(at));
        for (std::size_t k = 0; k < block.values.size(); ++k)
            store_element(block.values[k], dtype,
                          bytes + (at + k) * size_of(dtype));
        at += block.columns.size();
        block = {};
    }
}

} // namespace tilefold
