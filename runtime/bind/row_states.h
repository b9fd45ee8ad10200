// runtime/bind/row_states.h - what a reduction keeps of part of an axis: states
// that are computed, merged and finalised apart from one another.
#pragma once

#include "runtime/bind/kernel_call.h"
#include "runtime/bind/state_layout.h"

namespace tilefold {

/// Throws where the call has no states: one kernel of the host has, that
/// reduces all pairs by a segment.
StateLayout state_layout(const KernelCall* call);

/// The state of points `part` of the reduced axis, by their numbers: a node of
/// its tree of segments, or less than a segment. Writes all elements.
void leave_states(const KernelCall& call, Interval part, double* states,
                  const Poll& poll);
/// Joins the states of points that come later.
void merge_states(const KernelCall& call, double* into, const double* from);
/// Writes the results, from the states of all points.
void finalise_states(const KernelCall& call, const double* states,
                     const Target& target, const Poll& poll);

} // namespace tilefold
