// compiler/build/masks.h - the conditions under which an adjoint counts.
//
// A condition leaves a pair out of a sum, and out of all its derivatives,
// whatever the branch is there: 0 at r = 0 for [r > 0]/r. An adjoint that is
// set to 0 before it goes through the branch would be NaN behind it, 0 times a
// slope that is infinite. So the condition goes along with the adjoint, as its
// mask, and is applied last.
#pragma once

#include "compiler/ir/ir.h"

#include <vector>

namespace tilefold {

/// A value that counts where `mask` holds and stands for 0 elsewhere; with
/// no_value as mask, it counts everywhere.
struct Masked {
    ir::ValueId mask = ir::no_value, value = ir::no_value;
};

/// Returns the value as one that counts everywhere: where(mask, value, 0).
ir::ValueId held(ir::Builder& builder, Masked masked);
/// Takes the conditions of where(c, …, 0) and where(c, 0, …) off a value.
Masked without_conditions(ir::Builder& builder, Masked masked);
/// Returns the sum of values of one type, with a mask that holds where one of
/// theirs does.
Masked sum_of(ir::Builder& builder, const std::vector<Masked>& values);

/// Returns what holds where both masks do.
ir::ValueId both(ir::Builder& builder, ir::ValueId a, ir::ValueId b);
/// Returns, for a mask of vectors, what holds where one of its components does.
ir::ValueId any_component(ir::Builder& builder, ir::ValueId mask);

/// A mask in two parts, which both have to hold.
struct SplitMask {
    ir::ValueId on_axes = ir::no_value; ///< on the given axes, or fewer
    ir::ValueId rest = ir::no_value;
};
SplitMask split_mask(ir::Builder& builder, ir::ValueId mask, Axes axes);

/// Says for each value whether an adjoint of 0 stays 0 on its way to the
/// leaves, where all values are finite. `active` says which values move with a
/// leaf.
std::vector<bool> bounded_ways(const ir::Graph& graph,
                               const std::vector<bool>& active);

} // namespace tilefold
