# tests/tools/mutants_of_graphs.py - mutants of graphs and their passes.
"""Faults of compiler/build, compiler/passes and below; see mutants.py."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    fault: str
    file: str
    old: str
    new: str
    program: str
    filter: str
    needs: str = ""  #: what the processor must have to tell, of /proc/cpuinfo


MUTANTS_OF_GRAPHS = [
    Mutant(
        "a vector leaves a sum with a matrix as a number does",
        "compiler/passes/linear.cpp",
        "if (r.type(n.operands[k]).rank == 0)",
        "if (r.type(n.operands[1 - k]).rank == 1)",
        "test_numerics",
        "*Generated*/Network*",
    ),
    Mutant(
        "a layer meets the next part of its matrix",
        "compiler/ir/queries.cpp",
        "return submatrix.first + k / submatrix.third * columns +",
        "return k / submatrix.third * columns +",
        "test_numerics",
        "*Generated*/Network*",
    ),
    Mutant(
        "what an array contributes on its other axis is not exchanged",
        "compiler/build/derived.cpp",
        "return builder_.type(leaf).axes == axis ? adjoint",
        "return leaf != ir::no_value ? adjoint",
        "test_compiler",
        "Derivatives*",
    ),
    Mutant(
        "reductions of all levels share a sweep",
        "compiler/passes/sweeps.cpp",
        "levels[id] += is_reduction(builder[id]);",
        "levels[id] = is_reduction(builder[id]);",
        "test_compiler",
        "Derivatives*:Sweeps*",
    ),
    Mutant(
        "points along which an adjoint is the same are not counted",
        "compiler/build/differentiate.cpp",
        "if (constant == Axes::None)",
        "if (constant != Axes::IJ)",
        "test_compiler",
        "Derivatives*",
    ),
    Mutant(
        "a scale is rounded into both sides of a difference",
        "compiler/passes/products.cpp",
        "exact_terms(rewriter, value) <= 1",
        "exact_terms(rewriter, value) <= 2",
        "test_compiler",
        "Canonicalise*",
    ),
    Mutant(
        "a root that divides three times is one power",
        "compiler/passes/products.cpp",
        "return count >= 2 && exponent >= 3",
        "return count >= 9 && exponent >= 3",
        "test_compiler",
        "Canonicalise*",
    ),
    Mutant(
        "differences of 64-bit integers are rounded first",
        "compiler/passes/canonicalise.cpp",
        "r.type(id).dtype != DType::I64 &&",
        "true &&",
        "test_compiler",
        "Canonicalise*",
    ),
    Mutant(
        "scores without a weight are among the largest",
        "compiler/build/composites.cpp",
        "if (!is_weighted(node))",
        "if (true)",
        "test_compiler",
        "Split*",
    ),
    Mutant(
        "an adjoint forgets its mask on the way",
        "compiler/build/differentiate.cpp",
        "domain.mask = masked.mask;\n        ValueId&",
        "domain.mask = no_value;\n        ValueId&",
        "test_compiler",
        "Derivatives*",
    ),
    Mutant(
        "points of which no pair counts are not masked",
        "compiler/build/differentiate.cpp",
        "if (rest == no_value || bounded_[id])",
        "if (true)",
        "test_compiler",
        "Derivatives*",
    ),
    Mutant(
        "a branch and its other one are two conditions",
        "compiler/build/masks.cpp",
        "if (!implied && !opposed)",
        "if (!implied)",
        "test_compiler",
        "Derivatives*",
    ),
    Mutant(
        "a cut is where the sinks are",
        "compiler/passes/narrowest_cut.cpp",
        "all.push_back(colour != boost::white_color);",
        "all.push_back(colour == boost::white_color);",
        "test_compiler",
        "Sweeps*",
    ),
    Mutant(
        "an exponent between two halves is the lower one",
        "compiler/passes/exponents.cpp",
        "halves == std::floor(halves);",
        "halves >= std::floor(halves);",
        "test_runtime",
        "SessionTest.Exponents*",
    ),
    Mutant(
        "a quotient by a power of a root is one by the root",
        "compiler/passes/products.cpp",
        "return is_power ? rewriter.make_power(other, power.first) : other;",
        "return other;",
        "test_compiler",
        "Passes*",
    ),
    Mutant(
        "a reduction of a term on no axis has the other axis' points",
        "compiler/passes/orient.cpp",
        "turn.reduce_both       ? reduced == Axes::J",
        "turn.reduce_both       ? all == Axes::J",
        "test_compiler",
        "Orient*",
    ),
    Mutant(
        "quantiles order rounded values",
        "compiler/build/quantile.cpp",
        "orders_rounded_ |= is_rounded(",
        "orders_rounded_ &= is_rounded(",
        "test_compiler",
        "Digits*",
    ),
    Mutant(
        "numbers behind a reduction over all points are rounded",
        "compiler/ir/exact.cpp",
        "return of_points[value] && is_exact(graph, value);",
        "return graph[value].type.axes != Axes::None && "
        "is_exact(graph, value);",
        "test_compiler",
        "Digits*",
    ),
]
