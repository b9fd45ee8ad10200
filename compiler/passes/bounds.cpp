// compiler/passes/bounds.cpp - finds the masks of reductions.

#include "compiler/passes/bounds.h"

#include "compiler/ir/queries.h"
#include "compiler/monoids/state.h"

#include <cmath>

namespace tilefold {

using ir::Graph;
using ir::Monoid;
using ir::Node;
using ir::Op;
using ir::ValueId;

std::vector<ValueId> masks_of(const Graph& graph, const Node& reduction) {
    const ir::ReductionRow& row = row_of(ir::Reduction(reduction.first));
    const Monoid monoid = row.monoid;
    // Where an index is found, no term is an identity: a pair outside the mask
    // may be found.
    const double identity =
        row.finish == ir::Finish::Indices ? NAN : identity_of(monoid);
    std::vector<ValueId> masks;
    ValueId body = reduction.operands[0];
    while (graph[body].op == Op::Where) {
        const Node& other = graph[graph[body].operands[2]];
        if (other.op != Op::Constant || other.value != identity)
            break;
        masks.push_back(graph[body].operands[0]);
        body = graph[body].operands[1];
    }
    const bool counts = monoid == Monoid::Add || monoid == Monoid::Maximum;
    if (counts && graph[body].type.dtype == DType::Bool)
        masks.push_back(body);
    std::erase_if(masks,
                  [&](ValueId mask) { return !ir::reads_index(graph, mask); });
    return masks;
}

} // namespace tilefold
