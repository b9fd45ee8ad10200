// runtime/bind/call_location.h - where the arrays of a call are.
#pragma once

#include "runtime/bind/bind_shapes.h"
#include "runtime/core/view.h"

namespace tilefold {

/// Throws Error(OtherDevice) unless the arrays are on one device. Parameters
/// of the host's memory go with any: they are copied.
Location location_of(const BoundArguments& readings);

/// Throws Error(HostOnly) where `what` was given arrays of a device.
void require_host(const Location& location, const char* what);

} // namespace tilefold
