// compiler/build/adjoint_pieces.h - vectors whose parts are known.
#pragma once

#include "compiler/ir/ir.h"

#include <cstdint>
#include <span>

namespace tilefold {

/// The components [first, last) of a vector: as many, or one number.
struct Piece {
    std::int64_t first, last;
    ir::ValueId value;
};

/// Returns a vector of `components` of which the pieces are parts; where
/// several overlap, their sum. The rest is zeros.
ir::ValueId put_together(ir::Builder& builder, std::int64_t components,
                         std::span<const Piece> pieces);

/// Puts vectors side by side and leaves out those of no components.
ir::ValueId joined(ir::Builder& builder, ir::ValueId a, ir::ValueId b);

ir::ValueId zeros(ir::Builder& builder, std::int64_t components);

} // namespace tilefold
