// runtime/math_library.h - the functions kernels call through
// call->functions; see compiler/externals.def.
#pragma once

#include "compiler/types.h"

#include <cstdint>

namespace tilefold {

/// The table for kernels of this computing dtype and lane count: vector and
/// scalar function of each row of externals.def in turn. Throws InternalError
/// for a lane count that no instruction set here has.
const void* const* math_functions(DType real, std::int32_t lanes);

} // namespace tilefold
