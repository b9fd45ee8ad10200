// runtime/session/kernel_shape.h - what the shapes of arguments say before
// anything is compiled to machine code.
#pragma once

#include "runtime/session/session.h"

#include <span>
#include <string>
#include <vector>

namespace tilefold {

/// How many values a formula without a reduction has, and of which type.
struct ValueShape {
    Extents batch;
    std::int64_t i = -1, j = -1;  ///< points; -1 where no array is on the axis
    std::int64_t components = -1; ///< of a value; -1: it is a scalar
    DType dtype = DType::F64;     ///< of a complex value, that of its parts
    bool is_complex = false;
};

/// Throws what Formula::bind would throw of names, shapes and dtypes.
ValueShape value_shape(const Formula& pair,
                       std::span<const NamedView> arguments);

/// What a pair term reads of the sizes of its own matrix, which must stay what
/// they are on a part of it. The numbers of points become arguments, so that
/// one kernel does for all of them; the number of components is one of types.
struct OwnSizes {
    std::vector<std::string> points; ///< of N and M, those that it reads
    std::string text;                ///< with a number for D; empty: as it was
};
OwnSizes own_sizes(const Formula& pair, std::span<const NamedView> arguments);

/// (…, N, M) of the pair term `pair`. Throws as value_shape().
Extents kernel_shape(const Formula& pair, std::span<const NamedView> arguments);
/// The same of one whose values are numbers: of others it throws
/// Error(SolveVectors).
Extents shape_of_kernel(const Formula& pair,
                        std::span<const NamedView> arguments);

/// Pairs of points, or points of a map, that `formula` goes over.
double pairs_of(const Formula& formula, std::span<const NamedView> arguments);

} // namespace tilefold
