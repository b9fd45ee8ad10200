// compiler/ir/exact.h - which values on {} a float32 formula reads as they are.
#pragma once

#include "compiler/ir/ir.h"

#include <set>

namespace tilefold {

/// Returns the values of an oriented graph that are not rounded to its
/// computing dtype where they meet values on an axis. They are numbers that
/// must be whole, they stand beside integers or beside F64 in an F32 graph, or
/// an F64 on an axis that is read as F64 is made of them. What was reduced over
/// all axes counts as what is on one.
std::set<ir::ValueId> exact_constants(const ir::Graph& graph);

} // namespace tilefold
