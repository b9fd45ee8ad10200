// compiler/backends/reference/accumulator.h - a reduction's monoid, plainly:
// one row's state, fed term by term.
#pragma once

#include "compiler/backends/reference/fold_function.h"
#include "compiler/monoids/algebra.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tilefold::reference {

class Accumulator {
public:
    /// Accumulates for a Reduce node with `components` components in its last
    /// operand.
    Accumulator(const ir::Node& node, std::size_t components);

    /// Goes back to the empty range. A Fold is given the state it starts from
    /// and what its graphs read.
    void reset(std::span<const double> initial = {},
               std::span<const double> given = {});
    /// Adds one term: the operands' components, the first's as integers where
    /// they are, and the index of the pair.
    void add(std::span<const double> first, std::span<const double> second,
             std::span<const std::int64_t> wholes, std::int64_t index);
    /// Gives the result over what was added since reset(); `wholes` has an I64
    /// exactly.
    void finish(std::span<double> result, std::span<std::int64_t> wholes) const;

private:
    double result_of(std::size_t component) const;

    ir::Node node_;
    const ir::ReductionRow& row_;
    std::int64_t count_ = 0;
    bool of_wholes_ = false; ///< a sum or an extreme of integers
    std::vector<std::int64_t> wholes_;
    std::vector<long double> sums_;        ///< or products, or extremes
    long double maximum_ = 0, weight_ = 0; ///< of exponentials
    std::vector<Found<double, std::int64_t>> found_; ///< sorted, where several
    std::optional<FoldFunction> accumulate_;         ///< of a Fold
    std::vector<double> state_, given_;
};

} // namespace tilefold::reference
