// runtime/c/managed.h - results that their receiver frees, as DLPack has it.
#pragma once

#include "runtime/c/handles.h"

namespace tilefold::c {

/// Memory for a result, in the order of C, where the call's arrays are. Throws
/// Error(OutOfMemory).
DLManagedTensorVersioned* allocate(const tilefold_bound& bound,
                                   const tilefold_bound::Result& result,
                                   void* stream);

} // namespace tilefold::c
