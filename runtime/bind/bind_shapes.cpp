// runtime/bind/bind_shapes.cpp - shapes to points, components and batches.

#include "runtime/bind/bind_shapes.h"

#include "formulas/diagnostic.h"

#include <algorithm>
#include <limits>
#include <string>

namespace tilefold {
namespace {

std::string spelled(const View& view) {
    return spelling_of(view.shape);
}

/// A number of components as the compiler counts them.
std::int32_t components(std::string_view name, const View& view,
                        std::int64_t count) {
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    if (count > most)
        fail(Code::RankTooHigh,
             {std::string(name), spelled(view),
              std::to_string(most) + " components of a point"});
    if (count == 0)
        fail(Code::WrongComponents, {std::string(name), "0", "1 or more"});
    return std::int32_t(count);
}

/// Dimensions before the last two, or those that the caller said are a
/// batch's, which leave at most two. A number is one for all batches.
std::size_t count_batch(const BoundArgument& reading, const View& view,
                        std::optional<std::size_t> said) {
    const std::size_t n = view.shape.size();
    if (!said || n == 0)
        return n > 2 ? n - 2 : 0;
    if (n < *said || n > *said + 2)
        fail(Code::BatchRank,
             {std::string(reading.name), spelled(view), std::to_string(*said)});
    return *said;
}

/// Reads the points of a view: the dimensions behind its batch.
void read_points(BoundArgument& reading, const View& view) {
    const std::size_t first = reading.batch;
    const std::size_t n = view.shape.size() - first;
    if (n == 0)
        fail(Code::PointsExpected,
             {std::string(reading.name),
              std::string(reading.axes == Axes::J ? "j" : "i")});
    reading.points = view.shape[first];
    reading.operand.stride = view.strides[first];
    if (n == 1)
        return;
    reading.rank = 1;
    reading.rows = components(reading.name, view, view.shape.back());
    reading.operand.component = view.strides.back();
}

void read_parameter(BoundArgument& reading, const View& view, bool is_table) {
    const std::size_t n = view.shape.size();
    if (n == reading.batch)
        return;
    const bool is_matrix = n - reading.batch > 1;
    const std::int64_t rows = is_matrix ? view.shape[n - 2] : 1;
    const std::int64_t columns = view.shape[n - 1];
    const bool stays_matrix = is_matrix && is_table;
    if (rows == 1 && columns == 1 && !stays_matrix)
        return;
    if (rows == 1 && !stays_matrix) {
        reading.rank = 1;
        reading.rows = components(reading.name, view, columns);
        reading.operand.component = view.strides[n - 1];
        return;
    }
    reading.rank = 2;
    reading.rows = components(reading.name, view, rows);
    reading.columns = components(reading.name, view, columns);
    reading.operand.component = view.strides[n - 2];
    reading.operand.column = view.strides[n - 1];
}

void agree(std::int64_t& length, const BoundArgument*& said_by,
           const BoundArgument& reading, const char* axis) {
    if (length >= 0 && length != reading.points)
        fail(Code::LengthMismatch,
             {std::string(said_by->name), std::to_string(length), axis,
              std::string(reading.name), std::to_string(reading.points)});
    length = reading.points;
    said_by = &reading;
}

Extents batch_of(const BoundArgument& reading) {
    auto begin = reading.view->shape.begin();
    return Extents(begin, begin + std::ptrdiff_t(reading.batch));
}

} // namespace

BoundArgument without_shape(std::string_view name, const View& view,
                            ArgumentRole role) {
    BoundArgument reading;
    reading.name = name;
    reading.axes = role.axes;
    reading.dtype = view.dtype;
    reading.view = &view;
    reading.operand.base = static_cast<const char*>(view.data);
    return reading;
}

BoundArgument read_shape(const NamedView& argument, ArgumentRole role) {
    BoundArgument reading =
        read_shape(argument.name, argument.view, role, argument.batch);
    reading.part = argument.part;
    return reading;
}

BoundArgument read_shape(std::string_view name, const View& view,
                         ArgumentRole role, std::optional<std::size_t> batch) {
    BoundArgument reading = without_shape(name, view, role);
    reading.batch = count_batch(reading, view, batch);
    reading.says_batch = batch.has_value();
    if (role.axes == Axes::None)
        read_parameter(reading, view, role.is_table);
    else
        read_points(reading, view);
    return reading;
}

Lengths lengths_of(const BoundArguments& readings) {
    Lengths lengths;
    const BoundArgument* on_i = nullptr;
    const BoundArgument* on_j = nullptr;
    for (const BoundArgument& reading : readings) {
        if (contains(reading.axes, Axes::I))
            agree(lengths.i, on_i, reading, "i");
        if (contains(reading.axes, Axes::J))
            agree(lengths.j, on_j, reading, "j");
    }
    return lengths;
}

Extents batch_shape(const BoundArguments& readings) {
    std::size_t dimensions = 0;
    for (const BoundArgument& reading : readings)
        dimensions = std::max(dimensions, reading.batch);
    Extents shape(dimensions, 1);
    for (const BoundArgument& reading : readings)
        for (std::size_t d = 0; d < reading.batch; ++d) {
            std::int64_t extent = reading.view->shape[d];
            std::int64_t& known = shape[dimensions - reading.batch + d];
            if (known != 1 && extent != 1 && known != extent) {
                auto other = std::ranges::find_if(readings, [&](auto& r) {
                    std::size_t from_end = reading.batch - d;
                    return r.batch >= from_end &&
                           r.view->shape[r.batch - from_end] == known;
                });
                fail(Code::BatchMismatch,
                     {spelling_of(batch_of(*other)), std::string(other->name),
                      spelling_of(batch_of(reading)),
                      std::string(reading.name)});
            }
            if (known == 1)
                known = extent;
        }
    return shape;
}

std::int64_t batch_stride(const BoundArgument& reading, const Extents& shape,
                          std::size_t dimension) {
    std::size_t missing = shape.size() - reading.batch;
    if (dimension < missing || reading.view->shape[dimension - missing] == 1)
        return 0;
    return reading.view->strides[dimension - missing];
}

} // namespace tilefold
