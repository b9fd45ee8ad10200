// compiler/passes/divide_by_roots.cpp - what canonicalise() does to quotients
// by roots, taken back for an instruction set without an estimate of 1/√u.

#include "compiler/passes/rewrite.h"

#include <array>

namespace tilefold::ir {
namespace {

constexpr ValueId no = no_value;
using R = Rewriter;

/// Returns √u for 1/√u, and (√u)^n for (1/√u)^n.
ValueId inverted(R& r, ValueId value) {
    const Node power = r.node(value);
    const bool is_power = power.op == Op::IntPow && power.first > 0;
    const ValueId inverse = is_power ? power.operands[0] : value;
    if (!r.is(inverse, Op::Rsqrt))
        return no;
    const ValueId root = r.make(Op::Sqrt, {r.in(inverse)});
    return is_power ? r.make_power(root, power.first) : root;
}

ValueId quotient(R& r, const Node& n) {
    for (std::size_t k : {1, 0})
        if (n.type.axes == Axes::IJ)
            if (const ValueId root = inverted(r, n.operands[k]); root != no)
                return r.make(Op::Div, {n.operands[1 - k], root});
    return no;
}

constexpr std::array rules = {Rewriter::Entry{Op::Mul, quotient}};

} // namespace

Graph divide_by_roots(const Graph& graph) {
    return Rewriter(graph, {simplification_rules(), rules}).run();
}

} // namespace tilefold::ir
