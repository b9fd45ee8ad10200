// compiler/passes/passes.h - the passes: graph in, graph out, no state.
#pragma once

#include "compiler/ir/ir.h"

#include <optional>
#include <vector>

namespace tilefold::ir {

/// Folds constants, removes double negation, neutral elements and conversions
/// that change nothing, and rewrites `(√u)²` as `u` for u ≥ 0. It never looks
/// at a run-time literal's value.
Graph simplify(const Graph& graph);

/// One spelling for one meaning, chosen for the kernels:
///  - Σ (a-b)² as written by components, |x-y|² → SqDist, x·x → SqNorm
///  - pair terms are put together by axes: a / u with u on fewer axes →
///    a * (1/u), all factors on {} one scale. Not below floor, mod or a
///    comparison, where the last bit counts
///  - exp(f) → exp2(f * log2 e) of a pair term whose factors absorb log2 e:
///    it is pushed through sums (never into coordinates)
///  - operands of commutative operations ordered by axes, then number
///  - a / √u → a * (1/√u) of a pair, and (√u)^-n → (1/√u)^n
///  - a factor on the kept axis only, or on {}, leaves a Sum or a Mean
///  - a matrix times a list of values on several axes is a sum of products, and
///    a matrix leaves a Sum or a Mean (linear.cpp)
///  - a mask of index symbols stands around the product it is a factor of
Graph canonicalise(const Graph& graph);
/// Does what canonicalise() does, but for the rules that move factors:
/// products and quotients are computed as they are written, and exp is exp.
Graph canonicalise_as_written(const Graph& graph);

/// Computes a * (1/√u) of a pair as a / √u: where there is no estimate of 1/√u
/// to begin with, a root and a division are all that takes time.
Graph divide_by_roots(const Graph& graph);

/// Computes squared distances of rows and columns, both long vectors of
/// float32, as |x|² + |y|² - 2 x·y of points centred at one of them.
Graph expand_distances(const Graph& graph);
/// Computes the product of a matrix with the difference of a row and a column,
/// vectors of float32, as the difference of products, of points centred at one
/// of them.
Graph expand_differences(const Graph& graph);
/// The error of such a distance or product, relative to |x|² + |y|²; it is
/// typical of 16 to 64 components.
inline constexpr double expansion_error = 2e-7;

/// Reductions are read with rows on i and columns on j. A graph that keeps j
/// (sum_i over pairs) is returned with i and j exchanged and `swapped` set;
/// row-only bodies reduced over their own axis become a reduction over both
/// with one column, but for lists, which would be one for each row: they have
/// one row.
struct Oriented {
    Graph graph;
    bool swapped = false;       ///< i and j exchanged
    bool single_column = false; ///< no value depends on j: M is 1
    bool single_row = false;    ///< no value depends on i: N is 1
};
Oriented orient(const Graph& graph);

/// Returns the graph as one point of `axis` sees it. Arguments on that axis
/// become parameters, and reductions over the other axis keep nothing. Returns
/// none where the result is not one for each point of `axis`, or knows the
/// point's number, and for a graph with a `dynamic` width.
std::optional<Graph> for_one_point(const Graph& graph, Axes axis);

/// A sum over all points and components of vectors, each of which is made like
/// the others, written as a sum over points of one component. It has `width`
/// times as many points, in the order of memory where vectors adjoin.
struct FlatPoints {
    Graph graph;
    std::int32_t width = 1;
};
std::optional<FlatPoints> flatten_points(const Graph& graph);

/// The sign of a value that holds for all arguments, from ops.def's ranges; of
/// Unit, it is from 0 to 1.
enum class Sign : std::uint8_t { Unknown, NonNegative, NonPositive, Unit };
inline bool is_nonnegative(Sign sign) {
    return sign == Sign::NonNegative || sign == Sign::Unit;
}
std::vector<Sign> signs(const Graph& graph);

} // namespace tilefold::ir
