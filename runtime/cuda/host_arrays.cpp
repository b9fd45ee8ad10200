// runtime/cuda/host_arrays.cpp - the axes of every array of a piece: batches,
// points, components and columns of a matrix, in this order.

#include "runtime/cuda/host_arrays.h"

#include "runtime/cuda/job.h"

#include <algorithm>

namespace tilefold::cuda {
namespace {

/// The alignment of a device's memory for arrays of any type.
constexpr std::size_t alignment = 256;

} // namespace

HostArrays::HostArrays(const HostCall& call, const Image& image, int devices)
    : call_(call), needs_(needs(image)),
      parts_(parts_of(image, call.job.width)),
      cut_(cuda::cut(needs_, image.plan, parts_ * call.job.batches->count(),
                     call.budget, devices)) {}

HostArrays::Site HostArrays::site_of(std::size_t operand) const {
    const Axes axes = call_.graph.arguments[operand].axes;
    const bool is_row = contains(axes, Axes::I);
    const bool is_column = contains(axes, Axes::J);
    // The pair (k, k): both come as rows do.
    if (is_column && job().loop == LoopKind::Pairwise)
        return Site::Row;
    if (is_row)
        return is_column ? Site::Both : Site::Row;
    return is_column ? Site::Column : Site::None;
}

std::int64_t HostArrays::width_of(std::int32_t rows) const {
    return rows == dynamic ? job().width : rows;
}

double HostArrays::bytes_of_point(std::size_t operand) const {
    const ir::Argument& argument = call_.graph.arguments[operand];
    return double(width_of(argument.rows)) * argument.columns *
           double(size_of(argument.dtype));
}

Needs HostArrays::needs(const Image& image) const {
    Needs needs;
    needs.batches = job().batches->extents;
    needs.rows = job().rows;
    needs.columns = job().columns;
    needs.folds_rows = job().loop == LoopKind::FoldRows;
    needs.is_whole =
        job().row_index || job().column_index || job().chosen != nullptr;
    for (std::size_t k = 0; k < job().operands.size(); ++k) {
        const double bytes = bytes_of_point(k);
        switch (site_of(k)) {
        case Site::None:
            break;
        case Site::Row:
            needs.row_bytes += bytes;
            break;
        case Site::Column:
            needs.column_bytes += bytes;
            break;
        case Site::Both:
            needs.fixed_bytes +=
                bytes * double(std::max(job().rows, job().columns));
            break;
        }
    }
    if (image.shape.reduces)
        needs.state_bytes =
            double(image.shape.slots * 8 * parts_of(image, job().width));
    const double written = double(width_of(call_.result.rows)) *
                           double(size_of(call_.result.dtype));
    if (!needs.folds_rows)
        needs.row_bytes +=
            written *
            (job().loop == LoopKind::Dense ? double(job().columns) : 1.0);
    return needs;
}

std::int64_t HostArrays::batch_stride(std::size_t dimension,
                                      std::size_t operand) const {
    return job().batches->strides[dimension * job().operands.size() + operand];
}

std::int64_t HostArrays::batch_extent(const WorkItem& piece,
                                      std::size_t dimension) const {
    return dimension == cut_.outer ? piece.batches.size()
                                   : needs_.batches[dimension];
}

/// Bytes from an operand's first batch to the first one of the piece.
std::int64_t HostArrays::batch_offset(const WorkItem& piece,
                                      std::size_t operand) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < cut_.outer; ++d)
        offset += piece.at[d] * batch_stride(d, operand);
    if (cut_.outer < needs_.batches.size())
        offset += piece.batches.first * batch_stride(cut_.outer, operand);
    return offset;
}

/// The points of the array that are sent: lists may name any of them.
std::int64_t HostArrays::points(std::int64_t count,
                                const std::int64_t* list) const {
    if (!list)
        return count;
    return count ? *std::max_element(list, list + count) + 1 : 0;
}

InFlight HostArrays::brought(const WorkItem& piece, Site site,
                             Interval points) const {
    InFlight brought;
    for (std::size_t k = 0; k < job().operands.size(); ++k) {
        if (site_of(k) != site)
            continue;
        const ir::Argument& argument = call_.graph.arguments[k];
        const tilefold_kernel_operand& operand = job().operands[k];
        std::vector<CopiedAxis> axes;
        for (std::size_t d = cut_.outer; d < needs_.batches.size(); ++d)
            axes.push_back({batch_extent(piece, d), batch_stride(d, k)});
        axes.push_back({points.size(), operand.stride});
        axes.push_back({width_of(argument.rows), operand.component});
        axes.push_back({argument.columns, operand.column});
        const DenseCopy copy(axes, size_of(argument.dtype));
        const char* from = operand.base + batch_offset(piece, k) +
                           points.first * operand.stride;
        brought.arrays.push_back({k, copy, from, brought.bytes, points.first});
        brought.bytes += (copy.bytes() + alignment - 1) / alignment * alignment;
    }
    return brought;
}

