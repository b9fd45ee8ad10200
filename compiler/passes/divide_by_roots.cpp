// compiler/passes/divide_by_roots.cpp - what canonicalise() does to quotients
// by roots, taken back for an instruction set without an estimate of 1/√u.

#include "compiler/passes/products.h"
#include "compiler/passes/rewrite.h"

#include <array>

namespace tilefold::ir {
namespace {

using R = Rewriter;

ValueId quotient(R& r, const Node& n) {
    for (std::size_t k : {1, 0}) {
        const ValueId root = with_root(r, n.operands[k], Op::Rsqrt, Op::Sqrt);
        if (root != no)
            return r.make(Op::Div, {n.operands[1 - k], root});
    }
    return no;
}

constexpr std::array quotient_rules = {Rewriter::Entry{Op::Mul, quotient}};

} // namespace

Graph divide_by_roots(const Graph& graph) {
    return Rewriter(graph, {simplification_rules(), quotient_rules}).run();
}

} // namespace tilefold::ir
