// compiler/backends/cuda/sites/bounded.h - lists of the smallest distances,
// with what says of most pairs that they are not among them.
#pragma once

#include "compiler/ir/ir.h"

namespace tilefold::cuda {

/// The graph, where its one reduction lists the smallest |x - y|² of long
/// float32 vectors, with a second operand of that reduction: no more than
///   (1 - e) |x|² + (1 - e) |y|² - 2 x·y,
/// which is at most |x - y|² as it would be rounded, and half its work. Loose
/// where |x| is a hundred times |x - y|. Any other graph is returned as it is.
ir::Graph bounded(const ir::Graph& graph);

/// Whether the reduction lists the K smallest.
inline bool is_list(const ir::Node& reduce) {
    return row_of(ir::Reduction(reduce.first)).monoid == ir::Monoid::KMinimum;
}
/// Whether the reduction has such a bound as its second operand.
inline bool has_bound(const ir::Node& reduce) {
    return reduce.arity == 2 && is_list(reduce);
}

} // namespace tilefold::cuda
