// compiler/backends/cuda/model.h - how fast a card is expected to be with a
// plan, by counting instructions; nothing is run or compiled.
#pragma once

#include "compiler/backends/cuda/plan.h"

#include <string>

namespace tilefold::cuda {

/// What bounds a card, of a multiprocessor and clock where nothing else is
/// said.
struct Card {
    const char* name = "H200";
    double multiprocessors = 132, hertz = 1.98e9;
    double instructions = 128; ///< lanes that issue one
    double special = 16, wide = 64;
    double bytes = 4.8e12; ///< of its memory, a second
};

/// Of one pair of points.
struct PairCost {
    double single = 0;   ///< instructions of the formula
    double special = 0;  ///< of these, the special function unit's
    double wide = 0;     ///< of these, of the unit for double
    double overhead = 0; ///< for columns from shared memory, and for loops
    double bytes = 0;    ///< written, where there is no reduction

    /// Pairs a second that a card can compute: with the overhead, or by the
    /// formula's own instructions alone.
    double rate(const Card& card, bool with_overhead) const;
};

/// Of an oriented graph, whose open width is cut by the plan.
PairCost cost_of_pair(const ir::Graph& graph, const Plan& plan);

/// A few lines.
std::string print(const PairCost& cost, const Card& card = {});

} // namespace tilefold::cuda
