// compiler/backends/cuda/text/instructions.h - how operations are written
// in CUDA, and what they take of a multiprocessor: the rows of
// instructions.def, and what reductions take, those of terms.def.
#pragma once

#include "compiler/ir/ir.h"

#include <string_view>

namespace tilefold::cuda {

/// What one component takes, or one term of a contraction.
struct Instructions {
    double single = 0;  ///< issued in float32
    double special = 0; ///< of these, by the special function unit
    double twice = 0;   ///< issued in float64
    double wide = 0;    ///< of these, by the unit for double
    /// The function that takes operands of the result's kind, and the one that
    /// takes integers; "" where there is none.
    std::string_view function = "", whole = "";
};
Instructions instructions_of(ir::Op op);
/// Returns what one component takes that a reduction is given.
Instructions instructions_of_term(ir::Monoid monoid);

} // namespace tilefold::cuda
