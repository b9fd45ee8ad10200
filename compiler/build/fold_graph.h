// compiler/build/fold_graph.h - takes the functions of a fold out of the graph
// in which they were evaluated, as graphs of their own.
//
// 1. A function was evaluated at two placeholders, leaves of its own. What
//    depends on them is computed for every term or merge: it is moved.
// 2. What does not is a number on {}: it is computed once a call and given,
//    numbers of the formula too, so that they are no part of a fold. Numbers
//    that rules bring along (0 and 1) are copied.
// 3. All functions of a fold are given one vector.
#pragma once

#include "compiler/ir/ir.h"

#include <map>
#include <span>

namespace tilefold {

/// A function evaluated at placeholders.
struct FoldBody {
    ir::ValueId result, left, right;
};

class FoldGraphs {
public:
    FoldGraphs(ir::Builder& builder, std::span<const FoldBody> bodies);

    /// Returns the vector on {} that the graphs read, or no_value where they
    /// read none.
    ir::ValueId given() const { return given_; }
    /// Whether that vector depends on more than the formula's numbers.
    bool reads_parameters() const;
    /// Returns the graph of a body, computing in `real`.
    ir::Graph graph(const FoldBody& body, DType real) const;

private:
    /// Says for each value whether a body computes it from its placeholders.
    std::vector<bool> moved_of(const FoldBody& body) const;
    void give(ir::ValueId id);
    ir::ValueId read_given(ir::Builder& into, ir::ValueId id) const;
    ir::ValueId copied(ir::Builder& into,
                       std::map<ir::ValueId, ir::ValueId>& made,
                       ir::ValueId id) const;

    ir::Builder& builder_;
    std::map<ir::ValueId, std::int64_t> places_; ///< in the vector given
    ir::ValueId given_ = ir::no_value;
};

} // namespace tilefold
