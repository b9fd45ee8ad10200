// runtime/bind/two_readings.cpp - shapes that say two things where there are
// batches.

#include "runtime/bind/two_readings.h"

#include "formulas/diagnostic.h"
#include "runtime/bind/bind_job.h"

#include <algorithm>
#include <string>

namespace tilefold {
namespace {

Extents batch_of_others(const BoundArguments& readings, std::size_t place,
                        const Ranges* ranges) {
    BoundArguments others = readings;
    others.erase(others.begin() + std::ptrdiff_t(place));
    return batch_shape(others, ranges);
}

/// Whether the dimensions of a reading before its last `rest` are the last
/// batch dimensions of the others.
bool leads_with_batch(const BoundArguments& readings, std::size_t place,
                      std::size_t rest, const Ranges* ranges) {
    const Extents& shape = readings[place].view->shape;
    if (shape.size() <= rest)
        return false;
    const Extents batch = batch_of_others(readings, place, ranges);
    const std::size_t count = shape.size() - rest;
    return count <= batch.size() &&
           std::equal(shape.begin(), shape.begin() + std::ptrdiff_t(count),
                      batch.end() - std::ptrdiff_t(count));
}

/// Whether an array may be (…, N): a number for each point of each batch.
/// Others on its axis have N points, or may be read so, too.
bool has_number_for_each_point(const BoundArguments& readings,
                               std::size_t place, const Ranges* ranges) {
    const BoundArgument& reading = readings[place];
    if (!leads_with_batch(readings, place, 1, ranges))
        return false;
    const std::int64_t points = reading.view->shape.back();
    for (std::size_t k = 0; k < readings.size(); ++k) {
        const BoundArgument& other = readings[k];
        if (k != place && contains(other.axes, reading.axes) &&
            other.points != points &&
            (other.view->shape.back() != points ||
             !leads_with_batch(readings, k, 1, ranges)))
            return false;
    }
    return true;
}

/// Whether nothing else is on the axis of an array, and another argument has
/// vectors as long: then these are vectors, too.
bool has_partner(const BoundArguments& readings, std::size_t place) {
    const BoundArgument& reading = readings[place];
    bool found = false;
    for (std::size_t k = 0; k < readings.size(); ++k) {
        if (k == place)
            continue;
        if (contains(readings[k].axes, reading.axes))
            return false;
        found |= readings[k].rows == reading.rows;
    }
    return found;
}

/// Whether the batch dimensions of a reading are those of the others, or 1.
bool broadcasts(const BoundArguments& readings, std::size_t place,
                const Ranges* ranges) {
    const BoundArgument& reading = readings[place];
    const Extents batch = batch_of_others(readings, place, ranges);
    for (std::size_t d = 1; d <= std::min(reading.batch, batch.size()); ++d) {
        const std::int64_t extent = reading.view->shape[reading.batch - d];
        const std::int64_t other = batch[batch.size() - d];
        if (extent != other && extent != 1 && other != 1)
            return false;
    }
    return true;
}

Extents extended(Extents shape, std::size_t ones) {
    shape.resize(shape.size() + ones, 1);
    return shape;
}

Extents preceded(Extents shape) {
    shape.push_front(1);
    return shape;
}

std::string counted(std::int64_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

[[noreturn]] void say_it_is_a_batch(const BoundArgument& reading) {
    const Extents& shape = reading.view->shape;
    fail(Code::BatchOfScalars, {std::string(reading.name), spelling_of(shape),
                                spelling_of(extended(shape, 1))});
}

void check_array(const BoundArguments& readings, std::size_t place,
                 const Ranges* ranges) {
    const BoundArgument& reading = readings[place];
    const Extents& shape = reading.view->shape;
    const bool one_number = reading.points == 1 && reading.rows == 1;
    if (one_number || !has_number_for_each_point(readings, place, ranges) ||
        has_partner(readings, place))
        return;
    if (!broadcasts(readings, place, ranges))
        say_it_is_a_batch(reading);
    fail(Code::BatchOrComponents,
         {std::string(reading.name), spelling_of(shape),
          counted(shape.back(), "number") + " for each batch",
          counted(reading.points, "point") + " of " +
              counted(reading.rows, "component"),
          spelling_of(extended(shape, 1)), spelling_of(preceded(shape))});
}

void check_parameter(const BoundArguments& readings, std::size_t place,
                     const Ranges* ranges) {
    const BoundArgument& reading = readings[place];
    const Extents& shape = reading.view->shape;
    if (shape.size() != 1 || reading.rank != 1 ||
        !leads_with_batch(readings, place, 0, ranges))
        return;
    fail(Code::BatchOrComponents,
         {std::string(reading.name), spelling_of(shape),
          "a number for each batch",
          "a vector of " + counted(shape[0], "component"),
          spelling_of(extended(shape, 2)), spelling_of(preceded(shape))});
}

/// The points of another array on the axis of one, or -1.
std::int64_t points_of_another(const BoundArguments& readings,
                               std::size_t place) {
    for (std::size_t k = 0; k < readings.size(); ++k)
        if (k != place && contains(readings[k].axes, readings[place].axes))
            return readings[k].points;
    return -1;
}

} // namespace

bool any_batch(const BoundArguments& readings, const Ranges* ranges) {
    return (ranges && !ranges->batch().empty()) ||
           std::ranges::any_of(readings, [](const BoundArgument& reading) {
               return reading.batch > 0;
           });
}

void check_two_readings(const BoundArguments& readings, std::size_t place,
                        const Ranges* ranges) {
    if (readings[place].axes == Axes::None)
        check_parameter(readings, place, ranges);
    else
        check_array(readings, place, ranges);
}

void explain_length(const BoundArguments& readings, const Ranges* ranges) {
    for (std::size_t k = 0; k < readings.size(); ++k) {
        const BoundArgument& reading = readings[k];
        const Extents& shape = reading.view->shape;
        if (reading.axes != Axes::None && !reading.says_batch &&
            shape.size() > 1 && shape.back() != reading.points &&
            shape.back() == points_of_another(readings, k) &&
            leads_with_batch(readings, k, 1, ranges))
            say_it_is_a_batch(reading);
    }
}

} // namespace tilefold
