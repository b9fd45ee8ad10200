// compiler/backends/cuda/monoids/monoid.h - reductions as code: what a thread
// keeps of a tile of columns, what of a row, and how one goes into the other.
//
//  1. A Partial holds a tile's terms in the computing dtype; a State a row's,
//     in double and long long. Both are registers of one thread.
//  2. begin() starts a tile, add() takes one column, and finish_tile() merges
//     the tile into the state.
//  3. merge(into, from) needs `from` to cover later columns or rows: ties go
//     to the lower index, which states hold where it matters.
#pragma once

#include "compiler/backends/cuda/evaluate/evaluate.h"
#include "compiler/backends/cuda/monoids/code_arithmetic.h"
#include <memory>

namespace tilefold::cuda {

/// One function of a reduction that is being written: its objects, by name.
struct Scene {
    Writer& writer;
    Values& values; ///< of the graph; knows the constants of the call
    Code state = object("state");
    Code partial = object("partial");
    /// A Long, the number that indices of the tile count from.
    Code first = Code(Kind::Long, "first");
    /// An Int, the column in the tile.
    Code column = Code(Kind::Int, "k");
};

/// A reduction of the graph as code. There is one object for each Reduce node,
/// and the registers it was made from must stay where they are.
class Monoid {
public:
    Monoid(const Registers& registers, const LoweredReduction& reduction)
        : graph_(registers.graph), registers_(registers),
          reduction_(reduction) {}
    virtual ~Monoid() = default;

    /// Sets the state to the identity.
    virtual void identity(Scene& scene);
    virtual void begin(Scene& scene) = 0;
    virtual void add(Scene& scene) = 0;
    virtual void finish_tile(Scene& scene) = 0;
    /// Writes scene.state ⊕= from.
    virtual void merge(Scene& scene, const Code& from) = 0;
    /// Writes what all components of the result need, before them.
    virtual void begin_result(Scene&) {}
    /// Returns a component of the result, in the node's dtype. `terms`, a
    /// Long, is how many were added.
    virtual Code result(Scene& scene, const Component& at,
                        const Code& terms) = 0;

protected:
    /// Returns field number `field` of the reduction's partial.
    Code partial(const Scene& scene, int field, const Component& at = {}) const;
    /// Returns field number `field` of those that state_of() gives.
    Code state(const Code& object, int field, const Component& at = {}) const;
    const StateField& state_field(int field) const {
        return reduction_.state[std::size_t(field)];
    }
    std::int64_t length(int field) const {
        return length_of(state_field(field));
    }
    Algebra<CodeArithmetic> algebra(Scene& scene) const {
        return {node(), CodeArithmetic(scene.writer)};
    }

    /// Returns a field that is an array, as a whole.
    Code partial_array(const Scene& scene, int field) const {
        return member(Kind::Object, scene.partial, partial_member(field).name);
    }
    Code state_array(const Code& object, int field) const {
        return member(Kind::Object, object, state_member(field).name);
    }

    const ir::Node& node() const { return graph_[reduction_.id]; }
    const LoweredReduction& lowered() const { return reduction_; }
    const ir::ReductionRow& row() const {
        return ir::row_of(ir::Reduction(node().first));
    }
    Kind real() const { return kind_of_value(graph_.real); }
    Kind result_kind() const { return kind_of_value(node().type.dtype); }
    /// Returns a component of operand `number`, as `kind`.
    Code read(Scene& scene, std::size_t number, const Component& at,
              Kind kind) const;
    /// Writes a loop over the components of operand `number`.
    void each(Scene& scene, std::size_t number,
              const std::function<void(Component)>& body) const;
    /// Writes a loop over the components of a field of the state, or of one
    /// like it, in which nothing of the graph is computed.
    virtual void each_slot(Scene& scene, int field,
                           const std::function<void(Component)>& body) const;

    const ir::Graph& graph_;

private:
    const Field& partial_member(int field) const {
        return registers_.partial
            .fields()[reduction_.first_partial + std::size_t(field)];
    }
    const Field& state_member(int field) const {
        return registers_.state
            .fields()[reduction_.first_state + std::size_t(field)];
    }

    const Registers& registers_;
    const LoweredReduction& reduction_;
};

std::unique_ptr<Monoid> make_monoid(const Registers& registers,
                                    const LoweredReduction& reduction);

/// The monoids of all reductions of a kernel, whose registers stay where they
/// are.
class Monoids {
public:
    explicit Monoids(const Registers& registers);

    Monoid& of(ir::ValueId reduce) const { return *by_id_.at(reduce); }
    /// Calls `body` for each monoid, in the order of their members.
    void each(const std::function<void(Monoid&)>& body) const {
        for (const auto& monoid : in_order_)
            body(*monoid);
    }

private:
    std::vector<std::unique_ptr<Monoid>> in_order_;
    std::map<ir::ValueId, Monoid*> by_id_;
};

/// Each family of monoids has a file of its own.
std::unique_ptr<Monoid> make_plain(const Registers& registers,
                                   const LoweredReduction& reduction);
std::unique_ptr<Monoid> make_arg(const Registers& registers,
                                 const LoweredReduction& reduction);
std::unique_ptr<Monoid> make_exponential(const Registers& registers,
                                         const LoweredReduction& reduction);
std::unique_ptr<Monoid> make_k_minimum(const Registers& registers,
                                       const LoweredReduction& reduction);
std::unique_ptr<Monoid> make_fold(const Registers& registers,
                                  const LoweredReduction& reduction);

} // namespace tilefold::cuda
