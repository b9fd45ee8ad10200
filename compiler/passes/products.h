// compiler/passes/products.h - products, quotients and signs as a list of
// factors, so that what is known once a call, a row or a column leaves the pair
// term.
#pragma once

#include "compiler/passes/rewrite.h"

#include <optional>
#include <vector>

namespace tilefold::ir {

/// coefficient * Π numerators / Π denominators
struct Factors {
    double coefficient = 1;
    std::vector<ValueId> numerators, denominators;

    std::size_t size() const { return numerators.size() + denominators.size(); }
};

/// Returns the factors of `value`, a value on the axes `full` or fewer. A part
/// on fewer axes stays in one piece, up to a constant; with `kept`, only a
/// part on these axes does.
Factors factors_of(const Rewriter& rewriter, ValueId value, Axes full,
                   std::optional<Axes> kept = {});

/// Returns the product, with one multiplication less inside the loops wherever
/// a factor does not belong there. Divisors on fewer axes than `full` become
/// reciprocals. What is multiplied ahead of the pairs may leave the range:
/// kernels watch it (split.h).
ValueId product_of(Rewriter& rewriter, Factors factors, Axes full);

/// Returns the product of some values, or no_value where there are none.
ValueId multiply(Rewriter& rewriter, std::vector<ValueId> values);

/// Whether sums stay as exact as they are, or their terms may be rounded, as a
/// tolerance allows: a scale goes into the terms of t_i - t_j only then.
enum class Sums : std::uint8_t { Exact, Rounded };

/// Whether the value is a sum whose terms take a scale.
bool distributes(const Rewriter& rewriter, ValueId value,
                 Sums sums = Sums::Exact);

/// How many operations scaled() adds to a pair: 0 where a factor absorbs the
/// scale.
int cost_of_scaling(const Rewriter& rewriter, ValueId value,
                    Sums sums = Sums::Exact, int depth = 8);

/// Returns value * scale, for a scale on {}, which is pushed through sums into
/// factors that are not computed for each pair.
ValueId scaled(Rewriter& rewriter, ValueId value, ValueId scale,
               Sums sums = Sums::Exact, int depth = 8);

/// Whether `a` comes first as an operand of a commutative operation. The order
/// is {}, {i}, {j}, {i,j}, then by number.
bool comes_before(const Rewriter& rewriter, ValueId a, ValueId b);

/// Returns to(u) for from(u), and to(u)^n for from(u)^n, of a root u of pairs
/// and an n above 0; no_value for any other value.
ValueId with_root(Rewriter& rewriter, ValueId value, Op from, Op to);

} // namespace tilefold::ir
