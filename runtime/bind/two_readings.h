// runtime/bind/two_readings.h - shapes that say two things where there are
// batches.
//
// An array on i or j of shape (B, N) has N components, and a parameter of shape
// (B,) has B; a batch of scalars ends in 1: (B, N, 1), (B, 1, 1). Where the
// other arguments have a batch of B and the sizes allow that these are one of
// scalars, too, the call is refused:
//
//   array       others on its axis have N = B points, or there are none and
//               nothing else has vectors as long
//   parameter   always
//
// (1, B, N) and (1, B) say plainly that these are components.
#pragma once

#include "runtime/bind/bind_shapes.h"
#include "runtime/schedule/ranges.h"

#include <cstddef>

namespace tilefold {

/// Whether an argument or the ranges, which may be null, have a batch.
bool any_batch(const BoundArguments& readings, const Ranges* ranges);

/// Throws where the array or the parameter at `place` has two readings.
void check_two_readings(const BoundArguments& readings, std::size_t place,
                        const Ranges* ranges);

/// Throws where arrays on one axis disagree in length and one of them is a
/// batch of scalars by its shape.
void explain_length(const BoundArguments& readings, const Ranges* ranges);

} // namespace tilefold
