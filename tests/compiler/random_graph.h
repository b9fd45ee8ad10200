// tests/compiler/random_graph.h - graphs and numbers for properties that hold
// of all of them.
#pragma once

#include "compiler/backends/reference/interpreter.h"
#include "compiler/ir/ir.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilefold::tests {

/// A reduction over j, over both or none, of a random term of scalars and
/// vectors, with a random epilogue. The same seed gives the same graph.
ir::Graph random_graph(std::uint64_t seed);

/// Values in (0.5, 1.5) or their negatives; integers and truth values where
/// the argument holds them. An argument's values follow from its name.
reference::Reader random_reader(const ir::Graph& graph, std::uint64_t seed);

/// All results of a graph: each kept point, or each pair.
std::vector<double> all_results(const ir::Graph& graph, std::uint64_t seed,
                                reference::Sizes sizes = {3, 4, 2});

/// The same numbers up to `tolerance`, relative to the largest; infinities
/// and NaN in the same places. Says where not.
std::string difference(const std::vector<double>& a,
                       const std::vector<double>& b, double tolerance);

} // namespace tilefold::tests
