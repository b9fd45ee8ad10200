// compiler/passes/dynamic_width.h - arguments whose width a graph leaves open.
#pragma once

#include "compiler/ir/ir.h"

#include <cstddef>
#include <cstdint>

namespace tilefold {

/// The graph with `dynamic` rows for the argument that allows it, if any.
ir::Graph widen_linear_argument(const ir::Graph& graph);

/// The graph with other rows for one of its arguments: `dynamic`, or as many as
/// a call gives.
ir::Graph with_width(ir::Graph graph, std::size_t argument, std::int32_t rows);

} // namespace tilefold