InFlight HostArrays::rows(const WorkItem& piece) const {
    return brought(piece, Site::Row,
                   job().row_index
                       ? Interval{0, points(job().rows, job().row_index)}
                       : piece.rows);
}

InFlight HostArrays::columns(const WorkItem& piece, Interval columns) const {
    return brought(piece, Site::Column,
                   job().column_index
                       ? Interval{0, points(job().columns, job().column_index)}
                       : columns);
}

InFlight HostArrays::both(const WorkItem& piece) const {
    return brought(piece, Site::Both,
                   {0, std::max(points(job().rows, job().row_index),
                                points(job().columns, job().column_index))});
}

void HostArrays::place(const InFlight& brought, char* memory,
                       std::vector<DeviceOperand>& operands) const {
    const std::size_t inner = needs_.batches.size() - cut_.outer;
    for (const InFlight::Array& array : brought.arrays) {
        DeviceOperand& operand = operands[array.operand];
        operand = {};
        for (std::size_t d = 0; d < inner; ++d)
            operand.batch[most_batch_dimensions - inner + d] =
                array.copy.stride(d);
        operand.stride = array.copy.stride(inner);
        operand.component = array.copy.stride(inner + 1);
        operand.column = array.copy.stride(inner + 2);
        operand.data = memory + array.place - array.first * operand.stride;
    }
}

std::vector<DeviceOperand> HostArrays::parameters(const WorkItem& piece) const {
    const std::size_t inner = needs_.batches.size() - cut_.outer;
    std::vector<DeviceOperand> operands(job().operands.size());
    for (std::size_t k = 0; k < operands.size(); ++k) {
        if (site_of(k) != Site::None)
            continue;
        const tilefold_kernel_operand& from = job().operands[k];
        const Bytes& bytes = call_.on_host[k];
        DeviceOperand& to = operands[k];
        to.data = from.base + batch_offset(piece, k);
        to.component = from.component;
        to.column = from.column;
        to.host_bytes = std::size_t(bytes.high - bytes.low);
        to.host_before = to.data - bytes.low;
        for (std::size_t d = 0; d < inner; ++d)
            to.batch[most_batch_dimensions - inner + d] =
                batch_stride(cut_.outer + d, k);
    }
    return operands;
}

DenseCopy HostArrays::results(const WorkItem& piece) const {
    const Target& target = job().target;
    std::vector<CopiedAxis> axes;
    for (std::size_t d = cut_.outer; d < needs_.batches.size(); ++d)
        axes.push_back({batch_extent(piece, d), target.batch[d]});
    axes.push_back({needs_.folds_rows ? 1 : piece.rows.size(), target.row});
    axes.push_back(
        {job().loop == LoopKind::Dense ? job().columns : 1, target.column});
    axes.push_back({width_of(call_.result.rows), target.component});
    return {axes, size_of(call_.result.dtype)};
}

char* HostArrays::out(const WorkItem& piece) const {
    const Target& target = job().target;
    char* out = target.data;
    for (std::size_t d = 0; d < cut_.outer; ++d)
        out += piece.at[d] * target.batch[d];
    if (cut_.outer < needs_.batches.size())
        out += piece.batches.first * target.batch[cut_.outer];
    return needs_.folds_rows ? out : out + piece.rows.first * target.row;
}

void HostArrays::describe(const WorkItem& piece, const DenseCopy& results,
                          Job& made) const {
    const std::size_t inner = needs_.batches.size() - cut_.outer;
    made = without_arrays(job(), call_.graph.literals.size());
    made.rows = piece.rows.size();
    made.first_row = piece.rows.first;
    made.segments = cut_.segments;
    for (std::size_t d = 0; d < inner; ++d) {
        const std::size_t to = most_batch_dimensions - inner + d;
        made.batch[to] = batch_extent(piece, cut_.outer + d);
        made.out_batch[to] = results.stride(d);
    }
    made.out_row = results.stride(inner);
    made.out_column = results.stride(inner + 1);
    made.out_component = results.stride(inner + 2);
}

} // namespace tilefold::cuda
