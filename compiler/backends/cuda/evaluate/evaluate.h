// compiler/backends/cuda/evaluate/evaluate.h - values of a graph as
// expressions.
//
//  1. A value is asked for by component. What is known already (rows, columns,
//     constants, reduced results) comes from Leaves; the rest is computed from
//     operands.
//  2. A value that is used once stands inside its user's expression, any other
//     becomes a variable, named as in the printed graph: %9 = sqdist is
//     sqdist_9.
//  3. A vector is computed component by component, in a loop that the CUDA
//     compiler unrolls where it is short.
//  4. A variable of a loop is forgotten when the loop ends.
#pragma once

#include "compiler/backends/cuda/lower/lowered_kernel.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilefold::cuda {

/// A component's number: index (an Int, where there is one) plus fixed.
struct Component {
    std::int64_t fixed = 0;
    std::optional<Code> index;

    Code code() const;
    /// Returns component * scale + offset.
    Component times(std::int64_t scale, std::int64_t offset = 0) const;
    Component plus(std::int64_t offset) const { return times(1, offset); }
};

/// Says where a value comes from that is not computed here; none means that it
/// is computed.
using Leaves =
    std::function<std::optional<Code>(ir::ValueId id, const Component& at)>;

class Values {
public:
    Values(const ir::Graph& graph, Writer& writer, Leaves leaves);

    /// Returns a component of the value, in the dtype of its type.
    Code value(ir::ValueId id, const Component& at = {});
    /// Calls `body` for each component of `root`, a value with `count` of
    /// them: in a loop, or one by one where that reads better.
    void each_component(ir::ValueId root, std::int64_t count,
                        const std::function<void(Component)>& body);
    Writer& writer() { return writer_; }
    const ir::Graph& graph() const { return graph_; }

private:
    Code compute(ir::ValueId id, const Component& at);
    Code elementwise(ir::ValueId id, const Component& at);
    Code power(ir::ValueId id, const Component& at);
    Code concatenation(ir::ValueId id, const Component& at);
    Code cross(ir::ValueId id, const Component& at);
    Code outer(ir::ValueId id, const Component& at);
    Code submatrix(const ir::Node& node, const Component& at);
    Code gather(ir::ValueId id, const Component& at);
    Code contraction(ir::ValueId id, const Component& at);
    Code term(ir::ValueId id, const Code& sum, const Component& at,
              const Component& k);
    Code operand(ir::ValueId id, std::size_t number, const Component& at);
    void hoist_scalars(ir::ValueId root);
    bool joins(ir::ValueId root) const;
    double weight_of(ir::ValueId root) const;
    Code named(ir::ValueId id, const Component& at, const Code& code);
    void forget_since(std::size_t mark);

    using Cell = std::pair<ir::ValueId, std::string>;
    Cell cell_of(ir::ValueId id, const Component& at) const;

    const ir::Graph& graph_;
    Writer& writer_;
    Leaves leaves_;
    std::vector<int> uses_; ///< by value
    std::map<Cell, Code> known_;
    std::vector<Cell> log_;
};

/// Returns one component of an operation of ops.def that works by component;
/// operands come in their own kinds.
Code operation(ir::Op op, DType dtype, DType real,
               std::span<const Code> operands);
/// Returns x to the power of a whole number, by repeated squaring.
Code whole_power(Writer& writer, const Code& x, std::int64_t exponent);
/// Says whether a number is whole; whole_number() says which it is.
Code is_whole(const Code& x);
Code whole_number(const Code& x);

} // namespace tilefold::cuda
