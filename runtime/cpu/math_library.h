// runtime/cpu/math_library.h - the functions kernels call through
// call->functions; see compiler/ir/externals.def.
#pragma once

#include "compiler/artifact/artifact.h"

#include <cstdint>

namespace tilefold {

/// The table for kernels of this computing dtype and lane count: vector and
/// scalar function of each row of externals.def in turn. Throws InternalError
/// for a lane count that no instruction set here has.
const void* const* math_functions(DType real, std::int32_t lanes);
/// The one that a kernel of this layout asks for; null where it asks for none.
inline const void* const* functions_for(const Layout& layout) {
    return layout.uses_functions ? math_functions(layout.real, layout.lanes)
                                 : nullptr;
}

} // namespace tilefold
