// python_bindings/kernel_shape.h - what the shapes of arguments say before
// anything is compiled to machine code.
#pragma once

#include "runtime/session.h"

#include <span>

namespace tilefold::python {

/// (…, N, M) of the pair term `pair`. Throws what Formula::bind would throw
/// of names, shapes and dtypes.
Extents kernel_shape(const Formula& pair, std::span<const NamedView> arguments);

/// Pairs of points, or points of a map, that `formula` goes over.
double pairs_of(const Formula& formula, std::span<const NamedView> arguments);

} // namespace tilefold::python
