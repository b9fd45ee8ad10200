// runtime/check.cpp - Bound::check: a sample of results, computed again by
// the interpreter in double precision.
//
// The interpreter numbers points 0, 1, 2 … on both axes. Lists on a kept axis
// are the points asked for; a list on the reduced axis is looked up when an
// argument is read. To tell the two axes apart there, rows are numbered from
// `first_row` on; index symbols would show that, and are refused.

#include "compiler/backends/reference/interpreter.h"
#include "formulas/diagnostic.h"
#include "runtime/element.h"
#include "runtime/session_state.h"

#include <algorithm>
#include <cmath>

namespace tilefold {
namespace {

using detail::BoundState;

constexpr std::int64_t first_row = std::int64_t(1) << 48;

/// A result: its batch, and the row and column it is for.
struct Sample {
    std::int64_t batch = 0, row = 0, column = 0;
};

class Check {
public:
    Check(const BoundState& bound, const Output& out)
        : bound_(bound), job_(bound.job), out_(out),
          program_(bound.prepared->program),
          listed_columns_(reduces() && job_.column_index) {}

    double run(std::int64_t rows) {
        refuse_what_cannot_be_checked();
        std::int64_t total = bound_.batches.count() * points();
        std::int64_t count = std::min(std::max<std::int64_t>(rows, 1), total);
        for (std::int64_t k = 0; k < count; ++k)
            compare(sample(
                std::int64_t(double(k) * double(total) / double(count))));
        double scale =
            largest_magnitude(0, static_cast<const char*>(out_.data));
        return error_ == 0 ? 0 : error_ / (scale > 0 ? scale : 1);
    }

private:
    bool reduces() const {
        return job_.work == Work::Reduce || job_.work == Work::FoldRows;
    }

    void refuse_what_cannot_be_checked() const {
        bool lists =
            listed_columns_ || (job_.work == Work::FoldRows && job_.row_index);
        bool indices = std::ranges::any_of(
            bound_.parsed->tree().nodes, [](const ast::Node& node) {
                return node.kind == ast::Kind::Index;
            });
        if (lists && (indices || job_.work == Work::FoldRows))
            fail(Code::BadOption,
                 {"check", "used with listed points of a reduced axis here",
                  "check the formula without the list"});
    }

    /// Results of a batch, each of some components.
    std::int64_t points() const {
        if (job_.work == Work::FoldRows)
            return 1;
        return job_.work == Work::Dense ? job_.rows * job_.columns : job_.rows;
    }

    Sample sample(std::int64_t number) const {
        std::int64_t point = number % points();
        Sample sample{number / points(), point, point};
        if (job_.work == Work::Dense)
            sample = {sample.batch, point / job_.columns, point % job_.columns};
        return sample;
    }

    static std::int64_t listed(const std::int64_t* list, std::int64_t k) {
        return list ? list[k] : k;
    }

    /// Bytes from the first batch to `batch`, for strides[d * step + offset].
    std::int64_t batch_offset(std::int64_t batch, std::size_t operand) const {
        const Extents& extents = bound_.batches.extents;
        std::int64_t offset = 0;
        for (std::size_t d = extents.size(); d-- > 0; batch /= extents[d])
            offset +=
                batch % extents[d] *
                bound_.batches.strides[d * bound_.operands.size() + operand];
        return offset;
    }

    long double read(const Sample& sample, std::size_t number,
                     std::int64_t point, std::int32_t row,
                     std::int32_t column) const {
        const tilefold_operand& from = bound_.operands[number];
        if (listed_columns_)
            point = point >= first_row ? point - first_row
                                       : job_.column_index[point];
        return exact_element_at(from.base + batch_offset(sample.batch, number) +
                                    point * from.stride + row * from.component +
                                    column * from.column,
                                program_.graph.arguments[number].dtype);
    }

    std::vector<double> expected(const Sample& sample) const {
        reference::Sizes sizes{job_.rows, job_.columns,
                               std::int32_t(job_.width)};
        std::int64_t row = listed(job_.row_index, sample.row) +
                           (listed_columns_ ? first_row : 0);
        std::int64_t column =
            reduces() ? 0 : listed(job_.column_index, sample.column);
        if (job_.chosen)
            sizes.chosen = [this, &sample](std::int64_t r, std::int64_t c) {
                return is_chosen(job_.chosen->list(sample.batch), r, c);
            };
        auto reader = [&](std::size_t number, std::int64_t point,
                          std::int32_t r, std::int32_t c) {
            return read(sample, number, point, r, c);
        };
        std::vector<double> numbers =
            reference::evaluate(program_.graph, sizes, reader, {&row, 1},
                                {&column, reduces() ? 0u : 1u});
        for (double& number : numbers) // of bits as an int64
            if (program_.result.dtype == DType::U64 && number < 0)
                number += 0x1p64;
        return numbers;
    }

    static bool is_chosen(const TileList& list, std::int64_t row,
                          std::int64_t column) {
        const auto place_in = [](std::span<const Interval> intervals,
                                 std::int64_t point) {
            const auto after = std::ranges::upper_bound(intervals, point, {},
                                                        &Interval::first);
            const bool found =
                after != intervals.begin() && point < after[-1].last;
            return found ? after - intervals.begin() - 1 : -1;
        };
        const auto tile = place_in(list.rows, row);
        return tile >= 0 &&
               place_in(list.columns_of(std::size_t(tile)), column) >= 0;
    }

    const char* place(const Sample& sample) const {
        std::int64_t batch = sample.batch;
        auto* at = static_cast<const char*>(out_.data);
        for (std::size_t d = bound_.batch_dimensions; d-- > 0;
             batch /= bound_.shape[d])
            at += batch % bound_.shape[d] * out_.strides[d];
        if (bound_.row_axis >= 0)
            at += sample.row * out_.strides[std::size_t(bound_.row_axis)];
        if (bound_.column_axis >= 0)
            at += sample.column * out_.strides[std::size_t(bound_.column_axis)];
        return at;
    }

    void compare(const Sample& sample) {
        const char* at = place(sample);
        std::int64_t component =
            bound_.component_axis < 0
                ? 0
                : out_.strides[std::size_t(bound_.component_axis)];
        for (double value : expected(sample)) {
            double found = element_at(at, out_.dtype);
            bool same =
                found == value || (std::isnan(found) && std::isnan(value));
            double difference = std::abs(found - value);
            if (!same)
                error_ = std::isnan(difference) ? INFINITY
                                                : std::max(error_, difference);
            at += component;
        }
    }

    double largest_magnitude(std::size_t axis, const char* at) const {
        if (axis == out_.shape.size()) {
            double magnitude = std::abs(element_at(at, out_.dtype));
            return std::isfinite(magnitude) ? magnitude : 0;
        }
        double largest = 0;
        for (std::int64_t k = 0; k < out_.shape[axis]; ++k)
            largest = std::max(
                largest,
                largest_magnitude(axis + 1, at + k * out_.strides[axis]));
        return largest;
    }

    const BoundState& bound_;
    const Job& job_;
    const Output& out_;
    const Program& program_;
    bool listed_columns_;
    double error_ = 0;
};

} // namespace

double Bound::check(const Output& out, std::int64_t rows) const {
    require_host(state_->location, "check");
    if (state_->sweeps) // every pair of the sweeps before would be needed
        fail(Code::BadOption,
             {"check", "used with a formula of several sweeps over the pairs",
              "check the formula that is differentiated"});
    if (!state_->summed.empty())
        fail(Code::SumBatchOf,
             {"to be checked batch by batch", "check without sum_batch"});
    return Check(*state_, out).run(rows);
}

} // namespace tilefold
