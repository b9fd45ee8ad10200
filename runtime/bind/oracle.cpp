// runtime/bind/oracle.cpp - what a kernel's results should be.

#include "runtime/bind/oracle.h"

#include "formulas/diagnostic.h"
#include "runtime/core/element.h"

#include <algorithm>

namespace tilefold {
namespace {

std::int64_t listed(const std::int64_t* list, std::int64_t k) {
    return list ? list[k] : k;
}

/// The interval that `point` is in, or -1; they ascend.
std::ptrdiff_t place_in(std::span<const Interval> intervals,
                        std::int64_t point) {
    const auto after =
        std::ranges::upper_bound(intervals, point, {}, &Interval::first);
    const bool found = after != intervals.begin() && point < after[-1].last;
    return found ? after - intervals.begin() - 1 : -1;
}

bool is_chosen(const TileList& list, std::int64_t row, std::int64_t column) {
    const auto tile = place_in(list.rows, row);
    return tile >= 0 &&
           place_in(list.columns_of(std::size_t(tile)), column) >= 0;
}

/// Numbers that are computed for a pair, or more.
std::int64_t steps_of(const ir::Graph& graph, std::int64_t width) {
    std::int64_t steps = 0;
    for (const ir::Node& node : graph.nodes)
        steps += node.type.rows == dynamic
                     ? width
                     : std::int64_t(node.type.rows) * node.type.columns;
    return steps;
}

} // namespace

Oracle::Oracle(const KernelCall& call, GoingOn& going_on)
    : call_(call), job_(call.job), program_(call.executable->program),
      listed_columns_(reduces() && job_.column_index),
      steps_(steps_of(program_.graph(), job_.width)), going_on_(going_on) {
    refuse_lists();
}

bool Oracle::reduces() const {
    return job_.loop == LoopKind::Reduce || job_.loop == LoopKind::FoldRows;
}

void Oracle::refuse_lists() const {
    const bool lists =
        listed_columns_ || (job_.loop == LoopKind::FoldRows && job_.row_index);
    const bool indices = std::ranges::any_of(
        call_.context.parsed->tree().nodes,
        [](const ast::Node& node) { return node.kind == ast::Kind::Index; });
    if (lists && (indices || job_.loop == LoopKind::FoldRows))
        fail(Code::BadOption,
             {"check", "used with listed points of a reduced axis here",
              "check the formula without the list"});
}

std::int64_t Oracle::points() const {
    if (job_.loop == LoopKind::FoldRows)
        return 1;
    return job_.loop == LoopKind::Dense ? job_.rows * job_.columns : job_.rows;
}

Sample Oracle::sample(std::int64_t batch, std::int64_t point) const {
    if (job_.loop == LoopKind::Dense)
        return {batch, point / job_.columns, point % job_.columns};
    return {batch, point, point};
}

/// Bytes from the first batch to `batch`.
std::int64_t Oracle::batch_offset(std::int64_t batch,
                                  std::size_t operand) const {
    const Batches& batches = call_.batches;
    std::int64_t offset = 0;
    for (std::size_t d = batches.extents.size(); d-- > 0;
         batch /= batches.extents[d])
        offset += batch % batches.extents[d] *
                  batches.strides[d * call_.operands.size() + operand];
    return offset;
}

ir::Number Oracle::read(const Sample& sample, std::size_t number,
                        std::int64_t point, std::int32_t row,
                        std::int32_t column) const {
    const tilefold_kernel_operand& from = call_.operands[number];
    if (listed_columns_)
        point =
            point >= first_row ? point - first_row : job_.column_index[point];
    return number_at(from.base + batch_offset(sample.batch, number) +
                         point * from.stride + row * from.component +
                         column * from.column,
                     program_.graph().arguments[number].dtype);
}

std::vector<double> Oracle::expected(const Sample& sample) const {
    reference::Sizes sizes{job_.rows, job_.columns, std::int32_t(job_.width)};
    std::int64_t row =
        listed(job_.row_index, sample.row) + (listed_columns_ ? first_row : 0);
    std::int64_t column =
        reduces() ? 0 : listed(job_.column_index, sample.column);
    if (job_.chosen)
        sizes.chosen = [this, &sample](std::int64_t r, std::int64_t c) {
            return is_chosen(job_.chosen->list(sample.batch), r, c);
        };
    sizes.before_pair = [this] { going_on_.after(steps_); };
    auto reader = [&](std::size_t number, std::int64_t point, std::int32_t r,
                      std::int32_t c) {
        return read(sample, number, point, r, c);
    };
    std::vector<double> numbers =
        reference::evaluate(program_.graph(), sizes, reader, {&row, 1},
                            {&column, reduces() ? 0u : 1u});
    for (double& number : numbers) // of bits as an int64
        if (program_.result.dtype == DType::U64 && number < 0)
            number += 0x1p64;
    return numbers;
}

} // namespace tilefold
