// runtime/bind/check.cpp - Bound::check: a sample of results, computed again
// by the interpreter in double precision.
//
//  1. Rows are evenly spaced; of results that are summed over batches, and of
//     gradients of what was broadcast along them, a row is the sum over its
//     batches.
//  2. Sweeps are checked one by one, each from what those before it left: to
//     compute that again, too, would take every pair. So that nothing escapes,
//     rows of what is left are compared as rows of results are.
//  3. Errors are relative to the largest result; a complex one is as large as
//     the larger of its parts.

#include "runtime/bind/batch_sum.h"
#include "runtime/bind/bound_kernel.h"
#include "runtime/bind/oracle.h"
#include "runtime/bind/sweeps.h"
#include "runtime/core/element.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace tilefold {
namespace {

double largest_magnitude(const Output& out, GoingOn& going_on, std::size_t axis,
                         const char* at) {
    if (axis == out.shape.size()) {
        going_on.after(1);
        const double magnitude = std::abs(element_at(at, out.dtype));
        return std::isfinite(magnitude) ? magnitude : 0;
    }
    double largest = 0;
    for (std::int64_t k = 0; k < out.shape[axis]; ++k)
        largest =
            std::max(largest, largest_magnitude(out, going_on, axis + 1,
                                                at + k * out.strides[axis]));
    return largest;
}

double largest_magnitude(const Output& out, GoingOn& going_on) {
    return largest_magnitude(out, going_on, 0,
                             static_cast<const char*>(out.data));
}

/// Differences of one result, or of the parts of a complex one.
class Differences {
public:
    void add(double found, double expected) {
        const bool same =
            found == expected || (std::isnan(found) && std::isnan(expected));
        const double difference = std::abs(found - expected);
        if (!same)
            largest_ = std::isnan(difference) ? INFINITY
                                              : std::max(largest_, difference);
    }
    double relative_to(double scale) const {
        return largest_ == 0 ? 0 : largest_ / (scale > 0 ? scale : 1);
    }

private:
    double largest_ = 0;
};

/// Calls visit(k) for at most `rows` of `total` numbers, evenly spaced.
template <class Visit>
void sample(std::int64_t rows, std::int64_t total, Visit visit) {
    const std::int64_t count = std::min(std::max<std::int64_t>(rows, 1), total);
    for (std::int64_t k = 0; k < count; ++k)
        visit(std::int64_t(double(k) * double(total) / double(count)));
}

/// Each batch's result, where batches are summed in groups: by batch in the
/// order of C, the number of its group.
using Groups = std::vector<std::int64_t>;

std::vector<double> sum_of_group(const Oracle& oracle, const Groups& groups,
                                 std::int64_t group, std::int64_t point) {
    std::vector<double> sum;
    for (std::size_t batch = 0; batch < groups.size(); ++batch) {
        if (groups[batch] != group)
            continue;
        const auto values =
            oracle.expected(oracle.sample(std::int64_t(batch), point));
        sum.resize(values.size(), 0.0);
        std::ranges::transform(sum, values, sum.begin(), std::plus());
    }
    return sum;
}

std::int64_t count_of(const Groups& groups) {
    return groups.empty() ? 0 : std::ranges::max(groups) + 1;
}

/// Compares the results of one kernel, be they summed over some batch
/// dimensions or not, with what `out` has.
class KernelCheck {
public:
    KernelCheck(const KernelCall& call, std::vector<bool> summed,
                const Output& out, GoingOn& going_on)
        : call_(call), summed_(std::move(summed)), oracle_(call, going_on),
          going_on_(going_on), out_(out) {
        std::size_t axis = 0;
        for (std::size_t d = 0; d < call.shape.size(); ++d) {
            const bool is_summed = d < summed_.size() && summed_[d];
            strides_.push_back(is_summed ? 0 : out.strides[axis++]);
        }
    }

    double run(std::int64_t rows) {
        const Groups groups = groups_of_batches();
        sample(rows, count_of(groups) * oracle_.points(),
               [&](std::int64_t number) {
                   compare(groups, number / oracle_.points(),
                           number % oracle_.points());
               });
        return differences_.relative_to(largest_magnitude(out_, going_on_));
    }

private:
    Groups groups_of_batches() const {
        Extents shape, strides;
        std::int64_t stride = 1;
        for (std::size_t d = call_.batch_dimensions; d-- > 0;) {
            const bool is_summed = strides_[d] == 0 && !summed_.empty();
            shape.push_front(call_.shape[d]);
            strides.push_front(is_summed ? 0 : stride);
            stride *= is_summed ? 1 : call_.shape[d];
        }
        Groups groups;
        each_element(shape, strides,
                     [&](std::int64_t group) { groups.push_back(group); });
        return groups;
    }

