// runtime/bind/call_location.cpp - where the arrays of a call are.

#include "runtime/bind/call_location.h"

#include "formulas/diagnostic.h"

#include <string>

namespace tilefold {
namespace {

/// The array that decides: one on an axis, else any.
const BoundArgument* deciding(const BoundArguments& readings) {
    const BoundArgument* parameter = nullptr;
    for (const BoundArgument& reading : readings) {
        if (reading.axes != Axes::None)
            return &reading;
        if (reading.view->data && !reading.view->location.is_host())
            parameter = &reading;
    }
    return parameter;
}

} // namespace

Location location_of(const BoundArguments& readings) {
    const BoundArgument* first = deciding(readings);
    if (!first)
        return {};
    const Location location = first->view->location;
    for (const BoundArgument& reading : readings) {
        const Location other = reading.view->location;
        const bool is_parameter =
            reading.axes == Axes::None || !reading.view->data;
        if (other != location && !(is_parameter && other.is_host()))
            fail(Code::OtherDevice,
                 {std::string(reading.name), spelling_of(other),
                  spelling_of(location)});
    }
    return location;
}

void require_host(const Location& location, const char* what) {
    if (!location.is_host())
        fail(Code::HostOnly, {what, spelling_of(location)});
}

} // namespace tilefold
