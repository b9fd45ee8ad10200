// compiler/backends/cpu/lower/rare_ways.cpp - see rare_ways.h.

#include "compiler/backends/cpu/lower/rare_ways.h"

namespace tilefold {
namespace {

using ir::Node;
using ir::Op;
using ir::ValueId;

/// What few arguments of vectors of a function need.
enum class RareWay {
    None,  ///< nothing of its own
    Short, ///< a library's function, behind a branch
    /// The same of a function whose code is so long that writing it twice costs
    /// more than it gains: lgamma, digamma and J of a Zen 3 take a tenth less
    /// time in stages, and 5 to 10 ms more to compile. The order and the sign
    /// of an argument may say that there is none.
    Long,
};

RareWay rare_way(const Node& node) {
    if (kind_of(node.type.dtype) != DTypeKind::Float)
        return RareWay::None;
    switch (node.op) {
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Mod:
        return RareWay::Short;
    case Op::Lgamma:
    case Op::Polygamma:
    case Op::BesselJ:
        return RareWay::Long;
    default:
        return RareWay::None;
    }
}

/// Whether a value is NaN where an operand is, component by component.
bool passes_nan(const Node& node) {
    if (node.op == Op::IntPow)
        return node.first != 0;
    if (node.op == Op::Broadcast)
        return true;
    if (!ir::has_row(node.op) || node.op == Op::Pow) // NaN^0 is 1
        return false;
    const ir::OpRow& row = row_of(node.op);
    const bool is_number = row.result == ir::ResultRule::Real ||
                           row.result == ir::ResultRule::Exact ||
                           row.result == ir::ResultRule::Affine;
    const bool is_of_all = ir::is_elementwise(node.op) || node.op == Op::Dot ||
                           node.op == Op::SqDist || node.op == Op::SqNorm ||
                           node.op == Op::CompSum;
    return is_number && is_of_all;
}

} // namespace

bool sums_tell_rare(const ir::Graph& graph,
                    const std::vector<LoweredReduction>& reductions) {
    // Readers come after what they read.
    std::vector<bool> tells(graph.nodes.size());
    for (const LoweredReduction& reduction : reductions) {
        const Node& reduce = graph[reduction.id];
        if (reduce.fold) // its functions may have such ways, too
            return false;
        if (reduction.ends_as_nan)
            tells[reduce.operands[0]] = true;
    }
    for (ValueId id = graph.nodes.size(); id-- > 0;)
        if (tells[id] && graph[id].type.axes == Axes::IJ &&
            passes_nan(graph[id]))
            for (const ValueId operand : graph[id].inputs())
                tells[operand] = true;
    bool any = false;
    for (ValueId id = 0; id < graph.nodes.size(); ++id) {
        if (graph[id].type.axes != Axes::IJ)
            continue;
        const RareWay way = rare_way(graph[id]);
        if (way == RareWay::Long || (way == RareWay::Short && !tells[id]))
            return false;
        any |= way == RareWay::Short;
    }
    return any;
}

} // namespace tilefold
