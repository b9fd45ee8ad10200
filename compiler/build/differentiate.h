// compiler/build/differentiate.h - derivatives, by the rules of ops.def and
// reductions.def: values of a growing graph from values of it.
//
//  1. A derivative is made of the operations of the language, so that it is
//     differentiated again in the same way, to any order.
//  2. What does not depend on a leaf has no derivative: no_value, never a
//     zero that is computed.
//  3. Reverse mode sums an adjoint over an axis as soon as the value it
//     belongs to does not have that axis: the gradient of a parameter of D
//     components never has N×D numbers.
//  4. Where a function has no derivative, the rules say which subgradient is
//     meant; none is NaN. Where points meet, meeting_points.h says what a
//     derivative is of which another one is taken.
#pragma once

#include "compiler/ir/broadcast.h"
#include "compiler/ir/ir.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tilefold {

/// Whether another derivative of this one is taken.
enum class AdjointOrder : std::uint8_t { Last, Inner };

/// Whether a derivative goes through reductions, or what these give stays as
/// it is.
enum class Through : std::uint8_t { Reductions, PairsOnly };

/// The adjoints of `leaves`, where `result` has the adjoint `seed`: each has
/// the leaf's components (a matrix's row after row) and axes, and the axes
/// `kept`, over which nothing is summed. Griewank & Walther, Evaluating
/// Derivatives (2008), chapter 3.
std::vector<ir::ValueId> reverse(ir::Builder& builder, ir::ValueId result,
                                 ir::ValueId seed,
                                 std::span<const ir::ValueId> leaves, Axes kept,
                                 AdjointOrder order);
/// A result with its adjoint, where several results are differentiated at
/// once.
struct Seed {
    ir::ValueId result, adjoint;
    Axes axes; ///< of the result; its value may be the same along some
};
std::vector<ir::ValueId> reverse(ir::Builder& builder,
                                 std::span<const Seed> seeds,
                                 std::span<const ir::ValueId> leaves, Axes kept,
                                 AdjointOrder order);

/// The derivative of `result` where each leaf moves along its tangent, which
/// has the leaf's shape and at most its axes.
struct Moving {
    ir::ValueId leaf, tangent;
};
ir::ValueId forward(ir::Builder& builder, ir::ValueId result,
                    std::span<const Moving> leaves, AdjointOrder order,
                    Through through = Through::Reductions);

/// Returns `value` with i and j exchanged: what it is at (j, i), where both
/// axes have the same points.
ir::ValueId transposed(ir::Builder& builder, ir::ValueId value);

} // namespace tilefold