    /// The address of the first component of a result.
    const char* place(const Groups& groups, std::int64_t group,
                      const Sample& sample) const {
        std::int64_t batch = std::ranges::find(groups, group) - groups.begin();
        const auto* at = static_cast<const char*>(out_.data);
        for (std::size_t d = call_.batch_dimensions; d-- > 0;
             batch /= call_.shape[d])
            at += batch % call_.shape[d] * strides_[d];
        if (call_.row_axis >= 0)
            at += sample.row * strides_[std::size_t(call_.row_axis)];
        if (call_.column_axis >= 0)
            at += sample.column * strides_[std::size_t(call_.column_axis)];
        return at;
    }

    void compare(const Groups& groups, std::int64_t group, std::int64_t point) {
        const char* at = place(groups, group, oracle_.sample(0, point));
        const std::int64_t component =
            call_.component_axis < 0
                ? 0
                : strides_[std::size_t(call_.component_axis)];
        for (double value : sum_of_group(oracle_, groups, group, point)) {
            differences_.add(element_at(at, out_.dtype), value);
            at += component;
        }
    }

    const KernelCall& call_;
    std::vector<bool> summed_; ///< by batch dimension
    const Oracle oracle_;
    GoingOn& going_on_;
    const Output& out_;
    Extents strides_; ///< of `out`, by dimension of the kernel's results
    Differences differences_;
};

/// Compares the results of several sweeps with what `outs` has.
class SweepCheck {
public:
    SweepCheck(const SweepCall& call, std::span<const Output> outs,
               const GoesOn& goes_on, GoingOn& going_on)
        : call_(call), outs_(outs), going_on_(going_on), trace_(call, goes_on) {
        for (std::size_t k = 0; k < trace_.kernels(); ++k)
            oracles_.emplace_back(trace_.kernel(k), going_on);
    }

    double run(std::int64_t rows) {
        double error = 0;
        for (std::size_t k = 0; k < trace_.kernels(); ++k)
            if (trace_.is_read_later(k))
                error = std::max(error, KernelCheck(trace_.kernel(k), {},
                                                    trace_.left(k), going_on_)
                                            .run(rows));
        for (std::size_t r = 0; r < outs_.size();) {
            const std::size_t parts =
                r + 1 < outs_.size() && is_imaginary(r + 1) ? 2 : 1;
            error = std::max(error, error_of(r, parts, rows));
            r += parts;
        }
        return error;
    }

private:
    bool is_imaginary(std::size_t result) const {
        return call_.results[result].is_imaginary;
    }

    double error_of(std::size_t first, std::size_t parts, std::int64_t rows) {
        Differences differences;
        double scale = 0;
        for (std::size_t r = first; r < first + parts; ++r) {
            compare(r, rows, differences);
            scale = std::max(scale, largest_magnitude(outs_[r], going_on_));
        }
        return differences.relative_to(scale);
    }

    void compare(std::size_t result, std::int64_t rows,
                 Differences& differences) {
        const Output& out = outs_[result];
        const SweepTrace::Source source = trace_.source_of(result);
        if (source.sweep < 0)
            return each_element(out.shape, out.strides, [&](std::int64_t at) {
                differences.add(number_at(out, at), 0);
            });
        const Oracle& oracle = oracles_[std::size_t(source.sweep)];
        const std::int64_t points = oracle.points();
        sample(rows, count_of(source.groups) * points,
               [&](std::int64_t number) {
                   const auto values = sum_of_group(
                       oracle, source.groups, number / points, number % points);
                   for (std::int64_t c = 0; c < source.components; ++c)
                       differences.add(
                           number_at(
                               out,
                               offset_of(out, number * source.components + c)),
                           values[std::size_t(source.first + c)]);
               });
    }

    static double number_at(const Output& out, std::int64_t offset) {
        return element_at(static_cast<const char*>(out.data) + offset,
                          out.dtype);
    }

    /// The offset of an element, by its number in the order of C.
    static std::int64_t offset_of(const Output& out, std::int64_t number) {
        std::int64_t offset = 0;
        for (std::size_t d = out.shape.size(); d-- > 0; number /= out.shape[d])
            offset += number % out.shape[d] * out.strides[d];
        return offset;
    }

    const SweepCall& call_;
    const std::span<const Output> outs_;
    GoingOn& going_on_;
    const SweepTrace trace_;
    std::deque<Oracle> oracles_; ///< by kernel
};

} // namespace

double BoundKernel::error_of(std::span<const Output> outs, std::int64_t rows,
                             const GoesOn& goes_on) const {
    GoingOn going_on(goes_on);
    return KernelCheck(call_, {}, outs[0], going_on).run(rows);
}

double BoundBatchSum::error_of(std::span<const Output> outs, std::int64_t rows,
                               const GoesOn& goes_on) const {
    GoingOn going_on(goes_on);
    return KernelCheck(call_, summed_, outs[0], going_on).run(rows);
}

double BoundSweeps::error_of(std::span<const Output> outs, std::int64_t rows,
                             const GoesOn& goes_on) const {
    GoingOn going_on(goes_on);
    return SweepCheck(call_, outs, goes_on, going_on).run(rows);
}

} // namespace tilefold
